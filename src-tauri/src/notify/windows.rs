//! Without buttons: they need an installed shortcut.

use callgate_desk::notices::Notice;
use notify_rust::Notification;

use super::Click;

pub(super) fn show(notice: &Notice, _shown: &dyn Fn(u32)) -> Click {
    tell(&notice.title, &notice.body);
    Click::None
}

/// What is shown cannot be changed here; the log counts.
pub(super) fn amend(_notice: &Notice, _id: u32, _is_shown: &dyn Fn() -> bool) {}

pub(super) fn tell(title: &str, body: &str) {
    let _unseen = Notification::new().appname("Callgate").summary(title).body(body).show();
}

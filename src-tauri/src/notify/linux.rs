//! Over D-Bus, with buttons.

use callgate_desk::notices::Notice;
use callgate_desk::tray::TrayAct;
use notify_rust::{Hint, Notification, Urgency};

use super::Click;

const OPEN: &str = "default";

/// Shows it and waits for nothing.
pub(super) fn tell(title: &str, body: &str) {
    let _unseen = made(title, body).show();
}

fn made(title: &str, body: &str) -> Notification {
    let mut notification = Notification::new();
    notification.appname("Callgate").summary(title).icon("callgate");
    // A desktop that reads markup must not read any out of a tool's name.
    let markup = notify_rust::get_capabilities().is_ok_and(|can| can.iter().any(|one| one == "body-markup"));
    notification.body(&if markup { escaped(body) } else { body.to_owned() });
    notification
}

/// Shows it and waits for what becomes of it. `shown` hears what the desktop calls it.
pub(super) fn show(notice: &Notice, shown: &dyn Fn(u32)) -> Click {
    let Ok(handle) = with_buttons(notice).show() else { return Click::None };
    shown(handle.id());
    let mut click = Click::None;
    handle.wait_for_action(|action| {
        click = match action {
            OPEN => Click::Notification,
            // The key is the act itself: a number would mean another one after the notification was said anew.
            other => TrayAct::parse(other).map_or(Click::None, Click::Act),
        };
    });
    click
}

/// Puts it in the place of one that is shown, while that is there, and does not draw the eye to it again.
pub(super) fn amend(notice: &Notice, id: u32, is_shown: &dyn Fn() -> bool) {
    let mut notification = with_buttons(notice);
    notification.id(id).urgency(Urgency::Low).hint(Hint::SuppressSound(true));
    if !is_shown() {
        return;
    }
    let Ok(handle) = notification.show() else { return };
    // Closed at the same moment: then this one is new, and goes as well.
    if !is_shown() {
        handle.close();
    }
}

fn with_buttons(notice: &Notice) -> Notification {
    let mut notification = made(&notice.title, &notice.body);
    notification.action(OPEN, "Open");
    for (act, text) in &notice.acts {
        notification.action(&act.id(), text);
    }
    notification
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_dress_up_as_markup() {
        assert_eq!(escaped("<a href=\"x\">R&D</a>"), "&lt;a href=\"x\"&gt;R&amp;D&lt;/a&gt;");
    }
}

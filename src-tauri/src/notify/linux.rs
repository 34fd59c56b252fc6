//! Over D-Bus, with buttons.

use notify_rust::Notification;

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

/// Shows it and waits for what becomes of it.
pub(super) fn show(title: &str, body: &str, buttons: &[&str]) -> Click {
    let mut notification = made(title, body);
    notification.action(OPEN, "Open");
    for (number, text) in buttons.iter().enumerate() {
        notification.action(&number.to_string(), text);
    }
    let Ok(shown) = notification.show() else { return Click::None };
    let mut click = Click::None;
    shown.wait_for_action(|action| {
        click = match action {
            OPEN => Click::Notification,
            other => other.parse().map_or(Click::None, Click::Button),
        };
    });
    click
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

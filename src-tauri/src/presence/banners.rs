//! The banners of GNOME: "Do Not Disturb" turns off `show-banners`, a setting that no program on the bus tells; the one that
//! writes settings says which have changed.

use std::process::{Command, Stdio};

use zbus::Message;

/// Interface and member of that signal.
pub(super) const CHANGED: (&str, &str) = ("ca.desrt.dconf.Writer", "Notify");
const SCHEMA: &str = "org.gnome.desktop.notifications";
const FOLDER: &str = "/org/gnome/desktop/notifications/";
const KEY: &str = "show-banners";

/// Desktops without this setting show banners.
pub(super) fn are_off() -> bool {
    let mut command = Command::new("gsettings");
    command.args(["get", SCHEMA, KEY]).stdin(Stdio::null()).stderr(Stdio::null());
    command.output().is_ok_and(|answer| answer.status.success() && answer.stdout.trim_ascii() == b"false")
}

/// A prefix, and below it what has changed: one key, or several.
pub(super) fn is_about(signal: &Message) -> bool {
    let body = signal.body();
    let Ok((prefix, changes, _tag)) = body.deserialize::<(&str, Vec<&str>, &str)>() else { return false };
    touches(prefix, &changes)
}

fn touches(prefix: &str, changes: &[&str]) -> bool {
    let key = format!("{FOLDER}{KEY}");
    changes.iter().map(|change| format!("{prefix}{change}")).any(|changed| {
        // A folder that ends with a slash: everything in it.
        changed == key || (changed.ends_with('/') && key.starts_with(&changed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_of_this_setting_is_looked_at() {
        let about: [(&str, &[&str]); 4] = [
            ("/org/gnome/desktop/notifications/show-banners", &[""]),
            ("/org/gnome/desktop/notifications/", &["show-in-lock-screen", "show-banners"]),
            ("/org/gnome/desktop/", &["notifications/"]),
            ("/", &[""]),
        ];
        for (prefix, changes) in about {
            assert!(touches(prefix, changes), "{prefix} {changes:?}");
        }
        let other: [(&str, &[&str]); 3] = [
            ("/org/gnome/desktop/notifications/", &["show-in-lock-screen"]),
            ("/org/gnome/desktop/interface/color-scheme", &[""]),
            ("/org/gnome/desktop/notifications/show-banners", &[]),
        ];
        for (prefix, changes) in other {
            assert!(!touches(prefix, changes), "{prefix} {changes:?}");
        }
    }
}

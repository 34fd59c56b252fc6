//! Start at login, hidden in the tray.

#[cfg_attr(target_os = "linux", path = "login/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "login/other.rs")]
mod system;

use std::path::PathBuf;

/// The app is in the tray, not in the way.
const ARGS: [&str; 1] = ["--hidden"];

/// Does the desktop start this app at login?
pub(crate) fn is_on() -> bool {
    system::is_on()
}

pub(crate) fn set(yes: bool) -> Result<(), String> {
    match system::set(yes) {
        // Switching off what is off fails on some desktops, and is just as good.
        Err(error) if yes || is_on() => Err(error),
        _ => Ok(()),
    }
}

/// What is to be started.
fn program() -> PathBuf {
    // An AppImage is mounted somewhere else each time; its file is what stays.
    let program = std::env::var_os("APPIMAGE").map(Into::into).or_else(|| std::env::current_exe().ok());
    program.unwrap_or_default()
}

//! The app started at login, hidden in the tray. Here and not in the app, because whoever takes Callgate away may have removed
//! the app before.

#[cfg_attr(target_os = "linux", path = "login/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "login/other.rs")]
mod system;

use std::path::PathBuf;

/// The app is in the tray, not in the way.
const ARGS: [&str; 1] = ["--hidden"];

/// Does the desktop start this app at login?
pub fn is_on() -> bool {
    system::is_on()
}

pub fn set(yes: bool) -> Result<(), String> {
    match system::set(yes) {
        // Switching off what is off fails on some desktops, and is just as good.
        Err(error) if yes || is_on() => Err(error),
        _ => Ok(()),
    }
}

/// Is there an entry of ours, whichever app it starts?
pub fn is_there() -> bool {
    system::is_there()
}

/// Takes such an entry away.
pub fn remove() -> Result<(), String> {
    if is_there() { system::set(false) } else { Ok(()) }
}

/// What is to be started.
fn program() -> PathBuf {
    // An AppImage is mounted somewhere else each time; its file is what stays.
    let program = std::env::var_os("APPIMAGE").map(Into::into).or_else(|| std::env::current_exe().ok());
    program.unwrap_or_default()
}

//! Start at login, hidden in the tray.

use auto_launch::{AutoLaunch, AutoLaunchBuilder};

/// Does the desktop start this app at login?
pub(crate) fn is_on() -> bool {
    launcher().and_then(|launcher| launcher.is_enabled()).unwrap_or(false)
}

pub(crate) fn set(yes: bool) -> Result<(), String> {
    let launcher = launcher().map_err(|error| error.to_string())?;
    let done = if yes { launcher.enable() } else { launcher.disable() };
    // Switching off what is off fails on some desktops, and is just as good.
    match done {
        Err(error) if yes || is_on() => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn launcher() -> auto_launch::Result<AutoLaunch> {
    // An AppImage is mounted somewhere else each time; its file is what stays.
    let program = std::env::var_os("APPIMAGE").map(Into::into).or_else(|| std::env::current_exe().ok());
    let program = program.unwrap_or_default().display().to_string();
    AutoLaunchBuilder::new().set_app_name("Callgate").set_app_path(&program).set_args(&["--hidden"]).build()
}

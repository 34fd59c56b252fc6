//! As the system has it: a login item, or a value in the registry.

use auto_launch::{AutoLaunch, AutoLaunchBuilder};

pub(super) fn is_on() -> bool {
    launcher().and_then(|launcher| launcher.is_enabled()).unwrap_or(false)
}

/// Known by its name.
pub(super) fn is_there() -> bool {
    is_on()
}

pub(super) fn set(yes: bool) -> Result<(), String> {
    let launcher = launcher().map_err(|error| error.to_string())?;
    let done = if yes { launcher.enable() } else { launcher.disable() };
    done.map_err(|error| error.to_string())
}

fn launcher() -> auto_launch::Result<AutoLaunch> {
    let program = super::program().display().to_string();
    AutoLaunchBuilder::new().set_app_name("Callgate").set_app_path(&program).set_args(&super::ARGS).build()
}

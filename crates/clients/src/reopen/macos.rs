//! Apps are opened through the system, which gives them their place in the dock and their permissions.

use std::path::Path;
use std::process::Command;

use crate::running::Main;

pub(super) fn launch(main: &Main) -> Command {
    let is_bundle = |path: &&Path| path.extension().is_some_and(|end| end == "app");
    match main.program.ancestors().find(is_bundle) {
        Some(bundle) => {
            let mut command = Command::new("/usr/bin/open");
            command.arg("-a").arg(bundle);
            command
        }
        None => {
            let mut command = Command::new(&main.program);
            command.args(&main.args);
            command
        }
    }
}

//! The same program with the same words.

use std::process::Command;

use crate::running::Main;

pub(super) fn launch(main: &Main) -> Command {
    let mut command = Command::new(&main.program);
    command.args(&main.args);
    command
}

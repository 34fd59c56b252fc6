//! The partner takes the place of this process: same number, same parent, same pipes.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Comes back only if it cannot be done, with why.
pub(crate) fn take_over(words: Vec<OsString>) -> io::Error {
    match callgate_programs::partner() {
        Ok(partner) => {
            let mut command = Command::new(partner);
            // In a list of processes it stands as it was started.
            command.arg0(std::env::args_os().next().unwrap_or_else(|| "callgate".into()));
            command.args(words).exec()
        }
        Err(error) => error.into(),
    }
}

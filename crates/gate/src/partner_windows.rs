//! The partner runs in place of this process, which only waits for its end. Compiled, not run: see docs/decisions.

use std::ffi::OsString;
use std::io;
use std::process::Command;

/// Comes back only if it cannot be done, with why.
pub(crate) fn take_over(words: Vec<OsString>) -> io::Error {
    let ran = callgate_programs::partner()
        .map_err(io::Error::from)
        .and_then(|partner| Command::new(partner).args(words).status());
    match ran {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

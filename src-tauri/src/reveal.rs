//! A file, shown in the folder that it is in, by whatever the system shows folders with.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts it and does not wait: a file manager may stay open for days.
pub(crate) fn reveal(path: &Path) -> io::Result<()> {
    if !path.is_absolute() || !path.is_file() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such file any more"));
    }
    let mut shown = shower(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // Whoever starts a process has to take note of its end.
    std::thread::Builder::new().name("reveal".to_owned()).spawn(move || shown.wait()).map(drop)
}

#[cfg(target_os = "macos")]
fn shower(path: &Path) -> Command {
    let mut command = Command::new("open");
    command.arg("-R").arg(path);
    command
}

#[cfg(windows)]
fn shower(path: &Path) -> Command {
    let mut command = Command::new("explorer");
    command.arg("/select,").arg(path);
    command
}

#[cfg(not(any(target_os = "macos", windows)))]
fn shower(path: &Path) -> Command {
    let mut command = Command::new("xdg-open");
    command.arg(path.parent().unwrap_or(path));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_shown() {
        let gone = std::env::temp_dir().join("callgate-is-not-here");
        assert_eq!(reveal(&gone).map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
        assert!(reveal(Path::new("relative")).is_err());
    }
}

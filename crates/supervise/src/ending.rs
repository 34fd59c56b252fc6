//! How a session's processes end, or fail to begin: values for the shim, sentences for people.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// How the server ended, as far as the shim can know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It never ran.
    FailedToStart {
        cause: StartFailure,
    },
    Exited {
        code: i32,
    },
    /// Ended by a signal (Unix).
    Signalled {
        signal: i32,
    },
    /// The keeper is gone without a word; the shim has to [`take over`](crate::Keeper::take_over).
    KeeperLost,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::FailedToStart { cause } => cause.fmt(f),
            Ending::Exited { code } => write!(f, "exit code {code}"),
            Ending::Signalled { signal } => match signal_name(*signal) {
                Some(name) => write!(f, "ended by {name}"),
                None => write!(f, "ended by signal {signal}"),
            },
            Ending::KeeperLost => f.write_str("its keeper was killed"),
        }
    }
}

/// The ones that a server really ends by; the rest is shown as a number.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// Nothing could be set up to start the server with: our own trouble, not the command's.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot make a pipe for the server")]
    Pipe(#[source] io::Error),
    #[error("cannot start the keeper process")]
    Fork(#[source] io::Error),
    /// A fork copies one thread only; locks that others hold would stay locked in the keeper for ever.
    #[error("the keeper has to be started before any thread, but {threads} are running")]
    Threads { threads: usize },
    #[error("cannot set up the job that ends the server with us")]
    Job(#[source] io::Error),
}

/// Why the server's command could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartFailure {
    #[error("cannot start {}: no such program in {}", name(.program), directories(.looked_in))]
    NotFound { program: OsString, looked_in: Vec<PathBuf> },
    #[error("cannot start {}: there is no such file", name(.path))]
    NoSuchFile { path: PathBuf },
    #[error("cannot start {}: it is a directory", name(.path))]
    Directory { path: PathBuf },
    #[error("cannot start {}: the file is not executable (chmod +x would make it so)", name(.path))]
    NotExecutable { path: PathBuf },
    #[error("cannot start {}: permission denied (its file system or a directory above it forbids running it)", name(.path))]
    Forbidden { path: PathBuf },
    #[error("cannot start {}: its interpreter {} is missing{}", name(.script), name(.interpreter), line_ending(.interpreter))]
    BadInterpreter { script: PathBuf, interpreter: OsString },
    #[error("cannot start {}: it was built for another system (its loader is missing)", name(.path))]
    MissingLoader { path: PathBuf },
    #[error("cannot start {}: it is not a program that this system can run", name(.path))]
    NotAProgram { path: PathBuf },
    /// It was not even tried, by the shim's own decision.
    #[error("the server was not started: {why}")]
    Withheld { why: String },
    #[error("cannot start {}: {words}", name(.program))]
    Other { program: OsString, words: String },
}

/// A file or program name as people see it: quoted, with control characters visible.
fn name(text: impl AsRef<std::ffi::OsStr>) -> String {
    format!("{:?}", text.as_ref().to_string_lossy())
}

/// Enough directories to see what `PATH` is about, not all forty of them.
fn directories(looked_in: &[PathBuf]) -> String {
    const SHOWN: usize = 6;
    if looked_in.is_empty() {
        return "PATH (it is empty)".to_owned();
    }
    let shown: Vec<String> = looked_in
        .iter()
        .take(SHOWN)
        .map(|directory| directory.to_string_lossy().escape_debug().to_string())
        .collect();
    let more = match looked_in.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("PATH ({}{more})", shown.join(", "))
}

fn line_ending(interpreter: &OsString) -> &'static str {
    if interpreter.to_string_lossy().ends_with('\r') { " (the script has Windows line endings)" } else { "" }
}

/// The system's words for an error number, without the number.
pub(crate) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_shortened() {
        let looked_in = (0..9).map(|n| PathBuf::from(format!("/d{n}"))).collect();
        let failure = StartFailure::NotFound { program: "npx".into(), looked_in };
        assert_eq!(
            failure.to_string(),
            r#"cannot start "npx": no such program in PATH (/d0, /d1, /d2, /d3, /d4, /d5 and 3 more)"#
        );
    }

    #[test]
    fn a_carriage_return_in_a_shebang_is_made_visible() {
        let failure = StartFailure::BadInterpreter { script: "/s".into(), interpreter: "/bin/sh\r".into() };
        assert_eq!(
            failure.to_string(),
            r#"cannot start "/s": its interpreter "/bin/sh\r" is missing (the script has Windows line endings)"#
        );
    }

    #[test]
    fn an_ending_reads_as_part_of_a_sentence() {
        assert_eq!(Ending::Exited { code: 3 }.to_string(), "exit code 3");
        assert_eq!(Ending::Signalled { signal: 9 }.to_string(), "ended by SIGKILL");
        assert_eq!(Ending::Signalled { signal: 40 }.to_string(), "ended by signal 40");
    }
}

//! Diagnostic logs of Callgate's own programs: `tracing` events, written as lines to `diagnostics/` in the home.
//!
//! For what happens beside the calls: sessions that begin and end, a policy that cannot be read, a history that cannot be
//! written, a panic. What agents called is on record elsewhere and never comes here; each line is masked all the same. An
//! event costs its own formatting and no waiting: a thread writes, and what comes faster than that is counted and dropped.

#![deny(unsafe_code)]

mod line;
mod reader;
mod subscriber;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;
mod writer;

use std::panic;
use std::sync::Arc;
use std::time::Duration;

use callgate_home::{CappedFile, Home, SessionId};
use callgate_redaction::Masker;
use tracing::level_filters::LevelFilter;

pub use line::LogLine;
pub use reader::{LogFollower, last_lines};

use subscriber::LineSubscriber;
use writer::{LOG_BYTES, Writer};

/// How long the end of a program waits for its last lines: they take a moment, unless the disk hangs or the machine is very busy.
const LAST_LINES: Duration = Duration::from_secs(2);
/// How much is written unless `CALLGATE_LOG` says otherwise.
const DEFAULT: LevelFilter = LevelFilter::INFO;

/// The programs that write one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Gate,
    App,
    Cli,
}

impl Program {
    pub const ALL: [Program; 3] = [Program::Gate, Program::App, Program::Cli];

    /// As its file and its lines are called.
    pub fn name(self) -> &'static str {
        match self {
            Program::Gate => "gate",
            Program::App => "app",
            Program::Cli => "cli",
        }
    }
}

/// The log of this process. Dropped at its end, so that the last lines are written.
#[derive(Debug)]
#[must_use = "the last lines are written when it is dropped"]
pub struct Log(Arc<Writer>);

impl Log {
    /// Sends the events and panics of this process to its log from now on. Starts no thread: the first event does.
    pub fn start(home: &Home, program: Program) -> Log {
        let path = home.diagnostics(program.name());
        let writer = Arc::new(Writer::new(program, path.clone()));
        let level = std::env::var("CALLGATE_LOG").ok().and_then(|word| word.parse().ok()).unwrap_or(DEFAULT);
        if tracing::subscriber::set_global_default(LineSubscriber::new(level, writer.clone())).is_ok() {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                // At once, since nobody may be left to write it a moment later, and by nothing that whoever panics may hold.
                let mut file = CappedFile::new(path.clone(), LOG_BYTES);
                let _unwritten = file.append(line::of_panic(program, panic).as_bytes());
                before(panic);
            }));
        }
        Log(writer)
    }

    /// From now on lines say whose they are, and what this session knows to be secret is masked in them.
    pub fn of_session(&self, session: SessionId, masker: Masker) {
        self.0.of_session(session, masker);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.flush(LAST_LINES);
    }
}

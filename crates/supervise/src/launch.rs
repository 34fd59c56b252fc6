//! What to start, for which session, and how patient to be with it at the end.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{PipeReader, PipeWriter};
use std::sync::Arc;
use std::time::Duration;

/// The environment variable that marks every process of a session with the session's name.
///
/// A Callgate below a server of another Callgate overrides it for its own server, so a process names its innermost session.
pub const MARKER: &str = "CALLGATE_SESSION";

/// One server to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// A path, or a name to be looked up in `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Added to our own environment.
    pub env: Vec<(OsString, OsString)>,
    /// The session's name: the value of [`MARKER`].
    pub session: String,
    pub grace: Grace,
    pub afterwards: Afterwards,
}

/// What is left to do when a session is over and nothing of its tree is left. The keeper does it, because the shim may have
/// gone before the tree. Where there is no keeper (Windows) nobody does; the tree ends with the shim there.
#[derive(Clone, Default)]
pub struct Afterwards(Option<Arc<dyn Fn() + Send + Sync>>);

impl Afterwards {
    /// Runs in the keeper, on its way out: without threads, with `/` as its working directory and none of the shim's files.
    pub fn new(work: impl Fn() + Send + Sync + 'static) -> Afterwards {
        Afterwards(Some(Arc::new(work)))
    }

    #[cfg(unix)]
    pub(crate) fn run(&self) {
        if let Some(work) = &self.0 {
            work();
        }
    }
}

impl fmt::Debug for Afterwards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Afterwards").field(&self.0.is_some()).finish()
    }
}

/// The shim's ends of the pipes of a server that was started. Each start has its own.
#[derive(Debug)]
pub struct Pipes {
    pub stdin: PipeWriter,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
}

/// The `PATH` under which a server's program is looked up: the server's own, where it is set.
pub(crate) fn search_path(env: &[(OsString, OsString)]) -> Option<OsString> {
    let own = env.iter().rev().find(|(name, _)| name == OsStr::new("PATH"));
    own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os("PATH"))
}

/// How long a tree may take to end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grace {
    /// From its stdin's end to SIGTERM.
    pub closing: Duration,
    /// From SIGTERM to SIGKILL.
    pub term: Duration,
}

impl Default for Grace {
    /// Together well under five seconds, and long enough for a browser to close (0.1–0.4 s measured).
    fn default() -> Self {
        Grace { closing: Duration::from_millis(1500), term: Duration::from_millis(1500) }
    }
}

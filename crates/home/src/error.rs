//! What can go wrong with the disk, by cause. Each message says what happened, to what, and what to do now:
//! a person reads it in a refused call or on a terminal.

use std::io;
use std::path::{Path, PathBuf};

/// The home directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("no home directory is known: set CALLGATE_HOME to the folder that Callgate may use")]
    Nowhere,
    #[error("cannot create {path}: {source}. Make the folder writable or set CALLGATE_HOME to another one", path = path.display())]
    Create { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}. Free space on the disk or make the folder writable", path = path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot remove {path}: {source}. Remove it by hand", path = path.display())]
    Remove { path: PathBuf, source: io::Error },
    #[error("cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is not safe to use: {why}", path = path.display())]
    Unsafe { path: PathBuf, why: String },
    #[error(
        "{path} was written by a newer Callgate (format {found}, this one knows {known}): update Callgate",
        path = path.display()
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("the counters in the new home cannot be prepared: {0}")]
    Counters(#[source] Box<StoreError>),
}

/// A record or a counter cannot be read or written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {doing} {path}: {cause}", path = path.display())]
    Io { doing: &'static str, path: PathBuf, cause: String, kind: io::ErrorKind },
    #[error("{path}: {cause}", path = path.display())]
    Database { path: PathBuf, cause: String, trouble: Trouble },
    #[error(
        "{path} was written by a newer Callgate (format {found}, this one knows {known}): update Callgate",
        path = path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the record of this session holds {megabytes} MB that could not be moved to the history ({cause})"
    )]
    SpoolFull { megabytes: u64, cause: String },
    #[error("session {0} is already running")]
    SessionTaken(String),
    #[error(
        "{path} was removed while this session ran, so its calls cannot be recorded. Restart the AI client; if a program \
         removed it, find out which",
        path = path.display()
    )]
    Removed { path: PathBuf },
    #[error("this session has ended")]
    Ended,
    /// The session began without a usable home and has none yet; the words say why.
    #[error("{0}")]
    NoHome(String),
}

/// What a database error means for us, apart from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Another process held the lock for longer than we wait.
    Busy,
    /// The file is not what we wrote: it is moved aside and started anew.
    Corrupt,
    /// No space, no permission, a failing disk.
    Disk,
    Other,
}

impl StoreError {
    pub fn io(doing: &'static str, path: &Path, error: &io::Error) -> Self {
        StoreError::Io { doing, path: path.to_owned(), cause: error.to_string(), kind: error.kind() }
    }

    /// Others were at it for longer than we wait.
    pub fn is_busy(&self) -> bool {
        matches!(self, StoreError::Database { trouble: Trouble::Busy, .. })
    }

    pub fn busy(path: &Path) -> Self {
        let cause = "other sessions were writing into it all the time".to_owned();
        StoreError::Database { path: path.to_owned(), cause, trouble: Trouble::Busy }
    }

    pub fn is_corrupt(&self) -> bool {
        matches!(self, StoreError::Database { trouble: Trouble::Corrupt, .. })
    }
}

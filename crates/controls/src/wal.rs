//! Write-ahead logs of the databases: written back by their size, whoever wrote them.
//!
//! SQLite's own rule (by the pages of one connection, and by whoever closes last) would make a call or the end of a
//! session wait for the disk; so it is switched off, and the threads that nobody waits for do it here. A log is at most
//! a few megabytes long, also under load and over many short sessions.

use std::path::Path;
use std::time::{Duration, Instant};

use callgate_home::{Home, StoreError};
use rusqlite::Connection;

use crate::sqlite;

/// What SQLite leaves of a log file that it begins anew. Every threshold is above it: a file longer than this holds something.
pub const KEPT: u64 = 64 << 10;
/// In quiet moments and at the end of a session a log of this length is written back and emptied.
const QUIET: u64 = 1 << 20;
/// How long a forced checkpoint keeps writers out while it waits for readers of an old state.
const BRIEFLY: Duration = Duration::from_millis(60);
/// Between two tries to empty a log that somebody is in the way of.
const PAUSE: Duration = Duration::from_millis(20);

/// The log of one database, looked after by one connection.
#[derive(Debug, Default)]
pub struct LogKeeper {
    /// When somebody was in the way.
    hindered: Option<Instant>,
}

impl LogKeeper {
    /// Empties the log once it is longer than `limit`. Who reads an old state for long is waited for once; from then on the log
    /// grows until that reader has gone.
    pub fn limit(&mut self, connection: &Connection, path: &Path, limit: u64) {
        let patience = if self.hindered.is_some() { Duration::ZERO } else { BRIEFLY };
        if bytes(path) >= limit {
            self.empty(connection, patience);
        }
    }

    /// For a moment in which nobody waits.
    pub fn quiet(&mut self, connection: &Connection, path: &Path) {
        if bytes(path) >= QUIET {
            self.empty(connection, Duration::ZERO);
        }
    }

    fn empty(&mut self, connection: &Connection, patience: Duration) {
        if self.hindered.is_none_or(|since| since.elapsed() >= PAUSE) {
            self.hindered = (!empty(connection, patience)).then(Instant::now);
        }
    }
}

/// Writes everything back and empties the log; false while somebody writes, or reads an old state, for longer than `patience`.
pub fn empty(connection: &Connection, patience: Duration) -> bool {
    sqlite::with_patience(patience, || {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, i64>(0)) == Ok(0)
    })
}

/// Writes the logs of a home back, if they are long: for programs that stay while sessions come and go.
pub fn write_back(home: &Home) -> Result<(), StoreError> {
    for path in [home.history_db(), home.limits_db()] {
        if bytes(&path) >= QUIET {
            LogKeeper::default().quiet(&sqlite::open(&path)?, &path);
        }
    }
    Ok(())
}

/// The length of the log of a database.
pub fn bytes(database: &Path) -> u64 {
    sqlite::wal_of(database).metadata().map_or(0, |log| log.len())
}

//! The history: the read side of the record, for review. Every call, event and policy as it was; search, statistics, and
//! forgetting. The journal writes it (`callgate-journal`), and no gate needs this crate.

#![deny(unsafe_code)]

mod changed;
pub mod checkup;
mod choices;
mod forget;
mod lines;
mod peaks;
mod query;
mod replay;
mod rows;
mod scan;
mod search;
mod stats;
mod tally;
mod timeline;
mod tool_hits;

use std::path::PathBuf;

use callgate_controls::sqlite;
use callgate_home::private::{Identity, identity};
use callgate_home::{Home, StoreError};
use callgate_journal::database::open_reader;
use rusqlite::Connection;

pub use changed::ChangeRow;
pub use choices::Trace;
pub use forget::{DEMO_SERVER, Forget, Forgetter, Forgotten, forget, stderr_logs};
pub use lines::{LineRow, Which};
pub use peaks::PeakOf;
pub use query::{Counts, EventFilter, Filter};
pub use replay::{Arguments, Lack, Replay, Replayed, ToolUse};
pub use rows::{BodyRow, CallRow, EventRow, PolicyVersion, SessionRow};
pub use scan::{Found, Scan, Toward};
pub use search::{Class, Indexer, Words};
pub use stats::ToolStats;
pub use tally::{Failure, MINUTE_MS, SessionNumbers, Tallied};
pub use timeline::PolicyChange;
pub use tool_hits::{ToolHits, ToolsSeen};

/// The history, to be read.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    file: Option<Identity>,
}

impl History {
    /// Opens the history for reading, as it is; [`callgate_journal::catch_up`] first brings in what spools still hold.
    pub fn open_reader(home: &Home) -> Result<History, StoreError> {
        let connection = open_reader(home)?;
        let path = home.history_db();
        let file = identity(&path).ok();
        Ok(History { connection, path, file })
    }

    /// Is the file that this reads still the one that others would open?
    pub fn is_in_place(&self) -> bool {
        identity(&self.path).ok() == self.file
    }

    fn fail(&self, error: &rusqlite::Error) -> StoreError {
        sqlite::database_error(&self.path, error)
    }
}

#[cfg(test)]
mod tests;

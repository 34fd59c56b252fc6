//! The history: the read side of the record, for review. Every call, event and policy as it was; search, statistics, and
//! forgetting. The journal writes it (`callgate-journal`), and no gate needs this crate.

#![deny(unsafe_code)]

mod audit;
pub mod checkup;
mod choices;
mod filter;
mod follow;
mod forget;
mod lines;
mod lookup;
mod peaks;
mod query;
mod replay;
mod rows;
mod search;
mod sizes;
mod stats;
mod tally;
mod timeline;
mod tool_hits;
pub mod wire;

use callgate_controls::sqlite;
use callgate_home::private::{Identity, identity};
use callgate_home::{Home, StoreError};
use callgate_journal::database::open_reader;
use rusqlite::Connection;

pub use audit::ChangeRow;
pub use choices::Trace;
pub use filter::{CallFilter, Only};
pub use forget::{DEMO_SERVER, Forget, Forgetter, Forgotten, forget, stderr_logs};
pub use lines::LineRow;
pub use lookup::{Counts, EventFilter};
pub use peaks::PeakOf;
pub use query::{Page, Query, Toward};
pub use replay::{Lack, Replay, Replayed, ReplayedArguments, ToolUse};
pub use rows::{BodyRow, CallRow, EventRow, PolicyVersion, SessionRow};
pub use search::{Class, Indexer, Words};
pub use sizes::Answered;
pub use stats::ToolStats;
pub use tally::{Failure, MINUTE_MS, SessionNumbers, Tallied};
pub use timeline::PolicyChange;
pub use tool_hits::{ToolHits, ToolsSeen};

/// The history, to be read.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    home: Home,
    file: Option<Identity>,
}

impl History {
    /// Opens the history for reading, as it is; [`callgate_journal::catch_up`] first brings in what spools still hold.
    pub fn open_reader(home: &Home) -> Result<History, StoreError> {
        let connection = open_reader(home)?;
        let file = identity(&home.history_db()).ok();
        Ok(History { connection, home: home.clone(), file })
    }

    /// Is the file that this reads still the one that others would open?
    pub fn is_in_place(&self) -> bool {
        identity(&self.home.history_db()).ok() == self.file
    }

    fn fail(&self, error: &rusqlite::Error) -> StoreError {
        sqlite::database_error(&self.home.history_db(), error)
    }
}

#[cfg(test)]
mod tests;

//! The journal: the write side of the record. A session's calls go into its spool, and from there into `history.db`.
//!
//! One promise lives here: *intent before effect* (a call is on disk before the bytes that would run it can be had, see
//! [`Batch`]). Judging is the policy's, relaying is the shim's, looking things up is the history's; none is known here.

#![deny(unsafe_code)]

mod batch;
mod catch_up;
pub mod database;
mod drain;
mod filing;
mod filing_turn;
mod journal;
mod keep;
mod notes;
mod outbox;
pub mod removals;
pub mod retention;
mod settlement;
pub mod spool;
#[cfg(test)]
mod testing;
mod timeline;
mod words;

pub use batch::{Admitted, Batch, CallEntry, CallRef, Commit, Intent, NotAdmitted};
pub use catch_up::{CaughtUp, catch_up};
pub use database::is_on_record;
pub use journal::{Event, Journal, SessionInfo};
pub use notes::{PolicyEdit, approved_words, note_edit, record_event};
pub use outbox::Noted;
pub use removals::Removed;
pub use settlement::Settlement;
pub use words::{Decision, EndReason, EventKind, Origin, Outcome};

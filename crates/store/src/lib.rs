//! What Callgate keeps on disk: the home folder, the counters, the spool, the history, leases and the pause switch.
//!
//! The disk is the only interface between processes. Two promises live here: *intent before effect* (a call is on
//! disk before the bytes that would run it can be had, see [`Batch`]) and *exactly counted* (limits are shared by
//! all shims, see [`limits`]). Judging is the policy's, relaying is the shim's; neither is known here.

#![deny(unsafe_code)]

pub mod allowance;
pub mod atomic;
mod batch;
pub mod catalogue;
mod catch_up;
pub mod checkup;
pub mod clock;
pub mod control;
pub mod counters;
mod drain;
mod error;
pub mod failpoint;
mod files;
pub mod history;
pub mod home;
mod id;
mod journal;
mod keep;
pub mod lease;
pub mod limits;
pub mod mask;
pub mod pause;
mod retention;
mod seal;
#[cfg(feature = "seed")]
pub mod seed;
pub mod settings;
mod settlement;
mod slug;
mod spool;
mod sqlite;
pub mod stderr_line;
mod wal;
mod words;

pub use batch::{Admitted, Batch, CallRef, Commit, Intent, NotAdmitted, Refused};
pub use catch_up::{CaughtUp, catch_up};
pub use error::{HomeError, StoreError, Trouble};
pub use files::Disk;
pub use history::History;
pub use home::Home;
pub use id::{BadId, BadSessionId, CallId, SessionId};
pub use journal::{Event, Journal, SessionInfo};
pub use lease::{Lease, Stand, running};
pub use limits::{Capped, Full};
pub use seal::Seal;
pub use settings::Settings;
pub use settlement::Settlement;
pub use slug::slug;
pub use wal::write_back;
pub use words::{CounterKind, Decision, EndReason, EventKind, Origin, Outcome, UnknownWord};

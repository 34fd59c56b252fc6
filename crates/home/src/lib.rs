//! The home directory that all processes of Callgate share: its paths and permissions, locks between processes, atomic
//! writes, logs of bounded size, clocks, ids, the leases of running sessions.
//!
//! The disk is the only interface between processes; this is what they agree on about it. What the files say is known
//! to others: policies, counters, the record.

#![deny(unsafe_code)]

pub mod atomic;
mod capped_file;
pub mod clock;
mod error;
pub mod failpoint;
mod home;
mod id;
pub mod lease;
#[cfg_attr(unix, path = "private/unix.rs")]
#[cfg_attr(windows, path = "private/windows.rs")]
pub mod private;
mod seal;
mod slug;
pub mod stderr_line;
mod vocabulary;

pub use capped_file::CappedFile;
pub use error::{HomeError, StoreError, Trouble};
pub use home::{
    DEFAULT_SERVER, FOLDERS, Home, Locked, lock_file, lock_policies, read_private, read_private_up_to,
    shared_with_others, try_lock,
};
pub use id::{BadId, BadSessionId, CallId, SessionId};
pub use lease::{Lease, Stand, is_running, running};
pub use seal::Seal;
pub use slug::slug;
pub use vocabulary::UnknownWord;

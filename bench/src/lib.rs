//! Measures what Callgate costs, side by side with a bare byte relay.
//!
//! Three programs: an echo server that answers as fast as a server can, a relay that only copies bytes,
//! and the driver (`main.rs`), a client that talks to the server directly, through the relay and through
//! `callgate run`. Every figure is a ratio to the relay taken within one turn, because the machine's own
//! speed and load cancel out there; nothing here compares figures of two runs.
//!
//! The crate knows `callgate` only as a program on disk: it must not link a crate of the product, so that it
//! measures what a person installs.

pub mod budget;
pub mod measure;
pub mod message;
pub mod peer;
pub mod policy;
pub mod process;
pub mod session;
pub mod stats;

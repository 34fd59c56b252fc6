//! `callgate clients` as a person uses it, on the files that real clients write, and real clients on what it wrote.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod listing;
mod protecting;
mod published;
mod restoring;
mod running;

//! Controls: what a call is held against beside its policy. Counters that all gates share, allowances, the pause switch,
//! settings, requests to a session's server, the tools that servers listed, and which of their definitions are accepted.
//!
//! One promise lives here: *exactly counted* (no interleaving of gates exceeds a limit, see [`limits`]). Judging is the
//! policy's, the record is the journal's; neither is known here.

#![deny(unsafe_code)]

pub mod allowance;
pub mod approval;
pub mod catalogue;
pub mod classes;
pub mod control;
pub mod counters;
pub mod decider;
mod files;
mod kind;
mod known_classes;
pub mod limits;
pub mod patience;
pub mod pause;
pub mod pin;
mod prepare;
pub mod settings;
pub mod sqlite;
pub mod vendor_keys;
pub mod wal;

pub use files::Disk;
pub use kind::CounterKind;
pub use known_classes::KnownClasses;
pub use limits::{Capped, Full};
pub use prepare::prepare_home;
pub use settings::Settings;
pub use wal::write_back;

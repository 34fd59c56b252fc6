//! The harness of the end-to-end tests: it starts the real `callgate` between a scripted client and a scripted
//! server and judges the bytes that came out at either end.
//!
//! It deliberately shares no code with the crates it tests: an oracle that used our own parser would agree with
//! our own mistakes.

pub mod corpus;
pub mod gate;
pub mod history;
pub mod http;
pub mod installed;
pub mod json;
#[cfg(unix)]
pub mod keychain;
pub mod model;
pub mod not_here;
pub mod notation;
pub mod oracle;
pub mod page;
#[cfg(unix)]
pub mod person;
#[cfg(unix)]
pub mod playwright;
pub mod processes;
pub mod readers;
pub mod runner;
pub mod script;
pub mod session;
pub mod site;
#[cfg(target_os = "linux")]
pub mod small_disk;
#[cfg(unix)]
pub mod terminal;
pub mod walk;

//! How the window does on a long history, as lines of `what<TAB>figure`; `cargo xtask bench` shows them in its tables.
//!
//! ```text
//! window_time --server ECHO_SERVER --history HOME --seconds N [--only memory]
//! ```
//!
//! The real app (`CALLGATE_APP_BIN`, with the gate `CALLGATE_BIN`) on a desktop of its own and a copy of that home. Calls
//! come from real sessions of other processes. Nothing here judges: figures are read against a budget by the bench.

#[cfg(target_os = "linux")]
mod feed;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod hour;
#[cfg(target_os = "linux")]
mod pages;
#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
use run::{main, note};

#[cfg(not(target_os = "linux"))]
fn main() {}

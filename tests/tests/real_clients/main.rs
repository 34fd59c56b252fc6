//! Large published clients on files that `callgate clients` wrote, without an account, and with a proxy setting that leads
//! nowhere for all but this machine.
//!
//! Only `cargo xtask test --real-clients` installs them and builds this. What it showed is written down in `docs/clients.md`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod approving;
mod calling;
mod client;
mod codex;
mod connecting;
mod ending;
mod rewriting;

//! Owns a server's process tree: starts it, tells how it ended, and leaves nothing of it behind.
//!
//! # How it works
//!
//! [`start`] runs first thing in the shim's `main`. It forks the *keeper*: a copy of the process that runs nothing but a
//! poll loop, in a session of its own, away from the client's signals. The keeper starts the server, so everything that the
//! server ever starts is below the keeper, and orphans come back to it because it is a child subreaper.
//!
//! ```text
//! client ── shim (subreaper) ── keeper (subreaper, own session) ── server ── npx, node, browsers …
//!              │  control socket ──▶│        start (with the server's pipes), end; closed: end the tree and go
//!              │◀── status pipe     │        started, failed, exited, done
//!              └─ stdin, stdout, stderr of the server: shim and server only
//! ```
//!
//! A session can outlive its server: [`Keeper::end`] ends the tree and keeps the keeper, [`Keeper::again`] makes new pipes
//! and has the keeper start the server anew. Each start is a *generation*; the next one begins only when nothing of the one
//! before is left, so no process ever has two generations around it.
//!
//! - **The shim ends in any way**: the kernel closes its end of the control pipe. The keeper waits for the tree to end by
//!   itself (its stdin is closed as well), then SIGTERM, then SIGKILL, and looks again. When nothing is left it does what
//!   the session wants done [afterwards](Afterwards), and goes.
//! - **The server ends**: its status is reported at once, then what is left of its tree is ended. The keeper waits for what
//!   it is told next.
//! - **The keeper is killed**: the server dies with it (parent-death signal), the rest comes to the shim, whose
//!   [`Keeper::take_over`] ends it.
//! - **Both are killed at once**: what is left still carries the [`MARKER`] of its session, or was written down with its number
//!   and start by somebody who looked ([`tree_of`]); [`sweep`] finds it by either.
//!
//! A shim that needs time or threads before it knows all that the server is to be started with calls [`prepare`] instead: the
//! keeper is forked at once, and waits for the rest.
//!
//! Windows has no fork and needs no keeper: a Job Object that dies with the shim does the work, and one inside it for each
//! generation. macOS has no subreaper:
//! process group and descendants as far as they can be seen, see `macos/tree.rs`.
//!
//! This crate knows nothing of the protocol, of policies or of the store: it is told a command and a session's name.

#[cfg(any(target_os = "macos", windows, test))]
mod ancestry;
mod ending;
mod launch;
mod measure;
mod process_id;
mod search;
#[cfg(any(windows, test))]
mod windows_parsing;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as platform;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
use macos as system;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as platform;
#[cfg(windows)]
use windows as system;

pub use ending::{Ending, StartError, StartFailure};
pub use launch::{Afterwards, Grace, Launch, MARKER, Pipes};
pub use measure::Measured;
pub use platform::{HeldSignals, Keeper, Prepared, Server, login_path, prepare, start};
pub use process_id::{Left, ObservedProcess, ProcessId, Recorded};
pub use search::{find, wider_path};
pub use system::{
    ancestry, arguments, client_above, end, everyone, identify, leftovers, lives, memory_of, session_above,
    session_of, sweep, tree_of,
};

#[cfg(target_os = "linux")]
pub use linux::{forget_start, share_heaps};

/// Other systems keep a start's pages no longer than they want to.
#[cfg(not(target_os = "linux"))]
pub fn forget_start() {}

/// Other systems have one heap.
#[cfg(not(target_os = "linux"))]
pub fn share_heaps() {}

/// How far a process sees who started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry {
    /// To the first process of the machine, or as far as this system tells at all.
    Whole,
    /// To one that started then: what is older may be above it, unseen.
    Since { since_ms: i64 },
    /// Not at all.
    Unknown,
}

/// What the caller knows of a session whose marker [`sweep`] found on a process.
///
/// Three answers, not two: another home directory has sessions that we have never heard of, and they may be running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Its shim runs: its processes are left alone.
    Alive,
    /// We know it, and its shim is gone: what it left is ended.
    Ended,
    /// Not one of ours (another home): left alone.
    Unknown,
}

/// A process that [`sweep`] ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    pub id: ProcessId,
    /// What it called itself.
    pub name: String,
    /// Its command line: foreign text, and the secrets of its session may be in it.
    pub arguments: Vec<String>,
    /// The dead session that it belonged to.
    pub session: String,
    /// Whether it was seen to be gone. False for one that even SIGKILL did not end in time (stuck in the kernel).
    pub gone: bool,
}

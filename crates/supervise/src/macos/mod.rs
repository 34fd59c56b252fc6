//! What macOS has for owning processes: sessions, process groups and a list of processes. Best effort, and said so.
//!
//! Not covered, because the system has neither subreapers nor parent-death signals:
//! - A process that left the server's group *and* lost its parent between two looks is not found (a daemon by double fork).
//!   The keeper looks whenever a child of its own ends, once a second while the server serves and, while a tree is being
//!   ended, every 50 ms.
//! - When the keeper is killed with `-9`, the server is ended by the shim (by its group), not by the kernel.
//! - [`sweep`] goes by what was written down, and by ancestry below that: another process' environment is readable for some
//!   processes only, so a marker is not looked for.
//! - What left the server's group and lost its parent is known to the keeper alone, which ends it. The shim, which measures,
//!   does not count it.

mod census;
mod measure;
mod tree;

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::Pid;

use crate::{MARKER, StartError};

pub use census::{arguments, end, everyone, identify, leftovers, lives, session_of, sweep, tree_of};
pub(crate) use measure::measure;
pub use measure::memory_of;
pub(crate) use tree::{Tree, await_end};

/// Orphans go to launchd; there is nothing to ask for.
pub(crate) fn adopt_orphans() {}

/// No such thing here: the shim ends the server's group when the keeper is lost.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn die_with_parent(_keeper: Pid) -> io::Result<()> {
    Ok(())
}

/// A process keeps the name of its file here.
pub(crate) fn name_keeper() {}

/// Nobody looks for one here.
pub(crate) fn wear_badge(_session: &str) -> Option<OwnedFd> {
    None
}

/// Takes the caller's word.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn single_threaded() -> Result<(), StartError> {
    Ok(())
}

/// There are no namespaces that hide ancestors; nobody looks at them here.
pub fn ancestry() -> crate::Ancestry {
    crate::Ancestry::Whole
}

/// Nobody looks at ancestors here.
pub fn client_above(_gates: &[crate::ProcessId]) -> Option<(crate::ProcessId, crate::ObservedProcess)> {
    None
}

/// The session whose tree this process belongs to, by its own environment only.
pub fn session_above() -> Option<String> {
    let session = std::env::var_os(MARKER).filter(|session| !session.is_empty())?;
    Some(session.to_string_lossy().into_owned())
}

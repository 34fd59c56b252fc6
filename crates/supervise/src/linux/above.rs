//! Whether this process was started, by however many steps, by a server of a session.

use rustix::process::getpid;

use super::keeper::session_kept_by;
use super::process::Process;
use super::tree::Snapshot;
use crate::MARKER;

/// The session whose tree this process belongs to, if any: by its own environment, else by an ancestor's, else by an ancestor
/// that is a session's keeper. So neither a cleared environment nor a detached parent hides it. Ancestors whose environment
/// cannot be read (another user's) are passed over.
pub fn session_above() -> Option<String> {
    if let Some(session) = std::env::var_os(MARKER).filter(|session| !session.is_empty()) {
        return Some(session.to_string_lossy().into_owned());
    }
    let snapshot = Snapshot::take()?;
    // Our own too: a variable that was removed since is still what we were started with.
    snapshot
        .line_of(getpid())
        .into_iter()
        .find_map(|process: &Process| process.marker().or_else(|| session_kept_by(process)))
}

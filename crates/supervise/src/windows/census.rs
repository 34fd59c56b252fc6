//! Who runs. Little is asked here: nothing can be left behind, because the kernel ends a job with its last handle.

use crate::{Left, ProcessId, Recorded, Seen, SessionState, Swept};

use super::raw;

/// Nobody: there is no cheap list of processes with their parents that could be trusted.
pub fn everyone() -> Vec<Seen> {
    Vec::new()
}

/// Nobody, likewise.
pub fn tree_of(_root: u32) -> Vec<Seen> {
    Vec::new()
}

/// The process that has this number now.
pub fn identify(pid: u32) -> Option<ProcessId> {
    let process = raw::open(pid)?;
    Some(ProcessId { pid, start: raw::created(&process)? })
}

/// Whether this very process is still there.
pub fn lives(id: ProcessId) -> bool {
    identify(id.pid) == Some(id)
}

/// Not to be had without reading the memory of the other process.
pub fn arguments(_pid: u32) -> Vec<String> {
    Vec::new()
}

/// Likewise.
pub fn session_of(_pid: u32) -> Option<String> {
    None
}

/// Ends these at once (there is no SIGTERM here); says of each whether it was seen to be gone.
pub fn end(ids: &[ProcessId]) -> Vec<(ProcessId, bool)> {
    let ended = |id: &ProcessId| {
        // The handle stays with this very process; its start says whether it is the one that is meant.
        let process = raw::open(id.pid).filter(|process| raw::created(process) == Some(id.start));
        (*id, process.is_none_or(|process| raw::terminate(&process)))
    };
    ids.iter().map(ended).collect()
}

/// Nothing can be left.
pub fn leftovers(_state: impl Fn(&str) -> SessionState, _recorded: &[Recorded]) -> Vec<Left> {
    Vec::new()
}

/// Ends nothing, because nothing can be left: the kernel ends a job with its last handle.
pub fn sweep(_state: impl Fn(&str) -> SessionState, _recorded: &[Recorded]) -> Vec<Swept> {
    Vec::new()
}

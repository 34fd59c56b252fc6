//! Who runs. Nothing can be left behind here, because the kernel ends a job with its last handle: this is for those who show a
//! tree or end one by hand.

use std::collections::HashMap;
use std::os::windows::io::OwnedHandle;

use super::raw;
use crate::windows_parsing::{program_name, with_true_parents};
use crate::{Left, ObservedProcess, ProcessId, Recorded, SessionState, Swept, ancestry};

/// Everyone that we may look at. A process whose parent is gone, or not for us to look at, has none.
pub fn everyone() -> Vec<ObservedProcess> {
    // A number is not given away while somebody has a handle on its process. So whoever is in a list that is made now is the one
    // that the handle is on, and its parent and its start are told of the same.
    let held: HashMap<u32, OwnedHandle> =
        raw::listed().into_iter().filter_map(|one| Some((one.pid, raw::open(one.pid)?))).collect();
    let seen = raw::listed().into_iter().filter_map(|one| {
        let start = raw::created(held.get(&one.pid)?)?;
        Some(ObservedProcess {
            id: ProcessId { pid: one.pid, start },
            parent: Some(one.parent),
            name: program_name(&one.file).to_owned(),
        })
    });
    with_true_parents(seen.collect())
}

/// Everyone below a process, without itself. Who lost its parent is below nobody; the job, which has it still, is known to the
/// shim alone.
pub fn tree_of(root: u32) -> Vec<ObservedProcess> {
    let all = everyone();
    ancestry::below(&all, root, |one| (one.id.pid, one.parent)).into_iter().cloned().collect()
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
        let process = raw::open_to_end(id.pid).filter(|process| raw::created(process) == Some(id.start));
        let ended = process.is_some_and(|process| raw::terminate(&process));
        // One that is not ours to end may be there still.
        (*id, ended || !lives(*id))
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

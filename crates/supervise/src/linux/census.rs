//! Who runs at this moment, for those who write it down or show it.

use rustix::process::Pid;

use super::process::{Process, await_end};
use super::sweep::{KILL, ProcessNamespace, TERM};
use super::tree::Snapshot;
use crate::{ObservedProcess, ProcessId};

/// Everyone that can be seen but for those that have ended; empty where there is no `/proc`.
pub fn everyone() -> Vec<ObservedProcess> {
    let Some(snapshot) = Snapshot::take() else { return Vec::new() };
    snapshot.processes.values().filter(|process| !process.is_zombie()).map(seen).collect()
}

/// Everyone below a process, without itself and without those that have ended.
pub fn tree_of(root: u32) -> Vec<ObservedProcess> {
    let (Some(root), Some(snapshot)) = (pid(root), Snapshot::take()) else { return Vec::new() };
    let below = snapshot.below(root, |_| true);
    below.into_iter().filter(|process| !process.is_zombie()).map(seen).collect()
}

/// The process that has this number now.
pub fn identify(number: u32) -> Option<ProcessId> {
    let process = Process::read(pid(number)?)?;
    (!process.is_zombie()).then(|| process.known())
}

/// Whether this very process is still there.
pub fn lives(id: ProcessId) -> bool {
    identify(id.pid) == Some(id)
}

/// The command line of a process as it is now; empty when it cannot be read. Foreign text.
pub fn arguments(number: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    // A process that wrote its line anew may have filled the rest of the old one up.
    let end = line.iter().rposition(|byte| *byte != 0 && *byte != b' ').map_or(0, |last| last + 1);
    if end == 0 {
        return Vec::new();
    }
    line[..end].split(|byte| *byte == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect()
}

/// The session that a process was started for, by its environment.
pub fn session_of(number: u32) -> Option<String> {
    Process::read(pid(number)?)?.marker()
}

/// Ends these, first with SIGTERM; says of each whether it was seen to be gone. Left alone and not gone: what is another
/// user's or in another pid namespace. Blocks for a second at most.
pub fn end(ids: &[ProcessId]) -> Vec<(ProcessId, bool)> {
    let here = ProcessNamespace::of(rustix::process::getpid());
    let ours = |process: &Process| here.is_some() && ProcessNamespace::of(process.pid) == here;
    let there = |id: &ProcessId| Process::read(pid(id.pid)?).filter(|now| now.known() == *id && ours(now));
    let found: Vec<Process> = ids.iter().filter_map(there).collect();
    for process in &found {
        process.signal(rustix::process::Signal::TERM);
        process.signal(rustix::process::Signal::CONT);
    }
    await_end(&found, TERM);
    for process in &found {
        process.signal(rustix::process::Signal::KILL);
    }
    await_end(&found, KILL);
    ids.iter().map(|id| (*id, !lives(*id))).collect()
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

pub(super) fn seen(process: &Process) -> ObservedProcess {
    ObservedProcess {
        id: process.known(),
        parent: process.parent.map(|pid| pid.as_raw_nonzero().get().unsigned_abs()),
        name: process.name.clone(),
    }
}

//! Who runs at this moment, for those who write it down or show it; and the sweep by what was written down.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid};

use super::tree::{Process, arguments_of, await_end, describe, everyone as all};
use crate::{Left, ObservedProcess, ProcessId, Recorded, SessionState, Swept, ancestry};

/// Nobody waits for these any more: SIGTERM is a courtesy.
const TERM: Duration = Duration::from_millis(500);
const KILL: Duration = Duration::from_millis(500);

/// Everyone that can be seen but for those that have ended.
pub fn everyone() -> Vec<ObservedProcess> {
    all().iter().map(seen).collect()
}

/// Everyone below a process, without itself.
pub fn tree_of(root: u32) -> Vec<ObservedProcess> {
    let Some(root) = pid(root) else { return Vec::new() };
    below(&all(), root).iter().map(seen).collect()
}

/// The process that has this number now.
pub fn identify(number: u32) -> Option<ProcessId> {
    describe(pid(number)?).map(|process| process.known())
}

/// Whether this very process is still there.
pub fn lives(id: ProcessId) -> bool {
    identify(id.pid) == Some(id)
}

/// The command line of a process as it is now; empty when it cannot be read. Foreign text.
pub fn arguments(number: u32) -> Vec<String> {
    pid(number).map(arguments_of).unwrap_or_default()
}

/// Another process' environment is readable for some processes only: not looked at.
pub fn session_of(_pid: u32) -> Option<String> {
    None
}

/// Ends these, first with SIGTERM; says of each whether it was seen to be gone. Blocks for a second at most.
pub fn end(ids: &[ProcessId]) -> Vec<(ProcessId, bool)> {
    let there = |id: &ProcessId| describe(pid(id.pid)?).filter(|now| now.known() == *id);
    let found: Vec<Process> = ids.iter().filter_map(there).collect();
    for process in &found {
        process.signal(Signal::TERM);
        process.signal(Signal::CONT);
    }
    await_end(&found, TERM);
    for process in &found {
        process.signal(Signal::KILL);
    }
    await_end(&found, KILL);
    ids.iter().map(|id| (*id, !lives(*id))).collect()
}

/// What sessions that `state` calls ended left behind: recorded with exactly this number and start, or below one of these.
/// Left out: this process and its ancestors, and what has the process of a living session above it.
pub fn leftovers(state: impl Fn(&str) -> SessionState, recorded: &[Recorded]) -> Vec<Left> {
    let all = all();
    let own = above(&all, getpid());
    let living: HashSet<ProcessId> =
        recorded.iter().filter(|one| state(&one.session) != SessionState::Ended).map(|one| one.id).collect();
    let kept = |process: &Process| {
        let line = above(&all, process.pid);
        own.contains(&process.pid)
            || all.iter().any(|other| line.contains(&other.pid) && living.contains(&other.known()))
    };
    let mut found: HashMap<ProcessId, String> = HashMap::new();
    for one in recorded.iter().filter(|one| state(&one.session) == SessionState::Ended) {
        let Some(process) = all.iter().find(|process| process.known() == one.id) else { continue };
        for process in std::iter::once(*process).chain(below(&all, process.pid)) {
            if !kept(&process) {
                found.entry(process.known()).or_insert_with(|| one.session.clone());
            }
        }
    }
    found.into_iter().map(|(id, session)| Left { id, session }).collect()
}

/// Ends what [`leftovers`] finds, and returns it.
pub fn sweep(state: impl Fn(&str) -> SessionState, recorded: &[Recorded]) -> Vec<Swept> {
    let left = leftovers(state, recorded);
    let lines: Vec<Vec<String>> = left.iter().map(|one| arguments(one.id.pid)).collect();
    let ids: Vec<ProcessId> = left.iter().map(|one| one.id).collect();
    let ended = end(&ids);
    let swept = left.into_iter().zip(lines).zip(ended).map(|((one, arguments), (_, gone))| {
        let name = named_by(&arguments).unwrap_or("process").to_owned();
        Swept { id: one.id, name, arguments, session: one.session, gone }
    });
    swept.collect()
}

pub(super) fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn seen(process: &Process) -> ObservedProcess {
    let name = name_of(process).unwrap_or_default();
    ObservedProcess { id: process.known(), parent: process.parent.map(number), name }
}

/// What a process calls itself: the file of its first argument. Nothing, where the system does not tell.
pub(super) fn name_of(process: &Process) -> Option<String> {
    named_by(&arguments_of(process.pid)).map(str::to_owned)
}

fn named_by(arguments: &[String]) -> Option<&str> {
    arguments.first().and_then(|program| program.rsplit('/').next())
}

fn below(all: &[Process], root: Pid) -> Vec<Process> {
    let below =
        ancestry::below(all, number(root), |process| (process.known().pid, process.parent.map(number)));
    below.into_iter().copied().collect()
}

/// The numbers of the process itself and of all above it.
fn above(all: &[Process], pid: Pid) -> HashSet<Pid> {
    let mut line = HashSet::new();
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|pid| line.insert(*pid)) {
        next = all.iter().find(|process| process.pid == pid).and_then(|process| process.parent);
    }
    line
}

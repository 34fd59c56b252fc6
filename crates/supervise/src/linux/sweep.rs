//! Ends what a session left behind whose shim *and* keeper were killed.
//!
//! Known by the session's marker in the environment that a process was started with, by number and start as somebody wrote
//! them down while the session lived (a crash handler carries no marker and has no parent), and by ancestry below such a
//! process (browsers overwrite their environment). Never by name, and never outside our own user and pid namespace.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, getpid};

use super::census::arguments;
use super::keeper::session_kept_by;
use super::process::{Process, await_end};
use super::tree::Snapshot;
use crate::{Left, ProcessId, Recorded, SessionState, Swept};

/// Nobody waits for these any more: SIGTERM is a courtesy.
pub(super) const TERM: Duration = Duration::from_millis(500);
pub(super) const KILL: Duration = Duration::from_millis(500);
/// A tree may grow while it is being ended.
const ROUNDS: usize = 5;

/// Every process of a session that `state` calls ended: marked, or recorded with exactly this number and start, or below one
/// of these. `recorded` is what was written down during this boot and in this pid namespace.
///
/// Left out: sessions that `state` calls alive or unknown; this process, its ancestors, and every session that it is itself
/// below; what a keeper still works on; other users; other pid namespaces.
pub fn leftovers(state: impl Fn(&str) -> SessionState, recorded: &[Recorded]) -> Vec<Left> {
    let found = find(&state, recorded).into_iter();
    found.map(|Leftover { process, session }| Left { id: process.known(), session }).collect()
}

/// Ends what [`leftovers`] finds, and returns it. Blocks for a second or so when there is any.
pub fn sweep(state: impl Fn(&str) -> SessionState, recorded: &[Recorded]) -> Vec<Swept> {
    let mut swept: Vec<Swept> = Vec::new();
    for round in 0..ROUNDS {
        let leftovers = find(&state, recorded);
        if leftovers.is_empty() {
            break;
        }
        for Leftover { process, session } in &leftovers {
            if !swept.iter().any(|known| known.id == process.known()) {
                let (id, name) = (process.known(), process.name.clone());
                let arguments = arguments(id.pid);
                swept.push(Swept { id, name, arguments, session: session.clone(), gone: false });
            }
        }
        let processes: Vec<Process> = leftovers.into_iter().map(|leftover| leftover.process).collect();
        if round == 0 {
            for process in &processes {
                process.signal(Signal::TERM);
                process.signal(Signal::CONT);
            }
            await_end(&processes, TERM);
        }
        for process in &processes {
            process.signal(Signal::KILL);
        }
        await_end(&processes, KILL);
        for entry in &mut swept {
            let process = processes.iter().find(|process| process.known() == entry.id);
            entry.gone = entry.gone || process.is_none_or(|process| !process.lives());
        }
    }
    swept.sort_by_key(|process| process.id);
    swept
}

struct Leftover {
    process: Process,
    session: String,
}

fn find(state: &impl Fn(&str) -> SessionState, recorded: &[Recorded]) -> Vec<Leftover> {
    let Some(snapshot) = Snapshot::take() else { return Vec::new() };
    let Some(here) = ProcessNamespace::of(getpid()) else { return Vec::new() };
    let own_line = snapshot.line_of(getpid());
    let own_sessions: HashSet<String> = own_line.iter().filter_map(|process| process.marker()).collect();
    let own_line: HashSet<Pid> = own_line.into_iter().map(|process| process.pid).collect();

    // In the way of no one: ours to signal, ended by nobody else, and not what we stand on.
    let ours = |process: &Process| {
        !process.is_zombie()
            && !own_line.contains(&process.pid)
            && ProcessNamespace::of(process.pid).as_ref() == Some(&here)
    };
    let abandoned = |session: &str| !own_sessions.contains(session) && state(session) == SessionState::Ended;
    let being_kept = |process: &Process| {
        snapshot.line_of(process.pid).into_iter().any(|above| session_kept_by(above).is_some())
    };

    let recorded: HashMap<ProcessId, &str> =
        recorded.iter().map(|one| (one.id, one.session.as_str())).collect();
    // A marker says more than a record: below the tree of one session there may be that of another.
    let session_of = |process: &Process| {
        process.marker().or_else(|| recorded.get(&process.known()).map(|session| (*session).to_owned()))
    };
    let mut found: Vec<Leftover> = Vec::new();
    let mut seen: HashSet<Pid> = HashSet::new();
    for process in snapshot.processes.values().filter(|process| ours(process)) {
        let Some(session) = session_of(process).filter(|session| abandoned(session)) else { continue };
        if being_kept(process) {
            continue;
        }
        let below = snapshot.below(process.pid, |child| {
            // A session of its own below a dead one decides for itself; its shim, which is marked as ours, is ended.
            child.is_zombie() || (ours(child) && child.marker().is_none_or(|marker| abandoned(&marker)))
        });
        for process in std::iter::once(process).chain(below) {
            if !process.is_zombie() && seen.insert(process.pid) {
                found.push(Leftover { process: process.clone(), session: session.clone() });
            }
        }
    }
    found
}

/// Whose a process is, and in which world its number means anything.
#[derive(PartialEq, Eq)]
pub(super) struct ProcessNamespace {
    user: u32,
    pid_namespace: PathBuf,
}

impl ProcessNamespace {
    pub(super) fn of(pid: Pid) -> Option<ProcessNamespace> {
        let directory = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
        let user = if pid == getpid() { geteuid().as_raw() } else { fs::metadata(&directory).ok()?.uid() };
        let pid_namespace = fs::read_link(directory.join("ns/pid")).ok()?;
        Some(ProcessNamespace { user, pid_namespace })
    }
}

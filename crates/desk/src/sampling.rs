//! What the whole process tree of each running session takes: the shim, its keeper, the server, and whatever those
//! started (npx grandchildren, browsers).
//!
//! A sampler remembers the last look, because the share of a core is a difference of two.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use callgate_home::Lease;
use callgate_redaction::Masker;
use callgate_supervise::{arguments, identify, memory_of};
use callgate_trees::{Here, ProcessKind, Texts};
use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use crate::view::{ProcessView, TreeView, Usage};

/// What a process takes is looked up this often: it costs more than everything else that is looked at.
const WEIGHED: Duration = Duration::from_secs(5);

/// How a process' command line is told.
#[derive(Clone, Copy, Debug)]
pub enum Telling<'a> {
    /// It belongs to a session, whose secrets may be in it.
    Session(&'a Texts),
    /// It belongs to none.
    Stranger(&'a Masker),
}

#[derive(Debug)]
pub struct Sampler {
    system: System,
    here: Here,
    /// Processes of each session when it was looked at last, with the second in which they started. One that was
    /// started by a parent which is gone is found again by this.
    known: HashMap<String, HashSet<(Pid, u64)>>,
    /// What those took, and when that was looked up.
    weighed: HashMap<(Pid, u64), (Instant, u64)>,
}

/// What one process takes.
#[derive(Clone, Copy, Debug)]
struct Share {
    parent: Option<Pid>,
    started: u64,
    /// It ended, and only its number is still there.
    ended: bool,
    cpu_percent: f32,
    memory_bytes: u64,
}

impl Sampler {
    /// None if this system does not tell.
    pub fn new(here: Here) -> Option<Sampler> {
        Some(Sampler { system: System::new().ok()?, here, known: HashMap::new(), weighed: HashMap::new() })
    }

    /// Looks at every process once. The first look knows no shares of a core yet; looks should be at least a fifth of a
    /// second apart. Of a session whose processes cannot be seen from here nothing is told.
    pub fn sample(&mut self, leases: &[Lease], now_ms: i64) -> Vec<Usage> {
        if leases.is_empty() {
            self.known.clear();
            self.weighed.clear();
            return Vec::new();
        }
        self.look(ProcessRefreshKind::nothing().with_cpu());
        let mut shares: HashMap<Pid, Share> = self
            .system
            .processes()
            .iter()
            // A thread is no process of its own; what it takes is in its process.
            .filter(|(_, process)| process.thread_kind().is_none())
            .map(|(pid, process)| {
                let share = Share {
                    parent: process.parent(),
                    started: process.start_time(),
                    ended: process.status() == ProcessStatus::Zombie,
                    cpu_percent: process.cpu_usage(),
                    // Resident pages; of a session's own processes what they really take, below.
                    memory_bytes: process.memory(),
                };
                (*pid, share)
            })
            .collect();
        let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
        for (pid, share) in &shares {
            if let Some(parent) = share.parent {
                children.entry(parent).or_default().push(*pid);
            }
        }
        let mut known = HashMap::new();
        let mut usages = Vec::new();
        for lease in leases {
            if !self.here.has(lease) {
                continue;
            }
            let session = lease.session.to_string();
            let before = self.known.remove(&session).unwrap_or_default();
            let tree = tree(lease, &shares, &children, &before);
            self.weigh(&tree, &mut shares);
            usages.push(usage(lease, &tree, &shares, now_ms));
            known.insert(session, tree);
        }
        let there: HashSet<(Pid, u64)> = known.values().flatten().copied().collect();
        self.weighed.retain(|process, _| there.contains(process));
        self.known = known;
        usages
    }

    /// The same number that the limits go by: what processes share is counted once in the sum of a tree.
    fn weigh(&mut self, tree: &HashSet<(Pid, u64)>, shares: &mut HashMap<Pid, Share>) {
        for process in tree {
            let known =
                self.weighed.get(process).filter(|(at, _)| at.elapsed() < WEIGHED).map(|(_, taken)| *taken);
            let taken = known.or_else(|| {
                let taken = memory_of(process.0.as_u32())?;
                self.weighed.insert(*process, (Instant::now(), taken));
                Some(taken)
            });
            if let (Some(taken), Some(share)) = (taken, shares.get_mut(&process.0)) {
                share.memory_bytes = taken;
            }
        }
    }

    /// What a process takes, as of the last look at its session; of one that belongs to none, now.
    fn taken(&self, pid: Pid, process: &Process) -> u64 {
        let known = self.weighed.get(&(pid, process.start_time())).map(|(_, taken)| *taken);
        known.or_else(|| memory_of(pid.as_u32())).unwrap_or_else(|| process.memory())
    }

    /// Looks who is there, whatever session they belong to. What they take of the processor stays as of the last sample: it is
    /// a difference of two looks, and one in between would leave next to nothing of it.
    pub fn refresh(&mut self) {
        self.look(ProcessRefreshKind::nothing());
    }

    fn look(&mut self, kind: ProcessRefreshKind) {
        let kind = kind.with_memory().with_cmd(UpdateKind::OnlyIfNotSet).without_tasks();
        self.system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
    }

    /// Who was in a session's tree at the last sample: numbers that change when somebody comes or goes.
    pub fn members(&self, session: &str) -> BTreeSet<(u32, u64)> {
        let known = self.known.get(session).into_iter().flatten();
        known.map(|(pid, started)| (pid.as_u32(), *started)).collect()
    }

    /// The trees of the last sample, process by process.
    pub fn trees(&self, leases: &[Lease], now_ms: i64, texts: &Texts) -> Vec<TreeView> {
        let of = |lease: &Lease| {
            let session = lease.session.to_string();
            let members: HashSet<Pid> =
                self.known.get(&session).into_iter().flatten().map(|(pid, _)| *pid).collect();
            let processes = self.in_order(&members, Telling::Session(texts));
            TreeView {
                session,
                server: lease.server.clone(),
                client: lease.client.clone(),
                started_ms: lease.started_ms,
                at_ms: now_ms,
                elsewhere: self.here.why_not(lease).map(str::to_owned),
                cpu_percent: processes.iter().map(|one| one.cpu_percent).sum(),
                memory_bytes: processes.iter().map(|one| one.memory_bytes).sum(),
                processes,
            }
        };
        leases.iter().map(of).collect()
    }

    /// These processes, each parent before its children, as they were at the last look. Who is gone is left out.
    pub fn views(&self, pids: &[u32], telling: Telling<'_>) -> Vec<ProcessView> {
        self.in_order(&pids.iter().map(|pid| Pid::from_u32(*pid)).collect(), telling)
    }

    fn in_order(&self, members: &HashSet<Pid>, telling: Telling<'_>) -> Vec<ProcessView> {
        let mut there: Vec<(Pid, &Process)> =
            members.iter().filter_map(|pid| Some((*pid, self.system.process(*pid)?))).collect();
        // The eldest last: the next one is taken from the end.
        there.sort_by_key(|(pid, process)| std::cmp::Reverse((process.start_time(), *pid)));
        let is_inside = |process: &Process| process.parent().is_some_and(|parent| members.contains(&parent));
        let (inside, mut next): (Vec<_>, Vec<_>) = there
            .into_iter()
            .map(|(pid, process)| (pid, process, 0))
            .partition(|(_, process, _)| is_inside(process));
        let mut left: Vec<(Pid, &Process)> =
            inside.into_iter().map(|(pid, process, _)| (pid, process)).collect();
        let mut views = Vec::new();
        while let Some((pid, process, depth)) = next.pop() {
            views.push(ProcessView {
                memory_bytes: self.taken(pid, process),
                ..view(pid, process, depth, telling)
            });
            // Taken out, not looked up: a circle, which a torn view could show, must not turn for ever.
            let (children, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, process)| process.parent() == Some(pid));
            left = others;
            next.extend(children.into_iter().map(|(pid, process)| (pid, process, depth + 1)));
        }
        views
    }
}

fn view(pid: Pid, process: &Process, depth: u32, telling: Telling<'_>) -> ProcessView {
    // As it is now: a process is forked first and becomes what it is to be a moment later.
    let mut words = arguments(pid.as_u32());
    if words.is_empty() {
        words = process.cmd().iter().map(|word| word.to_string_lossy().into_owned()).collect();
    }
    let name = process.name().to_string_lossy();
    let command = match telling {
        Telling::Session(texts) => texts.shown(identify(pid.as_u32()), &words, &name),
        Telling::Stranger(masker) => masker.command(&words).join(" "),
    };
    ProcessView {
        pid: pid.as_u32(),
        depth,
        what: ProcessKind::of(&words, &name).to_string(),
        command,
        cpu_percent: process.cpu_usage(),
        memory_bytes: 0,
        started_ms: i64::try_from(process.start_time()).unwrap_or(0).saturating_mul(1_000),
    }
}

/// The processes of a session: what descends from its shim, and what did when it was looked at last.
fn tree(
    lease: &Lease,
    shares: &HashMap<Pid, Share>,
    children: &HashMap<Pid, Vec<Pid>>,
    before: &HashSet<(Pid, u64)>,
) -> HashSet<(Pid, u64)> {
    let mut found: HashSet<(Pid, u64)> = HashSet::new();
    let mut looked_at: HashSet<Pid> = HashSet::new();
    let mut left: Vec<Pid> = vec![Pid::from_u32(lease.pid)];
    // A pid that was given to another process since is not the one that was known.
    let still = |(pid, started): &&(Pid, u64)| shares.get(pid).is_some_and(|share| share.started == *started);
    left.extend(before.iter().filter(still).map(|(pid, _)| *pid));
    while let Some(pid) = left.pop() {
        let Some(share) = shares.get(&pid) else { continue };
        if looked_at.insert(pid) {
            // One that ended takes nothing any more, but may still be above others.
            if !share.ended {
                found.insert((pid, share.started));
            }
            left.extend(children.get(&pid).into_iter().flatten().copied());
        }
    }
    found
}

fn usage(lease: &Lease, tree: &HashSet<(Pid, u64)>, shares: &HashMap<Pid, Share>, now_ms: i64) -> Usage {
    let of = tree.iter().filter_map(|(pid, _)| shares.get(pid));
    let (cpu_percent, memory_bytes) =
        of.fold((0.0, 0), |(cpu, memory), share| (cpu + share.cpu_percent, memory + share.memory_bytes));
    Usage {
        session: lease.session.to_string(),
        server: lease.server.clone(),
        at_ms: now_ms,
        cpu_percent,
        memory_bytes,
        processes: u32::try_from(tree.len()).unwrap_or(u32::MAX),
    }
}

#[cfg(all(test, unix))]
#[path = "sampling_tests.rs"]
mod tests;

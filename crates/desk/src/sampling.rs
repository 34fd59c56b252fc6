//! What the whole process tree of each running session takes: the shim, its keeper, the server, and whatever those
//! started (npx grandchildren, browsers).
//!
//! A sampler remembers the last look, because the share of a core is a difference of two.

use std::collections::{HashMap, HashSet};

use callgate_store::Lease;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::view::Usage;

#[derive(Debug)]
pub struct Sampler {
    system: System,
    /// Processes of each session when it was looked at last, with the second in which they started. One that was
    /// started by a parent which is gone is found again by this.
    known: HashMap<String, HashSet<(Pid, u64)>>,
}

/// What one process takes.
#[derive(Clone, Copy, Debug)]
struct Share {
    parent: Option<Pid>,
    started: u64,
    cpu_percent: f32,
    memory_bytes: u64,
}

impl Sampler {
    /// None if this system does not tell.
    pub fn new() -> Option<Sampler> {
        Some(Sampler { system: System::new().ok()?, known: HashMap::new() })
    }

    /// Looks at every process once. The first look knows no shares of a core yet; looks should be at least a fifth of a
    /// second apart.
    pub fn sample(&mut self, leases: &[Lease], now_ms: i64) -> Vec<Usage> {
        if leases.is_empty() {
            self.known.clear();
            return Vec::new();
        }
        let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().without_tasks();
        self.system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
        let shares: HashMap<Pid, Share> = self
            .system
            .processes()
            .iter()
            // A thread is no process of its own; what it takes is in its process.
            .filter(|(_, process)| process.thread_kind().is_none())
            .map(|(pid, process)| {
                let share = Share {
                    parent: process.parent(),
                    started: process.start_time(),
                    cpu_percent: process.cpu_usage(),
                    // Resident pages. What processes share counts in each of them, so the sum of a tree is an upper
                    // bound; the exact share costs a walk through every mapping of every process.
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
            let session = lease.session.to_string();
            let before = self.known.remove(&session).unwrap_or_default();
            let tree = tree(lease, &shares, &children, &before);
            usages.push(usage(lease, &tree, &shares, now_ms));
            known.insert(session, tree);
        }
        self.known = known;
        usages
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
    let mut left: Vec<Pid> = vec![Pid::from_u32(lease.pid)];
    // A pid that was given to another process since is not the one that was known.
    let still = |(pid, started): &&(Pid, u64)| shares.get(pid).is_some_and(|share| share.started == *started);
    left.extend(before.iter().filter(still).map(|(pid, _)| *pid));
    while let Some(pid) = left.pop() {
        let Some(share) = shares.get(&pid) else { continue };
        if found.insert((pid, share.started)) {
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

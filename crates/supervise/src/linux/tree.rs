//! Everything below one process, by ancestry in `/proc`.
//!
//! The root is a child subreaper, so ancestry is complete: a process that loses its parent becomes the root's child, whatever
//! session or group it moved to.

use std::collections::HashMap;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process_group};

use super::process::Process;

/// All processes that can be seen at one moment. (Not one moment really: `/proc` is read one by one. Whoever needs to be
/// sure looks again.)
pub(super) struct Snapshot {
    pub(super) processes: HashMap<Pid, Process>,
}

impl Snapshot {
    /// `None` where there is no `/proc`.
    pub(super) fn take() -> Option<Snapshot> {
        let listing = std::fs::read_dir("/proc").ok()?;
        let pids = listing.filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?));
        let processes: HashMap<Pid, Process> =
            pids.filter_map(Process::read).map(|process| (process.pid, process)).collect();
        processes.contains_key(&getpid()).then_some(Snapshot { processes })
    }

    /// Everything below `root`, zombies included: they may still have children. `enter` says whether to go below one.
    pub(super) fn below(&self, root: Pid, mut enter: impl FnMut(&Process) -> bool) -> Vec<&Process> {
        let mut children: HashMap<Pid, Vec<&Process>> = HashMap::new();
        for process in self.processes.values() {
            if let Some(parent) = process.parent {
                children.entry(parent).or_default().push(process);
            }
        }
        let mut found = Vec::new();
        let mut parents = vec![root];
        while let Some(parent) = parents.pop() {
            // Taken out, not looked up: a circle, which a torn view could show, must not turn for ever.
            for child in children.remove(&parent).unwrap_or_default() {
                if enter(child) {
                    found.push(child);
                    parents.push(child.pid);
                }
            }
        }
        found
    }

    /// The process itself and all above it, nearest first.
    pub(super) fn line_of(&self, pid: Pid) -> Vec<&Process> {
        let mut line: Vec<&Process> = Vec::new();
        let mut next = Some(pid);
        while let Some(process) = next.and_then(|pid| self.processes.get(&pid)) {
            if line.iter().any(|seen| seen.pid == process.pid) {
                break;
            }
            line.push(process);
            next = process.parent;
        }
        line
    }
}

/// The tree below a subreaper.
pub(crate) struct Tree {
    root: Pid,
    /// The server's process group, for when there is no `/proc` to look into.
    group: Option<Pid>,
}

impl Tree {
    /// Not needed: the end of each orphan is told to the subreaper.
    pub(crate) const LOOK_AGAIN: Option<Duration> = None;
    /// Nor is anybody lost sight of while the server serves.
    pub(crate) const LOOK_SERVING: Option<Duration> = None;

    pub(crate) fn below(root: Pid, group: Option<Pid>) -> Tree {
        Tree { root, group }
    }

    /// Whether nothing is left. Whoever has no parent becomes the root's child, so a root without children has no tree.
    pub(crate) fn is_gone(&mut self, childless: bool) -> bool {
        childless
    }

    /// Who is there, without those that have ended.
    fn look(&mut self) -> Vec<Process> {
        let Some(snapshot) = Snapshot::take() else { return Vec::new() };
        let below = snapshot.below(self.root, |_| true);
        below.into_iter().filter(|process| !process.is_zombie()).cloned().collect()
    }

    /// Sends a signal to each process of the tree, once: many programs take a second SIGTERM for "now, without cleaning up",
    /// so the group is not signalled on top. Returns whom it went to.
    pub(crate) fn signal_all(&mut self, signal: Signal) -> Vec<Process> {
        let found = self.look();
        for process in &found {
            process.signal(signal);
        }
        if found.is_empty()
            && let Some(group) = self.group
            && !std::path::Path::new("/proc/self/stat").exists()
        {
            _ = kill_process_group(group, signal);
        }
        found
    }
}

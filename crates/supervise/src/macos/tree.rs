//! The tree below a process: its descendants, the members of the server's group, and whoever was one of these at an earlier
//! look and is still there.

use std::collections::HashSet;
use std::mem::size_of;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::ProcessId;

/// A process, known by number and start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(super) parent: Option<Pid>,
    group: Option<Pid>,
    start: (u64, u64),
}

impl Process {
    fn same(&self, other: &Process) -> bool {
        self.pid == other.pid && self.start == other.start
    }

    pub(super) fn known(&self) -> ProcessId {
        let pid = self.pid.as_raw_nonzero().get().unsigned_abs();
        ProcessId { pid, start: self.start.0.saturating_mul(1_000_000).saturating_add(self.start.1) }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // No handles on processes here: look and send, as near together as can be.
        if describe(self.pid).is_some_and(|now| now.same(self)) {
            _ = kill_process(self.pid, signal);
        }
    }
}

pub(crate) struct Tree {
    root: Pid,
    group: Option<Pid>,
    /// Seen before; an orphan among them has nothing left that leads to it.
    remembered: Vec<Process>,
}

impl Tree {
    /// Nobody tells us of the end of a process that is not our child.
    pub(crate) const LOOK_AGAIN: Option<Duration> = Some(Duration::from_millis(50));
    /// A browser that was started in a group of its own is found after its server's end only if it was seen before. The list
    /// of processes costs about a millisecond.
    pub(crate) const LOOK_SERVING: Option<Duration> = Some(Duration::from_secs(1));

    pub(crate) fn below(root: Pid, group: Option<Pid>) -> Tree {
        Tree { root, group, remembered: Vec::new() }
    }

    /// Whether nothing is left that we know of. Orphans are nobody's children here: look.
    pub(crate) fn is_gone(&mut self, childless: bool) -> bool {
        let left = self.look();
        childless && left.is_empty()
    }

    /// Who is there, without those that have ended.
    fn look(&mut self) -> Vec<Process> {
        self.remembered = self.members(everyone());
        self.remembered.clone()
    }

    /// Those of all that are in the tree.
    fn members(&self, all: Vec<Process>) -> Vec<Process> {
        let mut members: HashSet<Pid> = HashSet::from([self.root]);
        let belongs = |process: &Process, members: &HashSet<Pid>| {
            process.parent.is_some_and(|parent| members.contains(&parent))
                || (self.group.is_some() && process.group == self.group)
                || self.remembered.iter().any(|known| known.same(process))
        };
        // Until a pass adds nobody: the list is in no useful order.
        loop {
            let before = members.len();
            members.extend(
                all.iter()
                    .filter(|process| belongs(process, &members))
                    .map(|process| process.pid)
                    .collect::<Vec<_>>(),
            );
            if members.len() == before {
                break;
            }
        }
        members.remove(&self.root);
        all.into_iter().filter(|process| members.contains(&process.pid)).collect()
    }

    /// Sends a signal to each process of the tree. Returns whom it went to.
    pub(crate) fn signal_all(&mut self, signal: Signal) -> Vec<Process> {
        let found = self.look();
        for process in &found {
            process.signal(signal);
        }
        // Twice is no harm for SIGKILL, and catches who was forked in between.
        if signal == Signal::KILL
            && let Some(group) = self.group
            && found.iter().any(|process| process.group == Some(group))
        {
            _ = kill_process_group(group, signal);
        }
        found
    }
}

/// The tree of a keeper as another process sees it at one moment: its descendants, and the group of the server that it started,
/// which is the one child of its own that leads a group.
pub(super) fn seen_below(keeper: Pid) -> Vec<Process> {
    let all = everyone();
    let leads = |process: &&Process| process.parent == Some(keeper) && process.group == Some(process.pid);
    let server = all.iter().find(leads).map(|process| process.pid);
    Tree::below(keeper, server).members(all)
}

/// Waits until all of these have ended, at most for `limit`.
pub(crate) fn await_end(processes: &[Process], limit: Duration) {
    let until = Instant::now() + limit;
    let there = |process: &Process| describe(process.pid).is_some_and(|now| now.same(process));
    while processes.iter().any(there) && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
}

pub(super) fn everyone() -> Vec<Process> {
    pids().into_iter().filter_map(describe).collect()
}

#[expect(unsafe_code, reason = "the list of processes has no safe form")]
fn pids() -> Vec<Pid> {
    // SAFETY: a null buffer asks for the number of processes only.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Room for those that are started in between.
    let mut numbers: Vec<libc::pid_t> = vec![0; usize::try_from(count).unwrap_or(0) + 64];
    let bytes = i32::try_from(numbers.len() * size_of::<libc::pid_t>()).unwrap_or(0);
    // SAFETY: the buffer is as long as is said, and outlives the call.
    let count = unsafe { libc::proc_listallpids(numbers.as_mut_ptr().cast(), bytes) };
    numbers.truncate(usize::try_from(count).unwrap_or(0));
    numbers.into_iter().filter_map(Pid::from_raw).collect()
}

/// `None` when it is gone, a zombie, or not ours to see.
#[expect(unsafe_code, reason = "the description of a process has no safe form")]
pub(super) fn describe(pid: Pid) -> Option<Process> {
    let length = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: plain numbers and arrays of numbers, for which all zeroes is a value.
    let mut info = unsafe { std::mem::zeroed::<libc::proc_bsdinfo>() };
    // SAFETY: the buffer is one such structure, as the kind of question asks for, and outlives the call.
    let written = unsafe {
        libc::proc_pidinfo(
            pid.as_raw_nonzero().get(),
            libc::PROC_PIDTBSDINFO,
            0,
            (&raw mut info).cast(),
            length,
        )
    };
    if written != length || info.pbi_status == libc::SZOMB {
        return None;
    }
    let pid_of = |number: u32| Pid::from_raw(number.cast_signed());
    let start = (info.pbi_start_tvsec, info.pbi_start_tvusec);
    Some(Process { pid, parent: pid_of(info.pbi_ppid), group: pid_of(info.pbi_pgid), start })
}

/// The command line of a process of ours; empty when the system does not tell.
#[expect(unsafe_code, reason = "the arguments of a process have no safe form")]
pub(super) fn arguments_of(pid: Pid) -> Vec<String> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid.as_raw_nonzero().get()];
    let mut buffer = vec![0_u8; 256 * 1024];
    let mut length = buffer.len();
    // SAFETY: the name has three parts, the buffer is as long as is said, and both outlive the call.
    let failed = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            3,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    } != 0;
    if failed {
        return Vec::new();
    }
    buffer.truncate(length);
    // How many arguments, the program's path, padding, and then the arguments, each with a zero behind it.
    let Some((count, rest)) = buffer.split_first_chunk::<4>() else { return Vec::new() };
    let count = usize::try_from(i32::from_ne_bytes(*count)).unwrap_or(0);
    let path = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let padding = rest[path..].iter().position(|byte| *byte != 0).unwrap_or(rest.len() - path);
    let arguments = rest[path + padding..].split(|byte| *byte == 0).take(count);
    arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

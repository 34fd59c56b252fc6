//! One process as `/proc` shows it, known by number *and* start time, so that a number used again is never hit.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use rustix::time::Timespec;

use crate::{MARKER, ProcessId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// `None` for what has no parent that we can see (init; the top of a pid namespace).
    pub(super) parent: Option<Pid>,
    /// What the program calls itself, 15 bytes at most. Never a reason to end it.
    pub(super) name: String,
    state: u8,
    /// The number of the process that leads its session.
    session: i32,
    /// The terminal that its session has; 0 for none.
    terminal: i32,
    /// In clock ticks since boot.
    start: u64,
}

impl Process {
    pub(super) fn read(pid: Pid) -> Option<Process> {
        // One read into room enough: a file of `/proc` has no length, and `fs::read` would feel its way in small steps.
        let mut stat = [0; 1024];
        let length = File::open(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?.read(&mut stat).ok()?;
        Process::parse(pid, &stat[..length])
    }

    /// `pid (name) state ppid … starttime …`; the name may hold blanks and parentheses itself.
    pub(super) fn parse(pid: Pid, stat: &[u8]) -> Option<Process> {
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        let session = fields.nth(1)?.parse().ok()?;
        let terminal = fields.next()?.parse().ok()?;
        // The 22nd field of the line, the 20th after the name.
        let start = fields.nth(14)?.parse().ok()?;
        Some(Process { pid, parent, name, state, session, terminal, start })
    }

    pub(super) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn known(&self) -> ProcessId {
        ProcessId { pid: self.id(), start: self.start }
    }

    /// Ended, but not yet taken leave of by its parent.
    pub(super) fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Neither ended nor stopped.
    pub(super) fn may_work(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'T' | b't')
    }

    pub(super) fn leads_its_session(&self) -> bool {
        self.session == self.pid.as_raw_nonzero().get()
    }

    pub(super) fn has_terminal(&self) -> bool {
        self.terminal != 0
    }

    /// Whether this very process is still there and not a zombie.
    pub(super) fn lives(&self) -> bool {
        Process::read(self.pid).is_some_and(|now| now.start == self.start && !now.is_zombie())
    }

    /// A handle that stays with this very process; `None` when it is gone (or the kernel has none to give).
    fn handle(&self) -> Result<OwnedFd, Errno> {
        let handle = pidfd_open(self.pid, PidfdFlags::empty())?;
        // Taken by number, so look whether it is the one we mean. From here on it cannot become another.
        if self.lives() { Ok(handle) } else { Err(Errno::SRCH) }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        match self.handle() {
            Ok(handle) => _ = pidfd_send_signal(handle, signal),
            // Gone.
            Err(Errno::SRCH) => {}
            // No pidfds here (old kernel, sandbox, descriptors run out): look and send, as near together as can be.
            Err(_) => {
                if self.lives() {
                    _ = kill_process(self.pid, signal);
                }
            }
        }
    }

    /// The session that the process was started for, by its environment; `None` also when that cannot be read.
    pub(super) fn marker(&self) -> Option<String> {
        let environment = std::fs::read(format!("/proc/{}/environ", self.id())).ok()?;
        environment.split(|byte| *byte == 0).find_map(|entry| {
            let value = entry.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"=")?;
            let session = std::str::from_utf8(value).ok()?;
            (!session.is_empty()).then(|| session.to_owned())
        })
    }
}

/// Waits until all of these have ended, at most for `limit`.
pub(crate) fn await_end(processes: &[Process], limit: Duration) {
    let until = Instant::now() + limit;
    for process in processes {
        let left = until.saturating_duration_since(Instant::now());
        let handle = match process.handle() {
            Ok(handle) => handle,
            Err(Errno::SRCH) => continue,
            // Nothing to wait on: give it a moment, the caller looks again.
            Err(_) => {
                thread::sleep(left.min(Duration::from_millis(5)));
                continue;
            }
        };
        let Ok(left) = Timespec::try_from(left) else { return };
        // One after the other is as good as all at once: the limit is common.
        _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "7 42 34816 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 111 222";

    fn parse(stat: &str) -> Option<Process> {
        Process::parse(Pid::from_raw(42)?, stat.as_bytes())
    }

    #[test]
    fn a_name_may_hold_blanks_and_parentheses() {
        let process = parse(&format!("42 (a) R (b) S 7 {TAIL}"));
        let process = process.as_ref();
        assert_eq!(process.map(|it| it.name.as_str()), Some("a) R (b"));
        assert_eq!(process.and_then(|it| it.parent), Pid::from_raw(7));
        assert_eq!(process.map(|it| it.start), Some(98765));
        assert!(process.is_some_and(|it| it.leads_its_session() && it.has_terminal()));
    }

    #[test]
    fn a_process_without_parent_has_none() {
        assert_eq!(parse(&format!("42 (init) S 0 {TAIL}")).and_then(|it| it.parent), None);
    }

    #[test]
    fn a_torn_line_is_no_process() {
        for stat in ["", "42", "42 (sh", "42 (sh)", "42 (sh) S", "42 (sh) S 7 7"] {
            assert_eq!(parse(stat), None, "{stat:?}");
        }
    }

    #[test]
    fn our_own_process_lives_and_another_with_its_number_does_not() {
        let own = Process::read(rustix::process::getpid());
        assert!(own.as_ref().is_some_and(Process::lives));
        let earlier = own.map(|own| Process { start: own.start - 1, ..own });
        assert!(earlier.is_some_and(|earlier| !earlier.lives()));
    }
}

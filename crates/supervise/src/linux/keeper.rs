//! What makes a process a keeper on Linux, and how others recognise one.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal};

use super::process::Process;
use crate::StartError;

/// Exactly the 15 bytes that a process name may have.
const NAME: &str = "callgate-keeper";
/// What the badge's name begins with; the session follows.
const BADGE: &str = "callgate-session=";

/// From now on, whoever loses its parent below us becomes our child instead of init's.
pub(crate) fn adopt_orphans() {
    // Fails on kernels before 3.4 only; then there is the process group and the sweep.
    _ = set_child_subreaper(Some(getpid()));
}

/// Between fork and exec: be killed when the keeper is. System calls only.
pub(crate) fn die_with_parent(keeper: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died before the call.
    if getppid() == Some(keeper) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

pub(crate) fn name_keeper() {
    _ = rustix::thread::set_name(c"callgate-keeper");
}

/// Lets others see which session a keeper keeps. It was forked without exec, so its environment is the shim's and cannot
/// say it; an empty memory file can, its name shows in `/proc/<pid>/fd`.
pub(crate) fn wear_badge(session: &str) -> Option<OwnedFd> {
    memfd_create(format!("{BADGE}{session}"), MemfdFlags::CLOEXEC).ok()
}

/// By its name alone: who takes that for itself only has more refused.
pub(super) fn is_keeper(process: &Process) -> bool {
    process.may_work() && process.name == NAME
}

/// The session of a keeper that is at work; `None` for any other process, and for a keeper that is stopped or dead.
pub(super) fn session_kept_by(process: &Process) -> Option<String> {
    if !is_keeper(process) {
        return None;
    }
    let listing = std::fs::read_dir(format!("/proc/{}/fd", process.id())).ok()?;
    listing.flatten().find_map(|entry| {
        let target = std::fs::read_link(entry.path()).ok()?;
        let name = target.to_str()?.strip_prefix("/memfd:")?.strip_prefix(BADGE)?;
        Some(name.strip_suffix(" (deleted)").unwrap_or(name).to_owned())
    })
}

/// Checks what `start` asks for. Without `/proc` it takes the caller's word.
pub(crate) fn single_threaded() -> Result<(), StartError> {
    match std::fs::read_dir("/proc/self/task").map(Iterator::count) {
        Ok(threads) if threads > 1 => Err(StartError::Threads { threads }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Afterwards, Grace, Launch, StartError, start};

    #[test]
    fn a_process_with_threads_starts_no_keeper() {
        // The test itself runs on a thread beside the main one.
        let launch = Launch {
            program: "true".into(),
            args: Vec::new(),
            env: Vec::new(),
            session: "threads".to_owned(),
            grace: Grace::default(),
            afterwards: Afterwards::default(),
        };
        assert!(matches!(start(launch), Err(StartError::Threads { threads: 2.. })));
    }
}

//! The tree below a keeper, summed up from what the system tells of each process.

use std::mem::size_of;

use rustix::process::Pid;

use super::census::{name_of, pid};
use super::tree::{describe, seen_below};
use crate::Measured;

/// Everything below this keeper, as its shim can see it: descendants, and the members of the server's group. Who left the group
/// *and* lost its parent is remembered in the keeper's process only. It ends such a one, but it is not counted here.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn measure(root: Pid) -> Option<Measured> {
    let alive = seen_below(root);
    Some(Measured {
        processes: u32::try_from(alive.len()).unwrap_or(u32::MAX),
        memory: alive.iter().filter_map(|process| taken_by(process.pid)).sum(),
        names: alive.iter().filter_map(name_of).collect(),
    })
}

/// What one process takes, as Activity Monitor shows it. None for who is gone.
pub fn memory_of(number: u32) -> Option<u64> {
    // The system still tells what a zombie took.
    taken_by(describe(pid(number)?)?.pid)
}

fn taken_by(pid: Pid) -> Option<u64> {
    footprint(pid).or_else(|| resident(pid))
}

/// What is in memory, or would be if it were not compressed, because of this process: a program's file that many have mapped is
/// nobody's, so that the sum of a tree does not count it for each.
#[expect(unsafe_code, reason = "what a process takes has no safe form")]
fn footprint(pid: Pid) -> Option<u64> {
    // SAFETY: plain numbers and arrays of numbers, for which all zeroes is a value.
    let mut info = unsafe { std::mem::zeroed::<libc::rusage_info_v0>() };
    // SAFETY: the buffer is one such structure, as this flavour asks for, and outlives the call. (The parameter is declared as a
    // pointer to a pointer; what is written is the structure.)
    let failed = unsafe {
        libc::proc_pid_rusage(pid.as_raw_nonzero().get(), libc::RUSAGE_INFO_V0, (&raw mut info).cast())
    } != 0;
    (!failed).then_some(info.ri_phys_footprint)
}

/// What is resident, with all that is shared.
#[expect(unsafe_code, reason = "what a process takes has no safe form")]
fn resident(pid: Pid) -> Option<u64> {
    let length = i32::try_from(size_of::<libc::proc_taskinfo>()).ok()?;
    // SAFETY: plain numbers, for which all zeroes is a value.
    let mut info = unsafe { std::mem::zeroed::<libc::proc_taskinfo>() };
    // SAFETY: the buffer is one such structure, as the kind of question asks for, and outlives the call.
    let written = unsafe {
        libc::proc_pidinfo(
            pid.as_raw_nonzero().get(),
            libc::PROC_PIDTASKINFO,
            0,
            (&raw mut info).cast(),
            length,
        )
    };
    (written == length).then_some(info.pti_resident_size)
}

//! Whether this process was started, by however many steps, by a server of a session.

use std::fs;

use rustix::fs::{PROC_SUPER_MAGIC, statfs};
use rustix::process::getpid;

use super::keeper::{is_keeper, session_kept_by};
use super::process::Process;
use super::tree::Snapshot;
use crate::{Ancestry, MARKER};

/// What the kernel calls the namespaces that it made itself; they are the same on every machine.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
const FIRST_TIME_NAMESPACE: &str = "time:[4026531834]";
/// In which `/proc` counts, whatever the kernel's own clock does: `USER_HZ`.
const TICKS_PER_SECOND: i64 = 100;

/// The session whose tree this process belongs to, if any: by its own environment, else by an ancestor's, else by an ancestor
/// that is a session's keeper. So neither a cleared environment nor a detached parent hides it. Ancestors whose environment
/// cannot be read (another user's) are passed over; a keeper that cannot be looked into, as from a user namespace of one's
/// own, is somebody's all the same.
pub fn session_above() -> Option<String> {
    if let Some(session) = std::env::var_os(MARKER).filter(|session| !session.is_empty()) {
        return Some(session.to_string_lossy().into_owned());
    }
    let snapshot = Snapshot::take()?;
    let unnamed = |process: &Process| is_keeper(process).then(|| "(unknown)".to_owned());
    // Our own too: a variable that was removed since is still what we were started with.
    snapshot.line_of(getpid()).into_iter().find_map(|process: &Process| {
        process.marker().or_else(|| session_kept_by(process)).or_else(|| unnamed(process))
    })
}

/// How far this process sees its ancestors. In a pid namespace of its own the line ends at whoever began that, and what is
/// above belongs to others.
pub fn ancestry() -> Ancestry {
    let link = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).ok();
    let real = statfs("/proc").is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC);
    let (true, Some(pids), Some(snapshot)) = (real, link("pid"), Snapshot::take()) else {
        return Ancestry::Unknown;
    };
    if pids.as_os_str() == FIRST_PID_NAMESPACE {
        return Ancestry::Whole;
    }
    // Its clock might have been moved, and with it when anybody started.
    if link("time").is_some_and(|time| time.as_os_str() != FIRST_TIME_NAMESPACE) {
        return Ancestry::Unknown;
    }
    let line = snapshot.line_of(getpid());
    match line.last().and_then(|top| started_ms(top)) {
        Some(since_ms) => Ancestry::Since { since_ms },
        None => Ancestry::Unknown,
    }
}

fn started_ms(process: &Process) -> Option<i64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot: i64 = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let ticks = i64::try_from(process.known().start).ok()?;
    boot.checked_mul(1000)?.checked_add(ticks.checked_mul(1000)? / TICKS_PER_SECOND)
}

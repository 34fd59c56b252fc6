//! Limits that a process sets itself before it reads what others wrote.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// How long one check may compute, in seconds; up to one more, because the system counts whole ones.
const SECONDS: u64 = 2;
/// Addresses, of which the stack is a third. What is really taken is less.
const MEMORY: u64 = 768 << 20;

/// Bounds what this process may take, and ties its life to its parent's.
pub(crate) fn confine() -> io::Result<()> {
    limit(Resource::Core, 0)?;
    bound_memory()?;
    end_with_parent()
}

/// From now on, one check's time. Whoever takes longer is ended by the system.
pub(crate) fn allow_one_more() -> io::Result<()> {
    limit(Resource::Cpu, time(ClockId::ProcessCPUTime).as_secs() + 1 + SECONDS)
}

/// What the calling thread has computed so far.
pub(crate) fn thread_time() -> Duration {
    time(ClockId::ThreadCPUTime)
}

fn time(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// The lower of the two bounds, which may be raised again.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let maximum = rustix::process::getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

#[cfg(target_os = "linux")]
fn bound_memory() -> io::Result<()> {
    limit(Resource::As, MEMORY)
}

/// macOS knows the limit and does not hold to it.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
fn bound_memory() -> io::Result<()> {
    let _as_far_as_it_goes = limit(Resource::As, MEMORY);
    Ok(())
}

/// Its questions end with the parent, too, but it may be busy with one.
#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}

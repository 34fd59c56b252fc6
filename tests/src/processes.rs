//! Looking at processes from outside: is it there, who is its parent, wait until it is gone.

use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until `met` gives something. The one place where the harness lets time pass.
pub fn eventually<T>(what: &str, within: Duration, mut met: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + within;
    loop {
        if let Some(value) = met() {
            return value;
        }
        assert!(Instant::now() < deadline, "not within {within:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Alive: in the process table, and not a zombie that nobody has fetched yet.
pub fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

pub fn parent(pid: u32) -> Option<u32> {
    stat(pid).map(|(_, parent)| parent)
}

/// All processes whose parent is `pid`.
pub fn children(pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|child| parent(*child) == Some(pid)).collect()
}

fn stat(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command in parentheses may itself hold blanks and parentheses.
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Resident memory in bytes.
pub fn resident(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    Some(text.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

/// Memory in bytes with what it shares divided among those that share it, as Callgate counts it.
pub fn own_memory(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(unix)]
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return };
    // Already gone is as good as signalled.
    let _ = rustix::process::kill_process(pid, signal);
}

/// The pids that a fake server wrote, one `name pid` a line.
pub fn pids_in(file: &Path) -> Vec<(String, u32)> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, pid)| Some((name.to_owned(), pid.parse().ok()?)))
        .collect()
}

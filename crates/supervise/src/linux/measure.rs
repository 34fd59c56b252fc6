//! The tree below a keeper, summed up from `/proc`.

use std::fs;

use rustix::process::Pid;

use super::process::Process;
use super::tree::Snapshot;
use crate::Measured;

/// Everything below this process. `None` where there is no `/proc`.
pub(crate) fn measure(root: Pid) -> Option<Measured> {
    let snapshot = Snapshot::take()?;
    let below = snapshot.below(root, |_| true);
    let alive: Vec<&Process> = below.into_iter().filter(|process| !process.is_zombie()).collect();
    Some(Measured {
        processes: u32::try_from(alive.len()).unwrap_or(u32::MAX),
        memory: alive.iter().filter_map(|process| memory_of(process.id())).sum(),
        names: alive.iter().map(|process| process.name.clone()).collect(),
    })
}

/// What one process takes. A browser's processes share most of what they have: its proportional share is what each takes, so
/// that the sum of a tree counts every page once. Where that cannot be read, what is resident. None for who is gone. Costs the
/// kernel a walk through all that the process has, a millisecond for a browser: not for every second.
pub fn memory_of(number: u32) -> Option<u64> {
    let read = |file: &str, field: &str| {
        let text = fs::read_to_string(format!("/proc/{number}/{file}")).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix(field))?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
    };
    read("smaps_rollup", "Pss:").or_else(|| read("status", "VmRSS:"))
}

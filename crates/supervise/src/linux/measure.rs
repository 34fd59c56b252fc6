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
        memory: alive.iter().map(|process| memory(process)).sum(),
        names: alive.iter().map(|process| process.name.clone()).collect(),
    })
}

/// A browser's processes share most of what they have: its proportional share is what each takes. Where that cannot be
/// read, what is resident.
fn memory(process: &Process) -> u64 {
    let id = process.id();
    let read = |file: &str, field: &str| {
        let text = fs::read_to_string(format!("/proc/{id}/{file}")).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix(field))?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
    };
    read("smaps_rollup", "Pss:").or_else(|| read("status", "VmRSS:")).unwrap_or(0)
}

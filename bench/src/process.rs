//! What the kernel says about a proxy's own process tree: CPU time and memory. Linux only (`/proc`).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// A process and those below it: a proxy without the server behind it, or the app with the processes of its page.
#[derive(Clone, Debug)]
pub struct Tree {
    pids: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Bytes resident now.
    pub now: u64,
    /// The most that was ever resident; of several processes, the sum of their peaks.
    pub peak: u64,
}

impl Tree {
    /// `root` and everything below it, less the processes that run `server`.
    pub fn of(root: u32, server: &Path) -> Result<Tree> {
        let parents = parents()?;
        let mut pids = vec![root];
        let mut next = 0;
        while next < pids.len() {
            let parent = pids[next];
            pids.extend(parents.iter().filter(|(_, above)| *above == parent).map(|(pid, _)| *pid));
            next += 1;
        }
        pids.retain(|pid| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe != server));
        ensure!(!pids.is_empty(), "process {root} is gone");
        Ok(Tree { pids })
    }

    /// Those of the tree that run a program of this name.
    pub fn only(&self, program: &str) -> Result<Tree> {
        let runs = |pid: &u32| {
            let exe = fs::read_link(format!("/proc/{pid}/exe"));
            exe.is_ok_and(|exe| exe.file_name().is_some_and(|name| name == program))
        };
        let pids: Vec<u32> = self.pids.iter().copied().filter(runs).collect();
        ensure!(!pids.is_empty(), "no {program} is running");
        Ok(Tree { pids })
    }

    /// Those of the tree that run another program.
    pub fn without(&self, program: &str) -> Result<Tree> {
        let mine = self.only(program)?;
        let pids = self.pids.iter().copied().filter(|pid| !mine.pids.contains(pid)).collect();
        Ok(Tree { pids })
    }

    /// CPU time that all living threads have used, in nanoseconds' precision.
    pub fn cpu(&self) -> Result<Duration> {
        let mut total = 0;
        for pid in &self.pids {
            let tasks = PathBuf::from(format!("/proc/{pid}/task"));
            for task in fs::read_dir(&tasks).with_context(|| format!("cannot read {}", tasks.display()))? {
                // A thread that ended just now is no fault.
                let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
                let ran = text.split(' ').next().and_then(|word| word.parse::<u64>().ok());
                total += ran.with_context(|| format!("unexpected schedstat: {text}"))?;
            }
        }
        Ok(Duration::from_nanos(total))
    }

    /// CPU time that the processes have used, threads that ended included; in the kernel's ticks of 10 ms.
    pub fn cpu_with_ended_threads(&self) -> Result<Duration> {
        let mut ticks = 0;
        for pid in &self.pids {
            let path = format!("/proc/{pid}/stat");
            let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
            let fields = stat.rsplit_once(')').context("unexpected stat")?.1.split_whitespace();
            // User and system time: the 14th and 15th field, where the state is the 3rd.
            ticks += fields.skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum::<u64>();
        }
        Ok(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
    }

    /// Waits until the tree does almost nothing (what it had put off is done), then tells its CPU time.
    pub fn cpu_when_quiet(&self) -> Result<Duration> {
        const LOOK: Duration = Duration::from_millis(150);
        const QUIET: Duration = Duration::from_micros(1_500);
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut before = self.cpu()?;
        loop {
            std::thread::sleep(LOOK);
            let now = self.cpu()?;
            if now.saturating_sub(before) < QUIET {
                return Ok(now);
            }
            ensure!(Instant::now() < deadline, "the proxy is still busy 30 s after the last call");
            before = now;
        }
    }

    pub fn memory(&self) -> Result<Memory> {
        let mut sum = Memory::default();
        for pid in &self.pids {
            let path = format!("/proc/{pid}/status");
            let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
            sum.now += kilobytes(&status, "VmRSS:").context("no VmRSS")? * 1024;
            sum.peak += kilobytes(&status, "VmHWM:").context("no VmHWM")? * 1024;
        }
        Ok(sum)
    }

    /// Bytes resident, where a page that several processes share counts for each by its share.
    pub fn proportional(&self) -> Result<u64> {
        self.rolled_up("Pss:")
    }

    /// Bytes resident that no file on disk could give back: what system monitors show as a process's memory.
    pub fn own(&self) -> Result<u64> {
        self.rolled_up("Anonymous:")
    }

    fn rolled_up(&self, field: &str) -> Result<u64> {
        let mut sum = 0;
        for pid in &self.pids {
            let path = format!("/proc/{pid}/smaps_rollup");
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
            sum += kilobytes(&text, field).with_context(|| format!("no {field} in {path}"))? * 1024;
        }
        Ok(sum)
    }

    pub fn count(&self) -> usize {
        self.pids.len()
    }
}

fn kilobytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Every process with its parent.
fn parents() -> Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("the bench needs Linux: cannot read /proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        // The name in brackets may hold anything, so read what follows its last bracket: state, parent, …
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if let Some(parent) = parent {
            found.push((pid, parent));
        }
    }
    Ok(found)
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn own_figures_can_be_read() {
        let tree = Tree::of(std::process::id(), Path::new("/nowhere")).unwrap();
        assert!(tree.cpu().unwrap() > Duration::ZERO);
        let memory = tree.memory().unwrap();
        assert!(memory.peak >= memory.now && memory.now > 0);
        let share = tree.proportional().unwrap();
        assert!(share > 0 && share <= memory.peak);
        let own = tree.own().unwrap();
        assert!(own > 0 && own < memory.peak);
        let name = std::env::current_exe().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(tree.only(&name).unwrap().count(), 1);
        assert_eq!(tree.without(&name).unwrap().count(), 0);
        assert!(tree.only("nothing-of-this-name").is_err());
    }
}

//! macOS: `CLOCK_MONOTONIC` counts through sleep; the kernel names each boot session.

use std::process::Command;

use rustix::time::{ClockId, clock_gettime};

use super::{BootId, Clock, Moment, shift, wall_ms};

#[derive(Clone, Debug)]
pub struct SystemClock {
    boot: BootId,
}

impl SystemClock {
    pub fn new() -> Self {
        // The tool spares us an unsafe `sysctlbyname`. Without an answer, a smaller uptime tells boots apart.
        let boot = Command::new("/usr/sbin/sysctl")
            .args(["-n", "kern.bootsessionuuid"])
            .output()
            .ok()
            .filter(|output| output.status.success())
            .and_then(|output| String::from_utf8(output.stdout).ok())
            .unwrap_or_else(|| "macos".to_owned());
        SystemClock { boot: BootId::new(&boot) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let since = clock_gettime(ClockId::Monotonic);
        let uptime_ms = since.tv_sec.unsigned_abs() * 1000 + since.tv_nsec.unsigned_abs() / 1_000_000;
        let uptime_ms = uptime_ms + u64::from(shift::ms());
        Moment { wall_ms: wall_ms(), uptime_ms, boot: self.boot.clone() }
    }
}

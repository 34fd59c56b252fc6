//! Linux: `CLOCK_BOOTTIME` counts through sleep; the kernel names each boot.

use rustix::time::{ClockId, clock_gettime};

use super::{BootId, Clock, Moment, shift, wall_ms};

#[derive(Clone, Debug)]
pub struct SystemClock {
    boot: BootId,
}

impl SystemClock {
    pub fn new() -> Self {
        // Without /proc (a bare container) every boot has the same name; a smaller uptime still tells them apart.
        let boot =
            std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| "linux".to_owned());
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
        let since = clock_gettime(ClockId::Boottime);
        let uptime_ms = since.tv_sec.unsigned_abs() * 1000 + since.tv_nsec.unsigned_abs() / 1_000_000;
        let uptime_ms = uptime_ms + u64::from(shift::ms());
        Moment { wall_ms: wall_ms(), uptime_ms, boot: self.boot.clone() }
    }
}

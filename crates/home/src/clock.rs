//! Time, passed in. Limits live on the time since boot, which no one can set; the wall clock is for people,
//! and bridges a reboot.

use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

pub mod shift;
#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "clock/linux.rs")]
#[cfg_attr(target_os = "macos", path = "clock/macos.rs")]
#[cfg_attr(windows, path = "clock/windows.rs")]
mod system;

pub use system::SystemClock;

/// Which boot of the machine a time since boot belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BootId(pub std::sync::Arc<str>);

impl BootId {
    pub fn new(text: &str) -> Self {
        BootId(text.trim().into())
    }
}

/// One reading of all clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970 as the wall clock has it.
    pub wall_ms: i64,
    /// Milliseconds since boot, sleep included.
    pub uptime_ms: u64,
    pub boot: BootId,
}

pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Moment;
}

/// A clock that stands still until it is told to move.
#[derive(Debug)]
pub struct ManualClock(Mutex<Moment>);

impl ManualClock {
    pub fn new() -> Self {
        let start = Moment { wall_ms: 1_800_000_000_000, uptime_ms: 1_000_000, boot: BootId::new("boot-1") };
        ManualClock(Mutex::new(start))
    }

    /// Real time passes: both clocks advance.
    pub fn advance(&self, by: Duration) {
        self.change(|now| {
            now.wall_ms += by.as_millis() as i64;
            now.uptime_ms += by.as_millis() as u64;
        });
    }

    /// Somebody sets the wall clock.
    pub fn set_wall(&self, wall_ms: i64) {
        self.change(|now| now.wall_ms = wall_ms);
    }

    /// The machine is off for `off`, then boots as `boot`.
    pub fn reboot(&self, boot: &str, off: Duration) {
        self.change(|now| {
            now.wall_ms += off.as_millis() as i64;
            now.uptime_ms = 5_000;
            now.boot = BootId::new(boot);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Moment)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the wall clock shows, in milliseconds since 1970.
pub fn wall_ms() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
        .saturating_add(i64::from(shift::ms()))
}

/// Now, as a process measures how long something has taken.
pub fn instant() -> Instant {
    Instant::now() + Duration::from_millis(shift::ms().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_moves_forward_within_one_boot() {
        let clock = SystemClock::new();
        let (first, second) = (clock.now(), clock.now());
        assert_eq!(first.boot, second.boot);
        assert!(second.uptime_ms >= first.uptime_ms);
        assert!(first.wall_ms > 1_600_000_000_000);
    }
}

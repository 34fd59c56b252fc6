//! Windows: `GetTickCount64` counts through sleep. There is no cheap name for a boot, so all share one; a
//! smaller uptime tells them apart, and where it does not, the ledger advances by less than real time: strict.

use super::{BootId, Clock, Moment, shift, wall_ms};

#[derive(Clone, Debug)]
pub struct SystemClock {
    boot: BootId,
}

impl SystemClock {
    pub fn new() -> Self {
        SystemClock { boot: BootId::new("windows") }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        Moment {
            wall_ms: wall_ms(),
            uptime_ms: tick_count() + u64::from(shift::ms()),
            boot: self.boot.clone(),
        }
    }
}

#[expect(unsafe_code, reason = "the only way to read the tick count; it takes no arguments and cannot fail")]
fn tick_count() -> u64 {
    // SAFETY: no preconditions.
    unsafe { windows_sys::Win32::System::SystemInformation::GetTickCount64() }
}

//! The programs in the home that nobody needs any more.

use std::time::{Duration, UNIX_EPOCH};

use callgate_home::{Home, running};

/// Removes what replaced programs left, as far as no session needs it.
pub fn sweep_programs(home: &Home) {
    let oldest = running(home).iter().map(|lease| lease.started_ms).min();
    let oldest = oldest.map(|ms| UNIX_EPOCH + Duration::from_millis(ms.try_into().unwrap_or_default()));
    // What cannot be removed now is tried the next time.
    let _left = callgate_programs::sweep(home.path(), oldest);
}

//! Limits that a process sets itself before it reads what others wrote. Here it has none but the deadline of whoever asks.

#![expect(clippy::unnecessary_wraps, reason = "one signature on every system")]

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub(crate) fn confine() -> io::Result<()> {
    Ok(())
}

pub(crate) fn allow_one_more() -> io::Result<()> {
    Ok(())
}

/// As good as what the thread has computed, for a process that does one thing at a time.
pub(crate) fn thread_time() -> Duration {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}

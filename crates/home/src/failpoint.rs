//! Named points at which a fault test stops the process dead, as a `kill -9` there would.
//! Without the feature `failpoints` reaching one costs nothing.

/// Every point there is. The fault tests walk this list, so a point that is not here is not tested.
pub const POINTS: &[&str] = &[
    "shim.line_read",
    "shim.judged",
    "shim.before_forward",
    "shim.after_forward",
    "shim.before_answer",
    "shim.after_answer",
    "admit.before_take",
    "admit.after_take",
    "admit.staged",
    "commit.before_append",
    "append.before_write",
    "append.after_write",
    "commit.after_append",
    "settle.before_append",
    "settle.after_append",
    "drain.before_begin",
    "drain.after_insert",
    "drain.before_commit",
    "drain.after_commit",
    "drain.before_truncate",
    "drain.after_truncate",
    "end.before_record",
    "end.after_record",
    "end.before_remove",
    "end.after_spool_removed",
    "end.after_remove",
];

/// The environment variable that names the point to stop at.
pub const VARIABLE: &str = "CALLGATE_FAILPOINT";

/// Stops the process if this is the point that the environment names.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn reach(_point: &str) {}

/// Stops the process if this is the point that the environment names.
#[cfg(feature = "failpoints")]
pub fn reach(point: &str) {
    use std::sync::OnceLock;
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    debug_assert!(POINTS.contains(&point), "{point} is not in the list of points");
    if CHOSEN.get_or_init(|| std::env::var(VARIABLE).ok()).as_deref() == Some(point) {
        stop();
    }
}

#[cfg(all(feature = "failpoints", unix))]
fn stop() -> ! {
    let _gone = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

#[cfg(all(feature = "failpoints", not(unix)))]
fn stop() -> ! {
    std::process::abort()
}

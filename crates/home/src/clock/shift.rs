//! How far a test has moved the clocks of every process: the content of the file that `CALLGATE_CLOCK_SHIFT` names, in
//! milliseconds. Without the feature `failpoints` there is no such thing.

/// The environment variable that names the file.
pub const VARIABLE: &str = "CALLGATE_CLOCK_SHIFT";

#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(super) fn ms() -> u32 {
    0
}

/// Read afresh each time, so that a test moves the clocks of processes that run.
#[cfg(feature = "failpoints")]
pub(super) fn ms() -> u32 {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let file = FILE.get_or_init(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

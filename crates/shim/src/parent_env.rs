//! Environments of the parent processes: of the client, of whoever started that, and so on. What one of them has as well
//! came to us with the client, and not out of its file.

use callgate_secrets::Environment;

/// Theirs, nearest first. Nothing, if that of the one that started us cannot be read.
#[cfg(target_os = "linux")]
pub(crate) fn above() -> Option<Vec<Environment>> {
    /// More than there are between a server and the session of its person.
    const MOST: usize = 32;
    let mut pid = std::os::unix::process::parent_id();
    let mut found = vec![environment(pid)?];
    while let Some(parent) = parent(pid)
        && parent > 1
        && found.len() < MOST
    {
        pid = parent;
        // Of another user: it is as if it had none.
        found.extend(environment(pid));
    }
    Some(found)
}

/// Elsewhere a process does not tell others reliably what it was started with.
#[cfg(not(target_os = "linux"))]
pub(crate) fn above() -> Option<Vec<Environment>> {
    None
}

#[cfg(target_os = "linux")]
fn environment(pid: u32) -> Option<Environment> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let bytes = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variables = bytes.split(|byte| *byte == 0).filter_map(|variable| {
        let at = variable.iter().position(|byte| *byte == b'=')?;
        let part = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        Some((part(&variable[..at]), part(&variable[at + 1..])))
    });
    let variables: Environment = variables.collect();
    // A process that hides its own has none to show.
    (!variables.is_empty()).then_some(variables)
}

#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name comes in brackets and may hold any.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_started_us_is_known_by_its_path() {
        let path = std::env::var_os("PATH").unwrap();
        let above = above().unwrap();
        assert!(above[0].iter().any(|(name, value)| name == "PATH" && *value == path));
    }
}

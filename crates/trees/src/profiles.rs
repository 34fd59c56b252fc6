//! Temporary profiles that killed browsers left: removed when all of this holds, kept in every doubt.
//!
//! - A command line of our own tree named the directory as `--user-data-dir`; the server's own command, which a person
//!   wrote, did not.
//! - Its name is one that an automation library makes up. A person may have named a profile in the server's own settings or
//!   in a variable, which nobody sees here.
//! - It is below the temporary directory, reached without a link and without `..`.
//! - It is a directory, ours, and was made after the session began.
//! - No process that runs names it.

use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use callgate_supervise::{ProcessId, arguments, everyone};

use crate::record::Record;

/// How far the clock that dates files may be behind the one that dates sessions: it moves with the system's ticks.
const COARSE_MS: i64 = 50;

/// Why a directory stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    NotThere,
    /// Not below the temporary directory, or not plainly so.
    Outside,
    /// A link, or something else that is no directory.
    NoFolder,
    NotOurs,
    /// There before the session, or nobody knows since when.
    Older,
    /// A person named it for this server.
    Chosen,
    /// A person may have named it.
    Named,
    InUse,
}

/// Removes the profiles that a dead tree left; says which.
pub(crate) fn remove(record: &Record) -> Vec<PathBuf> {
    let mut found = removable(record, &[]);
    // What cannot be removed stays; there is nothing that a person would have to do about it.
    found.retain(|path| fs::remove_dir_all(path).is_ok());
    found
}

/// Those that would be removed if these processes were gone.
pub(crate) fn removable(record: &Record, gone: &[ProcessId]) -> Vec<PathBuf> {
    let Some(temp) = temporary() else { return Vec::new() };
    let named = record.named_profiles().into_iter();
    named.filter_map(|path| check(path, record, &temp, |path| in_use(path, gone)).ok()).collect()
}

/// The temporary directory; none if it is one that holds more than what is temporary.
fn temporary() -> Option<PathBuf> {
    let temp = fs::canonicalize(std::env::temp_dir()).ok()?;
    let person = std::env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    (temp.parent().is_some() && person.is_none_or(|home| !home.starts_with(&temp))).then_some(temp)
}

/// Whether a path, as somebody wrote it, is plainly below the temporary directory. Also for what is only looked at.
pub(crate) fn is_temporary(path: &Path) -> bool {
    temporary().is_some_and(|temp| below(path, &temp).is_some())
}

/// The same path without the links that lead to the temporary directory itself; none if it leads elsewhere.
fn below(path: &Path, temp: &Path) -> Option<PathBuf> {
    let as_named = std::env::temp_dir();
    let rest = match path.strip_prefix(temp) {
        Ok(rest) => rest,
        Err(_) if fs::canonicalize(&as_named).is_ok_and(|real| real == temp) => {
            path.strip_prefix(&as_named).ok()?
        }
        Err(_) => return None,
    };
    let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    (plain && rest.components().next().is_some()).then(|| temp.join(rest))
}

fn check(path: &Path, record: &Record, temp: &Path, in_use: impl Fn(&Path) -> bool) -> Result<PathBuf, Kept> {
    let path = below(path, temp).ok_or(Kept::Outside)?;
    let meta = fs::symlink_metadata(&path).map_err(|_| Kept::NotThere)?;
    if !meta.is_dir() {
        return Err(Kept::NoFolder);
    }
    // A link on the way would have led elsewhere.
    if fs::canonicalize(&path).ok().as_ref() != Some(&path) {
        return Err(Kept::Outside);
    }
    if !is_ours(&meta) {
        return Err(Kept::NotOurs);
    }
    if made_ms(&meta).is_none_or(|made| made + COARSE_MS < record.began_ms) {
        return Err(Kept::Older);
    }
    if record.command.iter().any(|argument| names(argument, &path, temp)) {
        return Err(Kept::Chosen);
    }
    if !path.file_name().and_then(|name| name.to_str()).is_some_and(is_made_up) {
        return Err(Kept::Named);
    }
    if in_use(&path) {
        return Err(Kept::InUse);
    }
    Ok(path)
}

/// Does an argument name this path, by itself, behind a flag or within a line for a shell? Also where only the beginning is
/// the same: in doubt it stays.
fn names(argument: &str, path: &Path, temp: &Path) -> bool {
    let rest = path.strip_prefix(temp).unwrap_or(path);
    // Also with the temporary directory's other name, or one that the shell puts in.
    argument.contains(&*rest.to_string_lossy())
}

/// Names that Playwright, Puppeteer, Selenium and Lighthouse give to the profiles that they make, each with something random
/// behind it. `mcp-chrome…` is none: that one is kept from session to session on purpose.
fn is_made_up(name: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "playwright_chromiumdev_profile-",
        "playwright_firefoxdev_profile-",
        "playwright_webkitdev_profile-",
        "puppeteer_dev_chrome_profile-",
        "puppeteer_dev_firefox_profile-",
        "puppeteer_dev_profile-",
        ".org.chromium.Chromium.",
        "org.chromium.Chromium.",
        ".com.google.Chrome.",
        "com.google.Chrome.",
        "rust_mozprofile",
        "lighthouse.",
    ];
    BEGINNINGS.iter().any(|beginning| name.strip_prefix(beginning).is_some_and(|rest| !rest.is_empty()))
}

fn in_use(path: &Path, gone: &[ProcessId]) -> bool {
    let text = path.to_string_lossy();
    // Also in command lines in one piece, and also where only the beginning is the same: in doubt it stays.
    let names = |pid: u32| arguments(pid).iter().any(|argument| argument.contains(&*text));
    everyone().iter().any(|one| !gone.contains(&one.id) && names(one.id.pid))
}

fn made_ms(meta: &Metadata) -> Option<i64> {
    let since = meta.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(unix)]
fn is_ours(meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// Nothing is ever left behind here, and so nothing is on record.
#[cfg(not(unix))]
fn is_ours(_meta: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
#[path = "profiles_tests.rs"]
mod tests;

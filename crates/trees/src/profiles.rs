//! Temporary profiles that killed browsers left: removed when all of this holds, kept in every doubt.
//!
//! - A command line of our own tree named the directory as `--user-data-dir`; the server's own command, which a person
//!   wrote, did not.
//! - Its name is one that an automation library makes up. A person may have named a profile in the server's own settings or
//!   in a variable, which nobody sees here.
//! - It is below the temporary directory, reached without a link and without `..`, and no part of what is a person's own
//!   there ([`Ground`]). Where the home is says nothing by itself: it may be below the temporary directory, too.
//! - It is a directory, ours, and was made after the session began.
//! - No process that runs names it.

use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use callgate_home::Home;
use callgate_supervise::{ProcessId, arguments, everyone};

use crate::record::Record;

/// How far the clock that dates files may be behind the one that dates sessions: it moves with the system's ticks.
const COARSE_MS: i64 = 50;

/// Why a directory stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeepReason {
    NotThere,
    /// Not below the temporary directory, or not plainly so.
    Outside,
    /// In a home, or around one.
    OwnData,
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
pub(crate) fn remove(home: &Home, record: &Record) -> Vec<PathBuf> {
    let mut found = removable(home, record, &[]);
    // What cannot be removed stays; there is nothing that a person would have to do about it.
    found.retain(|path| fs::remove_dir_all(path).is_ok());
    found
}

/// Those that would be removed if these processes were gone.
pub(crate) fn removable(home: &Home, record: &Record, gone: &[ProcessId]) -> Vec<PathBuf> {
    let Some(ground) = Ground::here(home) else { return Vec::new() };
    let named = record.named_profiles().into_iter();
    named.filter_map(|path| check(path, record, &ground, |path| in_use(path, gone)).ok()).collect()
}

/// Where temporary profiles are, and what is there that is none.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The temporary directory without links,
    temp: PathBuf,
    /// and as it is named.
    named: PathBuf,
    /// The person's home and Callgate's, without links.
    homes: Vec<PathBuf>,
}

impl Ground {
    /// None where the temporary directory is not to be told from everything else.
    pub(crate) fn here(home: &Home) -> Option<Ground> {
        let homes = std::env::home_dir().into_iter().chain([home.path().to_owned()]);
        Ground::of(std::env::temp_dir(), homes)
    }

    fn of(named: PathBuf, homes: impl IntoIterator<Item = PathBuf>) -> Option<Ground> {
        let temp = fs::canonicalize(&named).ok().filter(|_| named.is_absolute())?;
        // One that is not there holds nothing.
        let homes = homes.into_iter().filter_map(|home| fs::canonicalize(home).ok()).collect();
        temp.parent().is_some().then_some(Ground { temp, named, homes })
    }

    /// Whether a path, as somebody wrote it, is plainly that of something temporary. Also for what is only looked at.
    pub(crate) fn is_temporary(&self, path: &Path) -> bool {
        self.place(path).is_ok()
    }

    /// The same path without the links that lead to the temporary directory itself.
    fn place(&self, path: &Path) -> Result<PathBuf, KeepReason> {
        let rest = path.strip_prefix(&self.temp).or_else(|_| path.strip_prefix(&self.named));
        let rest = rest.map_err(|_| KeepReason::Outside)?;
        let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || rest.components().next().is_none() {
            return Err(KeepReason::Outside);
        }
        let path = self.temp.join(rest);
        if self.is_own(&path) { Err(KeepReason::OwnData) } else { Ok(path) }
    }

    /// Is it in a home that is itself below the temporary directory, or around one? A temporary directory within a home is
    /// one all the same; and where a home is the temporary directory, what lies in it side by side is temporary.
    fn is_own(&self, path: &Path) -> bool {
        let in_it = |home: &PathBuf| {
            path.starts_with(home) && home.starts_with(&self.temp) && path.parent() != Some(&*self.temp)
        };
        self.homes.iter().any(|home| home.starts_with(path) || in_it(home))
    }
}

fn check(
    path: &Path,
    record: &Record,
    ground: &Ground,
    in_use: impl Fn(&Path) -> bool,
) -> Result<PathBuf, KeepReason> {
    let path = ground.place(path)?;
    let meta = fs::symlink_metadata(&path).map_err(|_| KeepReason::NotThere)?;
    if !meta.is_dir() {
        return Err(KeepReason::NoFolder);
    }
    // A link on the way would have led elsewhere.
    if fs::canonicalize(&path).ok().as_ref() != Some(&path) {
        return Err(KeepReason::Outside);
    }
    if !is_ours(&meta) {
        return Err(KeepReason::NotOurs);
    }
    if made_ms(&meta).is_none_or(|made| made + COARSE_MS < record.began_ms) {
        return Err(KeepReason::Older);
    }
    if record.command.iter().any(|argument| names(argument, &path, &ground.temp)) {
        return Err(KeepReason::Chosen);
    }
    if !path.file_name().and_then(|name| name.to_str()).is_some_and(is_made_up) {
        return Err(KeepReason::Named);
    }
    if in_use(&path) {
        return Err(KeepReason::InUse);
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

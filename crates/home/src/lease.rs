//! Who is running: an OS lock per session, and beside it a description for people.
//!
//! The lock is on an empty file of its own, because a locked file cannot be read everywhere. It is never
//! inherited: file handles are close-on-exec, and a session takes it after its keeper was started.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::error::StoreError;
use crate::home::Home;
use crate::id::SessionId;
use crate::private;

/// How often a new session tries to get its own lock, and how long it waits in between.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_millis(5);

/// What a session says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub session: SessionId,
    pub pid: u32,
    /// The process's start in the kernel's own units: with the pid it names one process for ever.
    #[serde(default)]
    pub process_start: Option<u64>,
    pub boot: String,
    #[serde(default)]
    pub pid_namespace: Option<String>,
    pub server: String,
    #[serde(default)]
    pub client: Option<String>,
    /// Secrets masked.
    pub command: Vec<String>,
    #[serde(default)]
    pub policy_version: Option<String>,
    #[serde(default)]
    pub watch_only: bool,
    pub started_ms: i64,
    #[serde(default)]
    pub demo: bool,
    #[serde(default)]
    pub stand: Stand,
    /// Why it does not run, where it does not; masked.
    #[serde(default)]
    pub stand_words: Option<String>,
    /// How often the server was started again in this session, and when last.
    #[serde(default)]
    pub restarts: u32,
    #[serde(default)]
    pub restarted_ms: Option<i64>,
    /// The number of the last request that was dealt with.
    #[serde(default)]
    pub turn: u64,
}

/// How the server of a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stand {
    #[default]
    Running,
    /// By a person.
    Stopped,
    /// It is being started again.
    Starting,
    /// It crashed too often, or could not be started again: a person has to start it.
    Down,
}

impl Stand {
    pub fn word(self) -> &'static str {
        match self {
            Stand::Running => "running",
            Stand::Stopped => "stopped",
            Stand::Starting => "starting",
            Stand::Down => "crash loop",
        }
    }
}

/// A held lease: ours as long as this lives.
#[derive(Debug)]
pub struct Held {
    lock: File,
}

impl Held {
    /// Is the file that we hold the lock of still the one that others look at?
    pub fn is_in_place(&self, home: &Home, session: SessionId) -> bool {
        is_same_file(&self.lock, &home.lease_lock(session))
    }

    /// Was the file removed? Cheap enough to be asked with every call; on Windows it cannot be while it is locked.
    pub fn is_removed(&self) -> bool {
        cfg!(unix) && private::is_removed(&self.lock, Path::new(""))
    }
}

/// Takes the lease of a new session.
pub fn take(home: &Home, session: SessionId) -> Result<Held, StoreError> {
    let path = home.lease_lock(session);
    // Whoever looks whether a session is alive holds its lock for a moment; that is not a session.
    for _ in 0..LOOKS {
        match try_take(&path, true) {
            Ok(Some(held)) => return Ok(held),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(StoreError::io("take the lease", &path, &error)),
        }
    }
    Err(StoreError::SessionTaken(session.to_string()))
}

/// Takes the lease of a session that may be dead; `None` while it lives.
pub fn take_over(home: &Home, session: SessionId) -> Option<Held> {
    try_take(&home.lease_lock(session), true).ok().flatten()
}

fn try_take(path: &Path, create: bool) -> io::Result<Option<Held>> {
    // Whoever ends a session removes the file while it holds the lock: a lock on a removed file is worth nothing.
    for _ in 0..100 {
        let lock = private::options().write(true).create(create).truncate(false).open(path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if is_same_file(&lock, path) {
            return Ok(Some(Held { lock }));
        }
    }
    Ok(None)
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(windows)]
fn is_same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

pub fn write(home: &Home, lease: &Lease) -> Result<(), StoreError> {
    let path = home.lease(lease.session);
    let text = serde_json::to_vec_pretty(lease).unwrap_or_default();
    atomic::swap(&path, &text).map_err(|error| StoreError::io("write", &path, &error))
}

/// Removes a lease that we hold.
pub fn remove(home: &Home, session: SessionId, held: Held) {
    let _gone = fs::remove_file(home.lease(session));
    let _gone = fs::remove_file(home.requests(session));
    let _gone = fs::remove_file(home.cancellations(session));
    let _gone = fs::remove_file(home.lease_lock(session));
    drop(held);
}

/// The sessions that run right now.
pub fn running(home: &Home) -> Vec<Lease> {
    let mut running: Vec<Lease> = live(home).collect();
    running.sort_by_key(|lease| (lease.started_ms, lease.session));
    running
}

/// Does a session of this server run right now?
pub fn is_running(home: &Home, server: &str) -> bool {
    live(home).any(|lease| lease.server == server)
}

fn live(home: &Home) -> impl Iterator<Item = Lease> {
    let live = sessions(home).into_iter().filter(|session| is_live(home, *session));
    live.filter_map(|session| serde_json::from_slice(&fs::read(home.lease(session)).ok()?).ok())
}

/// Does somebody hold this session's lock?
pub fn is_live(home: &Home, session: SessionId) -> bool {
    let Ok(lock) = private::options().write(true).open(home.lease_lock(session)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Is the lease or the spool of this session still here? The record knows those that were here before.
pub fn is_here(home: &Home, session: SessionId) -> bool {
    home.lease(session).exists() || home.spool(session).exists()
}

/// Every session that has a lease or a spool, alive or not.
pub fn sessions(home: &Home) -> Vec<SessionId> {
    let mut found = Vec::new();
    for folder in [home.leases_dir(), home.spool_dir()] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let name = name.split('.').next().unwrap_or_default();
            if let Ok(session) = name.parse::<SessionId>() {
                found.push(session);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// This process, as the kernel knows it.
pub fn process_start() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The world in which this process' number means something; `None` where there is only one.
pub fn pid_namespace() -> Option<String> {
    Some(fs::read_link("/proc/self/ns/pid").ok()?.to_string_lossy().into_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_session_starts_though_somebody_looks_at_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare_with(|_| Ok(())).unwrap();
        let session = SessionId::random();
        let looked_at = File::create(home.lease_lock(session)).unwrap();
        looked_at.lock_shared().unwrap();
        std::thread::scope(|scope| {
            let taking = scope.spawn(|| take(&home, session).map(drop));
            std::thread::sleep(LOOK * 2);
            drop(looked_at);
            taking.join().unwrap().unwrap();
        });
        let _held = take(&home, session).unwrap();
        assert!(matches!(take(&home, session), Err(StoreError::SessionTaken(_))));
    }
}

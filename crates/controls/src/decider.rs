//! Deciders: the programs at which a person can decide about calls right now, each with a lock for as long as it lives.
//!
//! A gate holds a call only while one of them is there. What was left by one that died is removed by whoever looks next.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use callgate_home::{Home, SessionId, atomic, private};

const BEGIN: &str = "decider-";
const TRIES: u32 = 20;

/// One of them: there as long as this lives.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _lock: File,
}

impl Presence {
    pub fn announce(home: &Home) -> io::Result<Presence> {
        // Who looks at the moment before it is locked takes it for what a dead one left, and removes it.
        for _ in 0..TRIES {
            let path = home.leases_dir().join(format!("{BEGIN}{}.lock", SessionId::random()));
            let lock = private::options().write(true).create_new(true).open(&path)?;
            lock.lock()?;
            if path.exists() {
                ring(home);
                return Ok(Presence { path, _lock: lock });
            }
        }
        Err(io::Error::other("what says that somebody is there is removed again and again"))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}

/// Is there anybody who could decide now?
pub fn is_present(home: &Home) -> bool {
    let entries = fs::read_dir(home.leases_dir()).into_iter().flatten().flatten();
    let locks = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(BEGIN) && name.ends_with(".lock")
    });
    // All of them are looked at, so that what is left of the dead goes.
    locks.filter(|lock| is_live(lock)).count() > 0
}

fn is_live(path: &Path) -> bool {
    let Ok(lock) = private::options().write(true).open(path) else { return false };
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
        Ok(()) => {
            let _gone = fs::remove_file(path);
            false
        }
    }
}

/// Wakes everybody who waits for questions or decisions. Nothing hangs on it: who is not woken looks now and then.
pub fn ring(home: &Home) {
    let _late = atomic::swap(&home.approvals_bell(), SessionId::random().as_str().as_bytes());
}

//! Changes that wait until a client has quit: `queue.json`. It is a file, so that they outlive us.
//!
//! A client that writes its whole file back from memory loses what was written while it ran.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{self, FileError};
use crate::ledger::LedgerKey;

/// One change that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    #[serde(flatten)]
    pub key: LedgerKey,
    pub todo: Todo,
    pub since_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Todo {
    Protect,
    Unprotect,
    /// Put a lost gate back, without a person having asked for it.
    Repair,
    /// Write the server of this name in `servers.json` into the file.
    Place,
    /// Put the file back as this copy has it. Its key is [`LedgerKey::of_file`]: it is about no entry more than about another.
    Restore {
        copy: String,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error("{path} cannot be read: {error}; move it away and choose again what shall wait")]
    Read { path: PathBuf, error: io::Error },
    #[error("{path} is not as we left it: {error}; move it away and choose again what shall wait")]
    Broken { path: PathBuf, error: serde_json::Error },
    #[error("{path}: {error}")]
    Write { path: PathBuf, error: FileError },
}

fn path_in(home: &Path) -> PathBuf {
    home.join("queue.json")
}

/// What waits, oldest first.
pub fn read(home: &Path) -> Result<Vec<Queued>, QueueError> {
    let path = path_in(home);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| QueueError::Broken { path, error }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(QueueError::Read { path, error }),
    }
}

/// Changes what waits, with no other process of ours between reading and writing.
pub fn change(home: &Path, edit: impl FnOnce(&mut Vec<Queued>)) -> Result<(), QueueError> {
    let path = path_in(home);
    let failed = |error| QueueError::Write { path: path.clone(), error };
    let _lock = file::lock(home, "queue.lock").map_err(|error| failed(FileError::Write(error)))?;
    let before = read(home)?;
    let mut after = before.clone();
    edit(&mut after);
    if after == before {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&after).map_err(|error| failed(FileError::Write(error.into())))?;
    match file::read(&path) {
        Ok(was) => file::replace(&was, &text).map_err(failed),
        Err(_) => file::create(&path, &text).map_err(failed),
    }
}

/// The newest wish for an entry counts.
pub fn add(home: &Path, keys: &[LedgerKey], todo: &Todo, now_ms: i64) -> Result<(), QueueError> {
    change(home, |queue| {
        queue.retain(|queued| !keys.contains(&queued.key));
        let queued = |key: &LedgerKey| Queued { key: key.clone(), todo: todo.clone(), since_ms: now_ms };
        queue.extend(keys.iter().map(queued));
    })
}

/// Nothing waits any more for entries that are gone on purpose, nor are they to come back with their file. A server that is yet
/// to come into a file is not gone.
pub fn forget(home: &Path, keys: &[LedgerKey]) -> Result<(), QueueError> {
    remove(home, |queued| match queued.todo {
        Todo::Place => false,
        Todo::Restore { .. } => keys.iter().any(|key| key.file() == queued.key),
        Todo::Protect | Todo::Unprotect | Todo::Repair => keys.contains(&queued.key),
    })
}

pub fn remove(home: &Path, of: impl Fn(&Queued) -> bool) -> Result<(), QueueError> {
    change(home, |queue| queue.retain(|queued| !of(queued)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn key(name: &str) -> LedgerKey {
        LedgerKey {
            client: "claude-desktop".into(),
            path: "/c.json".into(),
            project: None,
            name: name.into(),
        }
    }

    #[test]
    fn the_newest_wish_for_an_entry_counts_and_outlives_the_process() {
        let home = tempfile::tempdir().unwrap();
        add(home.path(), &[key("a"), key("b")], &Todo::Protect, 1).unwrap();
        add(home.path(), &[key("a")], &Todo::Unprotect, 2).unwrap();
        let waits = read(home.path()).unwrap();
        let told: Vec<_> = waits.iter().map(|one| (one.key.name.as_str(), &one.todo, one.since_ms)).collect();
        assert_eq!(told, [("b", &Todo::Protect, 1), ("a", &Todo::Unprotect, 2)]);
        remove(home.path(), |one| one.key.name == "b").unwrap();
        assert_eq!(
            read(home.path()).unwrap(),
            [Queued { key: key("a"), todo: Todo::Unprotect, since_ms: 2 }]
        );
    }

    #[test]
    fn a_copy_waits_for_its_file_once_and_not_for_servers_that_are_gone_on_purpose() {
        let home = tempfile::tempdir().unwrap();
        let restore = |copy: &str| Todo::Restore { copy: copy.to_owned() };
        add(home.path(), &[key("a")], &Todo::Protect, 1).unwrap();
        for (copy, at) in [("older", 2), ("newer", 3)] {
            add(home.path(), &[key("a").file()], &restore(copy), at).unwrap();
        }
        let waits: Vec<_> =
            read(home.path()).unwrap().into_iter().map(|one| (one.todo, one.since_ms)).collect();
        assert_eq!(waits, [(Todo::Protect, 1), (restore("newer"), 3)]);
        forget(home.path(), &[key("a")]).unwrap();
        assert_eq!(read(home.path()).unwrap(), []);
    }

    #[test]
    fn a_broken_queue_is_told_and_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("queue.json");
        fs::write(&path, "[{").unwrap();
        let error = add(home.path(), &[key("a")], &Todo::Protect, 1).unwrap_err();
        assert!(error.to_string().contains("move it away"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[{");
    }
}

//! What we did to which entry of which file: `ledger.json`. An entry can be given back without it; it is what tells an entry
//! that lost its gate from one that never had it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{self, FileError};
use crate::placement::Placed;
use crate::repair::{Mended, Rests};

const FORMAT: u32 = 1;
/// How many names of entries that are not behind the gate any more are remembered.
const MOST_FORMER: usize = 500;

/// An entry of a client's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LedgerKey {
    pub client: String,
    pub path: PathBuf,
    /// The project that the entry is for, where one file holds several (Claude Code).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub name: String,
}

impl LedgerKey {
    /// What is about a whole file, and no entry of it.
    pub fn of_file(client: &str, path: &Path) -> LedgerKey {
        LedgerKey { client: client.to_owned(), path: path.to_owned(), project: None, name: String::new() }
    }

    /// The file that the entry is in.
    pub fn file(&self) -> LedgerKey {
        LedgerKey::of_file(&self.client, &self.path)
    }
}

/// An entry that we put behind the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    #[serde(flatten)]
    pub key: LedgerKey,
    /// Its name at the gate; the client's own name for it, unless another client has another server of that name.
    pub server: String,
    /// A digest of the program and the arguments that it had.
    pub original: String,
    /// The text of its program, where the file alone would not give every byte back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Digests of the variables that load code into the gate, as they were; `None` in a row of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loads: Option<Vec<String>>,
    pub at_ms: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    format: u32,
    #[serde(default)]
    pub rows: Vec<LedgerRow>,
    /// Entries that a person took from behind the gate: nobody is asked about them as if they were new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<LedgerKey>,
    /// Rows of entries that are not behind the gate any more, for the names that they had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<LedgerRow>,
    /// Gates that were put back without a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<Mended>,
    /// When a file of a client was last written by us: a client that runs since before has not read that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub written_ms: BTreeMap<String, i64>,
    /// Entries that were not there before: written by us, behind the gate or not by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placed: Vec<Placed>,
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error(
        "{path} cannot be read: {error}; move it away, nothing is lost by it but the memory of what lost its gate"
    )]
    Read { path: PathBuf, error: io::Error },
    #[error(
        "{path} is not as we left it: {error}; move it away, nothing is lost by it but the memory of what lost its gate"
    )]
    Broken { path: PathBuf, error: serde_json::Error },
    #[error("{path} was written by a newer Callgate; update this one")]
    Newer { path: PathBuf },
    #[error("{path}: {error}")]
    Write { path: PathBuf, error: FileError },
}

impl Ledger {
    pub fn row(&self, key: &LedgerKey) -> Option<&LedgerRow> {
        self.rows.iter().find(|row| row.key == *key)
    }

    /// As it was when it was last behind the gate.
    pub fn former(&self, key: &LedgerKey) -> Option<&LedgerRow> {
        self.former.iter().find(|row| row.key == *key)
    }

    /// A person put it behind the gate: what was done by itself before does not count any more.
    pub fn put(&mut self, row: LedgerRow) {
        self.drop(&row.key);
        self.former.retain(|former| former.key != row.key);
        self.left_open.retain(|key| *key != row.key);
        self.rows.push(row);
        self.rows.sort_by(|a, b| a.key.cmp(&b.key));
    }

    /// The gate was put back without a person.
    pub fn put_again(&mut self, row: LedgerRow, now_ms: i64) {
        let mut mended = self.mended(&row.key).cloned().unwrap_or_else(|| Mended::new(&row.key));
        mended.again(now_ms);
        self.put(row);
        self.mended.push(mended);
    }

    /// The gate that came back in front of this entry is wanted after all.
    pub(crate) fn keep(&mut self, key: &LedgerKey, started: &str) {
        match self.former(key).filter(|row| row.original == started).cloned() {
            Some(row) => self.put(row),
            // What it starts now was never behind a gate of ours: that one is somebody else's, as any that we did not write.
            None => self.left_open.retain(|other| other != key),
        }
    }

    pub fn wrote(&mut self, client: &str, now_ms: i64) {
        self.written_ms.insert(client.to_owned(), now_ms);
    }

    pub fn mended(&self, key: &LedgerKey) -> Option<&Mended> {
        self.mended.iter().find(|mended| mended.key == *key)
    }

    /// Its gate is not put back without a person from now on.
    pub fn rest(&mut self, key: &LedgerKey, why: Rests) {
        let mended = self.mended(key).cloned().unwrap_or_else(|| Mended::new(key));
        self.mended.retain(|mended| mended.key != *key);
        self.mended.push(Mended { rests: Some(why), ..mended });
    }

    pub fn drop(&mut self, key: &LedgerKey) {
        if let Some(at) = self.rows.iter().position(|row| row.key == *key) {
            self.former.retain(|former| former.key != *key);
            self.former.push(self.rows.remove(at));
            let over = self.former.len().saturating_sub(MOST_FORMER);
            self.former.drain(..over);
        }
        self.mended.retain(|mended| mended.key != *key);
    }

    pub fn placed(&self, key: &LedgerKey) -> Option<&Placed> {
        self.placed.iter().find(|placed| placed.key == *key)
    }

    pub(crate) fn put_placed(&mut self, placed: Placed) {
        self.placed.retain(|other| other.key != placed.key);
        self.placed.push(placed);
    }

    /// The entry is gone by a person's will: nothing is remembered of it.
    pub fn forget(&mut self, key: &LedgerKey) {
        self.drop(key);
        self.former.retain(|former| former.key != *key);
        self.left_open.retain(|other| other != key);
        self.placed.retain(|placed| placed.key != *key);
    }

    /// Forgets the entry's row, and remembers that this was a person's will.
    pub fn leave_open(&mut self, key: &LedgerKey) {
        self.drop(key);
        if !self.left_open.contains(key) {
            self.left_open.push(key.clone());
        }
    }
}

/// The ledger of a home, held by one process of ours at a time.
#[derive(Debug)]
pub struct Held {
    pub ledger: Ledger,
    path: PathBuf,
    /// Released when the process ends, however it ends.
    _lock: File,
}

fn path_in(home: &Path) -> PathBuf {
    home.join("ledger.json")
}

/// What the ledger says, without holding it.
pub fn read(home: &Path) -> Result<Ledger, LedgerError> {
    let path = path_in(home);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
        Err(error) => return Err(LedgerError::Read { path, error }),
    };
    let ledger: Ledger =
        serde_json::from_slice(&text).map_err(|error| LedgerError::Broken { path: path.clone(), error })?;
    if ledger.format > FORMAT { Err(LedgerError::Newer { path }) } else { Ok(ledger) }
}

/// Takes the ledger, waiting for whoever has it: they hold it for the time of one write.
pub fn hold(home: &Path) -> Result<Held, LedgerError> {
    let path = path_in(home);
    let failed = |error| LedgerError::Write { path: path.clone(), error: FileError::Write(error) };
    let lock = file::lock(home, "clients.lock").map_err(failed)?;
    Ok(Held { ledger: read(home)?, path, _lock: lock })
}

impl Held {
    pub fn save(&mut self) -> Result<(), LedgerError> {
        self.ledger.format = FORMAT;
        let failed = |error| LedgerError::Write { path: self.path.clone(), error };
        let text = serde_json::to_vec_pretty(&self.ledger)
            .map_err(|error| failed(FileError::Write(error.into())))?;
        match file::read(&self.path) {
            Ok(before) => file::replace(&before, &text).map_err(failed),
            Err(_) => file::create(&self.path, &text).map_err(failed),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn row(name: &str) -> LedgerRow {
        let key =
            LedgerKey { client: "cursor".into(), path: "/c.json".into(), project: None, name: name.into() };
        LedgerRow { key, server: name.into(), original: "00".into(), text: None, loads: None, at_ms: 1 }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let home = tempfile::tempdir().unwrap();
        let mut held = hold(home.path()).unwrap();
        held.ledger.put(row("b"));
        held.ledger.put(row("a"));
        held.ledger.put(row("b"));
        held.save().unwrap();
        held.save().unwrap();
        let read = read(home.path()).unwrap();
        assert_eq!(read.rows.iter().map(|row| row.key.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(read, held.ledger);
    }

    #[test]
    fn a_broken_or_newer_ledger_is_told_and_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("ledger.json");
        for (text, word) in [("{", "not as we left it"), (r#"{"format":99}"#, "newer")] {
            fs::write(&path, text).unwrap();
            assert!(hold(home.path()).unwrap_err().to_string().contains(word));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}

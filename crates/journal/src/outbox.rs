//! Outbox of what people did: acts are on record in a moment, however busy the history is.
//!
//! A note is a file of its own. It is there before an act takes effect, and it is booked in the history after: by whoever
//! acted, if the history answers soon, else by whoever files next. Nobody who blocks a tool waits for twenty gates that
//! write; a note that was booked is booked once, whoever does it and whenever they are killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use callgate_controls::sqlite;
use callgate_home::{Home, StoreError, atomic, private};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::database::open_writer;
use crate::notes;
use crate::{EventKind, Origin};

/// How long somebody who acted waits for a busy history.
const PATIENCE: Duration = Duration::from_millis(250);
/// Booked notes are marked by this and their name, until their files are gone.
const MARK: &str = "note:";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// One thing that somebody did. Texts are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Note {
    Event { at_ms: i64, kind: EventKind, server: Option<String>, origin: Option<Origin>, text: String },
    Edit(notes::EditNote),
}

/// A note in the outbox.
#[derive(Debug)]
#[must_use = "it is to be booked once the act has taken effect"]
pub struct Noted {
    home: Home,
    path: PathBuf,
}

impl Noted {
    /// The act has taken effect. A history that is busy or broken gets the note later.
    pub fn book(self) {
        let _later = sqlite::with_patience(PATIENCE, || book(&self.home));
    }

    /// The act came to nothing. (One that somebody has booked meanwhile stays.)
    pub fn take_back(self) {
        let _gone = fs::remove_file(self.path);
    }
}

/// Puts a note into the outbox.
pub(super) fn put(home: &Home, at_ms: i64, note: &Note) -> Result<Noted, StoreError> {
    let folder = home.outbox();
    let fail = |error: std::io::Error| StoreError::io("write into", &folder, &error);
    private::create_folders(&folder).map_err(fail)?;
    // Names are in the order of the acts.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{at_ms:015}-{}-{number:04}.json", std::process::id()));
    atomic::swap(&path, &serde_json::to_vec(note).unwrap_or_default()).map_err(fail)?;
    Ok(Noted { home: home.clone(), path })
}

/// Books everything that waits in the outbox.
pub(crate) fn book(home: &Home) -> Result<(), StoreError> {
    if waiting(&home.outbox()).is_empty() {
        return Ok(());
    }
    let connection = open_writer(home, callgate_home::clock::wall_ms())?.connection;
    let fail = |error: rusqlite::Error| sqlite::database_error(&home.history_db(), &error);
    connection.execute_batch("BEGIN IMMEDIATE").map_err(fail)?;
    let booked = book_inside(&connection, &home.outbox());
    let end = if booked.is_ok() { "COMMIT" } else { "ROLLBACK" };
    connection.execute_batch(end).map_err(fail)?;
    booked.map_err(fail)?.remove();
    Ok(())
}

/// Notes whose rows are in a transaction; their files are to go once it is committed.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Booked(Vec<PathBuf>);

impl Booked {
    pub(super) fn remove(self) {
        for path in self.0 {
            let _gone = fs::remove_file(path);
        }
    }
}

/// The same inside of somebody's transaction.
pub(super) fn book_inside(connection: &Connection, outbox: &Path) -> rusqlite::Result<Booked> {
    let waiting = waiting(outbox);
    // Looked up under the lock: what is not there now was booked, and nobody can come to book it again.
    forget_marks(connection, outbox)?;
    let mut booked = Vec::new();
    for path in waiting {
        // What cannot be read now, or by this Callgate, stays for whoever can.
        let Some(note) = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()) else {
            continue;
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mark = connection
            .prepare_cached("INSERT OR IGNORE INTO meta VALUES (?1, 1)")?
            .execute([format!("{MARK}{name}")])?;
        if mark == 1 {
            notes::insert(connection, &note)?;
        }
        booked.push(path);
    }
    Ok(Booked(booked))
}

fn forget_marks(connection: &Connection, outbox: &Path) -> rusqlite::Result<()> {
    let marks: Vec<String> = connection
        .prepare_cached("SELECT key FROM meta WHERE key >= 'note:' AND key < 'note;'")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for mark in marks {
        // One that cannot be looked for may be there.
        if outbox.join(mark.trim_start_matches(MARK)).try_exists().is_ok_and(|there| !there) {
            connection.execute("DELETE FROM meta WHERE key = ?1", [mark])?;
        }
    }
    Ok(())
}

/// The notes, oldest first.
fn waiting(outbox: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(outbox).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut notes: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    notes.sort_unstable();
    notes
}

#[cfg(test)]
#[path = "outbox/tests.rs"]
mod tests;

//! The index of the history's words, in a file of its own: `search.db`.
//!
//! No shim ever writes it. Whoever wants to search keeps it up ([`Indexer`]), in short steps, from what it has to what the
//! history has; what is not in it yet is looked through row by row ([`super::query`]), so an answer is whole at any time.
//! A file that is lost, broken or of another history is made anew.
//!
//! It is cut into shards of numbers, an FTS5 table each: the work of a step stays small however long the history is, the
//! newest calls are found without looking at the oldest, and forgetting drops whole shards: what was in them is gone
//! from the disk, not only marked. A call is put into it once it is over; those that still run are a short list.
//!
//! Besides the words of a call, a row holds one word for each thing that people filter by (server, client, tool, decision,
//! session, whether it failed), so that any filter is a question to the index. These begin with a sign that no word of a text can have.

mod build;
mod read;
mod words;

use std::collections::BTreeSet;

use callgate_controls::sqlite;
use callgate_home::{Home, StoreError, clock};
use callgate_journal::retention::give_back;
use callgate_journal::{Decision, database};
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use super::filter::Matcher;

pub use build::Indexer;
pub(crate) use read::{Index, Stretch};
pub(crate) use words::SearchedText;
pub use words::Words;

/// Another number: another way to cut words, or other tables. Then the file is made anew.
const FORMAT: i64 = 4;
/// The mark of calls that failed.
const FAILED: (char, &str) = ('o', "failed");
/// And of those that a person decided about.
const BY_PERSON: (char, &str) = ('b', "person");
/// Numbers in a shard.
const SHARD: i64 = 1 << 16;
/// Numbers in a span, of which the earliest and latest time are known.
const SPAN: i64 = 1 << 10;

const SCHEMA: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
-- Everything of a shard up to this number is in here.
CREATE TABLE shards(shard INTEGER PRIMARY KEY, indexed_to INTEGER NOT NULL);
-- Calls that were not over when they were looked at.
CREATE TABLE open(rev INTEGER PRIMARY KEY);
-- What is counted. class: 0 let through, 1 refused, 2 capped.
CREATE TABLE light(rev INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, class INTEGER NOT NULL);
-- Tools that servers were asked for.
CREATE TABLE tools(shard INTEGER NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, PRIMARY KEY (shard, server, tool))
  WITHOUT ROWID;
CREATE TABLE spans(span INTEGER PRIMARY KEY, min_ms INTEGER NOT NULL, max_ms INTEGER NOT NULL);
";

/// How a call is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Passed,
    Refused,
    Capped,
}

impl Class {
    pub fn of(decision: Decision) -> Class {
        match decision {
            Decision::Capped => Class::Capped,
            decision if decision.is_refused() => Class::Refused,
            _ => Class::Passed,
        }
    }

    fn number(self) -> i64 {
        match self {
            Class::Passed => 0,
            Class::Refused => 1,
            Class::Capped => 2,
        }
    }

    pub(crate) fn numbered(number: i64) -> Class {
        match number {
            0 => Class::Passed,
            2 => Class::Capped,
            _ => Class::Refused,
        }
    }
}

fn table(shard: i64) -> String {
    format!("words_{shard}")
}

/// The numbers of a shard.
fn reach(shard: i64) -> (i64, i64) {
    (shard * SHARD, shard * SHARD + SHARD - 1)
}

/// The one word for a thing that is filtered by. Names are hashed: they may hold anything.
fn mark(kind: char, name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    format!("={kind}{}", callgate_text::hex(&digest[..8]))
}

/// The question as FTS5 takes it. Everything in it is either a mark or letters and digits, so nothing that somebody asks
/// for can become syntax. `None` if nothing is asked that the index knows of.
fn question(matcher: &Matcher, with_begun: bool) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let filter = &matcher.filter;
    let names = [('s', &filter.server), ('c', &filter.client), ('t', &filter.tool), ('n', &filter.session)];
    for (kind, name) in names {
        parts.extend(name.as_deref().map(|name| format!("\"{}\"", mark(kind, name))));
    }
    if !filter.decisions.is_empty() {
        let any: Vec<String> = matcher.decisions().map(|word| format!("\"{}\"", mark('d', word))).collect();
        parts.push(format!("({})", any.join(" OR ")));
    }
    for (kind, name) in
        [filter.failed.then_some(FAILED), filter.by_person.then_some(BY_PERSON)].into_iter().flatten()
    {
        parts.push(format!("\"{}\"", mark(kind, name)));
    }
    if let Some(words) = &matcher.words {
        parts.extend(words.whole.iter().map(|word| format!("\"{word}\"")));
        parts.extend(words.begun.iter().filter(|_| with_begun).map(|word| format!("\"{word}\" *")));
    }
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

/// The index, to be written; made if it is not there, and anew if it is broken or of another history.
fn open_writer(home: &Home, birth: i64) -> Result<Connection, StoreError> {
    let path = home.search_db();
    let _lock = sqlite::lock_beside(&path)?;
    match open_or_create(home, birth) {
        Ok(Some(connection)) => return Ok(connection),
        Err(error) if !error.is_corrupt() => return Err(error),
        _ => {}
    }
    remove_files(home)?;
    open_or_create(home, birth)?.ok_or_else(|| StoreError::Database {
        path,
        cause: "the index of words cannot be made".to_owned(),
        trouble: callgate_home::Trouble::Other,
    })
}

/// `None` if the file is of another format or of another history.
fn open_or_create(home: &Home, birth: i64) -> Result<Option<Connection>, StoreError> {
    let path = home.search_db();
    let fail = |error: rusqlite::Error| sqlite::database_error(&path, &error);
    let new = path.metadata().map_or(true, |meta| meta.len() == 0);
    sqlite::create_file(&path)?;
    let connection = sqlite::open(&path)?;
    // What was forgotten is overwritten; the log is written back now and then, since no session waits for it here. The app
    // keeps this open as long as it runs: a larger cache makes it larger, and indexing no faster.
    connection
        .execute_batch(
            "PRAGMA secure_delete=ON; PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=2000;",
        )
        .map_err(fail)?;
    if new {
        connection
            .execute_batch(&format!(
                "PRAGMA auto_vacuum=INCREMENTAL; VACUUM;
                 BEGIN IMMEDIATE; {SCHEMA} INSERT INTO meta VALUES ('birth', {birth}); PRAGMA user_version={FORMAT};
                 COMMIT;"
            ))
            .map_err(fail)?;
    }
    Ok(is_of(&connection, birth).map_err(fail)?.then_some(connection))
}

fn is_of(connection: &Connection, birth: i64) -> rusqlite::Result<bool> {
    let format: i64 = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    if format != FORMAT {
        return Ok(false);
    }
    let found: Option<i64> = connection
        .query_row("SELECT value FROM meta WHERE key = 'birth'", (), |row| row.get(0))
        .optional()?;
    Ok(found == Some(birth))
}

fn remove_files(home: &Home) -> Result<(), StoreError> {
    let path = home.search_db();
    for suffix in ["-wal", "-shm", ""] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Forgets these calls here too, which are gone from the history already. Whole shards go, and are indexed anew: only so is
/// nothing of them left in the file. True if no copy is left in its log either.
pub(super) fn forget(home: &Home, revs: &[i64]) -> Result<bool, StoreError> {
    let path = home.search_db();
    if revs.is_empty() || !path.exists() {
        return Ok(true);
    }
    let shards: BTreeSet<i64> = revs.iter().map(|rev| rev.div_euclid(SHARD)).collect();
    wipe(home, |connection| {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        shards.iter().try_for_each(|shard| drop_shard(connection, *shard))?;
        connection.execute_batch("COMMIT")?;
        give_back(connection, i64::from(i32::MAX))
    })
}

/// The same for everything; the file becomes small, too.
pub(super) fn forget_all(home: &Home) -> Result<bool, StoreError> {
    if !home.search_db().exists() {
        return Ok(true);
    }
    wipe(home, |connection| {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let shards: Vec<i64> = connection
            .prepare("SELECT shard FROM shards")?
            .query_map((), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        shards.iter().try_for_each(|shard| drop_shard(connection, *shard))?;
        connection.execute_batch(
            "DELETE FROM light; DELETE FROM open; DELETE FROM tools; DELETE FROM spans; COMMIT; VACUUM;",
        )
    })
}

/// Wipes what somebody left in the index who was killed while forgetting.
fn wipe_what_was_left(home: &Home, history: &super::History) -> Result<(), StoreError> {
    if !history.is_unwiped()? {
        return Ok(());
    }
    let fail = |error: rusqlite::Error| sqlite::database_error(&home.history_db(), &error);
    let connection = database::open_writer(home, clock::wall_ms())?.connection;
    let left = super::forget::Unwiped::found(&connection).map_err(fail)?;
    forget_all(home)?;
    left.settle(&connection).map_err(fail)
}

fn wipe(home: &Home, work: impl Fn(&Connection) -> rusqlite::Result<()>) -> Result<bool, StoreError> {
    let path = home.search_db();
    let lock = sqlite::lock_beside(&path)?;
    let wiped = sqlite::open(&path).and_then(|connection| {
        connection
            .execute_batch("PRAGMA secure_delete=ON")
            .and_then(|()| work(&connection))
            .map_err(|error| sqlite::database_error(&path, &error))?;
        Ok(super::forget::empty_log(&connection))
    });
    // An index that cannot be cleaned must not stay: it is made of the history at any time.
    let emptied = wiped.or_else(|_| remove_files(home).map(|()| true));
    drop(lock);
    emptied
}

fn drop_shard(connection: &Connection, shard: i64) -> rusqlite::Result<()> {
    let (first, last) = reach(shard);
    connection.execute_batch(&format!("DROP TABLE IF EXISTS {}", table(shard)))?;
    for sharded in ["shards", "tools"] {
        connection.execute(&format!("DELETE FROM {sharded} WHERE shard = ?1"), [shard])?;
    }
    for numbered in ["light", "open"] {
        connection.execute(&format!("DELETE FROM {numbered} WHERE rev BETWEEN ?1 AND ?2"), (first, last))?;
    }
    connection
        .execute("DELETE FROM spans WHERE span BETWEEN ?1 AND ?2", (first / SPAN, last / SPAN))
        .map(drop)
}

#[cfg(test)]
#[path = "search/tests.rs"]
mod tests;

//! `limits.db`, the file: opened, found lost, replaced or broken, and made anew.
//!
//! A file that is missing though the home once had it, that sits under another inode than it was made with
//! (restored from a copy), or that is no database any more, starts *full*: as if every limit had just been
//! used up. Deleting or rolling back the counters must never be a way around them.

use std::path::{Path, PathBuf};

use callgate_home::clock::Moment;
use callgate_home::private::{Identity, identity};
use callgate_home::{Home, StoreError};
use rusqlite::{Connection, OptionalExtension};
use rustc_hash::FxHashMap;

use super::ledger::{Anchor, ledger_time};
use crate::sqlite;

/// Format of this database. A newer one is refused: its counters might mean something else.
const VERSION: i64 = 6;

/// A take changes a few bytes on a few pages, and every commit writes and sums up whole pages: small ones cost less.
const PAGE: u32 = 1024;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
-- Where the ledger stood at the first use in a boot; from there it advances with the time since boot.
CREATE TABLE IF NOT EXISTS ledger(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  boot TEXT NOT NULL, uptime_ms INTEGER NOT NULL, ledger_ms INTEGER NOT NULL, wall_ms INTEGER NOT NULL);
-- reach: the largest max and the longest window that ever asked; nothing older is kept.
CREATE TABLE IF NOT EXISTS counters(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, reach_max INTEGER NOT NULL, reach_ms INTEGER NOT NULL);
-- Admission number n of a counter, in ledger time; the wall clock only bridges a reboot.
CREATE TABLE IF NOT EXISTS admissions(
  counter INTEGER NOT NULL, n INTEGER NOT NULL, at_ms INTEGER NOT NULL, wall_ms INTEGER NOT NULL,
  PRIMARY KEY (counter, n)) WITHOUT ROWID;
-- The same for amounts, in millionths. total: of all so far, 16 bytes, which no number of calls can fill.
CREATE TABLE IF NOT EXISTS amounts(
  counter INTEGER NOT NULL, n INTEGER NOT NULL, at_ms INTEGER NOT NULL, wall_ms INTEGER NOT NULL,
  amount INTEGER NOT NULL, total BLOB NOT NULL, PRIMARY KEY (counter, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS totals(counter INTEGER PRIMARY KEY, used INTEGER NOT NULL);
-- Calls under way. frees_ms: when a cancelled one no longer counts.
CREATE TABLE IF NOT EXISTS holds(
  session TEXT NOT NULL, seq INTEGER NOT NULL, counter INTEGER NOT NULL, frees_ms INTEGER,
  PRIMARY KEY (session, seq, counter)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS holds_counter ON holds(counter, frees_ms);
-- AllowanceScope a person has set back to nothing, in ledger time. A loss before that no longer counts.
CREATE TABLE IF NOT EXISTS resets(
  server TEXT NOT NULL, counter TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (server, counter)) WITHOUT ROWID;
-- Allowances of a single call, from their grant on.
CREATE TABLE IF NOT EXISTS once(id TEXT PRIMARY KEY, ends_ms INTEGER NOT NULL, spent_ms INTEGER) WITHOUT ROWID;
-- Calls that a person decides about. subject: digest of all that makes a call the same one.
CREATE TABLE IF NOT EXISTS approvals(
  id TEXT PRIMARY KEY, call TEXT NOT NULL, subject BLOB NOT NULL, server TEXT NOT NULL, client TEXT NOT NULL, tool TEXT NOT NULL,
  definition BLOB NOT NULL, digest BLOB NOT NULL, session TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL,
  difference TEXT, arguments TEXT, arguments_bytes INTEGER NOT NULL, complete INTEGER NOT NULL, masked INTEGER NOT NULL DEFAULT 0, opened_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL, asked INTEGER NOT NULL, rounds INTEGER NOT NULL, state TEXT NOT NULL, decided_ms INTEGER, decided_uptime_ms INTEGER, decided_boot TEXT,
  decided_by TEXT, words TEXT, told INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS approvals_open ON approvals(subject) WHERE state = 'open';
CREATE INDEX IF NOT EXISTS approvals_subject ON approvals(subject);
-- Calls that gates hold for one of them.
CREATE TABLE IF NOT EXISTS waiting(
  call TEXT PRIMARY KEY, approval TEXT NOT NULL, session TEXT NOT NULL, until_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS waiting_approval ON waiting(approval);
CREATE INDEX IF NOT EXISTS approvals_tool ON approvals(server, client, tool, opened_ms);
-- AllowanceScope a decision lets through beside the call that it was about.
CREATE TABLE IF NOT EXISTS grants(
  id TEXT PRIMARY KEY, server TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL, tool TEXT NOT NULL,
  definition BLOB NOT NULL, scope TEXT NOT NULL, granted_ms INTEGER NOT NULL, granted_uptime_ms INTEGER NOT NULL, boot TEXT NOT NULL,
  ends_ms INTEGER NOT NULL, idle_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL, calls_left INTEGER NOT NULL,
  revoked_ms INTEGER) WITHOUT ROWID;
-- Tools that such a one reaches beside its own. definition: once it was used for that tool.
CREATE TABLE IF NOT EXISTS also_granted(
  id TEXT NOT NULL, tool TEXT NOT NULL, definition BLOB, PRIMARY KEY (id, tool)) WITHOUT ROWID;
-- Of an approval, and of what it lets through, whose client says which conversation it belongs to. command: as in its subject.
CREATE TABLE IF NOT EXISTS conversations(
  id TEXT PRIMARY KEY, conversation TEXT NOT NULL, command BLOB NOT NULL) WITHOUT ROWID;
";

#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub(super) id: i64,
    pub(super) reach_max: i64,
    pub(super) reach_ms: i64,
}

impl Counter {
    pub(super) fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Counter> {
        Ok(Counter { id: row.get(0)?, reach_max: row.get(1)?, reach_ms: row.get(2)? })
    }
}

#[derive(Debug)]
pub(crate) struct Db {
    pub(crate) connection: Connection,
    pub(crate) home: Home,
    pub(crate) path: PathBuf,
    file: Identity,
    wal: (PathBuf, Identity),
    pub(super) counters: FxHashMap<String, Counter>,
    pub(super) anchor: Option<Anchor>,
    /// Ledger time at which everything counts as used up.
    pub(super) full_since: Option<i64>,
    /// What was found wrong at opening, for people.
    pub(super) found: Option<String>,
}

impl Db {
    pub(crate) fn open(home: &Home, now: &Moment) -> Result<Db, StoreError> {
        let path = home.limits_db();
        let lock = sqlite::lock_beside(&path)?;
        // What this home once had and has no more was lost.
        let was_there = home.was_prepared();
        let opened = match open_or_create(home, &path, was_there, now) {
            Err(error) if error.is_corrupt() => {
                let aside = sqlite::move_aside(&path, now.wall_ms)?;
                let found = format!("the counters were damaged and were moved to {}", aside.display());
                open_or_create(home, &path, true, now).map(|database| Db { found: Some(found), ..database })
            }
            other => other,
        };
        drop(lock);
        opened
    }

    /// Is the file that we have open still the one that others would open? Two `stat`s.
    pub(crate) fn is_in_place(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.file)
            && identity(&self.wal.0).is_ok_and(|found| found == self.wal.1)
    }
}

/// Puts a broken database out of the way while the session runs.
pub(super) fn put_aside(home: &Home, now: &Moment) -> Result<Option<PathBuf>, StoreError> {
    let path = home.limits_db();
    let _lock = sqlite::lock_beside(&path)?;
    // Another shim may have been here first: only what is still broken is moved.
    let broken =
        sqlite::open(&path).and_then(|connection| check(&connection, &path)).is_err_and(|e| e.is_corrupt());
    broken.then(|| sqlite::move_aside(&path, now.wall_ms)).transpose()
}

fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let verdict: String = connection
        .query_row("PRAGMA quick_check(1)", (), |row| row.get(0))
        .map_err(|error| sqlite::database_error(path, &error))?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(StoreError::Database {
        path: path.to_owned(),
        cause: verdict,
        trouble: callgate_home::Trouble::Corrupt,
    })
}

fn open_or_create(home: &Home, path: &Path, was_there: bool, now: &Moment) -> Result<Db, StoreError> {
    let fail = |error: rusqlite::Error| sqlite::database_error(path, &error);
    sqlite::create_file(path)?;
    let connection = sqlite::open_paged(path, PAGE)?;
    let version = check_version(&connection, path)?;
    let file = identity(path).map_err(|error| StoreError::io("look at", path, &error))?;
    let inode = file.ino.cast_signed();
    let known: Option<i64> = match version {
        0 => None,
        _ => connection
            .query_row("SELECT value FROM meta WHERE key = 'inode'", (), |row| row.get(0))
            .optional()
            .map_err(fail)?,
    };
    let full = known != Some(inode) && (was_there || version > 0);
    // An older file gets the tables that it lacks; what it counted goes on.
    if known != Some(inode) || version < VERSION {
        connection.execute_batch("BEGIN IMMEDIATE").map_err(fail)?;
        let made = make(&connection, version, inode, full, now);
        connection.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" }).map_err(fail)?;
        made.map_err(fail)?;
    }
    let full_since = connection
        .query_row("SELECT value FROM meta WHERE key = 'full_since'", (), |row| row.get(0))
        .optional()
        .map_err(fail)?;
    let log = sqlite::wal_of(path);
    // Reading in WAL mode makes the log, so from here on it is there.
    let wal = identity(&log).map_err(|error| StoreError::io("look at", &log, &error))?;
    Ok(Db {
        connection,
        home: home.clone(),
        path: path.to_owned(),
        file,
        wal: (log, wal),
        counters: FxHashMap::default(),
        anchor: None,
        full_since,
        found: full
            .then(|| "the counters were lost or replaced; every shared limit counts as used up".to_owned()),
    })
}

/// A newer file is refused.
pub fn check_version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let version: i64 = connection
        .query_row("PRAGMA user_version", (), |row| row.get(0))
        .map_err(|error| sqlite::database_error(path, &error))?;
    match version > VERSION {
        true => Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION }),
        false => Ok(version),
    }
}

fn make(connection: &Connection, version: i64, inode: i64, full: bool, now: &Moment) -> rusqlite::Result<()> {
    if version == 3 {
        // How many calls are held is known by session since.
        let dropped =
            "ALTER TABLE approvals DROP COLUMN holders; ALTER TABLE approvals DROP COLUMN held_until_ms";
        connection.execute_batch(dropped)?;
    }
    if (3..=4).contains(&version) {
        let added = "ALTER TABLE approvals ADD COLUMN masked INTEGER NOT NULL DEFAULT 0";
        connection.execute_batch(added)?;
    }
    connection.execute_batch(SCHEMA)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('inode', ?1)", [inode])?;
    if full {
        // A person forgave an earlier loss, not this one.
        connection.execute("DELETE FROM resets", ())?;
        // In an older copy, what was spent since is unspent.
        connection.execute("DELETE FROM once", ())?;
        connection.execute("UPDATE grants SET revoked_ms = ?1 WHERE revoked_ms IS NULL", [now.wall_ms])?;
        let at = ledger_time(connection, None, now)?.0;
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('full_since', ?1)", [at])?;
    }
    Ok(())
}

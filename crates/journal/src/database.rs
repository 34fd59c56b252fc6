//! `history.db`: its schema and its versions. Filled from spools ([`crate::filing`]), read by `callgate-history`; it never
//! stands between a call and its server.
//!
//! `rev` numbers every insert and every later change, so that a reader can follow: a call's own number is the
//! revision that inserted it; changes to it are listed in `changes`.

use std::path::{Path, PathBuf};

use callgate_controls::sqlite;
use callgate_home::{BadSessionId, Home, SessionId, StoreError, clock};
use rusqlite::Connection;

use crate::notes;

/// What `calls.flags` says of a call's texts.
pub mod flags {
    pub const ARGS_CUT: i64 = 1;
    pub const ARGS_MASKED: i64 = 2;
    pub const RESULT_CUT: i64 = 4;
    pub const RESULT_MASKED: i64 = 8;
    pub const ARGS_WITHHELD: i64 = 16;
    pub const RESULT_WITHHELD: i64 = 32;
}

/// Thousands: breaking changes, which an older Callgate refuses. Units: additions, which it does not mind.
const VERSION: i64 = 1_004;
const STEP: i64 = 1_000;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
-- generation: raised whenever calls were removed, so that whoever remembers ids of contexts, or numbers, forgets them too.
-- birth: drawn once, so that whoever keeps something beside this file notices when it is another one.
INSERT OR IGNORE INTO meta VALUES ('rev', 0), ('generation', 0), ('birth', random() & 0x7fffffffffff);
CREATE TABLE IF NOT EXISTS sessions(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, server TEXT NOT NULL, client TEXT, command TEXT NOT NULL,
  started_ms INTEGER NOT NULL, ended_ms INTEGER, end_reason TEXT, demo INTEGER NOT NULL,
  -- Number of the last spool group that is in here.
  drained INTEGER NOT NULL DEFAULT 0,
  -- When the policy that it took up last was put on record by whoever edited it; NULL if nobody did.
  edited_ms INTEGER,
  -- Version of the policy that it took up last.
  policy TEXT,
  -- Names are short and may come again.
  UNIQUE (name, started_ms));
-- What calls have in common, once: rows stay small, and filters look at few of them.
-- Ids are never used again: a filer may still remember one that was removed.
CREATE TABLE IF NOT EXISTS contexts(
  id INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL, policy TEXT NOT NULL, method TEXT NOT NULL, tool TEXT NOT NULL,
  decision TEXT NOT NULL, rule TEXT NOT NULL, UNIQUE (tool, method, decision, rule, policy, client));
CREATE INDEX IF NOT EXISTS contexts_policy ON contexts(policy);
-- flags: 1 arguments cut, 2 arguments masked, 4 result cut, 8 result masked, 16 arguments withheld, 32 result withheld.
-- Large columns last; digest came later than all.
CREATE TABLE IF NOT EXISTS calls(
  rev INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, context INTEGER NOT NULL,
  run INTEGER NOT NULL, at_ms INTEGER NOT NULL, outcome TEXT, duration_us INTEGER, flags INTEGER NOT NULL,
  args_bytes INTEGER, result_bytes INTEGER, rpc_id TEXT, reason TEXT, args TEXT, result TEXT, digest BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS calls_id ON calls(session, seq);
-- Only calls without an outcome are in it, so it costs almost nothing to keep.
CREATE INDEX IF NOT EXISTS calls_open ON calls(session) WHERE outcome IS NULL;
CREATE TABLE IF NOT EXISTS changes(rev INTEGER PRIMARY KEY, call INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS policy_versions(
  version TEXT NOT NULL, server TEXT NOT NULL, text TEXT NOT NULL, first_seen_ms INTEGER NOT NULL,
  -- An older text may come back, so the last one seen is not always the one first seen last.
  seen_ms INTEGER NOT NULL,
  -- When somebody last put it on record as an edit of theirs.
  edited_ms INTEGER,
  origin TEXT NOT NULL, PRIMARY KEY (version, server));
CREATE TABLE IF NOT EXISTS policy_changes(
  id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, server TEXT NOT NULL, version TEXT NOT NULL,
  previous TEXT, origin TEXT NOT NULL, summary TEXT NOT NULL,
  -- Its place among the calls.
  rev INTEGER);
CREATE INDEX IF NOT EXISTS policy_changes_server ON policy_changes(server, at_ms);
CREATE INDEX IF NOT EXISTS policy_changes_rev ON policy_changes(rev);
CREATE TABLE IF NOT EXISTS events(
  id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, kind TEXT NOT NULL, server TEXT, session TEXT,
  origin TEXT, text TEXT NOT NULL,
  -- Its place among the calls.
  rev INTEGER);
CREATE INDEX IF NOT EXISTS events_rev ON events(rev);
-- What events of the kinds forgotten and expired took away, by server; '' for what belongs to none.
CREATE TABLE IF NOT EXISTS removals(
  event INTEGER NOT NULL, server TEXT NOT NULL, calls INTEGER NOT NULL, events INTEGER NOT NULL,
  from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, PRIMARY KEY (event, server)) WITHOUT ROWID;
";

/// Columns that came with a version, for files that are older.
const ADDED: &[(i64, &str)] = &[
    (1_001, "ALTER TABLE calls ADD COLUMN digest BLOB;"),
    (1_002, "ALTER TABLE sessions ADD COLUMN policy TEXT;"),
    (1_003, EVENTS_REV),
    (1_003, CHANGES_REV),
];

/// Where an older row stands is not known to the call: before the first call of the session that had begun last.
const EVENTS_REV: &str = "ALTER TABLE events ADD COLUMN rev INTEGER;
UPDATE events SET rev = coalesce((SELECT c.rev - 1 FROM calls c WHERE c.session =
  (SELECT s.id FROM sessions s WHERE s.started_ms <= events.at_ms ORDER BY s.started_ms DESC LIMIT 1)
  ORDER BY c.seq LIMIT 1), 0);";
const CHANGES_REV: &str = "CREATE TABLE IF NOT EXISTS policy_changes(
  id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, server TEXT NOT NULL, version TEXT NOT NULL,
  previous TEXT, origin TEXT NOT NULL, summary TEXT NOT NULL);
ALTER TABLE policy_changes ADD COLUMN rev INTEGER;
UPDATE policy_changes SET rev = coalesce((SELECT c.rev - 1 FROM calls c WHERE c.session =
  (SELECT s.id FROM sessions s WHERE s.started_ms <= policy_changes.at_ms ORDER BY s.started_ms DESC LIMIT 1)
  ORDER BY c.seq LIMIT 1), 0);";

/// A connection for reading. What was never made is made, and what an older Callgate made gets what it lacks.
pub fn open_reader(home: &Home) -> Result<Connection, StoreError> {
    let path = home.history_db();
    if !path.exists() {
        // Nothing was ever recorded here: an empty history, not an error.
        drop(open_writer(home, clock::wall_ms())?);
    }
    let connection = sqlite::open_reader(&path)?;
    if check_version(&connection, &path)? >= VERSION {
        return Ok(connection);
    }
    // From an older Callgate: a writer adds what it lacks.
    drop(connection);
    drop(open_writer(home, clock::wall_ms())?);
    let connection = sqlite::open_reader(&path)?;
    check_version(&connection, &path)?;
    Ok(connection)
}

/// A connection for writing; what was found broken has been moved to the path beside it.
#[derive(Debug)]
pub struct Writer {
    pub connection: Connection,
    pub moved_aside: Option<PathBuf>,
}

pub fn open_writer(home: &Home, wall_ms: i64) -> Result<Writer, StoreError> {
    let path = home.history_db();
    let lock = sqlite::lock_beside(&path)?;
    let opened = match open_or_create(&path) {
        Err(error) if error.is_corrupt() => {
            let aside = sqlite::move_aside(&path, wall_ms)?;
            open_or_create(&path).map(|connection| Writer { connection, moved_aside: Some(aside) })
        }
        other => other.map(|connection| Writer { connection, moved_aside: None }),
    };
    drop(lock);
    opened
}

/// Says that contexts were removed. Inside the transaction that removes them.
pub fn raise_generation(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'", ()).map(drop)
}

/// The number of one more row, from a transaction that may write.
pub fn next_rev(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'rev' RETURNING value")?
        .query_row((), |row| row.get(0))
}

/// Puts a history that turned out broken while it was used out of the way, and says so in a new one.
pub fn put_aside(home: &Home, wall_ms: i64) {
    let path = home.history_db();
    let moved = sqlite::lock_beside(&path).and_then(|_lock| sqlite::move_aside(&path, wall_ms));
    if let Ok(aside) = moved {
        let text = format!("the history was damaged and was moved to {}", aside.display());
        tracing::warn!("{text}");
        // If this fails too, the next to open it finds an empty history and the file beside it.
        let _told =
            notes::record_event(home, wall_ms, crate::EventKind::DatabaseMovedAside, None, None, &text);
    }
}

fn open_or_create(path: &Path) -> Result<Connection, StoreError> {
    let fail = |error: rusqlite::Error| sqlite::database_error(path, &error);
    let new = path.metadata().map_or(true, |meta| meta.len() == 0);
    sqlite::create_file(path)?;
    if new {
        // Only works before anything else is written, so it comes before the switch to WAL.
        let connection = Connection::open(path).map_err(fail)?;
        connection
            .execute_batch("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; VACUUM;")
            .map_err(fail)?;
    }
    let connection = sqlite::open(path)?;
    connection
        .execute_batch("PRAGMA secure_delete=ON; PRAGMA cache_size=-2048; PRAGMA temp_store=MEMORY;")
        .map_err(fail)?;
    let version = check_version(&connection, path)?;
    if version < VERSION {
        // An older file first gets the columns that came since; a table that it lacks is in the schema.
        let since = ADDED.iter().filter(|(came_with, _)| (STEP..*came_with).contains(&version));
        let added: String = since.map(|(_, sql)| *sql).collect();
        connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {added} {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;"
            ))
            .map_err(fail)?;
    }
    Ok(connection)
}

/// Additions of a newer Callgate do no harm; breaking changes do.
pub fn check_version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let version: i64 = connection
        .query_row("PRAGMA user_version", (), |row| row.get(0))
        .map_err(|error| sqlite::database_error(path, &error))?;
    if version / STEP > VERSION / STEP {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION });
    }
    Ok(version)
}

/// Did a session of this name ever record anything here? A record that cannot be read knows nobody.
pub fn is_on_record(home: &Home, session: SessionId) -> bool {
    let known = "SELECT EXISTS (SELECT 1 FROM sessions WHERE name = ?1)";
    let found = sqlite::open_reader(&home.history_db())
        .map(|connection| connection.query_row(known, [session.as_str()], |row| row.get(0)));
    matches!(found, Ok(Ok(true)))
}

/// A session's name in a row.
pub fn session_name(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<SessionId> {
    let name: String = row.get(column)?;
    name.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::<BadSessionId>::new(error),
        )
    })
}

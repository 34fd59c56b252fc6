//! Forgetting, for good: rows are overwritten, free pages returned, the log emptied.

use std::time::Duration;

use rusqlite::Connection;

use super::query::NEWEST_OF_NAME;
use crate::catch_up::catch_up;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::home::Home;
use crate::id::CallId;
use crate::retention::give_back;
use crate::words::EventKind;

/// Calls removed in one transaction.
const STEP: usize = 500;

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget<'a> {
    Call(CallId),
    Server(&'a str),
    /// Everything before this time, in milliseconds since 1970.
    Before(i64),
    /// What the demo recorded.
    Demo,
}

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub calls: usize,
    pub events: usize,
    pub sessions: usize,
    /// Copies may remain in the database's log until the last reader of it is gone.
    pub log_emptied: bool,
}

/// Removes it from the history. What spools hold is filed first: a spool's owner then finds it filed and drops it,
/// and what was filed once is never filed again.
pub fn forget(home: &Home, what: Forget<'_>, clock: &dyn Clock) -> Result<Forgotten, StoreError> {
    catch_up(home, clock)?;
    let now = clock.now().wall_ms;
    let connection = super::open_writer(home, now)?.connection;
    if let Forget::Server(server) = what {
        // What it listed last. One that cannot be removed holds nothing that the server does not tell everybody.
        let _gone = std::fs::remove_file(home.catalogue(server));
    }
    let path = home.history_db();
    remove(&connection, what, now).map_err(|error| StoreError::database(&path, &error))
}

fn remove(connection: &Connection, what: Forget<'_>, now: i64) -> rusqlite::Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    let revs = matching(connection, what)?;
    for step in revs.chunks(STEP) {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let removed = remove_calls(connection, step);
        connection.execute_batch(if removed.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        forgotten.calls += removed?;
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let rest = remove_rest(connection, what, now, &mut forgotten);
    connection.execute_batch(if rest.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    rest?;
    give_back(connection, i64::from(i32::MAX))?;
    forgotten.log_emptied = empty_log(connection);
    Ok(forgotten)
}

fn matching(connection: &Connection, what: Forget<'_>) -> rusqlite::Result<Vec<i64>> {
    let from = "SELECT c.rev FROM calls c JOIN sessions s ON s.id = c.session WHERE";
    let collect = |condition: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare(&format!("{from} {condition}"))?.query_map(values, |row| row.get(0))?.collect()
    };
    match what {
        Forget::Call(id) => {
            // The one that is shown under this id.
            collect(
                &format!("s.id = {NEWEST_OF_NAME} AND c.seq = ?2"),
                &[&id.session.as_str(), &id.seq.cast_signed()],
            )
        }
        Forget::Server(server) => collect("s.server = ?1", &[&server]),
        Forget::Before(at_ms) => collect("c.at_ms < ?1", &[&at_ms]),
        Forget::Demo => collect("s.demo = 1", &[]),
    }
}

fn remove_calls(connection: &Connection, revs: &[i64]) -> rusqlite::Result<usize> {
    let mut removed = 0;
    for rev in revs {
        removed += connection.prepare_cached("DELETE FROM calls WHERE rev = ?1")?.execute([rev])?;
    }
    Ok(removed)
}

fn remove_rest(
    connection: &Connection,
    what: Forget<'_>,
    now: i64,
    done: &mut Forgotten,
) -> rusqlite::Result<()> {
    let of_demo = "session IN (SELECT name FROM sessions WHERE demo = 1)";
    done.events = match what {
        Forget::Call(_) => 0,
        Forget::Server(server) => {
            connection.execute("DELETE FROM policy_versions WHERE server = ?1", [server])?;
            connection.execute("DELETE FROM policy_changes WHERE server = ?1", [server])?;
            connection.execute("DELETE FROM events WHERE server = ?1", [server])?
        }
        Forget::Before(at_ms) => {
            while super::timeline::forget_before(connection, at_ms)? > 0 {}
            connection.execute("DELETE FROM events WHERE at_ms < ?1", [at_ms])?
        }
        Forget::Demo => connection.execute(&format!("DELETE FROM events WHERE {of_demo}"), ())?,
    };
    // A running session's row stays: it says what of its spool is already filed.
    let empty = "ended_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.session = sessions.id)";
    done.sessions =
        match what {
            Forget::Call(_) => 0,
            Forget::Server(server) => connection
                .execute(&format!("DELETE FROM sessions WHERE server = ?1 AND {empty}"), [server])?,
            Forget::Before(at_ms) => connection
                .execute(&format!("DELETE FROM sessions WHERE ended_ms < ?1 AND {empty}"), [at_ms])?,
            Forget::Demo => {
                connection.execute(&format!("DELETE FROM sessions WHERE demo = 1 AND {empty}"), ())?
            }
        };
    if done.calls > 0 {
        if connection.execute("DELETE FROM contexts WHERE id NOT IN (SELECT context FROM calls)", ())? > 0 {
            super::raise_generation(connection)?;
        }
        connection.execute("DELETE FROM changes WHERE call NOT IN (SELECT rev FROM calls)", ())?;
    }
    if done.calls + done.events > 0 && what != Forget::Demo {
        let text = format!("{} calls and {} events were forgotten", done.calls, done.events);
        connection.execute(
            "INSERT INTO events(at_ms, kind, text) VALUES (?1, ?2, ?3)",
            (now, EventKind::Forgotten.word(), text),
        )?;
    }
    Ok(())
}

/// The log holds older copies of pages. It can be emptied when nobody reads an old state.
fn empty_log(connection: &Connection) -> bool {
    for _ in 0..50 {
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, i64>(0));
        if busy == Ok(0) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

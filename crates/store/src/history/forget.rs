//! Forgetting, for good: rows are overwritten, free pages returned, the log emptied.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};

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
    /// Everything, whatever time it bears.
    All,
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
    let fail = |error: rusqlite::Error| StoreError::database(&path, &error);
    let revs = matching(&connection, what).map_err(fail)?;
    let mut unwiped = Unwiped::found(&connection).map_err(fail)?;
    let removed = remove(&connection, what, now, &revs, &mut unwiped);
    // Also of what was removed before something went wrong.
    let wiped = if what == Forget::All || unwiped.by_others {
        super::search::forget_all(home)
    } else {
        super::search::forget(home, &revs)
    };
    let mut forgotten = removed.map_err(fail)?;
    forgotten.log_emptied &= wiped?;
    unwiped.settle(&connection).map_err(fail)?;
    Ok(forgotten)
}

/// The mark that calls were removed whose words the index may still hold. It is set together with their removal, so that
/// whoever is killed in between leaves it, and the next to use the index wipes all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unwiped {
    /// 0: there is none.
    mark: i64,
    /// Somebody else's calls are meant, too.
    by_others: bool,
}

impl Unwiped {
    pub(super) fn found(connection: &Connection) -> rusqlite::Result<Unwiped> {
        let mark: Option<i64> = connection
            .query_row("SELECT value FROM meta WHERE key = 'unwiped'", (), |row| row.get(0))
            .optional()?;
        let mark = mark.unwrap_or_default();
        Ok(Unwiped { mark, by_others: mark > 0 })
    }

    pub(super) fn is_there(self) -> bool {
        self.mark > 0
    }

    /// Inside the transaction that removes calls.
    fn set(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mark = connection.query_row(
            "INSERT INTO meta VALUES ('unwiped', 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value",
            (),
            |row| row.get(0),
        )?;
        self.by_others |= mark != self.mark + 1;
        self.mark = mark;
        Ok(())
    }

    /// The index is wiped. A mark that somebody set since stays: theirs is not.
    pub(super) fn settle(self, connection: &Connection) -> rusqlite::Result<()> {
        if !self.is_there() {
            return Ok(());
        }
        connection.execute("DELETE FROM meta WHERE key = 'unwiped' AND value = ?1", [self.mark]).map(drop)
    }
}

fn remove(
    connection: &Connection,
    what: Forget<'_>,
    now: i64,
    revs: &[i64],
    unwiped: &mut Unwiped,
) -> rusqlite::Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    for step in revs.chunks(STEP) {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let removed = unwiped.set(connection).and_then(|()| remove_calls(connection, step));
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
        Forget::All => {
            connection.prepare("SELECT rev FROM calls")?.query_map((), |row| row.get(0))?.collect()
        }
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
        Forget::Demo => {
            let only_demo = "server IN (SELECT server FROM sessions WHERE demo = 1)
                AND server NOT IN (SELECT server FROM sessions WHERE demo = 0)";
            for table in ["policy_versions", "policy_changes"] {
                connection.execute(&format!("DELETE FROM {table} WHERE {only_demo}"), ())?;
            }
            connection.execute(&format!("DELETE FROM events WHERE {of_demo} OR {only_demo}"), ())?
        }
        Forget::All => {
            while super::timeline::forget_before(connection, i64::MAX)? > 0 {}
            connection.execute("DELETE FROM events", ())?
        }
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
            Forget::All => connection.execute(&format!("DELETE FROM sessions WHERE {empty}"), ())?,
        };
    if done.calls > 0 {
        connection.execute("DELETE FROM contexts WHERE id NOT IN (SELECT context FROM calls)", ())?;
        // Also if no context went: whoever has counted calls has to count anew.
        super::raise_generation(connection)?;
        connection.execute("DELETE FROM changes WHERE call NOT IN (SELECT rev FROM calls)", ())?;
    }
    if done.calls + done.events > 0 && what != Forget::Demo {
        let text = format!("{} calls and {} events were forgotten", done.calls, done.events);
        let rev = super::next_rev(connection)?;
        connection.execute(
            "INSERT INTO events(at_ms, kind, text, rev) VALUES (?1, ?2, ?3, ?4)",
            (now, EventKind::Forgotten.word(), text, rev),
        )?;
    }
    Ok(())
}

/// The log holds older copies of pages. It can be emptied when nobody reads an old state.
pub(super) fn empty_log(connection: &Connection) -> bool {
    for _ in 0..50 {
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, i64>(0));
        if busy == Ok(0) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

//! Forgetting, for good: rows are overwritten, free pages returned, the log emptied.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_controls::sqlite;
use callgate_home::clock::Clock;
use callgate_home::{CallId, CappedFile, Home, StoreError};
use callgate_journal::database::{open_writer, raise_generation};
use callgate_journal::removals::{REMOVABLE, Receipt, Removed, Sums};
use callgate_journal::retention::give_back;
use callgate_journal::{Origin, catch_up};
use callgate_redaction::Masker;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::History;
use super::lookup::NEWEST_OF_NAME;

/// Calls removed in one transaction.
const STEP: usize = 500;

/// The server of demonstrations.
pub const DEMO_SERVER: &str = "callgate-demo";

/// What to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    Call(CallId),
    /// Everything of one server.
    Server(String),
    /// Everything before this time, in milliseconds since 1970.
    Before(i64),
    /// What demonstrations recorded.
    Demo,
    /// Everything that is over, whatever time it bears.
    All,
}

/// Who wants it forgotten, and what they asked for, in words for the record.
#[derive(Clone, Copy, Debug)]
pub struct Forgetter<'a> {
    pub origin: Origin,
    /// `forgotten by ada at /dev/pts/3, everything of server files`
    pub words: &'a str,
}

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub calls: usize,
    pub events: usize,
    pub sessions: usize,
    /// What servers wrote to stderr is gone, too.
    pub stderr: bool,
    /// Copies may remain in the database's log until the last reader of it is gone.
    pub log_emptied: bool,
}

/// Removes it from the history, and leaves a row that says who took how much of what. What spools hold is filed first: a
/// spool's owner then finds it filed and drops it, and what was filed once is never filed again.
pub fn forget(
    home: &Home,
    what: &Forget,
    by: &Forgetter<'_>,
    clock: &dyn Clock,
) -> Result<Forgotten, StoreError> {
    catch_up(home, clock)?;
    let now = clock.now().wall_ms;
    let connection = open_writer(home, now)?.connection;
    if let Forget::Server(server) = what {
        // What it listed last. One that cannot be removed holds nothing that the server does not tell everybody.
        let _gone = std::fs::remove_file(home.catalogue(server));
    }
    // First: if it cannot go, nothing does.
    let logs = stderr_logs(home, what);
    logs.iter().try_for_each(|log| empty_stderr(log))?;
    let path = home.history_db();
    let fail = |error: rusqlite::Error| sqlite::database_error(&path, &error);
    let scope = ForgetConditions::of(what);
    let revs = scope.calls(&connection).map_err(fail)?;
    let mut unwiped = Unwiped::found(&connection).map_err(fail)?;
    let mut head = Masker::new(&[]).keep_text(by.words).into_owned();
    if !logs.is_empty() {
        head.push_str(", with what was written to stderr");
    }
    let receipt = Receipt::new(now, by.origin, &head);
    let removed = Removal { connection: &connection, scope: &scope, receipt, servers: HashMap::new() }.run(
        &revs,
        !logs.is_empty(),
        &mut unwiped,
    );
    // Also of what was removed before something went wrong.
    let wiped = if *what == Forget::All || unwiped.by_others {
        super::search::forget_all(home)
    } else {
        super::search::forget(home, &revs)
    };
    let mut forgotten = removed.map_err(fail)?;
    forgotten.log_emptied &= wiped?;
    unwiped.settle(&connection).map_err(fail)?;
    Ok(forgotten)
}

/// What servers wrote to stderr that goes with this, as far as there is any: it may hold what calls asked for.
pub fn stderr_logs(home: &Home, what: &Forget) -> Vec<PathBuf> {
    let of = |server: &str| {
        let log = home.stderr_log(server);
        vec![CappedFile::previous(&log), log]
    };
    let mut logs = match what {
        Forget::Call(_) | Forget::Before(_) => Vec::new(),
        Forget::Server(server) => of(server),
        Forget::Demo => of(DEMO_SERVER),
        Forget::All => {
            let files = fs::read_dir(home.logs()).into_iter().flatten().flatten();
            files.map(|file| file.path()).collect()
        }
    };
    logs.retain(|log| fs::symlink_metadata(log).is_ok_and(|meta| meta.is_file() && meta.len() > 0));
    logs
}

/// The one that is written to stays, empty: a running session has it open, and goes on at its beginning.
fn empty_stderr(log: &Path) -> Result<(), StoreError> {
    let emptied = fs::OpenOptions::new().write(true).open(log).and_then(|file| file.set_len(0));
    let gone = emptied.and_then(|()| match log.extension().is_some_and(|extension| extension == "log") {
        true => Ok(()),
        false => fs::remove_file(log),
    });
    match gone {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("empty", log, &error)),
        _ => Ok(()),
    }
}

impl History {
    /// What [`forget`] would take, by server.
    pub fn forgettable(&self, what: &Forget) -> Result<Vec<Removed>, StoreError> {
        let scope = ForgetConditions::of(what);
        let mut sums = Sums::default();
        sums.add_all(self.rows(
            &format!(
                "SELECT s.server, count(*), min(c.at_ms), max(c.at_ms) FROM calls c JOIN sessions s ON s.id = c.session
                 WHERE ({}) AND NOT ({RUNNING}) GROUP BY s.server",
                scope.of_calls
            ),
            &scope.values,
            Removed::calls,
        )?);
        if let Some(events) = &scope.of_events {
            let sql = sum_of_events(events);
            sums.add_all(self.rows(&sql, &scope.values, Removed::events)?);
        }
        Ok(sums.into_vec())
    }

    /// How many calls [`forget`] would leave because they are still running.
    pub fn unforgettable(&self, what: &Forget) -> Result<u64, StoreError> {
        let scope = ForgetConditions::of(what);
        let sql = format!(
            "SELECT count(*) FROM calls c JOIN sessions s ON s.id = c.session WHERE ({}) AND {RUNNING}",
            scope.of_calls
        );
        let count = self.rows(&sql, &scope.values, |row| row.get::<_, i64>(0))?;
        Ok(count.into_iter().map(i64::unsigned_abs).sum())
    }
}

/// What to forget, as conditions over tables. All of them take the same values.
struct ForgetConditions {
    of_calls: String,
    of_events: Option<String>,
    /// Of sessions that are over and have no calls any more. A running session's row stays: it says what of its spool is
    /// already filed.
    of_sessions: Option<&'static str>,
    is_demo: bool,
    values: Vec<Value>,
}

/// Calls whose outcome is to come: it has to find their rows.
const RUNNING: &str = "c.outcome IS NULL AND s.ended_ms IS NULL";

/// Servers that only demonstrations were shown of.
const ONLY_DEMO: &str = "server IN (SELECT server FROM sessions WHERE demo = 1)
    AND server NOT IN (SELECT server FROM sessions WHERE demo = 0)";

impl ForgetConditions {
    fn of(what: &Forget) -> ForgetConditions {
        let scope = |calls: &str,
                     events: Option<&str>,
                     sessions: Option<&'static str>,
                     values: Vec<Value>| ForgetConditions {
            of_calls: calls.to_owned(),
            of_events: events.map(|events| format!("({events}) AND {REMOVABLE}")),
            of_sessions: sessions,
            is_demo: *what == Forget::Demo,
            values,
        };
        match what {
            // The one that is shown under this id.
            Forget::Call(id) => {
                let values = vec![Value::from(id.session.to_string()), id.seq.cast_signed().into()];
                scope(&format!("s.id = {NEWEST_OF_NAME} AND c.seq = ?2"), None, None, values)
            }
            Forget::Server(server) => {
                let values = vec![Value::from(server.clone())];
                scope("s.server = ?1", Some("server = ?1"), Some("server = ?1"), values)
            }
            Forget::Before(at_ms) => {
                scope("c.at_ms < ?1", Some("at_ms < ?1"), Some("ended_ms < ?1"), vec![(*at_ms).into()])
            }
            // By its name, too: anybody can call a session of a real server a demonstration.
            Forget::Demo => {
                let events = format!(
                    "session IN (SELECT name FROM sessions WHERE demo = 1 AND server = ?1)
                     OR (server = ?1 AND {ONLY_DEMO})"
                );
                let values = vec![Value::from(DEMO_SERVER.to_owned())];
                scope("s.demo = 1 AND s.server = ?1", Some(&events), Some("demo = 1 AND server = ?1"), values)
            }
            Forget::All => scope("1", Some("1"), Some("1"), Vec::new()),
        }
    }

    fn calls(&self, connection: &Connection) -> rusqlite::Result<Vec<i64>> {
        let sql = format!(
            "SELECT c.rev FROM calls c JOIN sessions s ON s.id = c.session WHERE ({}) AND NOT ({RUNNING})",
            self.of_calls
        );
        connection.prepare(&sql)?.query_map(params_from_iter(&self.values), |row| row.get(0))?.collect()
    }
}

fn sum_of_events(condition: &str) -> String {
    format!(
        "SELECT coalesce(server, ''), count(*), min(at_ms), max(at_ms) FROM events WHERE {condition} GROUP BY 1"
    )
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

/// One forgetting on its way through the history.
struct Removal<'r> {
    connection: &'r Connection,
    scope: &'r ForgetConditions,
    receipt: Receipt<'r>,
    /// Of sessions, by their ids.
    servers: HashMap<i64, String>,
}

impl Removal<'_> {
    fn run(mut self, revs: &[i64], stderr: bool, unwiped: &mut Unwiped) -> rusqlite::Result<Forgotten> {
        let mut done = Forgotten { stderr, ..Forgotten::default() };
        for step in revs.chunks(STEP) {
            self.within(|removal| {
                unwiped.set(removal.connection)?;
                done.calls += removal.calls(step)?;
                Ok(())
            })?;
        }
        self.within(|removal| {
            removal.rest(&mut done)?;
            if stderr { removal.receipt.leave(removal.connection) } else { Ok(()) }
        })?;
        give_back(self.connection, i64::from(i32::MAX))?;
        done.log_emptied = empty_log(self.connection);
        Ok(done)
    }

    /// All of it, or nothing.
    fn within(&mut self, work: impl FnOnce(&mut Self) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self);
        self.connection.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        done
    }

    fn calls(&mut self, revs: &[i64]) -> rusqlite::Result<usize> {
        let mut sums = Sums::default();
        let mut removed = 0;
        let mut delete =
            self.connection.prepare_cached("DELETE FROM calls WHERE rev = ?1 RETURNING session, at_ms")?;
        for rev in revs {
            let gone: Option<(i64, i64)> =
                delete.query_row([rev], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((session, at_ms)) = gone else { continue };
            let server = match self.servers.entry(session) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => free.insert(server_of(self.connection, session)?),
            };
            sums.add(Removed { server: server.clone(), calls: 1, events: 0, from_ms: at_ms, to_ms: at_ms });
            removed += 1;
        }
        self.receipt.add(self.connection, sums)?;
        Ok(removed)
    }

    /// Everything beside the calls.
    fn rest(&mut self, done: &mut Forgotten) -> rusqlite::Result<()> {
        let (connection, scope) = (self.connection, self.scope);
        let values = || params_from_iter(&scope.values);
        if let Some(events) = &scope.of_events {
            let mut sums = Sums::default();
            let mut of_events = connection.prepare(&sum_of_events(events))?;
            for one in of_events.query_map(values(), Removed::events)? {
                sums.add(one?);
            }
            done.events = connection.execute(&format!("DELETE FROM events WHERE {events}"), values())?;
            self.receipt.add(connection, sums)?;
        }
        if scope.is_demo {
            for table in ["policy_versions", "policy_changes"] {
                let sql = format!("DELETE FROM {table} WHERE server = ?1 AND {ONLY_DEMO}");
                connection.execute(&sql, [DEMO_SERVER])?;
            }
        }
        if let Some(sessions) = scope.of_sessions {
            let empty =
                "ended_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.session = sessions.id)";
            done.sessions = connection
                .execute(&format!("DELETE FROM sessions WHERE {sessions} AND {empty}"), values())?;
        }
        if done.calls > 0 {
            connection.execute("DELETE FROM contexts WHERE id NOT IN (SELECT context FROM calls)", ())?;
            // Also if no context went: whoever has counted calls has to count anew.
            raise_generation(connection)?;
            connection.execute("DELETE FROM changes WHERE call NOT IN (SELECT rev FROM calls)", ())?;
        }
        Ok(())
    }
}

fn server_of(connection: &Connection, session: i64) -> rusqlite::Result<String> {
    let server = connection
        .prepare_cached("SELECT server FROM sessions WHERE id = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    Ok(server.unwrap_or_default())
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

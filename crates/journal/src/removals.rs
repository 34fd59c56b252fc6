//! What was removed from the history, as a row that stays in it: by whom or why, and how much of each server, from when
//! to when. The row grows in the transactions that remove, so nothing goes without it, whoever is killed in between.
//!
//! Loosenings, changes of rules and these rows themselves do not age out and cannot be forgotten: whoever loosens the gate must not be
//! able to take the trace away. The newest of them always stay; older ones go only where nothing else is left that could make
//! room, and how many went, from when to when, is in the row of the day.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::database::next_rev;
use crate::{EventKind, Origin};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Days of retention that have a row each; those before are one row.
const DAYS: usize = 366;
/// Servers that a row names.
const NAMED: usize = 20;
const AGED_OUT: &str = "too old or too much for the history's settings";

/// Loosenings, decisions about calls and changes of rules that stay whatever the ceiling says: some hundred kilobytes.
pub const KEPT_LOOSENINGS: i64 = 2_000;

/// Events that may be removed, in SQL.
pub const REMOVABLE: &str =
    "kind NOT IN ('loosened', 'policy_changed', 'forgotten', 'expired', 'decided', 'forged_approval')";

/// What was removed, or would be, of one server; without a name, what belongs to none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    pub server: String,
    pub calls: u64,
    pub events: u64,
    /// When the first and the last of it happened, in milliseconds since 1970.
    pub from_ms: i64,
    pub to_ms: i64,
}

impl Removed {
    /// Of a row with the server, how many, and the first and the last time.
    pub fn calls(row: &Row<'_>) -> rusqlite::Result<Removed> {
        let calls = row.get::<_, i64>(1)?.unsigned_abs();
        Ok(Removed { server: row.get(0)?, calls, events: 0, from_ms: row.get(2)?, to_ms: row.get(3)? })
    }

    pub fn events(row: &Row<'_>) -> rusqlite::Result<Removed> {
        let of_calls = Removed::calls(row)?;
        Ok(Removed { calls: 0, events: of_calls.calls, ..of_calls })
    }
}

/// Adds up by server.
#[derive(Debug, Default)]
pub struct Sums(BTreeMap<String, Removed>);

impl Sums {
    pub fn add(&mut self, one: Removed) {
        match self.0.get_mut(&one.server) {
            Some(sum) => {
                sum.calls += one.calls;
                sum.events += one.events;
                sum.from_ms = sum.from_ms.min(one.from_ms);
                sum.to_ms = sum.to_ms.max(one.to_ms);
            }
            None => drop(self.0.insert(one.server.clone(), one)),
        }
    }

    pub fn add_all(&mut self, all: impl IntoIterator<Item = Removed>) {
        all.into_iter().for_each(|one| self.add(one));
    }

    pub fn into_vec(self) -> Vec<Removed> {
        self.0.into_values().collect()
    }
}

/// The row of one forgetting, once something of it is done.
#[derive(Debug)]
pub struct Receipt<'a> {
    pub at_ms: i64,
    pub origin: Origin,
    /// Who, and what was asked for.
    pub head: &'a str,
    event: Option<i64>,
}

impl<'a> Receipt<'a> {
    pub fn new(at_ms: i64, origin: Origin, head: &'a str) -> Receipt<'a> {
        Receipt { at_ms, origin, head, event: None }
    }

    /// Inside the transaction that removes them.
    pub fn add(&mut self, connection: &Connection, removed: Sums) -> rusqlite::Result<()> {
        let removed = removed.into_vec();
        if removed.is_empty() {
            return Ok(());
        }
        let event = self.row(connection)?;
        book(connection, event, self.head, &removed)
    }

    /// Also if no row of the history went.
    pub fn leave(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.event.is_some() {
            return Ok(());
        }
        let event = self.row(connection)?;
        connection.execute("UPDATE events SET text = ?2 WHERE id = ?1", (event, self.head)).map(drop)
    }

    fn row(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        let event = match self.event {
            Some(event) => event,
            None => insert(connection, EventKind::Forgotten, Some(self.origin), self.at_ms)?,
        };
        self.event = Some(event);
        Ok(event)
    }
}

/// Removes calls up to this number for good, as retention does, and says so in the row of the day.
pub fn expire_calls(connection: &Connection, last: i64, now: i64) -> rusqlite::Result<usize> {
    let removed: Vec<Removed> = connection
        .prepare_cached(
            "SELECT s.server, count(*), min(c.at_ms), max(c.at_ms) FROM calls c JOIN sessions s ON s.id = c.session
             WHERE c.rev <= ?1 GROUP BY s.server",
        )?
        .query_map([last], Removed::calls)?
        .collect::<rusqlite::Result<_>>()?;
    expired(connection, now, &removed)?;
    connection.execute("DELETE FROM calls WHERE rev <= ?1", [last])
}

/// The same for some of the events before a time; none that say what was loosened, or removed.
pub fn expire_events(
    connection: &Connection,
    before_ms: i64,
    most: i64,
    now: i64,
) -> rusqlite::Result<usize> {
    let old = format!("SELECT id FROM events WHERE at_ms < ?1 AND {REMOVABLE} ORDER BY id LIMIT ?2");
    expire(connection, &old, (before_ms, most), now)
}

/// The same for some of the loosenings, decisions and changes of rules before the newest: for a history that is too large with nothing in it
/// but them.
pub fn expire_loosenings(connection: &Connection, most: i64, now: i64) -> rusqlite::Result<usize> {
    const LASTING: &str =
        "SELECT id FROM events WHERE kind IN ('loosened', 'policy_changed', 'decided', 'forged_approval')";
    let newest = format!("{LASTING} ORDER BY id DESC LIMIT ?1");
    let old = format!("{LASTING} AND id NOT IN ({newest}) ORDER BY id LIMIT ?2");
    expire(connection, &old, (KEPT_LOOSENINGS, most), now)
}

/// `old`: which, in SQL with two values.
fn expire(connection: &Connection, old: &str, values: (i64, i64), now: i64) -> rusqlite::Result<usize> {
    let removed: Vec<Removed> = connection
        .prepare_cached(&format!(
            "SELECT coalesce(server, ''), count(*), min(at_ms), max(at_ms) FROM events WHERE id IN ({old}) GROUP BY 1"
        ))?
        .query_map(values, Removed::events)?
        .collect::<rusqlite::Result<_>>()?;
    if removed.is_empty() {
        return Ok(0);
    }
    let gone = connection.execute(&format!("DELETE FROM events WHERE id IN ({old})"), values)?;
    expired(connection, now, &removed)?;
    Ok(gone)
}

/// Adds to the row of the day.
fn expired(connection: &Connection, now: i64, removed: &[Removed]) -> rusqlite::Result<()> {
    if removed.is_empty() {
        return Ok(());
    }
    let today: Option<i64> = connection
        .prepare_cached(
            "SELECT e.id FROM meta m JOIN events e ON e.id = m.value
             WHERE m.key = 'expired' AND e.kind = 'expired' AND e.at_ms / ?1 = ?2 / ?1",
        )?
        .query_row((DAY_MS, now), |row| row.get(0))
        .optional()?;
    let event = match today {
        Some(event) => event,
        None => {
            let event = insert(connection, EventKind::Expired, None, now)?;
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('expired', ?1)", [event])?;
            fold_old_days(connection)?;
            event
        }
    };
    book(connection, event, AGED_OUT, removed)
}

/// Makes one row of those that are beyond their days, so that they do not become more without end.
fn fold_old_days(connection: &Connection) -> rusqlite::Result<()> {
    let all: Vec<i64> = connection
        .prepare("SELECT id FROM events WHERE kind = 'expired' ORDER BY id DESC")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let Some((oldest, rest)) = all.get(DAYS..).and_then(<[i64]>::split_last) else { return Ok(()) };
    for day in rest {
        let sums = read(connection, *day)?;
        book(connection, *oldest, AGED_OUT, &sums)?;
        connection.execute("DELETE FROM removals WHERE event = ?1", [day])?;
        connection.execute("DELETE FROM events WHERE id = ?1", [day])?;
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    kind: EventKind,
    origin: Option<Origin>,
    at_ms: i64,
) -> rusqlite::Result<i64> {
    let rev = next_rev(connection)?;
    connection.execute(
        "INSERT INTO events(at_ms, kind, origin, text, rev) VALUES (?1, ?2, ?3, '', ?4)",
        (at_ms, kind.word(), origin.map(Origin::word), rev),
    )?;
    Ok(connection.last_insert_rowid())
}

/// Adds to a row, and says all of it in words anew.
fn book(connection: &Connection, event: i64, head: &str, removed: &[Removed]) -> rusqlite::Result<()> {
    let mut add = connection.prepare_cached(
        "INSERT INTO removals(event, server, calls, events, from_ms, to_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, events = events + excluded.events,
           from_ms = min(from_ms, excluded.from_ms), to_ms = max(to_ms, excluded.to_ms)",
    )?;
    for one in removed {
        let (calls, events) = (one.calls.cast_signed(), one.events.cast_signed());
        add.execute((event, &one.server, calls, events, one.from_ms, one.to_ms))?;
    }
    let text = format!("{head}: {}", describe(&read(connection, event)?));
    connection.execute("UPDATE events SET text = ?2 WHERE id = ?1", (event, text)).map(drop)
}

fn read(connection: &Connection, event: i64) -> rusqlite::Result<Vec<Removed>> {
    connection
        .prepare_cached(
            "SELECT server, calls, events, from_ms, to_ms FROM removals WHERE event = ?1 ORDER BY calls DESC, server",
        )?
        .query_map([event], |row| {
            let number = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
            Ok(Removed {
                server: row.get(0)?,
                calls: number(1)?,
                events: number(2)?,
                from_ms: row.get(3)?,
                to_ms: row.get(4)?,
            })
        })?
        .collect()
}

/// `12 calls and 1 event of files (2026-11-01 09:12 to 2026-11-17 12:00 UTC); …`
fn describe(all: &[Removed]) -> String {
    let mut parts: Vec<String> = all.iter().take(NAMED).map(Removed::to_string).collect();
    let rest = all.get(NAMED..).unwrap_or_default();
    if !rest.is_empty() {
        let (calls, events) =
            (rest.iter().map(|one| one.calls).sum(), rest.iter().map(|one| one.events).sum());
        parts.push(format!("{} of {} more servers", amount(calls, events), rest.len()));
    }
    parts.join("; ")
}

impl std::fmt::Display for Removed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let server = if self.server.is_empty() { "no server" } else { &self.server };
        let (from, to) = (minute(self.from_ms), minute(self.to_ms));
        write!(f, "{} of {server} ({from} to {to} UTC)", amount(self.calls, self.events))
    }
}

fn amount(calls: u64, events: u64) -> String {
    let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    match (calls, events) {
        (calls, 0) => count(calls, "call"),
        (0, events) => count(events, "event"),
        (calls, events) => format!("{} and {}", count(calls, "call"), count(events, "event")),
    }
}

fn minute(wall_ms: i64) -> String {
    let at = Timestamp::from_millisecond(wall_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

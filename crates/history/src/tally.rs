//! Counting without reading: how many calls came, by whom, in which minute. Made to be asked every second, from where it
//! was asked last; bodies are not touched, and what calls have in common is looked up once.

use std::ops::Range;

use callgate_home::{SessionId, StoreError};
use callgate_journal::{Decision, Outcome};
use rusqlite::OptionalExtension;
use rustc_hash::FxHashMap;

use super::History;
use super::rows;
use super::rows::SessionRow;

/// Length of a minute, by which calls are counted.
pub const MINUTE_MS: i64 = 60_000;
/// Rows that came late (of sessions found dead) make the order of time uneven; by this much a look goes back further.
pub(super) const UNEVEN: i64 = 2_000;
/// Of a failed call's result.
const SAID: usize = 400;

/// Calls of one session, alike in what matters, within one minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tallied {
    pub server: String,
    /// Empty if it is not known.
    pub client: String,
    /// Empty for messages without one.
    pub tool: String,
    pub refused: bool,
    /// The minute, by its beginning.
    pub minute_ms: i64,
    pub calls: u64,
    /// When the last of them came.
    pub last_ms: i64,
}

/// Some calls of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionNumbers {
    pub calls: u64,
    pub refused: u64,
    /// The number of the last of them; 0 if there are none.
    pub last_seq: i64,
}

/// The newest failure of a server's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub server: String,
    pub at_ms: i64,
    pub tool: Option<String>,
    pub outcome: Outcome,
    /// The beginning of what was answered.
    pub result: Option<String>,
}

impl History {
    /// A `rev` before all calls since this time, up to a few that came very late. Costs a handful of look-ups.
    pub fn rev_before(&self, at_ms: i64) -> Result<i64, StoreError> {
        let edge = |which: &str| -> Result<Option<i64>, StoreError> {
            let sql = format!("SELECT {which}(rev) FROM calls");
            self.connection.query_row(&sql, (), |row| row.get(0)).map_err(|error| self.fail(&error))
        };
        let (Some(mut low), Some(mut high)) = (edge("min")?, edge("max")?) else { return Ok(0) };
        let oldest = low;
        let mut at = self
            .connection
            .prepare_cached("SELECT rev, at_ms FROM calls WHERE rev >= ?1 ORDER BY rev LIMIT 1")
            .map_err(|error| self.fail(&error))?;
        // The first call not before that time is in low..=high, or there is none.
        while low < high {
            let middle = low + (high - low) / 2;
            let found: Option<(i64, i64)> = at
                .query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(|error| self.fail(&error))?;
            match found {
                Some((rev, ms)) if ms < at_ms => low = rev + 1,
                _ => high = middle,
            }
        }
        Ok((low - 1 - UNEVEN).max(oldest - 1))
    }

    /// Calls with a `rev` in this range that came at or after a time, by minute.
    pub fn tally(&self, revs: Range<i64>, since_ms: i64) -> Result<Vec<Tallied>, StoreError> {
        let fail = |error: rusqlite::Error| self.fail(&error);
        // Put together here: SQLite would sort all of them first.
        let mut groups: FxHashMap<(i64, i64, i64), (u64, i64)> = FxHashMap::default();
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT session, context, at_ms FROM calls WHERE rev >= ?1 AND rev < ?2 AND at_ms >= ?3",
            )
            .map_err(fail)?;
        let mut rows = statement.query((revs.start, revs.end, since_ms)).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let number = |column: usize| row.get::<_, i64>(column).map_err(fail);
            let (session, context, at_ms) = (number(0)?, number(1)?, number(2)?);
            let group = groups.entry((session, context, at_ms.div_euclid(MINUTE_MS))).or_default();
            *group = (group.0 + 1, group.1.max(at_ms));
        }
        let mut servers: FxHashMap<i64, String> = FxHashMap::default();
        let mut contexts: FxHashMap<i64, (String, String, bool)> = FxHashMap::default();
        let mut tallied = Vec::with_capacity(groups.len());
        for ((session, context, minute), (calls, last_ms)) in groups {
            if let std::collections::hash_map::Entry::Vacant(vacant) = servers.entry(session) {
                let mut statement = self
                    .connection
                    .prepare_cached("SELECT server FROM sessions WHERE id = ?1")
                    .map_err(fail)?;
                let name: Option<String> =
                    statement.query_row([session], |row| row.get(0)).optional().map_err(fail)?;
                vacant.insert(name.unwrap_or_default());
            }
            if let std::collections::hash_map::Entry::Vacant(vacant) = contexts.entry(context) {
                let mut statement = self
                    .connection
                    .prepare_cached("SELECT client, tool, decision FROM contexts WHERE id = ?1")
                    .map_err(fail)?;
                let found: Option<(String, String, String)> = statement
                    .query_row([context], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                    .optional()
                    .map_err(fail)?;
                let (client, tool, decision) = found.unwrap_or_default();
                let refused = decision.parse().unwrap_or(Decision::Unsupported).is_refused();
                vacant.insert((client, tool, refused));
            }
            let (client, tool, refused) = contexts.get(&context).cloned().unwrap_or_default();
            tallied.push(Tallied {
                server: servers.get(&session).cloned().unwrap_or_default(),
                client,
                tool,
                refused,
                minute_ms: minute * MINUTE_MS,
                calls,
                last_ms,
            });
        }
        Ok(tallied)
    }

    /// Sessions that began at or after a time or still run, oldest first; at most this many, the newest.
    pub fn sessions_since(&self, since_ms: i64, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let mut found = self.rows(
            "SELECT name, server, client, command, started_ms, ended_ms, end_reason, demo FROM sessions
             WHERE started_ms >= ?1 OR ended_ms IS NULL ORDER BY id DESC LIMIT ?2",
            &[since_ms.into(), super::lookup::limit_value(limit)],
            rows::session,
        )?;
        found.reverse();
        Ok(found)
    }

    /// The calls of a session after the one with this number.
    pub fn session_numbers(
        &self,
        session: SessionId,
        started_ms: i64,
        after_seq: i64,
    ) -> Result<SessionNumbers, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT count(*), coalesce(sum(x.decision NOT IN ('allowed', 'would_deny')), 0), coalesce(max(c.seq), 0)
                 FROM calls c JOIN contexts x ON x.id = c.context
                 WHERE c.session = (SELECT id FROM sessions WHERE name = ?1 AND started_ms = ?2) AND c.seq > ?3",
            )
            .and_then(|mut statement| {
                statement.query_row((session.as_str(), started_ms, after_seq), |row| {
                    Ok(SessionNumbers {
                        calls: row.get::<_, i64>(0)?.unsigned_abs(),
                        refused: row.get::<_, i64>(1)?.unsigned_abs(),
                        last_seq: row.get(2)?,
                    })
                })
            })
            .map_err(|error| self.fail(&error))
    }

    /// When the last call of a session came.
    pub fn last_call_of(&self, session: SessionId, started_ms: i64) -> Result<Option<i64>, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT at_ms FROM calls
                 WHERE session = (SELECT id FROM sessions WHERE name = ?1 AND started_ms = ?2)
                 ORDER BY seq DESC LIMIT 1",
            )
            .and_then(|mut statement| {
                statement.query_row((session.as_str(), started_ms), |row| row.get(0)).optional()
            })
            .map_err(|error| self.fail(&error))
    }

    /// The newest failure of each server among the last calls of all.
    pub fn failures(&self, among: i64) -> Result<Vec<Failure>, StoreError> {
        let sql = format!(
            "SELECT s.server, c.at_ms, x.tool, c.outcome, substr(c.result, 1, {SAID})
             FROM (SELECT max(c.rev) AS rev FROM calls c JOIN sessions s ON s.id = c.session
                   WHERE c.rev > (SELECT coalesce(max(rev), 0) FROM calls) - ?1
                   AND c.outcome IN ('tool_error', 'rpc_error', 'server_ended', 'unusable', 'not_delivered', 'timed_out')
                   GROUP BY s.server) newest
             JOIN calls c ON c.rev = newest.rev JOIN sessions s ON s.id = c.session
             JOIN contexts x ON x.id = c.context"
        );
        self.rows(&sql, &[among.into()], |row| {
            Ok(Failure {
                server: row.get(0)?,
                at_ms: row.get(1)?,
                tool: Some(row.get::<_, String>(2)?).filter(|tool| !tool.is_empty()),
                outcome: row.get_ref(3)?.as_str()?.parse().unwrap_or(Outcome::Unknown),
                result: row.get(4)?,
            })
        })
    }

    /// Number of all calls, from an index alone, and when the oldest came.
    pub fn extent(&self) -> Result<(u64, Option<i64>), StoreError> {
        self.connection
            .query_row(
                "SELECT (SELECT count(*) FROM calls), (SELECT at_ms FROM calls ORDER BY rev LIMIT 1)",
                (),
                |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?)),
            )
            .map_err(|error| self.fail(&error))
    }

    /// Events after this id, oldest first, at most this many; and the newest id there is.
    pub fn events_after(&self, id: i64, limit: usize) -> Result<(Vec<super::EventRow>, i64), StoreError> {
        let newest = self
            .connection
            .query_row("SELECT coalesce(max(id), 0) FROM events", (), |row| row.get(0))
            .map_err(|error| self.fail(&error))?;
        let events = self.rows(
            "SELECT id, at_ms, kind, server, session, origin, text FROM events WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[id.into(), super::lookup::limit_value(limit)],
            rows::event,
        )?;
        Ok((events, newest))
    }
}

#[cfg(test)]
#[path = "tally/tests.rs"]
mod tests;

//! The history once more from its beginning, one call after another, for whoever wants to know what other rules would
//! have said. Nothing is gathered: a row's texts are lent to the reader and gone with the next row.
//!
//! Rows lie in the order in which they were filed. That is almost the order of time: sessions that run at once are filed
//! in turns, and what a killed session left may be filed days later. Sorting whole rows would copy the entire history, so
//! only the rows that came late are noted (sixteen bytes each), and fetched when their time comes. What rows have in
//! common (sessions, contexts) is looked up once and remembered: a join for each row would cost more than the rows.

use std::ops::ControlFlow;
use std::time::Duration;

use callgate_home::{CallId, StoreError};
use callgate_journal::database::flags::{ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD};
use callgate_journal::{Decision, Outcome};
use rusqlite::{Connection, OptionalExtension, Row};
use rustc_hash::FxHashMap;

use super::History;

/// Which calls are replayed.
#[derive(Clone, Copy, Debug)]
pub struct Replay<'a> {
    pub server: &'a str,
    /// Not before this time, in milliseconds since 1970.
    pub since_ms: i64,
    /// Before this time.
    pub until_ms: i64,
    /// With their arguments? They are most of what has to be read.
    pub args: bool,
}

/// One call as it was recorded. Texts that it did not have are empty.
#[derive(Clone, Copy, Debug)]
pub struct Replayed<'r> {
    pub rev: i64,
    /// Tells sessions apart; names of sessions may come again.
    pub session_key: i64,
    pub session: &'r str,
    /// When the session ended, if it did.
    pub session_end_ms: Option<i64>,
    pub seq: u64,
    pub run: u32,
    pub at_ms: i64,
    pub client: &'r str,
    pub method: &'r str,
    pub tool: &'r str,
    pub decision: Decision,
    pub rule: &'r str,
    /// `None` while it runs.
    pub outcome: Option<Outcome>,
    pub duration: Option<Duration>,
    pub args: ReplayedArguments<'r>,
}

/// What is left of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayedArguments<'r> {
    /// Nobody asked for them.
    Unread,
    /// The call had none.
    Absent,
    /// JSON, exactly as it came.
    Whole(&'r str),
    /// Something is missing; what was kept may be no JSON at all.
    Lacking { kept: &'r str, lack: Lack },
}

/// Why arguments are not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Secrets were masked; everything else is there.
    Masked,
    /// The end is missing.
    Cut,
    /// The policy kept the values out.
    Withheld,
}

impl Replayed<'_> {
    pub fn id(&self) -> Option<CallId> {
        Some(CallId { session: self.session.parse().ok()?, seq: self.seq })
    }
}

/// How often one client called one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    pub tool: String,
    pub client: String,
    pub calls: u64,
    pub let_through: u64,
}

/// Contexts that are remembered; hostile names can make one for each call.
const REMEMBERED: usize = 4096;

impl History {
    /// Calls in the order of time, and in the order of filing where the time is the same. As the history was at the
    /// start: what is filed meanwhile does not come. `each` may break off.
    pub fn replay(
        &self,
        which: &Replay<'_>,
        mut each: impl FnMut(Replayed<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let replayed = self.connection.unchecked_transaction().and_then(|transaction| {
            let sessions = sessions(&transaction, which.server)?;
            let late = late(&transaction, which, &sessions)?;
            in_time(&transaction, which, sessions, &late, &mut each)
        });
        replayed.map_err(|error| self.fail(&error))
    }

    /// How often each tool of a server was called since a time, by client, in the order of their names.
    pub fn tool_use(&self, server: &str, since_ms: i64) -> Result<Vec<ToolUse>, StoreError> {
        // Rows are counted by their context first: a number each, where names would have to be compared.
        let sql = "SELECT x.tool, x.client, sum(n), sum(CASE WHEN x.decision IN ('allowed', 'would_deny') THEN n ELSE 0 END)
                   FROM (SELECT c.context, count(*) AS n FROM calls c CROSS JOIN sessions s ON s.id = c.session
                         WHERE c.at_ms >= ?1 AND s.server = ?2 GROUP BY c.context) u
                   JOIN contexts x ON x.id = u.context WHERE x.method = 'tools/call'
                   GROUP BY x.tool, x.client ORDER BY x.tool, x.client";
        let count = |row: &Row<'_>, column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_map((since_ms, server), |row| {
                        Ok(ToolUse {
                            tool: row.get(0)?,
                            client: row.get(1)?,
                            calls: count(row, 2)?,
                            let_through: count(row, 3)?,
                        })
                    })?
                    .collect()
            })
            .map_err(|error| self.fail(&error))
    }
}

#[derive(Debug)]
struct ReplayedSession {
    name: String,
    ended_ms: Option<i64>,
}

#[derive(Debug)]
struct Context {
    client: String,
    method: String,
    tool: String,
    decision: Decision,
    rule: String,
}

fn sessions(connection: &Connection, server: &str) -> rusqlite::Result<FxHashMap<i64, ReplayedSession>> {
    connection
        .prepare_cached("SELECT id, name, ended_ms FROM sessions WHERE server = ?1")?
        .query_map([server], |row| {
            Ok((row.get(0)?, ReplayedSession { name: row.get(1)?, ended_ms: row.get(2)? }))
        })?
        .collect()
}

/// The time and number of rows that were filed after a later one, in the order of time.
fn late(
    connection: &Connection,
    which: &Replay<'_>,
    sessions: &FxHashMap<i64, ReplayedSession>,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    let sql = "SELECT rev, at_ms, session FROM calls WHERE at_ms >= ?1 AND at_ms < ?2 ORDER BY rev";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((which.since_ms, which.until_ms))?;
    let mut late = Vec::new();
    let mut newest = i64::MIN;
    while let Some(row) = rows.next()? {
        let at_ms: i64 = row.get(1)?;
        if !sessions.contains_key(&row.get(2)?) {
            continue;
        }
        if at_ms < newest {
            late.push((at_ms, row.get(0)?));
        }
        newest = newest.max(at_ms);
    }
    late.sort_unstable();
    Ok(late)
}

/// Goes through the rows as they were filed; the late ones are passed over where they lie and come in their time.
fn in_time(
    connection: &Connection,
    which: &Replay<'_>,
    sessions: FxHashMap<i64, ReplayedSession>,
    late: &[(i64, i64)],
    each: &mut impl FnMut(Replayed<'_>) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let args = if which.args { "args" } else { "NULL" };
    let columns = format!("rev, at_ms, session, context, seq, run, outcome, duration_us, flags, {args}");
    let scan = format!("SELECT {columns} FROM calls WHERE at_ms >= ?1 AND at_ms < ?2 ORDER BY rev");
    let fetch = format!("SELECT {columns} FROM calls WHERE rev = ?1");
    let (mut scan, mut fetch) = (connection.prepare_cached(&scan)?, connection.prepare_cached(&fetch)?);
    let mut lender = Lender { connection, sessions, contexts: FxHashMap::default(), args: which.args };
    let mut rows = scan.query((which.since_ms, which.until_ms))?;
    let mut late = late.iter().peekable();
    let mut newest = i64::MIN;
    while let Some(row) = rows.next()? {
        let (rev, at_ms): (i64, i64) = (row.get(0)?, row.get(1)?);
        if at_ms < newest || !lender.sessions.contains_key(&row.get(2)?) {
            continue;
        }
        newest = at_ms;
        while let Some((_, rev)) = late.next_if(|waiting| **waiting < (at_ms, rev)) {
            let mut rows = fetch.query([rev])?;
            if let Some(row) = rows.next()?
                && let ControlFlow::Break(()) = lender.lend(row, each)?
            {
                return Ok(());
            }
        }
        if let ControlFlow::Break(()) = lender.lend(row, each)? {
            return Ok(());
        }
    }
    // None of the late ones is left: each was filed after a row that is newer.
    Ok(())
}

/// Puts rows together with what they have in common.
struct Lender<'c> {
    connection: &'c Connection,
    sessions: FxHashMap<i64, ReplayedSession>,
    contexts: FxHashMap<i64, Context>,
    args: bool,
}

impl Lender<'_> {
    fn lend(
        &mut self,
        row: &Row<'_>,
        each: &mut impl FnMut(Replayed<'_>) -> ControlFlow<()>,
    ) -> rusqlite::Result<ControlFlow<()>> {
        let (session_key, context): (i64, i64) = (row.get(2)?, row.get(3)?);
        if !self.contexts.contains_key(&context) {
            self.remember(context)?;
        }
        let (Some(session), Some(context)) = (self.sessions.get(&session_key), self.contexts.get(&context))
        else {
            return Ok(ControlFlow::Continue(()));
        };
        let text = |column: usize| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
        let flags: i64 = row.get(8)?;
        Ok(each(Replayed {
            rev: row.get(0)?,
            at_ms: row.get(1)?,
            session_key,
            session: &session.name,
            session_end_ms: session.ended_ms,
            seq: row.get::<_, i64>(4)?.unsigned_abs(),
            run: row.get(5)?,
            client: &context.client,
            method: &context.method,
            tool: &context.tool,
            decision: context.decision,
            rule: &context.rule,
            outcome: text(6)?.map(|word| word.parse().unwrap_or(Outcome::Unknown)),
            duration: row
                .get::<_, Option<i64>>(7)?
                .map(|micros| Duration::from_micros(micros.unsigned_abs())),
            args: if self.args { arguments(text(9)?, flags) } else { ReplayedArguments::Unread },
        }))
    }

    fn remember(&mut self, context: i64) -> rusqlite::Result<()> {
        if self.contexts.len() >= REMEMBERED {
            self.contexts.clear();
        }
        let found = self
            .connection
            .prepare_cached("SELECT client, method, tool, decision, rule FROM contexts WHERE id = ?1")?
            .query_row([context], |row| {
                Ok(Context {
                    client: row.get(0)?,
                    method: row.get(1)?,
                    tool: row.get(2)?,
                    // A word of a newer Callgate: all that is known is that this one does not know it.
                    decision: row.get_ref(3)?.as_str()?.parse().unwrap_or(Decision::Unsupported),
                    rule: row.get(4)?,
                })
            })
            .optional()?;
        self.contexts.extend(found.map(|found| (context, found)));
        Ok(())
    }
}

fn arguments(kept: Option<&str>, flags: i64) -> ReplayedArguments<'_> {
    let lack = match flags {
        flags if flags & ARGS_WITHHELD != 0 => Lack::Withheld,
        flags if flags & ARGS_CUT != 0 => Lack::Cut,
        flags if flags & ARGS_MASKED != 0 => Lack::Masked,
        _ => return kept.map_or(ReplayedArguments::Absent, ReplayedArguments::Whole),
    };
    ReplayedArguments::Lacking { kept: kept.unwrap_or(""), lack }
}

#[cfg(test)]
#[path = "replay/tests.rs"]
mod tests;

//! Calls as lines of a log: enough to show one, without reading what they carry.

use std::time::Duration;

use callgate_home::{CallId, StoreError};
use callgate_journal::database::flags::ARGS_WITHHELD;
use callgate_journal::database::session_name;
use callgate_journal::{Decision, Outcome};
use rusqlite::{OptionalExtension, Row};

use super::History;
use super::lookup::NEWEST_OF_NAME;
use super::rows::{self, CALL_TABLES, SessionRow};

/// One call in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    pub rev: i64,
    pub id: CallId,
    pub at_ms: i64,
    pub server: String,
    pub client: Option<String>,
    pub method: Option<String>,
    pub tool: Option<String>,
    pub decision: Decision,
    pub rule: Option<String>,
    pub reason: Option<String>,
    /// `None` while it runs.
    pub outcome: Option<Outcome>,
    pub duration: Option<Duration>,
    /// Of arguments and result together, as they came.
    pub bytes: u64,
    /// The beginning of the arguments as they were kept.
    pub args: Option<String>,
    /// Then `args` only names them.
    pub args_withheld: bool,
    pub demo: bool,
    /// An exact repetition of it can be told.
    pub has_digest: bool,
}

/// The columns that [`line`] reads; of [`super::rows::CALL_TABLES`].
pub(super) const LINE_COLUMNS: &str = "c.rev, s.name, c.seq, c.at_ms, s.server, x.client, x.method, x.tool, \
     x.decision, x.rule, c.reason, c.outcome, c.duration_us, coalesce(c.args_bytes, 0) + coalesce(c.result_bytes, 0), \
     substr(c.args, 1, 300), c.flags, s.demo, c.digest IS NOT NULL";

/// The column after those of a line.
pub(super) const TEXTS: usize = 18;

pub(super) fn line(row: &Row<'_>) -> rusqlite::Result<LineRow> {
    let known = |text: String| (!text.is_empty()).then_some(text);
    let outcome: Option<String> = row.get(11)?;
    let flags: i64 = row.get(15)?;
    Ok(LineRow {
        rev: row.get(0)?,
        id: CallId { session: session_name(row, 1)?, seq: row.get::<_, i64>(2)?.unsigned_abs() },
        at_ms: row.get(3)?,
        server: row.get(4)?,
        client: known(row.get(5)?),
        method: known(row.get(6)?),
        tool: known(row.get(7)?),
        decision: row.get_ref(8)?.as_str()?.parse().unwrap_or(Decision::Unsupported),
        rule: known(row.get(9)?),
        reason: row.get(10)?,
        outcome: outcome.map(|word| word.parse().unwrap_or(Outcome::Unknown)),
        duration: row.get::<_, Option<i64>>(12)?.map(|micros| Duration::from_micros(micros.unsigned_abs())),
        bytes: row.get::<_, i64>(13)?.unsigned_abs(),
        args: row.get(14)?,
        args_withheld: flags & ARGS_WITHHELD != 0,
        demo: row.get(16)?,
        has_digest: row.get(17)?,
    })
}

impl History {
    /// The number of the call of this id.
    pub fn rev_of(&self, id: &CallId) -> Result<Option<i64>, StoreError> {
        self.connection
            .prepare_cached(&format!("SELECT rev FROM calls WHERE session = {NEWEST_OF_NAME} AND seq = ?2"))
            .and_then(|mut statement| {
                statement.query_row((id.session.as_str(), id.seq.cast_signed()), |row| row.get(0)).optional()
            })
            .map_err(|error| self.fail(&error))
    }

    /// Calls of the same session just before and after this one, oldest first, itself included.
    pub fn siblings(&self, rev: i64, around: u32) -> Result<Vec<LineRow>, StoreError> {
        let sql = format!(
            "SELECT {LINE_COLUMNS} FROM calls me JOIN {CALL_TABLES} WHERE me.rev = ?1 AND c.session = me.session
             AND c.seq BETWEEN me.seq - ?2 AND me.seq + ?2 ORDER BY c.seq"
        );
        self.rows(&sql, &[rev.into(), i64::from(around).into()], line)
    }

    /// The session of a call, and the version of the policy that it took up last.
    pub fn session_of(&self, rev: i64) -> Result<Option<(SessionRow, Option<String>)>, StoreError> {
        self.connection
            .query_row(
                "SELECT name, server, client, command, started_ms, ended_ms, end_reason, demo, policy FROM sessions
                 WHERE id = (SELECT session FROM calls WHERE rev = ?1)",
                [rev],
                |row| Ok((rows::session(row)?, row.get(8)?)),
            )
            .optional()
            .map_err(|error| self.fail(&error))
    }
}

//! Calls as lines of a log: enough to show one, without reading what they carry.

use std::time::Duration;

use callgate_home::{CallId, StoreError};
use callgate_journal::database::flags::ARGS_WITHHELD;
use callgate_journal::database::session_name;
use callgate_journal::{Decision, Outcome};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params_from_iter};

use super::History;
use super::query::NEWEST_OF_NAME;
use super::rows::{self, CALL_TABLES, SessionRow};
use super::search::{Text, Words};

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

/// Which calls. What is `None` or empty does not matter.
#[derive(Clone, Debug, Default)]
pub struct Which {
    pub words: Option<Words>,
    pub server: Option<String>,
    pub client: Option<String>,
    pub tool: Option<String>,
    pub decisions: Vec<Decision>,
    /// Only those that failed: [`Outcome::is_failed`].
    pub failed: bool,
    /// By name.
    pub session: Option<String>,
    /// Not before this time, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Before this time.
    pub until_ms: Option<i64>,
    /// Text in the tool's name, the arguments, the result or the reason; case does not matter. No index helps with it.
    pub grep: Option<String>,
    /// Only this call.
    pub id: Option<CallId>,
    /// Only numbers after this one.
    pub after_rev: Option<i64>,
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

impl Which {
    /// Does every call match?
    pub(super) fn is_all(&self) -> bool {
        !self.is_by_time() && !self.asks_for_more() && self.id.is_none()
    }

    pub(super) fn is_by_time(&self) -> bool {
        self.since_ms.is_some() || self.until_ms.is_some()
    }

    /// Does anything matter besides the time?
    pub(super) fn asks_for_more(&self) -> bool {
        let texts = [&self.server, &self.client, &self.tool, &self.session];
        self.words.is_some()
            || self.grep.is_some()
            || self.failed
            || !self.decisions.is_empty()
            || texts.iter().any(|text| text.is_some())
    }

    /// Everything but the words, as SQL over [`super::rows::CALL_TABLES`], beginning with `AND`.
    pub(super) fn conditions(&self) -> (String, Vec<Value>) {
        let mut sql = String::new();
        let mut values: Vec<Value> = Vec::new();
        let texts = [
            ("s.server", &self.server),
            ("x.client", &self.client),
            ("x.tool", &self.tool),
            ("s.name", &self.session),
        ];
        for (column, text) in texts {
            if let Some(text) = text {
                sql.push_str(&format!(" AND {column} = ?"));
                values.push(text.clone().into());
            }
        }
        if !self.decisions.is_empty() {
            let marks = vec!["?"; self.decisions.len()].join(", ");
            sql.push_str(&format!(" AND x.decision IN ({marks})"));
            values.extend(self.decisions.iter().map(|decision| Value::from(decision.word().to_owned())));
        }
        if self.failed {
            sql.push_str(&format!(" AND c.outcome IN ({})", Outcome::failed_in_sql()));
        }
        if let Some(text) = &self.grep {
            let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            sql.push_str(
                " AND (coalesce(x.tool, '') || char(10) || coalesce(c.reason, '') || char(10) || \
                 coalesce(c.args, '') || char(10) || coalesce(c.result, '')) LIKE ? ESCAPE '\\'",
            );
            values.push(format!("%{escaped}%").into());
        }
        if let Some(id) = &self.id {
            sql.push_str(" AND s.name = ? AND c.seq = ?");
            values.extend([Value::from(id.session.to_string()), id.seq.cast_signed().into()]);
        }
        for (condition, time) in [("c.at_ms >= ?", self.since_ms), ("c.at_ms < ?", self.until_ms)] {
            if let Some(time) = time {
                sql.push_str(&format!(" AND {condition}"));
                values.push(time.into());
            }
        }
        (sql, values)
    }

    /// The texts that words are looked for in, of a row that has them from this column on; nothing if none are asked for.
    pub(super) fn text_columns(&self) -> &'static str {
        if self.words.is_some() { TEXT_COLUMNS } else { "NULL, NULL, NULL, NULL" }
    }

    /// Are the words in the texts of this row, which begin at this column?
    pub(super) fn has_words(&self, row: &Row<'_>, first: usize) -> rusqlite::Result<bool> {
        let Some(words) = &self.words else { return Ok(true) };
        Ok(words.are_in(&texts(row, first)?))
    }
}

/// What is searched, in the order of [`texts`].
pub(super) const TEXT_COLUMNS: &str = "x.tool, c.reason, c.args, c.result";

pub(super) fn texts<'r>(row: &'r Row<'_>, first: usize) -> rusqlite::Result<[Text<'r>; 4]> {
    let text = |column: usize| {
        Ok::<_, rusqlite::Error>(row.get_ref(first + column)?.as_str_or_null()?.unwrap_or_default())
    };
    Ok([Text::Plain(text(0)?), Text::Plain(text(1)?), Text::Json(text(2)?), Text::Json(text(3)?)])
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

    /// Calls that match and came with these numbers (both ends included), in order.
    pub fn lines_between(&self, which: &Which, from: i64, to: i64) -> Result<Vec<LineRow>, StoreError> {
        let (conditions, values) = which.conditions();
        let sql = format!(
            "SELECT {LINE_COLUMNS}, {} FROM {CALL_TABLES} WHERE c.rev BETWEEN ? AND ? {conditions} ORDER BY c.rev",
            which.text_columns()
        );
        self.lines(&sql, vec![from.into(), to.into()], values, which)
    }

    /// The oldest calls of any kind that came after this number, in order; at most so many.
    pub fn lines_after(&self, rev: i64, limit: usize) -> Result<Vec<LineRow>, StoreError> {
        let sql =
            format!("SELECT {LINE_COLUMNS} FROM {CALL_TABLES} WHERE c.rev > ?1 ORDER BY c.rev LIMIT ?2");
        self.rows(&sql, &[rev.into(), super::query::limit_value(limit)], line)
    }

    /// Calls older than `before` that match and changed with these numbers (both ends included), in order, each once. Looks
    /// at no more than so many changes, the first ones, and returns the number up to which that was.
    pub fn lines_changed(
        &self,
        which: &Which,
        (from, to): (i64, i64),
        before: i64,
        most: usize,
    ) -> Result<(Vec<LineRow>, i64), StoreError> {
        let in_part = "FROM changes WHERE rev BETWEEN ?1 AND ?2 AND call < ?3";
        let beyond: Option<i64> = self
            .connection
            .prepare_cached(&format!("SELECT rev {in_part} ORDER BY rev LIMIT 1 OFFSET ?4"))
            .and_then(|mut statement| {
                let most = i64::try_from(most).unwrap_or(i64::MAX);
                statement.query_row((from, to, before, most), |row| row.get(0)).optional()
            })
            .map_err(|error| self.fail(&error))?;
        let to = beyond.map_or(to, |beyond| beyond - 1);
        let (conditions, values) = which.conditions();
        let sql = format!(
            "SELECT {LINE_COLUMNS}, {} FROM (SELECT DISTINCT call FROM changes WHERE rev BETWEEN ? AND ? AND call < ?) g
             CROSS JOIN calls c ON c.rev = g.call JOIN sessions s ON s.id = c.session JOIN contexts x ON x.id = c.context
             WHERE 1 {conditions} ORDER BY c.rev",
            which.text_columns()
        );
        let found = self.lines(&sql, vec![from.into(), to.into(), before.into()], values, which)?;
        Ok((found, to))
    }

    /// Are changes of calls still on record that came with this number and after it? They are kept for a while only.
    pub fn has_changes_since(&self, rev: i64) -> Result<bool, StoreError> {
        Ok(self.latest_rev()?.saturating_sub(rev) < callgate_journal::retention::KEPT_CHANGES)
    }

    /// How many calls came with these numbers that match, words aside.
    pub fn count_between(&self, which: &Which, from: i64, to: i64) -> Result<u64, StoreError> {
        let (conditions, values) = which.conditions();
        let mut bound: Vec<Value> = vec![from.into(), to.into()];
        bound.extend(values);
        self.connection
            .prepare_cached(&format!(
                "SELECT count(*) FROM {CALL_TABLES} WHERE c.rev BETWEEN ? AND ? {conditions}"
            ))
            .and_then(|mut statement| {
                statement.query_row(params_from_iter(bound), |row| row.get::<_, i64>(0))
            })
            .map(i64::unsigned_abs)
            .map_err(|error| self.fail(&error))
    }

    fn lines(
        &self,
        sql: &str,
        mut bound: Vec<Value>,
        values: Vec<Value>,
        which: &Which,
    ) -> Result<Vec<LineRow>, StoreError> {
        bound.extend(values);
        let read = || -> rusqlite::Result<Vec<LineRow>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params_from_iter(bound))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if which.has_words(row, TEXTS)? {
                    found.push(line(row)?);
                }
            }
            Ok(found)
        };
        read().map_err(|error| self.fail(&error))
    }

    /// Changes whenever anybody else has written to the history.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.connection
            .query_row("PRAGMA data_version", (), |row| row.get(0))
            .map_err(|error| self.fail(&error))
    }
}

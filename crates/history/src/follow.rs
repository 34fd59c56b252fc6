//! Following the record: calls that came, and calls that changed, since a number.

use callgate_home::StoreError;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use super::History;
use super::filter::{CallFilter, Matcher};
use super::lines::{LINE_COLUMNS, LineRow, TEXTS, line};
use super::lookup::limit_value;
use super::rows::CALL_TABLES;
use super::tally::UNEVEN;

impl History {
    /// The newest `rev`: where to start following.
    pub fn latest_rev(&self) -> Result<i64, StoreError> {
        self.meta("rev")
    }

    /// Another number: calls were removed since.
    pub fn generation(&self) -> Result<i64, StoreError> {
        self.meta("generation")
    }

    /// Calls that match and came with these numbers (both ends included), in order.
    pub fn lines_between(&self, filter: &CallFilter, from: i64, to: i64) -> Result<Vec<LineRow>, StoreError> {
        let matcher = Matcher::new(self, filter)?;
        let (conditions, values) = matcher.conditions();
        let sql = format!(
            "SELECT {LINE_COLUMNS}, {} FROM {CALL_TABLES} WHERE c.rev BETWEEN ? AND ? {conditions} ORDER BY c.rev",
            matcher.text_columns()
        );
        self.lines(&sql, vec![from.into(), to.into()], values, &matcher)
    }

    /// Calls that this rule of the record decided, from a number on and before a time, in order; at most so many.
    pub fn lines_ruled(
        &self,
        rule: &str,
        from: i64,
        until_ms: i64,
        most: usize,
    ) -> Result<Vec<LineRow>, StoreError> {
        let sql = format!(
            "SELECT {LINE_COLUMNS} FROM {CALL_TABLES} WHERE c.rev BETWEEN ?2 AND ?3 AND c.at_ms < ?4 AND x.rule = ?1
             ORDER BY c.rev LIMIT ?5"
        );
        // Where the time lies among the numbers is known to so many.
        let last = self.rev_before(until_ms)?.saturating_add(2 * UNEVEN);
        let values = [rule.to_owned().into(), from.into(), last.into(), until_ms.into(), limit_value(most)];
        self.rows(&sql, &values, line)
    }

    /// The oldest calls of any kind that came after this number, in order; at most so many.
    pub fn lines_after(&self, rev: i64, limit: usize) -> Result<Vec<LineRow>, StoreError> {
        let sql =
            format!("SELECT {LINE_COLUMNS} FROM {CALL_TABLES} WHERE c.rev > ?1 ORDER BY c.rev LIMIT ?2");
        self.rows(&sql, &[rev.into(), limit_value(limit)], line)
    }

    /// Calls older than `before` that match and changed with these numbers (both ends included), in order, each once. Looks
    /// at no more than so many changes, the first ones, and returns the number up to which that was.
    pub fn lines_changed(
        &self,
        filter: &CallFilter,
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
        let matcher = Matcher::new(self, filter)?;
        let (conditions, values) = matcher.conditions();
        let sql = format!(
            "SELECT {LINE_COLUMNS}, {} FROM (SELECT DISTINCT call FROM changes WHERE rev BETWEEN ? AND ? AND call < ?) g
             CROSS JOIN calls c ON c.rev = g.call JOIN sessions s ON s.id = c.session JOIN contexts x ON x.id = c.context
             WHERE 1 {conditions} ORDER BY c.rev",
            matcher.text_columns()
        );
        let found = self.lines(&sql, vec![from.into(), to.into(), before.into()], values, &matcher)?;
        Ok((found, to))
    }

    /// Are changes of calls still on record that came with this number and after it? They are kept for a while only.
    pub fn has_changes_since(&self, rev: i64) -> Result<bool, StoreError> {
        Ok(self.latest_rev()?.saturating_sub(rev) < callgate_journal::retention::KEPT_CHANGES)
    }

    /// How many calls came with these numbers that match, words aside.
    pub fn count_between(&self, filter: &CallFilter, from: i64, to: i64) -> Result<u64, StoreError> {
        let matcher = Matcher::new(self, filter)?;
        let (conditions, values) = matcher.conditions();
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
        matcher: &Matcher,
    ) -> Result<Vec<LineRow>, StoreError> {
        bound.extend(values);
        let read = || -> rusqlite::Result<Vec<LineRow>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params_from_iter(bound))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if matcher.has_words(row, TEXTS)? {
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

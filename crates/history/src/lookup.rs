//! Lookups: one call, a session, a policy as it was, the newest events, and how many there are.

use callgate_home::{CallId, SessionId, StoreError};
use callgate_journal::EventKind;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use super::History;
use super::rows::{self, CALL_COLUMNS, CALL_TABLES, CallRow, EventRow, PolicyVersion, SessionRow};

/// The id of the newest session whose name is `?1`.
pub(super) const NEWEST_OF_NAME: &str =
    "(SELECT id FROM sessions WHERE name = ?1 ORDER BY started_ms DESC, id DESC LIMIT 1)";

/// [`Decision::is_refused`], in SQL.
const REFUSED: &str = "x.decision NOT IN ('allowed', 'would_deny')";

/// Which events. What is `None` does not matter.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    pub server: Option<String>,
    pub kind: Option<EventKind>,
    /// Not before this time, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Before this time.
    pub until_ms: Option<i64>,
}

/// How many of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub calls: u64,
    pub refused: u64,
    pub open: u64,
    pub sessions: u64,
}

impl History {
    /// The call of this id; of sessions that drew the same name, the newest counts.
    pub fn call(&self, id: &CallId) -> Result<Option<CallRow>, StoreError> {
        let sql =
            format!("SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE s.id = {NEWEST_OF_NAME} AND c.seq = ?2");
        self.connection
            .query_row(&sql, (id.session.as_str(), id.seq.cast_signed()), rows::call)
            .optional()
            .map_err(|error| self.fail(&error))
    }

    /// The call with this number.
    pub fn row_at(&self, rev: i64) -> Result<Option<CallRow>, StoreError> {
        self.connection
            .prepare_cached(&format!("SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.rev = ?1"))
            .and_then(|mut statement| statement.query_row([rev], rows::call).optional())
            .map_err(|error| self.fail(&error))
    }

    /// The recorded result of a call, if it is all there but for secrets.
    pub fn result_text(&self, rev: i64) -> Result<Option<String>, StoreError> {
        let row = self.row_at(rev)?;
        Ok(row.and_then(|row| row.result).filter(|body| !body.cut && !body.withheld).map(|body| body.text))
    }

    /// The digest of a refused call, if it was given one and is still here.
    pub fn digest_of(&self, id: &CallId) -> Result<Option<[u8; 32]>, StoreError> {
        Ok(self.call(id)?.and_then(|call| call.digest))
    }

    /// The text of a policy as it was, for the server if it is known there, else wherever it was seen.
    pub fn policy_text(&self, version: &str, server: &str) -> Result<Option<PolicyVersion>, StoreError> {
        self.connection
            .query_row(
                "SELECT version, server, text, first_seen_ms, origin FROM policy_versions WHERE version = ?1
                 ORDER BY server = ?2 DESC LIMIT 1",
                (version, server),
                rows::policy,
            )
            .optional()
            .map_err(|error| self.fail(&error))
    }

    /// The names of all servers on record, in the order of the alphabet.
    pub fn servers(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT DISTINCT server FROM sessions ORDER BY server", &[], |row| row.get(0))
    }

    /// Every server that ever had a session, each with every client that had one with it.
    pub fn server_clients(&self) -> Result<Vec<(String, Option<String>)>, StoreError> {
        self.rows("SELECT DISTINCT server, client FROM sessions", &[], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Is a session of this name on record?
    pub fn has_session(&self, name: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM sessions WHERE name = ?1 LIMIT 1";
        let found: Vec<i64> = self.rows(sql, &[name.to_owned().into()], |row| row.get(0))?;
        Ok(!found.is_empty())
    }

    /// The newest sessions, newest last.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let mut found = self.rows(
            "SELECT name, server, client, command, started_ms, ended_ms, end_reason, demo FROM sessions
             ORDER BY id DESC LIMIT ?",
            &[limit_value(limit)],
            rows::session,
        )?;
        found.reverse();
        Ok(found)
    }

    /// The newest events, newest last.
    pub fn events(&self, since_ms: Option<i64>, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.events_matching(&EventFilter { since_ms, ..EventFilter::default() }, limit)
    }

    /// The newest events of some kind, newest last.
    pub fn events_matching(&self, filter: &EventFilter, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let mut conditions = String::from("at_ms >= ?");
        let mut values: Vec<Value> = vec![filter.since_ms.unwrap_or(i64::MIN).into()];
        let mut add = |condition: &str, value: Option<Value>| {
            if let Some(value) = value {
                conditions.push_str(condition);
                values.push(value);
            }
        };
        add(" AND at_ms < ?", filter.until_ms.map(Value::from));
        add(" AND server = ?", filter.server.clone().map(Value::from));
        add(" AND kind = ?", filter.kind.map(|kind| kind.word().to_owned().into()));
        values.push(limit_value(limit));
        let sql = format!(
            "SELECT id, at_ms, kind, server, session, origin, text FROM events WHERE {conditions}
             ORDER BY id DESC LIMIT ?"
        );
        let mut found = self.rows(&sql, &values, rows::event)?;
        found.reverse();
        Ok(found)
    }

    /// Counts since a time, for `status`.
    pub fn counts(&self, since_ms: Option<i64>) -> Result<Counts, StoreError> {
        let since = since_ms.unwrap_or(i64::MIN);
        self.connection
            .query_row(
                &format!(
                    "SELECT count(*), coalesce(sum({REFUSED}), 0), coalesce(sum(c.outcome IS NULL), 0),
                            (SELECT count(*) FROM sessions WHERE started_ms >= ?1)
                     FROM calls c JOIN contexts x ON x.id = c.context WHERE c.at_ms >= ?1"
                ),
                [since],
                |row| {
                    let count = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
                    Ok(Counts { calls: count(0)?, refused: count(1)?, open: count(2)?, sessions: count(3)? })
                },
            )
            .map_err(|error| self.fail(&error))
    }

    /// Calls of one session that passed and are not answered yet.
    pub fn open_calls(&self, session: SessionId) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM calls c JOIN contexts x ON x.id = c.context
             WHERE c.session = {NEWEST_OF_NAME} AND c.outcome IS NULL AND NOT ({REFUSED})"
        );
        self.connection
            .query_row(&sql, [session.as_str()], |row| row.get::<_, i64>(0).map(i64::unsigned_abs))
            .map_err(|error| self.fail(&error))
    }

    /// Calls of one session so far, and how many of them were refused.
    pub fn session_counts(&self, session: SessionId) -> Result<(u64, u64), StoreError> {
        self.connection
            .query_row(
                &format!(
                    "SELECT count(*), coalesce(sum({REFUSED}), 0)
                     FROM calls c JOIN contexts x ON x.id = c.context WHERE c.session = {NEWEST_OF_NAME}"
                ),
                [session.as_str()],
                |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs())),
            )
            .map_err(|error| self.fail(&error))
    }

    /// Calls of a session that were let through and have no outcome yet, oldest first.
    pub fn running_calls(&self, session: SessionId) -> Result<Vec<CallRow>, StoreError> {
        let sql = format!(
            "SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.session = {NEWEST_OF_NAME} AND c.outcome IS NULL ORDER BY c.rev"
        );
        self.rows(&sql, &[Value::Text(session.to_string())], rows::call)
    }

    /// A number that the history keeps about itself.
    pub(super) fn meta(&self, key: &str) -> Result<i64, StoreError> {
        self.connection
            .prepare_cached("SELECT value FROM meta WHERE key = ?1")
            .and_then(|mut statement| statement.query_row([key], |row| row.get(0)))
            .map_err(|error| self.fail(&error))
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(params_from_iter(values), read)?.collect())
            .map_err(|error| self.fail(&error))
    }
}

pub(super) fn limit_value(limit: usize) -> Value {
    i64::try_from(limit).unwrap_or(i64::MAX).into()
}

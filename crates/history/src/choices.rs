//! What there is to choose from, and what one client did with one server until it paused.

use std::collections::BTreeSet;

use callgate_controls::sqlite;
use callgate_home::StoreError;
use callgate_journal::{Decision, Outcome};
use rusqlite::{OptionalExtension, Row};

use super::History;
use super::rows::CALL_TABLES;

/// Of what is not in the index, so many calls are looked at.
const NEWEST: i64 = 2_000;

/// As little of a call as runs are made of.
#[derive(Clone, Debug)]
pub struct Trace {
    pub rev: i64,
    /// Tells sessions apart; names of sessions may come again.
    pub session_key: i64,
    pub at_ms: i64,
    pub client: String,
    pub tool: String,
    pub decision: Decision,
    /// `None` while it runs.
    pub outcome: Option<Outcome>,
}

impl History {
    /// Every client on record, in the order of the alphabet.
    pub fn clients(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT DISTINCT client FROM contexts WHERE client <> '' ORDER BY client", &[], |row| {
            row.get(0)
        })
    }

    /// Servers and their tools that calls asked for, in the order of the alphabet.
    pub fn tools(&self) -> Result<Vec<(String, String)>, StoreError> {
        let indexed = match &self.index()? {
            Some(index) => {
                index.tools().map_err(|error| sqlite::database_error(&self.home.search_db(), &error))?
            }
            None => Vec::new(),
        };
        let newest = self.rows(
            &format!(
                "SELECT DISTINCT server, tool FROM (SELECT s.server, x.tool FROM {CALL_TABLES}
                 ORDER BY c.rev DESC LIMIT {NEWEST}) WHERE tool <> ''"
            ),
            &[],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let all: BTreeSet<(String, String)> = indexed.into_iter().chain(newest).collect();
        Ok(all.into_iter().collect())
    }

    /// Calls, the newest first, until `each` has enough.
    pub fn traces(&self, each: &mut dyn FnMut(Trace) -> std::ops::ControlFlow<()>) -> Result<(), StoreError> {
        let read = |each: &mut dyn FnMut(Trace) -> std::ops::ControlFlow<()>| -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(&format!("{TRACES} ORDER BY c.rev DESC"))?;
            let mut rows = statement.query(())?;
            while let Some(row) = rows.next()? {
                if each(trace(row)?).is_break() {
                    break;
                }
            }
            Ok(())
        };
        read(each).map_err(|error| self.fail(&error))
    }

    /// The calls of one session around the one with this number, itself first: then those before it, the nearest first,
    /// until `each` has enough, then those after it likewise.
    pub fn traces_around(
        &self,
        rev: i64,
        each: &mut dyn FnMut(Trace) -> std::ops::ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let of_rev = "SELECT session, seq FROM calls WHERE rev = ?1";
            let found: Option<(i64, i64)> = self
                .connection
                .prepare_cached(of_rev)?
                .query_row([rev], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((session, seq)) = found else { return Ok(()) };
            for order in ["c.seq <= ?2 ORDER BY c.seq DESC", "c.seq > ?2 ORDER BY c.seq"] {
                let sql = format!("{TRACES} WHERE c.session = ?1 AND {order}");
                let mut statement = self.connection.prepare_cached(&sql)?;
                let mut rows = statement.query((session, seq))?;
                while let Some(row) = rows.next()? {
                    if each(trace(row)?).is_break() {
                        break;
                    }
                }
            }
            Ok(())
        };
        read().map_err(|error| self.fail(&error))
    }

    /// Name, server and demo mark of a session, by what tells it apart.
    pub fn session_named(&self, key: i64) -> Result<(String, String, Option<i64>), StoreError> {
        self.connection
            .query_row("SELECT name, server, ended_ms FROM sessions WHERE id = ?1", [key], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .map_err(|error| self.fail(&error))
    }
}

/// What [`trace`] reads.
const TRACES: &str = "SELECT c.session, c.at_ms, x.client, x.tool, x.decision, c.outcome, c.rev
     FROM calls c JOIN contexts x ON x.id = c.context";

fn trace(row: &Row<'_>) -> rusqlite::Result<Trace> {
    Ok(Trace {
        rev: row.get(6)?,
        session_key: row.get(0)?,
        at_ms: row.get(1)?,
        client: row.get(2)?,
        tool: row.get(3)?,
        decision: row.get_ref(4)?.as_str()?.parse().unwrap_or(Decision::Unsupported),
        outcome: row.get::<_, Option<String>>(5)?.map(|word| word.parse().unwrap_or(Outcome::Unknown)),
    })
}

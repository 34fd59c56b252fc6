//! What happened beside the calls, as lines of a log: changes of rules, and events worth a line.

use callgate_home::StoreError;
use callgate_journal::Origin;
use rusqlite::Row;
use rusqlite::types::Value;

use super::History;
use super::filter::{CallFilter, Matcher, Only};
use super::query::Toward;
use super::rows::{self, EventRow};

/// A change of a server's policy, with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    pub rev: i64,
    pub id: i64,
    pub at_ms: i64,
    pub server: String,
    pub version: String,
    pub previous: Option<String>,
    pub origin: Origin,
    pub summary: String,
    /// Something became looser by it.
    pub loosened: bool,
    /// The texts before and after it are kept.
    pub has_texts: bool,
}

/// Events that are worth a line. Changes of policies have rows of their own; noise is for those who look for it.
const WORTH_A_LINE: &str = "'loosened', 'policy_broken', 'paused', 'resumed', 'keeper_lost', 'database_moved_aside', \
     'gap', 'bad_settings', 'forgotten', 'swept', 'gate_repaired', 'gate_contested', 'definition_changed', 'pins_broken', \
     'loosening_refused', 'forged_approval'";

/// Each session says that it was paused; beside a person's own act that is the same once more. Records of one act stand
/// this close to each other.
const NEAR: i64 = 200;

impl History {
    /// Changes of rules with a number in between (both ends included), the nearest to where one comes from first.
    pub fn changes_between(
        &self,
        filter: &CallFilter,
        between: (i64, i64),
        toward: Toward,
        most: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        let matcher = Matcher::new(self, filter)?;
        if !matcher.has(Only::Changes) {
            return Ok(Vec::new());
        }
        // Records of one change stand close to each other, and an event belongs to the change that is nearest: a restriction
        // that is undone at once is not the loosening.
        let sql = "SELECT p.rev, p.id, p.at_ms, p.server, p.version, p.previous, p.origin, p.summary,
               EXISTS (SELECT 1 FROM events e WHERE e.rev BETWEEN p.rev - 60 AND p.rev + 60
                       AND e.kind = 'loosened' AND e.server = p.server AND abs(e.at_ms - p.at_ms) <= 5000
                       AND NOT EXISTS (SELECT 1 FROM policy_changes q WHERE q.rev BETWEEN p.rev - 60 AND p.rev + 60
                         AND q.server = p.server AND abs(e.at_ms - q.at_ms) < abs(e.at_ms - p.at_ms))),
               p.previous IS NOT NULL AND EXISTS (SELECT 1 FROM policy_versions v WHERE v.version = p.previous)
               AND EXISTS (SELECT 1 FROM policy_versions v WHERE v.version = p.version)
             FROM policy_changes p WHERE p.rev BETWEEN ? AND ?";
        self.happened(sql, "p", &matcher, between, toward, most, change, |change| &change.summary)
    }

    /// Events worth a line with a number in between, the nearest to where one comes from first.
    pub fn events_between(
        &self,
        filter: &CallFilter,
        between: (i64, i64),
        toward: Toward,
        most: usize,
    ) -> Result<Vec<(i64, EventRow)>, StoreError> {
        let matcher = Matcher::new(self, filter)?;
        if !matcher.has(Only::Events) {
            return Ok(Vec::new());
        }
        // What a session says of it is told where the person's own act is not.
        let alone = u8::from(matcher.filter.session.is_none());
        let mut sql = format!(
            "SELECT e.id, e.at_ms, e.kind, e.server, e.session, e.origin, e.text, e.rev FROM events e
             WHERE e.rev BETWEEN ? AND ? AND e.kind IN ({WORTH_A_LINE})
             AND NOT (e.kind = 'loosened' AND EXISTS (
               SELECT 1 FROM policy_changes p WHERE p.rev BETWEEN e.rev - 60 AND e.rev + 60 AND p.server = e.server
               AND abs(e.at_ms - p.at_ms) <= 5000))
             AND NOT ({alone} AND e.session IS NOT NULL AND e.kind IN ('paused', 'resumed') AND EXISTS (
               SELECT 1 FROM events a WHERE a.id BETWEEN e.id - {NEAR} AND e.id + {NEAR} AND a.session IS NULL
               AND (a.kind = 'paused' AND e.kind = 'paused'
                 OR a.kind = 'loosened' AND e.kind = 'resumed' AND a.text LIKE '% resumed')
               AND (a.server IS NULL OR a.server = e.server) AND a.at_ms BETWEEN e.at_ms - 60000 AND e.at_ms + 5000))"
        );
        if let Some(session) = &matcher.filter.session {
            // Names are letters and digits; whatever else somebody asks for is no session's.
            let session: String = session.chars().filter(char::is_ascii_alphanumeric).collect();
            sql.push_str(&format!(" AND e.session = '{session}'"));
        }
        let read = |row: &Row<'_>| Ok((row.get(7)?, rows::event(row)?));
        self.happened(&sql, "e", &matcher, between, toward, most, read, |(_, event)| &event.text)
    }

    #[expect(clippy::too_many_arguments, reason = "two tables, one way to read them")]
    fn happened<T>(
        &self,
        sql: &str,
        table: &str,
        matcher: &Matcher,
        (from, to): (i64, i64),
        toward: Toward,
        most: usize,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        text: impl Fn(&T) -> &String,
    ) -> Result<Vec<T>, StoreError> {
        let mut sql = sql.to_owned();
        let mut values: Vec<Value> = vec![from.into(), to.into()];
        if let Some(server) = &matcher.filter.server {
            sql.push_str(&format!(" AND {table}.server = ?"));
            values.push(server.clone().into());
        }
        for (condition, time) in
            [("at_ms >= ?", matcher.filter.since_ms), ("at_ms < ?", matcher.filter.until_ms)]
        {
            if let Some(time) = time {
                sql.push_str(&format!(" AND {table}.{condition}"));
                values.push(time.into());
            }
        }
        let order = if toward == Toward::Older { "DESC" } else { "ASC" };
        sql.push_str(&format!(" ORDER BY {table}.rev {order}, {table}.id {order}"));
        let read_all = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(rusqlite::params_from_iter(&values))?;
            let mut found = Vec::new();
            // A few of one number stay together: a page ends between numbers.
            let mut last = None;
            while let Some(row) = rows.next()? {
                let value = read(row)?;
                if matcher.words.as_ref().is_some_and(|words| !words.are_in_text(text(&value))) {
                    continue;
                }
                let rev: i64 = row.get("rev")?;
                if found.len() >= most && last != Some(rev) {
                    break;
                }
                last = Some(rev);
                found.push(value);
            }
            Ok(found)
        };
        read_all().map_err(|error| self.fail(&error))
    }

    /// How often rules were changed, and processes ended or swept, since a number, or since a time.
    pub fn happened_since(&self, rev: Option<i64>, since_ms: i64) -> Result<(u64, u64), StoreError> {
        self.connection
            .query_row(
                "SELECT (SELECT count(*) FROM policy_changes WHERE rev > ?1 AND at_ms >= ?2 AND previous IS NOT NULL),
                        (SELECT count(*) FROM events WHERE rev > ?1 AND at_ms >= ?2 AND kind = 'swept')",
                (rev.unwrap_or(-1), rev.map_or(since_ms, |_| i64::MIN)),
                |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs())),
            )
            .map_err(|error| self.fail(&error))
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        rev: row.get(0)?,
        id: row.get(1)?,
        at_ms: row.get(2)?,
        server: row.get(3)?,
        version: row.get(4)?,
        previous: row.get(5)?,
        origin: row.get_ref(6)?.as_str()?.parse().unwrap_or(Origin::File),
        summary: row.get(7)?,
        loosened: row.get(8)?,
        has_texts: row.get(9)?,
    })
}

//! How each tool of a server fared: called how often, refused how often, when last.
//!
//! A history can hold millions of calls, and somebody waits for this. So it goes from the newest calls to older ones for
//! as long as it may, and says how far it came; what is newest is always in it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use callgate_home::StoreError;
use callgate_journal::Decision;
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;

use super::History;

/// Calls that are counted at once, before the time is looked at.
const STEP: i64 = 20_000;

/// One tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolHits {
    pub calls: u64,
    pub refused: u64,
    pub last_ms: Option<i64>,
    pub last_refused_ms: Option<i64>,
}

/// The tools that were called on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsSeen {
    pub tools: BTreeMap<String, ToolHits>,
    /// Who called them, and who was connected at all, in the order of their names.
    pub clients: Vec<String>,
    /// Older calls than this were not counted; none if all were.
    pub since_ms: Option<i64>,
}

/// Calls with one context among those looked at.
#[derive(Clone, Copy, Debug)]
struct Share {
    calls: u64,
    last_ms: i64,
}

impl History {
    /// Counts from the newest call on for about as long as `patience`.
    pub fn tools_seen(&self, server: &str, patience: Duration) -> Result<ToolsSeen, StoreError> {
        let seen = self.connection.unchecked_transaction().and_then(|transaction| {
            let (shares, since_ms) = shares(&transaction, server, Instant::now() + patience)?;
            Ok(ToolsSeen { since_ms, ..named(&transaction, server, &shares)? })
        });
        seen.map_err(|error| self.fail(&error))
    }
}

/// By context first: a number each, where names would have to be compared.
fn shares(
    connection: &Connection,
    server: &str,
    until: Instant,
) -> rusqlite::Result<(FxHashMap<i64, Share>, Option<i64>)> {
    let (oldest, newest): (Option<i64>, Option<i64>) =
        connection
            .query_row("SELECT min(rev), max(rev) FROM calls", (), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(oldest), Some(mut to)) = (oldest, newest) else { return Ok((FxHashMap::default(), None)) };
    let mut statement = connection.prepare_cached(
        "SELECT c.context, count(*), max(c.at_ms) FROM calls c CROSS JOIN sessions s ON s.id = c.session
         WHERE c.rev > ?1 AND c.rev <= ?2 AND s.server = ?3 GROUP BY c.context",
    )?;
    let mut shares: FxHashMap<i64, Share> = FxHashMap::default();
    loop {
        let from = to.saturating_sub(STEP);
        let mut rows = statement.query((from, to, server))?;
        while let Some(row) = rows.next()? {
            let (calls, last_ms) = (count(row, 1)?, row.get(2)?);
            let share = shares.entry(row.get(0)?).or_insert(Share { calls: 0, last_ms });
            share.calls += calls;
            share.last_ms = share.last_ms.max(last_ms);
        }
        if from < oldest {
            return Ok((shares, None));
        }
        to = from;
        if Instant::now() >= until {
            let since = connection.query_row(
                "SELECT min(at_ms) FROM (SELECT at_ms FROM calls WHERE rev > ?1 ORDER BY rev LIMIT 1)",
                [to],
                |row| row.get(0),
            )?;
            return Ok((shares, since));
        }
    }
}

fn named(
    connection: &Connection,
    server: &str,
    shares: &FxHashMap<i64, Share>,
) -> rusqlite::Result<ToolsSeen> {
    let mut seen = ToolsSeen::default();
    let mut clients: Vec<String> = connection
        .prepare_cached("SELECT DISTINCT client FROM sessions WHERE server = ?1 AND client IS NOT NULL")?
        .query_map([server], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut context = connection.prepare_cached(
        "SELECT tool, client, decision FROM contexts WHERE id = ?1 AND method = 'tools/call'",
    )?;
    for (id, share) in shares {
        let mut rows = context.query([id])?;
        let Some(row) = rows.next()? else { continue };
        let decision = row.get_ref(2)?.as_str()?.parse().unwrap_or(Decision::Unsupported);
        let hits = seen.tools.entry(row.get(0)?).or_default();
        hits.calls += share.calls;
        hits.last_ms = hits.last_ms.max(Some(share.last_ms));
        if decision.is_refused() {
            hits.refused += share.calls;
            hits.last_refused_ms = hits.last_refused_ms.max(Some(share.last_ms));
        }
        clients.push(row.get(1)?);
    }
    clients.retain(|client| !client.is_empty());
    clients.sort_unstable();
    clients.dedup();
    seen.clients = clients;
    Ok(seen)
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

#[cfg(test)]
#[path = "tool_hits/tests.rs"]
mod tests;

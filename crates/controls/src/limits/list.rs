//! Shared counters as a person sees them: what there is, and how to set one back to nothing.

use std::time::Duration;

use callgate_home::clock::Clock;
use callgate_home::{Home, StoreError};
use callgate_policy::Scope;

use super::db::{Counter, Db};
use super::key::{self, CounterName};
use super::take::Want;
use crate::CounterKind;

/// One shared counter that calls to a server use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRow {
    pub counter: String,
    pub kind: CounterKind,
    pub scope: Scope,
    /// For the scopes that count clients apart.
    pub client: Option<String>,
    /// Within `window` if there is one; millionths for a sum.
    pub used: u64,
    /// The longest that a limit of this counter ever had.
    pub window: Option<Duration>,
    /// The counters were lost, and this one counts as used up since.
    pub lost: bool,
}

/// The shared counters that calls to this server have used. A session's own are in its memory, and not listed.
pub fn list(home: &Home, server: &str, clock: &dyn Clock) -> Result<Vec<CounterRow>, StoreError> {
    let mut db = Db::open(home, &clock.now())?;
    let mut rows: Vec<CounterRow> = db.transaction(|db| {
        let now = db.ledger_now(&clock.now())?;
        db.of_server(server)?
            .into_iter()
            .map(|(counter, named, key)| db.row(counter, named, key, server, now))
            .collect()
    })?;
    rows.sort_by(|a, b| (&a.counter, &a.client).cmp(&(&b.counter, &b.client)));
    Ok(rows)
}

/// Sets every shared counter of this name that calls to the server use back to nothing: of any kind, scope and client,
/// also if other servers share it, and also if it counts as used up because the counters were lost. Returns what was
/// set back, as it was; a loss is forgiven even if there was nothing.
pub fn reset(
    home: &Home,
    server: &str,
    counter: &str,
    clock: &dyn Clock,
) -> Result<Vec<CounterRow>, StoreError> {
    let mut db = Db::open(home, &clock.now())?;
    db.transaction(|db| {
        let now = db.ledger_now(&clock.now())?;
        let mut was = Vec::new();
        for (known, named, key) in db.of_server(server)? {
            if named.counter == counter {
                was.push(db.row(known, named, key, server, now)?);
                // The row itself stays: shims remember its number.
                for table in ["admissions", "amounts", "totals", "holds"] {
                    db.connection.execute(&format!("DELETE FROM {table} WHERE counter = ?1"), [known.id])?;
                }
            }
        }
        db.connection.execute("INSERT OR REPLACE INTO resets VALUES (?1, ?2, ?3)", (server, counter, now))?;
        Ok(was)
    })
}

impl Db {
    /// Did a person set this counter back since then?
    pub(super) fn is_reset(&self, server: &str, counter: &str, since: i64) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM resets WHERE server = ?1 AND counter = ?2 AND at_ms >= ?3)",
            )?
            .query_row((server, counter, since), |row| row.get(0))
    }

    fn of_server(&self, server: &str) -> rusqlite::Result<Vec<(Counter, CounterName, String)>> {
        let mut statement = self.connection.prepare("SELECT id, reach_max, reach_ms, key FROM counters")?;
        let rows = statement.query_map((), |row| Ok((Counter::of(row)?, row.get::<_, String>(3)?)))?;
        let mut found = Vec::new();
        for row in rows {
            let (counter, key) = row?;
            if let Some(named) =
                key::read(&key).filter(|named| named.server.as_deref().is_none_or(|of| of == server))
            {
                found.push((counter, named, key));
            }
        }
        Ok(found)
    }

    fn row(
        &mut self,
        counter: Counter,
        named: CounterName,
        key: String,
        server: &str,
        now: i64,
    ) -> rusqlite::Result<CounterRow> {
        let windowed = matches!(named.kind, CounterKind::Calls | CounterKind::Sum);
        let window_ms = windowed.then_some(counter.reach_ms.unsigned_abs());
        let want = Want {
            key,
            server,
            counter: &named.counter,
            kind: named.kind,
            amount: 0,
            ceiling: i64::MAX.unsigned_abs(),
            window_ms,
        };
        let seen = self.seen(&want, now)?;
        let used = self.used(&seen, &want)?;
        let lost = self.lost(seen.now, &want)?.is_some();
        Ok(CounterRow {
            kind: named.kind,
            scope: named.scope,
            used,
            window: window_ms.map(Duration::from_millis),
            lost,
            client: named.client,
            counter: named.counter,
        })
    }
}

//! One take: check every limit, then number one admission per counter, in one short transaction.
//!
//! Admissions are numbered, so "is the window full?" is the question whether admission `n + 1 - max` is still
//! inside it: one look-up, at any size. Time is the ledger's: it advances with the time since boot, so setting
//! the wall clock does nothing; at the first use in a new boot it advances by what the wall clock says.

use rusqlite::{Connection, OptionalExtension};

use super::db::{Anchor, Counter, Db};
use crate::clock::{BootId, Clock, Moment};
use crate::error::StoreError;
use crate::failpoint;

/// Admissions are kept for at least this long, so that a longer window written tomorrow finds the recent past.
const KEPT_MS: i64 = 60 * 60 * 1000;
/// Every so many admissions of a counter, its oldest are removed.
const PRUNE_EVERY: i64 = 64;
const PRUNE_AT_MOST: i64 = 256;

/// One limit's question to one counter.
#[derive(Debug)]
pub(crate) struct Want {
    pub(crate) key: String,
    pub(crate) max: u32,
    pub(crate) window_ms: u64,
}

/// The window is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) used: u32,
    pub(crate) frees_in_ms: u64,
}

impl Db {
    /// `None` when everything was taken; else which want is full, and nothing was taken.
    pub(crate) fn take(
        &mut self,
        clock: &dyn Clock,
        wants: &[Want],
    ) -> Result<Option<(usize, Full)>, StoreError> {
        failpoint::reach("admit.before_take");
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| StoreError::database(&path, &error);
        self.run("BEGIN IMMEDIATE").map_err(fail)?;
        let taken = self.take_inside(clock, wants);
        match &taken {
            // Also when refused: the ledger's anchor in a new boot must stay.
            Ok(_) => {
                if let Err(error) = self.run("COMMIT") {
                    let _gone = self.run("ROLLBACK");
                    return Err(fail(error));
                }
            }
            Err(_) => {
                let _gone = self.run("ROLLBACK");
            }
        }
        failpoint::reach("admit.after_take");
        taken.map_err(fail)
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.raw_execute().map(drop)
    }

    fn take_inside(&mut self, clock: &dyn Clock, wants: &[Want]) -> rusqlite::Result<Option<(usize, Full)>> {
        // Read only now, inside the lock: admissions of all shims stand in one order.
        let moment = clock.now();
        let now = self.ledger_now(&moment)?;
        let mut found: Vec<(Option<Counter>, i64, i64)> = Vec::with_capacity(wants.len());
        for (index, want) in wants.iter().enumerate() {
            let counter = self.counter(&want.key)?;
            let (last, last_at) = match counter {
                Some(counter) => self.last(counter.id)?.unwrap_or((0, i64::MIN)),
                None => (0, i64::MIN),
            };
            let now = now.max(last_at);
            if let Some(full) = self.full(counter, last, now, want)? {
                return Ok(Some((index, full)));
            }
            found.push((counter, last, now));
        }
        for (index, want) in wants.iter().enumerate() {
            if wants[..index].iter().any(|earlier| earlier.key == want.key) {
                continue;
            }
            let of_this = || wants.iter().filter(|other| other.key == want.key);
            let max = of_this().map(|other| other.max).max().unwrap_or(want.max);
            let window_ms = of_this().map(|other| other.window_ms).max().unwrap_or(want.window_ms);
            let (counter, last, now) = found[index];
            let counter = self.reach(counter, &want.key, max, window_ms)?;
            self.connection.prepare_cached("INSERT INTO admissions VALUES (?1, ?2, ?3, ?4)")?.execute((
                counter.id,
                last + 1,
                now,
                moment.wall_ms,
            ))?;
            if (last + 1) % PRUNE_EVERY == 0 {
                self.prune(counter.id, last + 1, now)?;
            }
        }
        Ok(None)
    }

    fn full(
        &self,
        counter: Option<Counter>,
        last: i64,
        now: i64,
        want: &Want,
    ) -> rusqlite::Result<Option<Full>> {
        let inside = |at: i64| {
            let age = now.saturating_sub(at).max(0).unsigned_abs();
            (age < want.window_ms).then(|| Full { used: want.max, frees_in_ms: want.window_ms - age })
        };
        if let Some(full) = self.full_since.and_then(inside) {
            return Ok(Some(full));
        }
        let Some(counter) = counter.filter(|_| last >= i64::from(want.max)) else { return Ok(None) };
        let at: Option<i64> = self
            .connection
            .prepare_cached("SELECT at_ms FROM admissions WHERE counter = ?1 AND n = ?2")?
            .query_row((counter.id, last + 1 - i64::from(want.max)), |row| row.get(0))
            .optional()?;
        Ok(at.and_then(inside))
    }

    fn counter(&mut self, key: &str) -> rusqlite::Result<Option<Counter>> {
        if let Some(counter) = self.counters.get(key) {
            return Ok(Some(*counter));
        }
        let counter = self
            .connection
            .prepare_cached("SELECT id, reach_max, reach_ms FROM counters WHERE key = ?1")?
            .query_row([key], |row| {
                Ok(Counter {
                    id: row.get(0)?,
                    reach_max: row.get(1)?,
                    reach_ms: row.get::<_, i64>(2)?.unsigned_abs(),
                })
            })
            .optional()?;
        if let Some(counter) = counter {
            self.counters.insert(key.to_owned(), counter);
        }
        Ok(counter)
    }

    /// Makes the counter, or widens what it remembers. The cache learns of it at the next look-up, from a
    /// transaction that is known to have been committed.
    fn reach(
        &mut self,
        known: Option<Counter>,
        key: &str,
        max: u32,
        window_ms: u64,
    ) -> rusqlite::Result<Counter> {
        if let Some(counter) =
            known.filter(|counter| counter.reach_max >= max && counter.reach_ms >= window_ms)
        {
            return Ok(counter);
        }
        self.counters.remove(key);
        let window = i64::try_from(window_ms).unwrap_or(i64::MAX);
        self.connection
            .prepare_cached(
                "INSERT INTO counters(key, reach_max, reach_ms) VALUES (?1, ?2, ?3)
                 ON CONFLICT(key) DO UPDATE SET
                   reach_max = max(reach_max, excluded.reach_max), reach_ms = max(reach_ms, excluded.reach_ms)
                 RETURNING id, reach_max, reach_ms",
            )?
            .query_row((key, max, window), |row| {
                Ok(Counter {
                    id: row.get(0)?,
                    reach_max: row.get(1)?,
                    reach_ms: row.get::<_, i64>(2)?.unsigned_abs(),
                })
            })
    }

    fn last(&self, counter: i64) -> rusqlite::Result<Option<(i64, i64)>> {
        self.connection
            .prepare_cached("SELECT n, at_ms FROM admissions WHERE counter = ?1 ORDER BY n DESC LIMIT 1")?
            .query_row([counter], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    }

    /// The reach is read from the row: what we remember of it may be from before another shim widened it.
    fn prune(&self, counter: i64, last: i64, now: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "DELETE FROM admissions WHERE counter = ?1
                 AND at_ms <= ?2 - max(?3, (SELECT reach_ms FROM counters WHERE id = ?1))
                 AND n <= ?4 - (SELECT reach_max FROM counters WHERE id = ?1)
                 AND n < (SELECT min(n) FROM admissions WHERE counter = ?1) + ?5",
            )?
            .execute((counter, now, KEPT_MS, last, PRUNE_AT_MOST))?;
        Ok(())
    }

    fn ledger_now(&mut self, moment: &Moment) -> rusqlite::Result<i64> {
        let (now, anchor) = ledger_time(&self.connection, self.anchor.as_ref(), moment)?;
        if let Some(anchor) = anchor {
            self.anchor = Some(anchor);
        }
        Ok(now)
    }

    /// How much of the limit is used, and when it frees if it is full.
    pub(crate) fn standing(
        &mut self,
        clock: &dyn Clock,
        want: &Want,
    ) -> Result<(u32, Option<u64>), StoreError> {
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| StoreError::database(&path, &error);
        self.run("BEGIN IMMEDIATE").map_err(fail)?;
        let standing = self.standing_inside(clock, want);
        let _ended = self.run("COMMIT");
        standing.map_err(fail)
    }

    fn standing_inside(&mut self, clock: &dyn Clock, want: &Want) -> rusqlite::Result<(u32, Option<u64>)> {
        let now = self.ledger_now(&clock.now())?;
        let counter = self.counter(&want.key)?;
        let (last, last_at) = match counter {
            Some(counter) => self.last(counter.id)?.unwrap_or((0, i64::MIN)),
            None => (0, i64::MIN),
        };
        let now = now.max(last_at);
        if let Some(full) = self.full(counter, last, now, want)? {
            return Ok((full.used, Some(full.frees_in_ms)));
        }
        let Some(counter) = counter else { return Ok((0, None)) };
        let since = now.saturating_sub(i64::try_from(want.window_ms).unwrap_or(i64::MAX));
        let used = self
            .connection
            .prepare_cached("SELECT count(*) FROM admissions WHERE counter = ?1 AND n > ?2 AND at_ms > ?3")?
            .query_row((counter.id, last - i64::from(want.max), since), |row| row.get(0))?;
        Ok((used, None))
    }
}

/// Where the ledger stands, and the anchor if it had to be read or set. Inside a write transaction.
pub(super) fn ledger_time(
    connection: &Connection,
    known: Option<&Anchor>,
    moment: &Moment,
) -> rusqlite::Result<(i64, Option<Anchor>)> {
    let here = |anchor: &Anchor| {
        (anchor.boot == moment.boot && moment.uptime_ms >= anchor.uptime_ms)
            .then(|| anchor.ledger_ms + (moment.uptime_ms - anchor.uptime_ms).cast_signed())
    };
    if let Some(now) = known.and_then(here) {
        return Ok((now, None));
    }
    let stored = connection
        .prepare_cached("SELECT boot, uptime_ms, ledger_ms, wall_ms FROM ledger WHERE id = 1")?
        .query_row((), |row| {
            let boot: String = row.get(0)?;
            let anchor = Anchor {
                boot: BootId::new(&boot),
                uptime_ms: row.get::<_, i64>(1)?.unsigned_abs(),
                ledger_ms: row.get(2)?,
            };
            Ok((anchor, row.get::<_, i64>(3)?))
        })
        .optional()?;
    let start = match stored {
        Some((anchor, _)) if here(&anchor).is_some() => {
            let now = here(&anchor).unwrap_or(anchor.ledger_ms);
            return Ok((now, Some(anchor)));
        }
        // A new boot: the last thing known of the old one, plus what the wall clock says has passed since.
        Some((anchor, wall_ms)) => {
            let latest = latest_admission(connection)?;
            let (at, wall_ms) =
                latest.filter(|(at, _)| *at >= anchor.ledger_ms).unwrap_or((anchor.ledger_ms, wall_ms));
            // At least a moment, which every boot takes: so an admission at the anchor's time or later is of its boot.
            at + (moment.wall_ms - wall_ms).max(1)
        }
        None => 0,
    };
    connection.execute(
        "INSERT OR REPLACE INTO ledger VALUES (1, ?1, ?2, ?3, ?4)",
        (&*moment.boot.0, moment.uptime_ms.cast_signed(), start, moment.wall_ms),
    )?;
    let anchor = Anchor { boot: moment.boot.clone(), uptime_ms: moment.uptime_ms, ledger_ms: start };
    Ok((start, Some(anchor)))
}

/// The newest admission of any counter: one look-up per counter, once per boot.
fn latest_admission(connection: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    let sql = "SELECT a.at_ms, a.wall_ms FROM counters c JOIN admissions a ON a.counter = c.id
               AND a.n = (SELECT max(n) FROM admissions WHERE counter = c.id) ORDER BY a.at_ms DESC LIMIT 1";
    connection.query_row(sql, (), |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

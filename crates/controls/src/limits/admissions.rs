//! Calls in a window, in `limits.db`. Admissions are numbered, so "is the window full?" is the question whether
//! admission `n + 1 - max` is still inside it: one look-up, at any size.

use std::time::Duration;

use callgate_home::clock::Moment;
use rusqlite::OptionalExtension;

use super::db::Db;
use super::take::{CounterBefore, Want};
use super::{Full, KEPT_MS};

/// Every so many admissions of a counter, its oldest are removed.
pub(super) const PRUNE_EVERY: i64 = 64;
pub(super) const PRUNE_AT_MOST: i64 = 256;
/// However fast calls come that are only observed, no more than this are kept unless a limit asked for more.
const KEPT: i64 = 1 << 16;

impl Db {
    pub(super) fn last_admission(&self, counter: i64) -> rusqlite::Result<Option<(i64, i64)>> {
        self.connection
            .prepare_cached("SELECT n, at_ms FROM admissions WHERE counter = ?1 ORDER BY n DESC LIMIT 1")?
            .query_row([counter], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    }

    pub(super) fn admissions_full(
        &self,
        seen: &CounterBefore,
        want: &Want<'_>,
    ) -> rusqlite::Result<Option<Full>> {
        let max = want.ceiling.cast_signed();
        let Some(counter) = seen.counter.filter(|_| seen.last >= max) else { return Ok(None) };
        let at: Option<i64> = self
            .connection
            .prepare_cached("SELECT at_ms FROM admissions WHERE counter = ?1 AND n = ?2")?
            .query_row((counter.id, seen.last + 1 - max), |row| row.get(0))
            .optional()?;
        Ok(at.and_then(|at| {
            let left = want.window() - seen.now.saturating_sub(at).max(0);
            let frees_in = Some(Duration::from_millis(u64::try_from(left).ok().filter(|left| *left > 0)?));
            Some(Full { used: want.ceiling, frees_in })
        }))
    }

    /// How many there are in the window; more than `max` are not told apart.
    pub(super) fn admissions_inside(&self, seen: &CounterBefore, want: &Want<'_>) -> rusqlite::Result<u64> {
        let Some(counter) = seen.counter else { return Ok(0) };
        let (from, since) =
            (seen.last.saturating_sub_unsigned(want.ceiling), seen.now.saturating_sub(want.window()));
        self.connection
            .prepare_cached("SELECT count(*) FROM admissions WHERE counter = ?1 AND n > ?2 AND at_ms > ?3")?
            .query_row((counter.id, from, since), |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
    }

    pub(super) fn add_admission(
        &self,
        counter: i64,
        seen: &CounterBefore,
        moment: &Moment,
    ) -> rusqlite::Result<()> {
        let n = seen.last + 1;
        self.connection.prepare_cached("INSERT INTO admissions VALUES (?1, ?2, ?3, ?4)")?.execute((
            counter,
            n,
            seen.now,
            moment.wall_ms,
        ))?;
        if n % PRUNE_EVERY == 0 {
            self.prune_admissions(counter, n, seen.now)?;
        }
        Ok(())
    }

    /// The reach is read from the row: what we remember of it may be from before another shim widened it.
    fn prune_admissions(&self, counter: i64, last: i64, now: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "DELETE FROM admissions WHERE counter = ?1
                 AND n <= ?4 - (SELECT reach_max FROM counters WHERE id = ?1)
                 AND (at_ms <= ?2 - max(?3, (SELECT reach_ms FROM counters WHERE id = ?1)) OR n <= ?4 - ?6)
                 AND n < (SELECT min(n) FROM admissions WHERE counter = ?1) + ?5",
            )?
            .execute((counter, now, KEPT_MS, last, PRUNE_AT_MOST, KEPT))
            .map(drop)
    }
}

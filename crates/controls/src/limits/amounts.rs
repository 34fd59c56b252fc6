//! Amounts and totals, in `limits.db`. A sum's rows hold a running total; they go by age only.

use callgate_home::clock::Moment;
use rusqlite::{OptionalExtension, Row};

use super::admissions::{PRUNE_AT_MOST, PRUNE_EVERY};
use super::db::{Counter, Db};
use super::sums::{Addition, RoomQuery, weigh};
use super::take::{CounterBefore, Want};
use super::{Full, KEPT_MS};

impl Db {
    pub(super) fn last_amount(&self, counter: i64) -> rusqlite::Result<Option<(i64, Addition)>> {
        self.connection
            .prepare_cached(
                "SELECT at_ms, amount, total, n FROM amounts WHERE counter = ?1 ORDER BY n DESC LIMIT 1",
            )?
            .query_row([counter], |row| Ok((row.get(3)?, entry(row)?)))
            .optional()
    }

    pub(super) fn weigh_amounts(
        &self,
        seen: &CounterBefore,
        want: &Want<'_>,
    ) -> rusqlite::Result<(u64, Option<Full>)> {
        let first = match seen.counter {
            Some(counter) if seen.last > 0 => self
                .connection
                .prepare_cached("SELECT min(n) FROM amounts WHERE counter = ?1")?
                .query_row([counter.id], |row| row.get(0))?,
            _ => 1,
        };
        let question = RoomQuery {
            now_ms: seen.now,
            window_ms: want.window(),
            amount: want.amount,
            ceiling: want.ceiling,
        };
        let id = seen.counter.map_or(0, |counter| counter.id);
        let mut look_up = self
            .connection
            .prepare_cached("SELECT at_ms, amount, total FROM amounts WHERE counter = ?1 AND n = ?2")?;
        weigh(first..=seen.last, question, |n| look_up.query_row((id, n), entry))
    }

    pub(super) fn add_amount(
        &self,
        counter: i64,
        seen: &CounterBefore,
        amount: u64,
        moment: &Moment,
    ) -> rusqlite::Result<()> {
        let n = seen.last + 1;
        let Some(total) = seen.total.checked_add(u128::from(amount)) else {
            return Err(rusqlite::Error::IntegralValueOutOfRange(5, i64::MAX));
        };
        self.connection.prepare_cached("INSERT INTO amounts VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute((
            counter,
            n,
            seen.now,
            moment.wall_ms,
            amount.cast_signed(),
            total.to_be_bytes(),
        ))?;
        if n % PRUNE_EVERY == 0 {
            self.connection
                .prepare_cached(
                    "DELETE FROM amounts WHERE counter = ?1 AND n < ?4
                     AND at_ms <= ?2 - max(?3, (SELECT reach_ms FROM counters WHERE id = ?1))
                     AND n < (SELECT min(n) FROM amounts WHERE counter = ?1) + ?5",
                )?
                .execute((counter, seen.now, KEPT_MS, n, PRUNE_AT_MOST))?;
        }
        Ok(())
    }

    /// How much there ever was.
    pub(super) fn total(&self, counter: Option<Counter>) -> rusqlite::Result<u64> {
        let Some(counter) = counter else { return Ok(0) };
        let used = self
            .connection
            .prepare_cached("SELECT used FROM totals WHERE counter = ?1")?
            .query_row([counter.id], |row| row.get::<_, i64>(0))
            .optional()?;
        Ok(used.unwrap_or_default().unsigned_abs())
    }

    pub(super) fn add_total(&self, counter: i64, amount: u64) -> rusqlite::Result<()> {
        // A total that no longer fits stands still: it is above every ceiling.
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.connection
            .prepare_cached(
                "INSERT INTO totals VALUES (?1, ?2) ON CONFLICT(counter)
                 DO UPDATE SET used = CASE WHEN used > ?3 - ?2 THEN ?3 ELSE used + ?2 END",
            )?
            .execute((counter, amount, i64::MAX))
            .map(drop)
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Addition> {
    let amount = u128::from(row.get::<_, i64>(1)?.unsigned_abs());
    let total = u128::from_be_bytes(row.get(2)?);
    Ok(Addition { at_ms: row.get(0)?, before: total.saturating_sub(amount), total })
}

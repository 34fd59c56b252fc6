//! One take: check every limit, then count the call in each of its counters, in one short transaction. Who asks only
//! to know gets the same answers ([`Db::standing`]).

use callgate_home::clock::{Clock, Moment};
use callgate_home::{SessionId, StoreError, failpoint};
use rusqlite::OptionalExtension;

use super::Full;
use super::db::{Counter, Db};
use super::holds::Freed;
use crate::{CounterKind, sqlite};

/// One limit's question to one counter.
#[derive(Debug)]
pub(crate) struct Want<'l> {
    pub(crate) key: String,
    /// Whose call it is and what the policy calls the counter: how a person names it.
    pub(crate) server: &'l str,
    pub(crate) counter: &'l str,
    pub(crate) kind: CounterKind,
    pub(crate) amount: u64,
    pub(crate) ceiling: u64,
    /// None for kinds without one.
    pub(crate) window_ms: Option<u64>,
}

/// A call that wants to be counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission<'a> {
    pub(crate) wants: &'a [Want<'a>],
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
    /// It is counted though a limit is full.
    pub(crate) observing: bool,
    /// The allowance that it uses up.
    pub(crate) spend: Option<&'a str>,
    /// Calls of this session that are over and still hold a place.
    pub(crate) freed: &'a [Freed],
}

#[derive(Debug)]
pub(crate) enum Took {
    /// Everything was taken; the first limit that was full, if it was only observed.
    All { at: Moment, over: Option<usize> },
    /// This one is full, and nothing was taken.
    Full(usize, Full),
    /// The allowance is used up, and nothing was taken.
    Spent,
}

/// A counter as it is before the take.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterBefore {
    pub(super) counter: Option<Counter>,
    /// Number of the last admission.
    pub(super) last: i64,
    /// Not before it.
    pub(super) now: i64,
    /// Of amounts.
    pub(super) total: u128,
}

impl Want<'_> {
    pub(super) fn window(&self) -> i64 {
        self.window_ms.map_or(0, |window| i64::try_from(window).unwrap_or(i64::MAX))
    }

    /// Full, if this much is used; and there is no telling until when.
    pub(super) fn beyond(&self, used: u64) -> Option<Full> {
        (used.saturating_add(self.amount) > self.ceiling).then_some(Full { used, frees_in: None })
    }
}

impl Db {
    pub(crate) fn take(&mut self, clock: &dyn Clock, admission: &Admission<'_>) -> Result<Took, StoreError> {
        failpoint::reach("admit.before_take");
        // Also when refused: the ledger's anchor in a new boot must stay.
        let taken = self.transaction(|db| db.take_inside(clock, admission));
        failpoint::reach("admit.after_take");
        taken
    }

    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| sqlite::database_error(&path, &error);
        self.run("BEGIN IMMEDIATE").map_err(fail)?;
        let done = work(self);
        match &done {
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
        done.map_err(fail)
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.raw_execute().map(drop)
    }

    fn take_inside(&mut self, clock: &dyn Clock, admission: &Admission<'_>) -> rusqlite::Result<Took> {
        // Read only now, inside the lock: admissions of all shims stand in one order.
        let moment = clock.now();
        let now = self.ledger_now(&moment)?;
        self.free_inside(admission.session, admission.freed, now)?;
        let wants = admission.wants;
        let mut over = None;
        let mut found: Vec<CounterBefore> = Vec::with_capacity(wants.len());
        for (index, want) in wants.iter().enumerate() {
            let seen = self.seen(want, now)?;
            if let Some(full) = self.full(&seen, want)? {
                if !admission.observing {
                    return Ok(Took::Full(index, full));
                }
                over = over.or(Some(index));
            }
            found.push(seen);
        }
        if let Some(id) = admission.spend
            && !self.spend(id, &moment)?
        {
            return Ok(Took::Spent);
        }
        for (index, want) in wants.iter().enumerate() {
            if wants[..index].iter().any(|earlier| earlier.key == want.key) {
                continue;
            }
            self.count(&found[index], wants, want, admission, &moment)?;
        }
        Ok(Took::All { at: moment, over })
    }

    pub(super) fn seen(&mut self, want: &Want<'_>, now: i64) -> rusqlite::Result<CounterBefore> {
        let counter = self.counter(&want.key)?;
        let mut seen = CounterBefore { counter, last: 0, now, total: 0 };
        let Some(counter) = counter else { return Ok(seen) };
        match want.kind {
            CounterKind::Calls => {
                if let Some((last, at)) = self.last_admission(counter.id)? {
                    (seen.last, seen.now) = (last, now.max(at));
                }
            }
            CounterKind::Sum => {
                if let Some((last, entry)) = self.last_amount(counter.id)? {
                    (seen.last, seen.now, seen.total) = (last, now.max(entry.at_ms), entry.total);
                }
            }
            CounterKind::Total | CounterKind::Concurrent => {}
        }
        Ok(seen)
    }

    pub(super) fn full(&self, seen: &CounterBefore, want: &Want<'_>) -> rusqlite::Result<Option<Full>> {
        if let Some(full) = self.lost(seen.now, want)? {
            return Ok(Some(full));
        }
        Ok(match want.kind {
            CounterKind::Calls => self.admissions_full(seen, want)?,
            CounterKind::Sum => self.weigh_amounts(seen, want)?.1,
            CounterKind::Total => want.beyond(self.total(seen.counter)?),
            CounterKind::Concurrent => self.holds_full(seen, want)?,
        })
    }

    /// Counters that were lost count as used up: a window until it has passed, the others until a person resets them.
    pub(super) fn lost(&self, now: i64, want: &Want<'_>) -> rusqlite::Result<Option<Full>> {
        let Some(since) = self.full_since else { return Ok(None) };
        let age = now.saturating_sub(since).max(0).unsigned_abs();
        let frees_in = match want.window_ms {
            Some(window) if age >= window => return Ok(None),
            Some(window) => Some(std::time::Duration::from_millis(window - age)),
            None => None,
        };
        if self.is_reset(want.server, want.counter, since)? {
            return Ok(None);
        }
        Ok(Some(Full { used: want.ceiling, frees_in }))
    }

    fn count(
        &mut self,
        seen: &CounterBefore,
        wants: &[Want<'_>],
        want: &Want<'_>,
        admission: &Admission<'_>,
        moment: &Moment,
    ) -> rusqlite::Result<()> {
        let of_this = || wants.iter().filter(|other| other.key == want.key);
        let max = of_this().map(|other| other.ceiling).max().unwrap_or(want.ceiling);
        let window_ms = of_this().map(Want::window).max().unwrap_or_default();
        let counter = self.reach(seen.counter, want, max, window_ms)?;
        match want.kind {
            CounterKind::Calls => self.add_admission(counter.id, seen, moment),
            CounterKind::Sum => self.add_amount(counter.id, seen, want.amount, moment),
            CounterKind::Total => self.add_total(counter.id, want.amount),
            CounterKind::Concurrent => self.add_hold(counter.id, admission.session, admission.seq),
        }
    }

    fn counter(&mut self, key: &str) -> rusqlite::Result<Option<Counter>> {
        if let Some(counter) = self.counters.get(key) {
            return Ok(Some(*counter));
        }
        let counter = self
            .connection
            .prepare_cached("SELECT id, reach_max, reach_ms FROM counters WHERE key = ?1")?
            .query_row([key], Counter::of)
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
        want: &Want<'_>,
        max: u64,
        window_ms: i64,
    ) -> rusqlite::Result<Counter> {
        // Only calls are kept by number.
        let max = if want.kind == CounterKind::Calls { max.cast_signed() } else { 0 };
        if let Some(counter) =
            known.filter(|counter| counter.reach_max >= max && counter.reach_ms >= window_ms)
        {
            return Ok(counter);
        }
        self.counters.remove(&want.key);
        self.connection
            .prepare_cached(
                "INSERT INTO counters(key, reach_max, reach_ms) VALUES (?1, ?2, ?3)
                 ON CONFLICT(key) DO UPDATE SET
                   reach_max = max(reach_max, excluded.reach_max), reach_ms = max(reach_ms, excluded.reach_ms)
                 RETURNING id, reach_max, reach_ms",
            )?
            .query_row((&want.key, max, window_ms), Counter::of)
    }

    pub(super) fn ledger_now(&mut self, moment: &Moment) -> rusqlite::Result<i64> {
        let (now, anchor) = super::ledger::ledger_time(&self.connection, self.anchor.as_ref(), moment)?;
        if let Some(anchor) = anchor {
            self.anchor = Some(anchor);
        }
        Ok(now)
    }

    /// How much of the limit is used, and whether that leaves no room.
    pub(crate) fn standing(
        &mut self,
        clock: &dyn Clock,
        want: &Want<'_>,
    ) -> Result<(u64, Option<Full>), StoreError> {
        self.transaction(|db| {
            let now = db.ledger_now(&clock.now())?;
            let seen = db.seen(want, now)?;
            match db.full(&seen, want)? {
                Some(full) => Ok((full.used, Some(full))),
                None => Ok((db.used(&seen, want)?, None)),
            }
        })
    }

    /// How much is used, in the unit of the limit's amounts.
    pub(super) fn used(&self, seen: &CounterBefore, want: &Want<'_>) -> rusqlite::Result<u64> {
        match want.kind {
            CounterKind::Calls => self.admissions_inside(seen, want),
            CounterKind::Sum => Ok(self.weigh_amounts(seen, want)?.0),
            CounterKind::Total => self.total(seen.counter),
            CounterKind::Concurrent => self.held(seen),
        }
    }
}

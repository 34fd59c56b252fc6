//! Counters of every kind in memory: those of a session's own, and all of a simulation's. The same questions and
//! answers as the shared ones in `limits.db`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use callgate_policy::{Kind, Limit, Taking};
use rustc_hash::FxHashMap;

use super::sums::{Addition, MOST, RoomQuery, weigh};
use super::{CANCELLED_MS, Full, KEPT_MS, millis};

/// So many admissions are kept even if no limit so far asked for more: another limit of the same counter may.
const KEPT: usize = 4096;
/// Beyond this, neighbours in a window of amounts are counted as one, at the later moment: never less than there was.
const MOST_ENTRIES: usize = 1 << 20;

/// Counters, each under a key. Kinds have separate keys. Times are milliseconds on any one clock; a clock that goes
/// back counts as standing still.
#[derive(Debug, Default)]
pub struct Counters {
    calls: FxHashMap<String, Calls>,
    sums: FxHashMap<String, Sums>,
    totals: FxHashMap<String, Total>,
    places: FxHashMap<String, Places>,
    held: FxHashMap<u64, Held>,
    reach: Reach,
}

/// What is kept at least: nothing older, and no more, can matter to a limit that asks.
#[derive(Clone, Copy, Debug)]
struct Reach {
    count: usize,
    ms: i64,
}

impl Default for Reach {
    fn default() -> Self {
        Reach { count: KEPT, ms: KEPT_MS }
    }
}

impl Reach {
    fn widen(self, limit: &Limit) -> Reach {
        let window = limit.window().map_or(0, |window| millis(window).cast_signed());
        Reach { count: self.count.max(limit.max.get() as usize), ms: self.ms.max(window) }
    }
}

impl Counters {
    /// Counters that remember enough for each of these limits from the first call on. (Others learn of a limit when it
    /// first asks, and may have dropped more than the last few thousand calls by then.)
    pub fn for_limits<'l>(limits: impl IntoIterator<Item = &'l Limit>) -> Counters {
        let reach = limits.into_iter().fold(Reach::default(), Reach::widen);
        Counters { reach, ..Counters::default() }
    }

    /// Is there no room for this in the counter?
    pub fn full(&self, key: &str, taking: &Taking<'_>, now_ms: i64) -> Option<Full> {
        let Taking { limit, amount } = *taking;
        let ceiling = limit.ceiling();
        let beyond =
            |used: u64| (used.saturating_add(amount) > ceiling).then_some(Full { used, frees_in: None });
        match &limit.kind {
            Kind::Calls(window) => {
                self.calls.get(key)?.full(now_ms, limit.max.get() as usize, millis(*window).cast_signed())
            }
            Kind::Sum { window, .. } => {
                let window_ms = millis(*window).cast_signed();
                let question = RoomQuery { now_ms, window_ms, amount: amount.min(MOST), ceiling };
                match self.sums.get(key) {
                    Some(sums) => sums.weigh(question).1,
                    None => beyond(0),
                }
            }
            Kind::Total => beyond(self.totals.get(key).map_or(0, |total| total.used)),
            Kind::Concurrent => match self.places.get(key) {
                Some(places) => {
                    let full = beyond(places.used(now_ms))?;
                    let others = full.used.saturating_add(amount).saturating_sub(ceiling).saturating_sub(1);
                    Some(Full { frees_in: places.frees_in(others, now_ms), ..full })
                }
                None => beyond(0),
            },
        }
    }

    /// How much is used, in the unit of the limit's amounts.
    pub fn used(&self, key: &str, limit: &Limit, now_ms: i64) -> u64 {
        match &limit.kind {
            Kind::Calls(window) => {
                self.calls.get(key).map_or(0, |calls| calls.inside(now_ms, millis(*window).cast_signed()))
            }
            Kind::Sum { window, .. } => self.sums.get(key).map_or(0, |sums| {
                let window_ms = millis(*window).cast_signed();
                sums.weigh(RoomQuery { now_ms, window_ms, amount: 0, ceiling: u64::MAX }).0
            }),
            Kind::Total => self.totals.get(key).map_or(0, |total| total.used),
            Kind::Concurrent => self.places.get(key).map_or(0, |places| places.used(now_ms)),
        }
    }

    /// Counts it, also above the ceiling. One call is counted once by a counter, however many limits name it: with the
    /// largest of its amounts.
    pub fn take(&mut self, key: &str, taking: &Taking<'_>, now_ms: i64, call: u64) {
        let Taking { limit, amount } = *taking;
        match &limit.kind {
            Kind::Calls(_) => entry(&mut self.calls, key).count(now_ms, call, limit, self.reach),
            Kind::Sum { .. } => {
                entry(&mut self.sums, key).count(now_ms, call, amount.min(MOST), limit, self.reach);
            }
            Kind::Total => entry(&mut self.totals, key).count(call, amount),
            Kind::Concurrent => self.hold(key, now_ms, call),
        }
    }

    /// The call is over: its places are free.
    pub fn release(&mut self, call: u64) {
        let Some(held) = self.held.remove(&call) else { return };
        for key in &held.keys {
            if let Some(places) = self.places.get_mut(key) {
                places.free(call, held.frees_ms);
            }
        }
    }

    /// The client gave the call up: its places are free when it is over, or after a minute.
    pub fn cancelled(&mut self, call: u64, now_ms: i64) {
        let Some(held) = self.held.get_mut(&call).filter(|held| held.frees_ms.is_none()) else { return };
        let frees_ms = now_ms.saturating_add(CANCELLED_MS);
        held.frees_ms = Some(frees_ms);
        for key in &held.keys {
            if let Some(places) = self.places.get_mut(key) {
                places.leave(call, frees_ms);
            }
        }
    }

    fn hold(&mut self, key: &str, now_ms: i64, call: u64) {
        let held = self.held.entry(call).or_default();
        if held.keys.iter().any(|known| known == key) {
            return;
        }
        held.keys.push(key.to_owned());
        let places = entry(&mut self.places, key);
        places.open += 1;
        // Those whose minute is over: nobody has to hear of them any more.
        while let Some(&(frees_ms, gone)) = places.leaving.front().filter(|(frees_ms, _)| *frees_ms <= now_ms)
        {
            places.leaving.pop_front();
            if let Some(held) = self.held.get_mut(&gone) {
                held.keys.retain(|known| known != key);
                if held.keys.is_empty() && held.frees_ms == Some(frees_ms) {
                    self.held.remove(&gone);
                }
            }
        }
    }
}

/// Without making the key anew for a counter that is known.
fn entry<'m, T: Default>(counters: &'m mut FxHashMap<String, T>, key: &str) -> &'m mut T {
    if !counters.contains_key(key) {
        counters.insert(key.to_owned(), T::default());
    }
    counters.get_mut(key).expect("it is there, or was just put there")
}

/// The times of the last admissions.
#[derive(Debug, Default)]
struct Calls {
    admitted: VecDeque<i64>,
    last_call: Option<u64>,
    reach: Reach,
}

impl Calls {
    fn full(&self, now: i64, max: usize, window_ms: i64) -> Option<Full> {
        let now = self.admitted.back().map_or(now, |last| now.max(*last));
        let oldest = *self.admitted.get(self.admitted.len().checked_sub(max)?)?;
        let age = now.saturating_sub(oldest);
        (age < window_ms).then(|| Full {
            used: max as u64,
            frees_in: Some(Duration::from_millis((window_ms - age).unsigned_abs())),
        })
    }

    fn inside(&self, now: i64, window_ms: i64) -> u64 {
        let now = self.admitted.back().map_or(now, |last| now.max(*last));
        let edge = now.saturating_sub(window_ms);
        (self.admitted.len() - self.admitted.partition_point(|at| *at <= edge)) as u64
    }

    fn count(&mut self, now: i64, call: u64, limit: &Limit, least: Reach) {
        self.reach =
            Reach { count: self.reach.count.max(least.count), ms: self.reach.ms.max(least.ms) }.widen(limit);
        if self.last_call.replace(call) == Some(call) {
            return;
        }
        // Time since boot never goes back; a clock that does must not break the order.
        let now = self.admitted.back().map_or(now, |last| now.max(*last));
        self.admitted.push_back(now);
        let edge = now.saturating_sub(self.reach.ms);
        while self.admitted.len() > self.reach.count || self.admitted.front().is_some_and(|at| *at <= edge) {
            self.admitted.pop_front();
        }
    }
}

/// Amounts over time.
#[derive(Debug, Default)]
struct Sums {
    entries: VecDeque<Addition>,
    last_call: Option<(u64, u64)>,
    reach: Reach,
}

impl Sums {
    fn weigh(&self, question: RoomQuery) -> (u64, Option<Full>) {
        let now_ms = self.entries.back().map_or(question.now_ms, |last| question.now_ms.max(last.at_ms));
        let nothing = Addition { at_ms: i64::MIN, before: 0, total: 0 };
        let entry = |n: i64| {
            let index = usize::try_from(n).unwrap_or(usize::MAX);
            Ok::<_, Infallible>(self.entries.get(index).copied().unwrap_or(nothing))
        };
        let last = self.entries.len() as i64 - 1;
        let Ok(weight) = weigh(0..=last, RoomQuery { now_ms, ..question }, entry);
        weight
    }

    fn count(&mut self, now: i64, call: u64, amount: u64, limit: &Limit, least: Reach) {
        self.reach.ms = self.reach.ms.max(least.ms).max(Reach::default().widen(limit).ms);
        let counted = match self.last_call {
            Some((known, counted)) if known == call => counted,
            _ => 0,
        };
        self.last_call = Some((call, amount.max(counted)));
        let more = u128::from(amount.saturating_sub(counted));
        if more == 0 {
            return;
        }
        let before = self.entries.back().map_or(0, |last| last.total);
        match self.entries.back_mut().filter(|last| last.at_ms >= now) {
            Some(last) => last.total += more,
            None => self.entries.push_back(Addition { at_ms: now, before, total: before + more }),
        }
        let edge = now.saturating_sub(self.reach.ms);
        while self.entries.front().is_some_and(|first| first.at_ms <= edge) {
            self.entries.pop_front();
        }
        if self.entries.len() > MOST_ENTRIES {
            self.merge();
        }
    }

    fn merge(&mut self) {
        let pairs = self.entries.make_contiguous().chunks(2);
        self.entries =
            pairs.map(|pair| Addition { before: pair[0].before, ..pair[pair.len() - 1] }).collect();
    }
}

/// How much there ever was.
#[derive(Debug, Default)]
struct Total {
    used: u64,
    last_call: Option<(u64, u64)>,
}

impl Total {
    fn count(&mut self, call: u64, amount: u64) {
        let counted = match self.last_call {
            Some((known, counted)) if known == call => counted,
            _ => 0,
        };
        self.last_call = Some((call, amount.max(counted)));
        self.used = self.used.saturating_add(amount.saturating_sub(counted));
    }
}

/// Who is under way.
#[derive(Debug, Default)]
struct Places {
    open: u64,
    /// When the places of cancelled calls are free at the latest, in order.
    leaving: VecDeque<(i64, u64)>,
}

/// The places of one call.
#[derive(Debug, Default)]
struct Held {
    keys: Vec<String>,
    frees_ms: Option<i64>,
}

impl Places {
    fn used(&self, now: i64) -> u64 {
        let gone = self.leaving.partition_point(|(frees_ms, _)| *frees_ms <= now);
        self.open + (self.leaving.len() - gone) as u64
    }

    /// Until one more than these `others` of the calls that were given up no longer count.
    fn frees_in(&self, others: u64, now: i64) -> Option<Duration> {
        let gone = self.leaving.partition_point(|(frees_ms, _)| *frees_ms <= now);
        let (frees_ms, _) = self.leaving.get(gone.checked_add(usize::try_from(others).ok()?)?)?;
        Some(Duration::from_millis(frees_ms.saturating_sub(now).unsigned_abs()))
    }

    fn free(&mut self, call: u64, frees_ms: Option<i64>) {
        match frees_ms {
            None => self.open = self.open.saturating_sub(1),
            Some(frees_ms) => {
                if let Ok(index) = self.leaving.binary_search(&(frees_ms, call)) {
                    self.leaving.remove(index);
                }
            }
        }
    }

    fn leave(&mut self, call: u64, frees_ms: i64) {
        self.open = self.open.saturating_sub(1);
        if let Err(index) = self.leaving.binary_search(&(frees_ms, call)) {
            self.leaving.insert(index, (frees_ms, call));
        }
    }
}

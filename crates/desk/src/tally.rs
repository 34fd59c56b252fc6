//! Today's numbers, kept up to date from where they were counted last: cheap enough for every second.

use std::collections::{BTreeMap, HashMap};

use callgate_history::{History, MINUTE_MS, Tallied};
use callgate_journal::EventKind;

use crate::DeskError;

const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Everything is counted anew this often: calls may have been forgotten without a word.
const ANEW_MS: i64 = 10 * MINUTE_MS;

/// Events looked at in one step; more than so many at once are worth counting anew.
const EVENTS: usize = 100;

/// One server's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) calls: u64,
    pub(crate) refused: u64,
    pub(crate) last_ms: Option<i64>,
    /// Calls of the last hour, by minute.
    minutes: BTreeMap<i64, u64>,
}

impl Numbers {
    pub(crate) fn last_hour(&self, now_ms: i64) -> u64 {
        self.minutes.range(now_ms - HOUR_MS..).map(|(_, calls)| calls).sum()
    }
}

/// What was counted so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    day_ms: i64,
    /// Calls from this `rev` on are not counted yet.
    next: i64,
    /// The newest event when that was looked at last.
    event: i64,
    /// Of the history when that was looked at last.
    generation: i64,
    counted_ms: Option<i64>,
    /// Calls were forgotten since the step before.
    pub(crate) forgotten: bool,
    pub(crate) servers: HashMap<String, Numbers>,
    pub(crate) last_refused_ms: Option<i64>,
}

impl Tally {
    /// Counts what came since, and hands it on. `day_ms` is the beginning of today.
    pub(crate) fn step(
        &mut self,
        history: &History,
        now_ms: i64,
        day_ms: i64,
    ) -> Result<Vec<Tallied>, DeskError> {
        let since = day_ms.min(now_ms - HOUR_MS);
        let latest = history.latest_rev()?;
        let current = self.counted_ms.is_some_and(|at| (at..at + ANEW_MS).contains(&now_ms));
        let (events, event) = history.events_after(self.event, EVENTS)?;
        let generation = history.generation()?;
        let forgotten = events.len() == EVENTS
            || generation != self.generation
            || events.iter().any(|one| one.kind == EventKind::Forgotten);
        let anew = !current || forgotten || self.day_ms != day_ms || latest + 1 < self.next;
        let known = self.next;
        if anew {
            let next = history.rev_before(since)? + 1;
            *self = Tally { day_ms, next, counted_ms: Some(now_ms), ..Tally::default() };
        }
        (self.event, self.generation, self.forgotten) = (event, generation, forgotten);
        if self.next > latest {
            return Ok(Vec::new());
        }
        let tallied = history.tally(self.next..latest + 1, since)?;
        self.add(&tallied, now_ms);
        self.next = latest + 1;
        match anew && known > 0 {
            // What was handed on before is not news.
            true => Ok(history.tally(known..latest + 1, since)?),
            false => Ok(tallied),
        }
    }

    fn add(&mut self, tallied: &[Tallied], now_ms: i64) {
        for one in tallied {
            let numbers = self.servers.entry(one.server.clone()).or_default();
            if one.minute_ms >= self.day_ms {
                numbers.calls += one.calls;
                numbers.refused += if one.refused { one.calls } else { 0 };
            }
            *numbers.minutes.entry(one.minute_ms).or_default() += one.calls;
            numbers.last_ms = numbers.last_ms.max(Some(one.last_ms));
            if one.refused {
                self.last_refused_ms = self.last_refused_ms.max(Some(one.last_ms));
            }
        }
        for numbers in self.servers.values_mut() {
            numbers.minutes = numbers.minutes.split_off(&(now_ms - HOUR_MS - MINUTE_MS));
        }
    }

    /// Calls of today, and how many of them were refused.
    pub(crate) fn today(&self) -> (u64, u64) {
        self.servers.values().fold((0, 0), |(calls, refused), one| (calls + one.calls, refused + one.refused))
    }
}

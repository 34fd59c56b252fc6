//! How many match, and when: told while it is being counted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use callgate_history::{CallFilter, Class, History};

use crate::DeskError;
use crate::view::{Bar, LogCount};

/// How often the count so far is told.
const TELL: Duration = Duration::from_millis(50);
/// Calls between two looks at the clock.
const LOOK: u64 = 2_000;
/// Bars at most.
const BARS: i64 = 120;
/// Finest bars that are kept in memory at most; beyond that they are made coarser.
const KEPT: usize = 20_000;
const MINUTE: i64 = 60_000;
/// Lengths of bars in minutes.
const LENGTHS: &[i64] = &[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 43_200];

pub(super) fn count(
    history: &History,
    filter: &CallFilter,
    cancelled: &(dyn Fn() -> bool + Send + Sync),
    tell: &mut dyn FnMut(LogCount),
) -> Result<(), DeskError> {
    let mut tally = Tally::new(filter.since_ms, filter.until_ms);
    let mut told = Instant::now();
    history.count(filter, i64::MIN, &|| cancelled(), &mut |rev, at_ms, class| {
        tally.add(rev, at_ms, class);
        if tally.calls.is_multiple_of(LOOK) {
            if cancelled() {
                return ControlFlow::Break(());
            }
            if told.elapsed() >= TELL {
                tell(tally.so_far(false));
                told = Instant::now();
            }
        }
        ControlFlow::Continue(())
    })?;
    if !cancelled() {
        tell(tally.so_far(true));
    }
    Ok(())
}

struct Tally {
    calls: u64,
    refused: u64,
    revs: Option<(i64, i64)>,
    /// Length of what `bars` holds.
    step: i64,
    bars: BTreeMap<i64, [u32; 3]>,
    range: (Option<i64>, Option<i64>),
}

impl Tally {
    fn new(since_ms: Option<i64>, until_ms: Option<i64>) -> Tally {
        let range = (since_ms, until_ms);
        Tally { calls: 0, refused: 0, revs: None, step: MINUTE, bars: BTreeMap::new(), range }
    }

    fn add(&mut self, rev: i64, at_ms: i64, class: Class) {
        self.calls += 1;
        self.refused += u64::from(class != Class::Passed);
        self.revs = Some(self.revs.map_or((rev, rev), |(low, high)| (low.min(rev), high.max(rev))));
        let bar = self.bars.entry(at_ms.div_euclid(self.step)).or_default();
        bar[class as usize] = bar[class as usize].saturating_add(1);
        if self.bars.len() > KEPT {
            self.bars = coarser(&self.bars, 2);
            self.step *= 2;
        }
    }

    /// Bars over what matched, or over the time that was asked for.
    fn so_far(&self, done: bool) -> LogCount {
        let ends = self.bars.first_key_value().zip(self.bars.last_key_value());
        let (first, last) =
            ends.map_or((0, 0), |((first, _), (last, _))| (first * self.step, last * self.step));
        let from = self.range.0.unwrap_or(first);
        let to = self.range.1.unwrap_or(last).max(last);
        let bar_ms = length(to.saturating_sub(from)).max(self.step);
        let factor = (bar_ms / self.step).max(1);
        let bars = coarser(&self.bars, factor)
            .into_iter()
            .map(|(at, [passed, refused, capped])| Bar {
                from_ms: at * factor * self.step,
                passed,
                refused,
                capped,
            })
            .collect();
        LogCount {
            calls: self.calls,
            refused: self.refused,
            oldest_rev: self.revs.map(|(low, _)| low),
            newest_rev: self.revs.map(|(_, high)| high),
            bar_ms: factor * self.step,
            bars,
            done,
        }
    }
}

/// The shortest length with which this span is no more than so many bars.
fn length(span_ms: i64) -> i64 {
    let fits = |length: &&i64| span_ms / (**length * MINUTE) < BARS;
    let longest = (span_ms / BARS / MINUTE + 1).max(1);
    LENGTHS.iter().find(fits).copied().unwrap_or(longest) * MINUTE
}

fn coarser(bars: &BTreeMap<i64, [u32; 3]>, factor: i64) -> BTreeMap<i64, [u32; 3]> {
    let mut out: BTreeMap<i64, [u32; 3]> = BTreeMap::new();
    for (at, counts) in bars {
        let bar = out.entry(at.div_euclid(factor)).or_default();
        for (sum, count) in bar.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*count);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_hour_is_told_by_the_minute_and_a_month_in_no_more_bars_than_fit() {
        assert_eq!(length(60 * MINUTE), MINUTE);
        assert_eq!(length(24 * 60 * MINUTE), 15 * MINUTE);
        for days in [1, 7, 30, 365, 40_000] {
            let span = days * 24 * 60 * MINUTE;
            assert!(span / length(span) < BARS, "{days}");
        }
    }

    proptest! {
        #[test]
        fn bars_hold_every_call_once_and_are_few(times in prop::collection::vec(0_i64..10_000_000_000, 0..300)) {
            let mut tally = Tally::new(None, None);
            for (rev, at_ms) in times.iter().enumerate() {
                let class = [Class::Passed, Class::Refused, Class::Capped][rev % 3];
                tally.add(rev as i64, *at_ms, class);
            }
            let told = tally.so_far(true);
            let sum: u64 = told.bars.iter().map(|bar| u64::from(bar.passed + bar.refused + bar.capped)).sum();
            prop_assert_eq!((sum, told.calls), (times.len() as u64, times.len() as u64));
            prop_assert!(told.bars.len() <= BARS as usize + 1, "{}", told.bars.len());
            for bar in &told.bars {
                prop_assert_eq!(bar.from_ms % told.bar_ms, 0);
            }
        }
    }
}

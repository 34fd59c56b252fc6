//! The busiest times of one tool: how many calls there were in any minute, hour and day of one client.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Windows that a cap may have.
pub(super) const WINDOWS: [(&str, i64); 3] = [("minute", 60_000), ("hour", 3_600_000), ("day", 86_400_000)];

/// How many calls were in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Peak {
    /// Those that were let through.
    pub(super) passed: u64,
    /// All that were made, up to one that was let through. A cap below this may refuse that one, because other rules may
    /// let through what was refused then.
    pub(super) made: u64,
}

#[derive(Debug, Default)]
pub(super) struct Peaks {
    by_client: FxHashMap<String, Sliding>,
    peaks: [Peak; WINDOWS.len()],
}

#[derive(Debug, Default)]
struct Sliding {
    /// Calls within the longest window: when, and whether it was let through.
    calls: VecDeque<(i64, bool)>,
    /// Of the last calls, how many each window holds, and how many of those were let through.
    inside: [Peak; WINDOWS.len()],
}

impl Peaks {
    /// Calls come in the order of time.
    pub(super) fn add(&mut self, client: &str, at_ms: i64, let_through: bool) {
        if !self.by_client.contains_key(client) {
            self.by_client.insert(client.to_owned(), Sliding::default());
        }
        let Some(sliding) = self.by_client.get_mut(client) else { return };
        sliding.calls.push_back((at_ms, let_through));
        for (index, (_, length)) in WINDOWS.iter().enumerate() {
            let inside = &mut sliding.inside[index];
            inside.made += 1;
            inside.passed += u64::from(let_through);
            let since = at_ms.saturating_sub(*length);
            loop {
                let oldest =
                    sliding.calls.len().saturating_sub(usize::try_from(inside.made).unwrap_or(usize::MAX));
                let Some((at, passed)) = sliding.calls.get(oldest).filter(|(at, _)| *at <= since) else {
                    break;
                };
                debug_assert!(*at <= at_ms, "in the order of time");
                inside.made -= 1;
                inside.passed -= u64::from(*passed);
            }
            if let_through {
                let peak = &mut self.peaks[index];
                peak.passed = peak.passed.max(inside.passed);
                peak.made = peak.made.max(inside.made);
            }
        }
        let longest = sliding.inside.iter().map(|inside| inside.made).max().unwrap_or(0);
        while sliding.calls.len() as u64 > longest {
            sliding.calls.pop_front();
        }
    }

    pub(super) fn all(&self) -> &[Peak; WINDOWS.len()] {
        &self.peaks
    }
}

/// The next number that a person would write: 1, 2, 3, 5, 10, 15, 20, 30, 50, 100 …
pub(super) fn human(number: u64) -> u64 {
    let mut unit = 1u64;
    loop {
        for (tenths, from) in [(10, 1), (15, 10), (20, 1), (30, 1), (50, 1)] {
            let candidate = unit.saturating_mul(tenths) / 10;
            if unit >= from && candidate >= number {
                return candidate;
            }
        }
        match unit.checked_mul(10) {
            Some(next) => unit = next,
            None => return number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_up_to_what_a_person_would_write() {
        let rounded = [0, 1, 2, 4, 6, 11, 16, 24, 31, 99, 101, 151, 400, 501].map(human);
        assert_eq!(rounded, [1, 1, 2, 5, 10, 15, 20, 30, 50, 100, 150, 200, 500, 1000]);
        assert!(human(u64::MAX) == u64::MAX);
    }

    #[test]
    fn a_window_slides_and_holds_its_last_moment_only() {
        let mut peaks = Peaks::default();
        for at_ms in [0, 30_000, 59_999, 60_000, 119_999] {
            peaks.add("a", at_ms, true);
        }
        peaks.add("b", 120_000, true);
        assert_eq!(
            peaks.all()[0],
            Peak { passed: 3, made: 3 },
            "(0, 30, 59.999], (30, 59.999, 60], then two"
        );
        assert_eq!(peaks.all()[1], Peak { passed: 5, made: 5 }, "of one client");
    }

    #[test]
    fn what_was_refused_counts_only_before_something_that_was_let_through() {
        let mut peaks = Peaks::default();
        for (at_ms, let_through) in [(0, true), (1, false), (2, false), (3, true), (4, false)] {
            peaks.add("a", at_ms, let_through);
        }
        assert_eq!(peaks.all()[0], Peak { passed: 2, made: 4 });
    }
}

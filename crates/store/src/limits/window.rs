//! A sliding window in memory: the times of the last admissions.

use std::collections::VecDeque;

use super::take::Full;

#[derive(Debug, Default)]
pub(crate) struct Window {
    admitted: VecDeque<u64>,
    /// The largest limit that ever asked: no older admission can matter.
    reach: usize,
}

impl Window {
    /// Is the window full, and for how long?
    pub(crate) fn full(&self, now: u64, max: u32, window_ms: u64) -> Option<Full> {
        let oldest = *self.admitted.get(self.admitted.len().checked_sub(max as usize)?)?;
        let age = now.saturating_sub(oldest);
        (age < window_ms).then(|| Full { used: max, frees_in_ms: window_ms - age })
    }

    pub(crate) fn reach(&mut self, max: u32) {
        self.reach = self.reach.max(max as usize);
    }

    pub(crate) fn count(&mut self, now: u64) {
        while self.admitted.len() >= self.reach.max(1) {
            self.admitted.pop_front();
        }
        // Time since boot never goes back; a clock that does must not break the order.
        let now = self.admitted.back().map_or(now, |last| now.max(*last));
        self.admitted.push_back(now);
    }
}

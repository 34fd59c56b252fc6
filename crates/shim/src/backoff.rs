//! Restart backoff: when a server that crashed is started again, and when no more. Pure, so that it can be told in tables.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use callgate_policy::Restart;
use callgate_supervise::Ending;

/// So many restarts
const MOST: usize = 5;
/// in so long, then it is left to a person.
const WITHIN: Duration = Duration::from_secs(10 * 60);
/// The first pause; each further one is twice as long,
const FIRST: Duration = Duration::from_millis(500);
/// up to this.
const LONGEST: Duration = Duration::from_secs(30);

/// The restarts that were not asked for.
#[derive(Debug, Default)]
pub(crate) struct Backoff(VecDeque<Instant>);

impl Backoff {
    /// How long to wait before the next one; none when there were too many. `chance` is a number from 0 to 1, so that a
    /// dozen servers that fell together do not rise together.
    pub(crate) fn next(&mut self, now: Instant, chance: f64) -> Option<Duration> {
        while self.0.front().is_some_and(|at| now.duration_since(*at) >= WITHIN) {
            self.0.pop_front();
        }
        if self.0.len() >= MOST {
            return None;
        }
        let doubled = u32::try_from(self.0.len()).map_or(LONGEST, |times| FIRST * 2_u32.pow(times));
        self.0.push_back(now);
        Some(doubled.min(LONGEST).mul_f64(0.75 + chance.clamp(0.0, 1.0) / 2.0))
    }

    /// A person wants it: what was before does not count any more.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    /// What is said when there were too many.
    pub(crate) fn describe() -> String {
        format!("it crashed more than {MOST} times in {} minutes", WITHIN.as_secs() / 60)
    }
}

/// Is a server that ended like this to be started again?
///
/// Whatever code it gave: a server has no reason to be done while its client is there, and some end with 0 after an uncaught
/// exception. Never one that could not be started, or whose keeper is gone. `calls`: how many were under way.
pub(crate) fn is_wanted(restart: Restart, ending: Option<&Ending>, calls: usize) -> bool {
    let crashed = match ending {
        Some(Ending::Exited { .. } | Ending::Signalled { .. }) | None => true,
        Some(Ending::FailedToStart { .. } | Ending::KeeperLost) => false,
    };
    crashed
        && match restart {
            Restart::Never => false,
            Restart::BetweenCalls => calls == 0,
            Restart::Always => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_the_sixth_crash_in_ten_minutes_is_the_last() {
        let mut restarts = Backoff::default();
        let start = Instant::now();
        let mut pauses = Vec::new();
        for n in 0..6 {
            pauses.push(restarts.next(start + Duration::from_secs(n), 0.5).map(|pause| pause.as_millis()));
        }
        assert_eq!(pauses, [Some(500), Some(1_000), Some(2_000), Some(4_000), Some(8_000), None]);
        assert!(restarts.next(start + WITHIN, 0.5).is_some(), "the first is forgotten after ten minutes");
        restarts.forget();
        assert_eq!(restarts.next(start + WITHIN, 0.0), Some(FIRST.mul_f64(0.75)));
        restarts.forget();
        assert_eq!(restarts.next(start + WITHIN, 1.0), Some(FIRST.mul_f64(1.25)));
    }

    #[test]
    fn only_a_crash_is_a_reason_and_only_where_the_policy_says_so() {
        let crash = Some(Ending::Exited { code: 3 });
        let killed = Some(Ending::Signalled { signal: 9 });
        for (restart, ending, calls, wanted) in [
            (Restart::Never, crash.clone(), 0, false),
            (Restart::BetweenCalls, crash.clone(), 0, true),
            (Restart::BetweenCalls, crash.clone(), 1, false),
            (Restart::Always, crash, 1, true),
            (Restart::Always, killed, 0, true),
            (Restart::Always, None, 0, true),
            (Restart::Always, Some(Ending::Exited { code: 0 }), 0, true),
            (Restart::BetweenCalls, Some(Ending::Exited { code: 0 }), 1, false),
            (Restart::Always, Some(Ending::KeeperLost), 0, false),
        ] {
            assert_eq!(is_wanted(restart, ending.as_ref(), calls), wanted, "{restart:?} {ending:?} {calls}");
        }
    }
}

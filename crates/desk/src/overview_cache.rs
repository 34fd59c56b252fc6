//! What is remembered between two looks, so that each look is cheap. Lost without harm: the next look counts anew.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use callgate_controls::approval::ApprovalId;
use callgate_history::{History, MINUTE_MS, Tallied};
use callgate_home::{CallId, SessionId};

use crate::DeskError;
use crate::alarms::{Alarms, Learned};
use crate::findings::{PinFiles, StoppedPolicies};
use crate::notices::Notices;
use crate::tally::Tally;
use crate::view::{Alarm, CallLine, ComparisonView};

const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// How far back what is usual is learned from.
const PAST_MS: i64 = 14 * DAY_MS;
/// Calls learned from in one step: a few milliseconds.
const STEP: i64 = 2_000;
/// Alarms that wait to be told.
const UNTOLD: usize = 20;
/// How long learning may take in one look.
const BUDGET: Duration = Duration::from_millis(40);
/// Sessions whose numbers are remembered.
const SESSIONS: usize = 2_000;

#[derive(Debug, Default)]
pub(crate) struct OverviewCache {
    pub(crate) tally: Tally,
    pub(crate) alarms: Alarms,
    /// Raised, and nobody was told yet.
    pub(crate) untold: Vec<Alarm>,
    learning: Learning,
    sessions: HashMap<(SessionId, i64), SessionNumbers>,
    pub(crate) notices: Notices,
    /// Calls that wait for a decision and were told of.
    pub(crate) told_approvals: BTreeSet<ApprovalId>,
    /// Those whose notification offers a yes, with the key of the button.
    pub(crate) offered_yes: HashMap<ApprovalId, String>,
    /// What waits, held against the call that was approved last, by that call.
    pub(crate) compared: HashMap<ApprovalId, (Option<CallId>, ComparisonView)>,
    pub(crate) recent: Option<(i64, Vec<CallLine>)>,
    pub(crate) caught_up_ms: Option<i64>,
    pub(crate) stopped: StoppedPolicies,
    pub(crate) pins: PinFiles,
}

#[derive(Clone, Copy, Debug, Default)]
struct SessionNumbers {
    calls: u64,
    refused: u64,
    last_seq: i64,
    /// It was over when this was counted.
    over: bool,
}

/// Where the past was learned to.
#[derive(Debug, Default)]
struct Learning {
    began_ms: Option<i64>,
    next: i64,
    until: i64,
    learned: Option<Learned>,
}

impl OverviewCache {
    /// Counts what came since the last look.
    pub(crate) fn step(&mut self, history: &History, now_ms: i64, day_ms: i64) -> Result<(), DeskError> {
        let new: Vec<Tallied> = self.tally.step(history, now_ms, day_ms)?;
        let raised = self.alarms.step(now_ms, &new);
        self.raised(raised);
        if self.tally.forgotten {
            self.sessions.clear();
            self.recent = None;
        }
        Ok(())
    }

    fn raised(&mut self, alarms: Vec<Alarm>) {
        self.untold.extend(alarms);
        // Who was not told for so long wants to know what goes on now.
        self.untold.drain(..self.untold.len().saturating_sub(UNTOLD));
    }

    /// Calls were forgotten: what was counted is not true any more.
    pub(crate) fn forget(&mut self) {
        self.tally = Tally::default();
        self.sessions.clear();
        self.recent = None;
    }

    /// A little of the past, once a day all of it. Not with every look: this reads a while.
    pub(crate) fn learn(&mut self, history: &History, now_ms: i64) -> Result<(), DeskError> {
        let learning = &mut self.learning;
        if learning.began_ms.is_none_or(|at| !(at..at + DAY_MS).contains(&now_ms)) {
            *learning = Learning {
                began_ms: Some(now_ms),
                next: history.rev_before(now_ms - PAST_MS)? + 1,
                until: history.latest_rev()? + 1,
                learned: Some(Learned::default()),
            };
        }
        let Some(learned) = &mut learning.learned else { return Ok(()) };
        let began = Instant::now();
        while learning.next < learning.until && began.elapsed() < BUDGET {
            let until = learning.until.min(learning.next + STEP);
            let mut past = history.tally(learning.next..until, now_ms - PAST_MS)?;
            // What goes on right now must not excuse itself.
            past.retain(|one| one.minute_ms < now_ms - 3 * MINUTE_MS);
            learned.add(&past);
            learning.next = until;
        }
        if learning.next >= learning.until
            && let Some(learned) = learning.learned.take()
        {
            self.alarms.know(learned);
        }
        Ok(())
    }

    /// Calls of a session, and how many of them were refused. Of one that is over, what is known is still true.
    pub(crate) fn session(
        &mut self,
        history: &History,
        session: SessionId,
        started_ms: i64,
        over: bool,
    ) -> Result<(u64, u64), DeskError> {
        let key = (session, started_ms);
        let mut numbers = self.sessions.get(&key).copied().unwrap_or_default();
        if !(over && numbers.over) {
            let more = history.session_numbers(session, started_ms, numbers.last_seq)?;
            numbers = SessionNumbers {
                calls: numbers.calls + more.calls,
                refused: numbers.refused + more.refused,
                last_seq: more.last_seq.max(numbers.last_seq),
                over,
            };
        }
        if self.sessions.len() >= SESSIONS {
            self.sessions.clear();
        }
        self.sessions.insert(key, numbers);
        Ok((numbers.calls, numbers.refused))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_alarms_the_newest_are_told() {
        let mut cache = OverviewCache::default();
        let alarm = |per_minute| Alarm {
            server: "s".to_owned(),
            client: None,
            tool: None,
            per_minute,
            usual_per_minute: 1,
            since_ms: 0,
            words: String::new(),
        };
        cache.raised((0..30).map(alarm).collect());
        assert_eq!((cache.untold.len(), cache.untold[0].per_minute), (20, 10));
    }
}

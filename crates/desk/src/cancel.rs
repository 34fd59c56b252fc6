//! One call that runs, cancelled by a person: asked of its session, and waited for.
//!
//! It restricts, so nobody is asked first, and it is for whoever may use this home, an agent with a shell too: at worst it
//! ends its own call.

use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::approval::ApprovalId;
use callgate_controls::control;
use callgate_history::{CallRow, History};
use callgate_home::{CallId, running};
use callgate_journal::Outcome;
use callgate_text::{name, quoted, subject};

use crate::view::Done;
use crate::{Desk, DeskError};

/// How long the session has to answer for its server, which itself has a moment.
const PATIENCE: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(25);

/// Times of calls are kept in whole milliseconds, at both of their ends.
const GRAIN_MS: i64 = 2;

/// What came of it, as far as that can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// Its session gave it up.
    Here,
    /// It ended after this was asked for: because of it, or by itself.
    Ended(Outcome),
    /// It had ended before this was asked for.
    Before(Outcome),
    /// It runs, as far as is known.
    NotYet,
}

impl Cancelled {
    /// It ran when it was asked for, and runs no more.
    pub fn is_over(self) -> bool {
        matches!(self, Cancelled::Here | Cancelled::Ended(_))
    }

    fn words(self, what: &str, server: &str) -> String {
        let shown = |outcome: Outcome| outcome.word().replace('_', " ");
        match self {
            Cancelled::Here => format!(
                "Cancelled {what}: its server and the agent were told; what it had done by then stays done"
            ),
            Cancelled::Ended(outcome) => format!(
                "{what} ended ({}) after it was asked to: because of that or by itself, which is not known; it may have done all of its work",
                shown(outcome)
            ),
            Cancelled::Before(outcome) => {
                format!("{what} ended by itself ({}), before it was cancelled", shown(outcome))
            }
            Cancelled::NotYet => format!(
                "{what} is to be cancelled, and its session has not done so yet. If it does not, stop the server: callgate stop {}",
                quoted(server)
            ),
        }
    }
}

impl Desk {
    /// Cancels a call that runs, waits until it is over, and says what came of it.
    pub fn cancel_call(&self, id: &str) -> Result<(Cancelled, Done), DeskError> {
        let id: CallId =
            id.parse().map_err(|error: callgate_home::BadId| DeskError::BadInput(error.to_string()))?;
        let history = self.record()?;
        let call = found(&history, &id)?;
        let what = format!(
            "{} on {}",
            name(&subject(call.method.as_deref(), call.tool.as_deref())),
            name(&call.server)
        );
        if call.decision.is_refused() {
            return Err(DeskError::Conflict(format!(
                "{what} was refused ({}): nothing of it runs",
                call.decision
            )));
        }
        if call.outcome.is_some() {
            return Err(DeskError::Conflict(format!("{what} is over already: there is nothing to cancel")));
        }
        if !running(&self.home).iter().any(|lease| lease.session == id.session) {
            return Err(DeskError::Conflict(format!(
                "the session of {what} is over, and the call with it: how it ended is not known"
            )));
        }
        let asked_ms = self.clock.now().wall_ms;
        control::cancel(&self.home, id)
            .map_err(|error| DeskError::disk("the request cannot be written", error))?;
        let came = self.ending_of(&history, &id, asked_ms)?;
        Ok((came, Done::said(came.words(&what, &call.server), Some(&call.server))))
    }

    /// How it ended, once it has; for a bounded time.
    fn ending_of(&self, history: &History, id: &CallId, asked_ms: i64) -> Result<Cancelled, DeskError> {
        let until = Instant::now() + PATIENCE;
        loop {
            match history.call(id)?.and_then(|call| ending(&call, asked_ms)) {
                Some(came) => return Ok(came),
                None if Instant::now() >= until => return Ok(Cancelled::NotYet),
                None => thread::sleep(LOOK),
            }
        }
    }
}

fn ending(call: &CallRow, asked_ms: i64) -> Option<Cancelled> {
    // The row of one that a person was asked about tells when that was, and its duration is of what came then.
    let was_asked = call.rule.as_deref().is_some_and(|rule| ApprovalId::of_rule(rule).is_some());
    let took = call.duration.filter(|_| !was_asked).and_then(|took| i64::try_from(took.as_millis()).ok());
    let is_before = took.is_some_and(|took| call.at_ms + took + GRAIN_MS < asked_ms);
    Some(match call.outcome? {
        Outcome::CancelledByUser => Cancelled::Here,
        outcome if is_before => Cancelled::Before(outcome),
        outcome => Cancelled::Ended(outcome),
    })
}

fn found(history: &History, id: &CallId) -> Result<CallRow, DeskError> {
    history.call(id)?.ok_or_else(|| DeskError::NotFound(format!("there is no call {id} on record")))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_journal::Decision;

    use super::*;
    use crate::testing::TestHome;

    #[test]
    fn what_ended_after_it_was_asked_to_is_not_said_to_have_ended_by_itself() {
        let place = TestHome::new();
        let session = place.session("files");
        session.calls("read", 1);
        let id: CallId = place.desk.overview().unwrap().recent[0].id.parse().unwrap();
        let call = found(&History::open_reader(&place.home).unwrap(), &id).unwrap();
        let said = |asked_ms| ending(&call, asked_ms).unwrap().words("read on files", "files");
        let (after, before) = (said(call.at_ms), said(call.at_ms + 60_000));
        assert!(after.contains("which is not known") && !after.contains("ended by itself"), "{after}");
        assert_eq!(before, "read on files ended by itself (ok), before it was cancelled");
        assert!(
            ending(&call, call.at_ms).unwrap().is_over()
                && !ending(&call, call.at_ms + 60_000).unwrap().is_over()
        );
    }

    #[test]
    fn what_does_not_run_cannot_be_cancelled_and_nothing_is_asked_for_it() {
        let place = TestHome::new();
        place.write_policy("files", crate::testing::POLICY);
        let session = place.session("files");
        session.calls("read", 1);
        session.refused("drop", Decision::Denied, 1);
        let recent = place.desk.overview().unwrap().recent;
        let said: Vec<String> =
            recent.iter().map(|call| place.desk.cancel_call(&call.id).unwrap_err().to_string()).collect();
        assert!(said[0].contains("was refused (denied)"), "{said:?}");
        assert!(said[1].contains("is over already"), "{said:?}");
        assert!(control::cancellations(&place.home, session.info.id).is_empty());
        session.burst("read", 1);
        let running = place.desk.overview().unwrap().recent[0].id.clone();
        session.end();
        let error = place.desk.cancel_call(&running).unwrap_err().to_string();
        assert!(error.contains("over"), "{error}");
    }
}

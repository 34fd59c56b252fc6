//! One call that runs, cancelled by a person: asked of its session, and waited for.
//!
//! It restricts, so nobody is asked first, and it is for whoever may use this home, an agent with a shell too: at worst it
//! ends its own call.

use std::thread;
use std::time::{Duration, Instant};

use callgate_store::history::CallRow;
use callgate_store::{CallId, History, Outcome, control, running};

use crate::text::{self, name};
use crate::view::Done;
use crate::{Desk, DeskError};

/// How long the session has to answer for its server, which itself has a moment.
const PATIENCE: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(25);

impl Desk {
    /// Cancels a call that runs, and waits until it is over.
    pub fn cancel_call(&self, id: &str) -> Result<Done, DeskError> {
        let id: CallId =
            id.parse().map_err(|error: callgate_store::BadId| DeskError::BadInput(error.to_string()))?;
        let history = self.record()?;
        let call = found(&history, &id)?;
        let what = format!(
            "{} on {}",
            name(&text::subject(call.method.as_deref(), call.tool.as_deref())),
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
        control::cancel(&self.home, id)
            .map_err(|error| DeskError::disk("the request cannot be written", error))?;
        let words = match self.outcome_of(&history, &id)? {
            Some(Outcome::CancelledByUser) => {
                format!(
                    "Cancelled {what}: its server and the agent were told; what it had done by then stays done"
                )
            }
            Some(outcome) => format!(
                "{what} ended by itself ({}), before it was cancelled",
                outcome.word().replace('_', " ")
            ),
            None => format!(
                "{what} is to be cancelled, and its session has not done so yet. If it does not, stop the server: callgate stop {}",
                name(&call.server)
            ),
        };
        Ok(Done::said(words, Some(&call.server)))
    }

    /// How it ended, once it has; for a bounded time.
    fn outcome_of(&self, history: &History, id: &CallId) -> Result<Option<Outcome>, DeskError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let outcome = history.call(id)?.and_then(|call| call.outcome);
            if outcome.is_some() || Instant::now() >= until {
                return Ok(outcome);
            }
            thread::sleep(LOOK);
        }
    }
}

fn found(history: &History, id: &CallId) -> Result<CallRow, DeskError> {
    history.call(id)?.ok_or_else(|| DeskError::NotFound(format!("there is no call {id} on record")))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_store::Decision;

    use super::*;
    use crate::testing::Place;

    #[test]
    fn what_does_not_run_cannot_be_cancelled_and_nothing_is_asked_for_it() {
        let place = Place::new();
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

//! One call that a person cancels while it runs.
//!
//! The server hears it as from its client, and may still answer: what it says within a moment is the answer. After that the
//! client is told in words, and whatever comes later is dropped, as with a call that took too long.

use std::time::{Duration, Instant};

use callgate_home::CallId;
use callgate_journal::Outcome;
use callgate_protocol::{NextStep, answer};

use crate::session::Session;
use crate::wording;

/// How long a server that was told has to answer by itself.
const MOMENT: Duration = Duration::from_millis(500);
/// What server and agent read.
const REASON: &str = "this call was cancelled by the user while it ran; do not repeat it, ask the user";

impl Session {
    /// A person does not want this call to go on. One that is over, or of no tool, is left alone.
    pub(crate) fn cancel(&mut self, call: CallId) {
        let Some(id) = self.relay.pending.id_of(call) else { return };
        self.relay.server.pipe().post_last(answer::cancelled(&id, "cancelled by the user"));
        self.cancelling.push((Instant::now() + MOMENT, call));
    }

    pub(crate) fn next_cancelled(&self) -> Option<Instant> {
        self.cancelling.iter().map(|(at, _)| *at).min()
    }

    /// Answers for servers that did not.
    pub(crate) fn finish_cancelled(&mut self, now: Instant) {
        let (due, left) = std::mem::take(&mut self.cancelling).into_iter().partition(|(at, _)| *at <= now);
        self.cancelling = left;
        let due: Vec<(Instant, CallId)> = due;
        for (_, call) in due {
            // It may have been answered, or its server be gone with everybody who waited for it.
            let Some((id, call, expects)) = self.relay.pending.give_up(call) else { continue };
            self.relay.journal.settle_one(&call, Outcome::CancelledByUser);
            self.relay.codegen.given_up(&call);
            let line =
                wording::unanswered(expects, &id, REASON, &NextStep::AsSaid, Some(&call.id().to_string()));
            self.relay.to_client.post_last(line);
        }
    }
}

//! Forwarding: an admitted request is entered as pending, recorded, and handed to the server's pipe, in this order.

use std::time::Duration;

use callgate_home::clock::wall_ms;
use callgate_home::failpoint;
use callgate_journal::{CallRef, Outcome};
use callgate_protocol::NextStep;
use callgate_protocol::id::IdKey;
use callgate_protocol::unknown::Thing;

use super::Passage;
use crate::admission::{ClientRequest, Request};
use crate::call_timeout::CallTimeout;
use crate::outlet::Undelivered;
use crate::pending::{Generation, NotEntered, PendingRequest, RequestKind, Ticket};
use crate::relay::Relay;
use crate::unknown_answers::UnlistedRequest;
use crate::wording::{self, Expects};

/// How long a broken pipe waits for the news that its server ended.
const SERVER_END: Duration = Duration::from_secs(1);

/// A request that waits for an answer, in case it does not get to the server.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) id: IdKey,
    /// Its row, unless it is one of those that are not recorded.
    pub(super) call: Option<CallRef>,
    pub(super) expects: Expects,
}

impl Passage<'_> {
    /// An admitted call waits for its answer from here on.
    pub(super) fn enter_call(&mut self, request: &ClientRequest<'_>, call: CallRef) {
        let relay = self.relay;
        let Request { method, name, args, expects, .. } = &request.request;
        if request.request.is_tool_call() {
            let client = relay.client.name();
            relay.codegen.sent(&call, &client, name, *args);
            let policy = &self.admission.rules.policy;
            if policy.speaks_of_loops() {
                let loops = policy.loops(&client, name, wall_ms());
                relay.loops.sent(call.seq(), (name, *args), &loops);
            }
        }
        let lasting = *method == "subscriptions/listen";
        // With the time that it took to let it pass, or its row would say that it ended sooner than it did.
        let since = call.started();
        let mut pending =
            PendingRequest { lasting, since, ..PendingRequest::new(RequestKind::Call(call, *expects)) };
        if let Some(CallTimeout::Set(_)) = relay.call_timeout(&self.admission.rules) {
            pending.token = request.progress_token();
        }
        // Whether a server has a resource or a prompt is looked up only if it says that it has not.
        let thing = Thing::used_by(method);
        if let Some(thing) = thing.filter(|thing| *thing != Thing::Tool || relay.tools.lacks(name)) {
            pending.unlisted = UnlistedRequest::new(thing, name, *args, request.request.is_stateless());
        }
        self.enter(request, pending, Some(call));
    }

    /// Has it wait for its answer; from then on the server may see it.
    pub(super) fn enter(
        &mut self,
        request: &ClientRequest<'_>,
        pending: PendingRequest,
        call: Option<CallRef>,
    ) {
        let relay = self.relay;
        let Request { method, params, expects, .. } = request.request;
        let waiting = Entered { id: request.key.clone(), call, expects };
        // The line of a call was staged with its row.
        let line = call.is_none().then(|| request.message.wire());
        let entered = match self.ticket {
            Some(ticket) => {
                line.iter().for_each(|line| self.admission.batch.pass(line));
                let Some(entered) = self.enter_held(ticket, pending, waiting) else { return };
                entered
            }
            None => {
                let entered = relay.pending.enter(request.key.clone(), pending, self.pipe.generation);
                if entered.is_ok() {
                    line.iter().for_each(|line| self.admission.batch.pass(line));
                    self.entered.push(waiting);
                }
                entered
            }
        };
        match entered {
            Ok(()) if request.request.is_tool_call() => {}
            Ok(()) => relay.handshake.lasting(method, params),
            // Only the server's end or a cancellation can come between the check and here: then nothing is sent.
            Err(why) => {
                if let Some(call) = &call {
                    relay.codegen.dropped(call);
                    let given_up = why == NotEntered::GivenUp;
                    let outcome = if given_up { Outcome::Cancelled } else { Outcome::NotDelivered };
                    relay.journal.settle_one(call, outcome);
                }
                self.not_entered(&request.key, method, &why);
            }
        }
    }

    /// The same for one that was held, which goes by itself: recorded first, then entered and posted in one step. None if it
    /// could not be recorded, and was answered.
    fn enter_held(
        &mut self,
        ticket: Ticket,
        pending: PendingRequest,
        waiting: Entered,
    ) -> Option<Result<(), NotEntered>> {
        let commit = self.admission.commit();
        if let Some((call, cause)) = commit.unrecorded.first() {
            self.relay.codegen.dropped(call);
            self.unrecorded(&waiting, call, &cause.to_string());
            return None;
        }
        failpoint::reach("shim.before_forward");
        let (pipe, generation) = (self.pipe.clone(), self.pipe.generation);
        // Not while the table is locked.
        pipe.await_room();
        let (relay, id) = (self.relay.clone(), waiting.id.clone());
        let lost = move |undelivered| relay.tell_undelivered(&[waiting], generation, &undelivered);
        let post = || pipe.post_admitted(commit.admitted, Box::new(lost));
        let entered = self.relay.pending.enter_held(&id, ticket, pending, generation, post);
        failpoint::reach("shim.after_forward");
        Some(entered.map(|posted| {
            if let Err(post) = posted {
                post.lose(0, std::io::ErrorKind::BrokenPipe.into());
            }
        }))
    }

    /// Records what there is, then lets it go: intent before effect.
    pub(crate) fn forward(&mut self) {
        let (relay, pipe) = (self.relay, self.pipe.clone());
        let commit = self.admission.commit();
        let (entered, cancelled) = (std::mem::take(&mut self.entered), std::mem::take(&mut self.cancelled));
        for (call, cause) in &commit.unrecorded {
            relay.codegen.dropped(call);
            let lost = entered.iter().find(|entered| entered.call.is_some_and(|own| own.id() == call.id()));
            if let Some(lost) = lost.filter(|lost| relay.pending.answer(&lost.id, pipe.generation).is_some())
            {
                self.unrecorded(lost, call, &cause.to_string());
            }
        }
        failpoint::reach("shim.before_forward");
        // What a server has not got when it makes place for another it does not get any more: it may go on to read for a
        // while, and whoever waited has been told to call again.
        if relay.pending.generation() == pipe.generation {
            if self.may_wait {
                // Nobody waits for what goes this way.
                let _whole_or_not_at_all = pipe.post_admitted(commit.admitted, Box::new(|_| {}));
            } else if let Err(undelivered) = pipe.send(&commit.admitted) {
                relay.tell_undelivered(&entered, pipe.generation, &undelivered);
            }
        }
        for call in &cancelled {
            relay.journal.settle_one(call, Outcome::Cancelled);
        }
        failpoint::reach("shim.after_forward");
    }
}

impl Relay {
    /// These did not get to their server, which no longer reads. It has mostly ended; whoever sees that out says it better and
    /// answers everybody.
    fn tell_undelivered(&self, entered: &[Entered], generation: Generation, undelivered: &Undelivered) {
        if entered.is_empty() || self.pending.wait_severed(generation, SERVER_END) {
            return;
        }
        let reason = format!("the server no longer reads ({})", undelivered.cause);
        // What was written in part may have been read in part.
        let (outcome, next) = match undelivered.written {
            0 => (Outcome::NotDelivered, NextStep::CallAgain),
            _ => (Outcome::Unknown, NextStep::CheckEffect),
        };
        let waits = |lost: &&Entered| self.pending.answer(&lost.id, generation).is_some();
        for lost in entered.iter().filter(waits) {
            if let Some(call) = &lost.call {
                self.codegen.dropped(call);
                self.journal.settle_one(call, outcome);
            }
            let call = lost.call.map(|call| call.id().to_string());
            self.to_client.post(wording::unanswered(lost.expects, &lost.id, &reason, &next, call.as_deref()));
        }
    }
}

//! The passage of the client's messages to one server: admitted, entered, forwarded; or answered.
//!
//! The lines of one read are one passage: judged in order, recorded with one append, forwarded with one write. A message that
//! was held ([`HeldRequests`](crate::held::HeldRequests)) has a passage of its own, on the thread that waited for it.
//! Whatever goes wrong here means *not forwarded, and answered*.

mod answers;
mod forwarding;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use callgate_home::StoreError;
use callgate_journal::CallRef;
use callgate_protocol::id::Id;
use callgate_protocol::json::Raw;
use callgate_protocol::message::{Body, Message};
use callgate_protocol::{Answer, NextStep};

use self::forwarding::Entered;
use crate::admission::{Admission, ClientRequest, Evidence, Need, Obstacle, Refusal, Request};
use crate::held::HeldMessage;
use crate::lifecycle::START_WAIT;
use crate::pending::{Cancelled, NotEntered, PendingRequest, RequestKind, Ticket};
use crate::relay::{News, OWN_IDS, Relay, ServerPipe};
use crate::tool_cache::LIST_WAIT;
use crate::wording;

pub(crate) struct Passage<'r> {
    relay: &'r Arc<Relay>,
    /// Where the lines go: to this one server, or nowhere.
    pipe: Arc<ServerPipe>,
    admission: Admission<'r>,
    /// Of a request that was held.
    ticket: Option<Ticket>,
    /// What a person has to decide about it.
    question: Option<Refusal>,
    /// This is the thread that may wait.
    may_wait: bool,
    entered: Vec<Entered>,
    /// Calls that were given up; booked after the lines, which may hold the calls themselves.
    cancelled: Vec<CallRef>,
}

impl<'r> Passage<'r> {
    pub(crate) fn new(relay: &'r Arc<Relay>, pipe: Arc<ServerPipe>) -> Passage<'r> {
        let (entered, cancelled) = (Vec::new(), Vec::new());
        let admission = Admission::new(relay);
        Passage { relay, pipe, admission, ticket: None, question: None, may_wait: false, entered, cancelled }
    }

    /// For what was held, to the server of this moment. `asked`: its row, if a person was asked about it.
    pub(crate) fn for_held(
        relay: &'r Arc<Relay>,
        ticket: Option<Ticket>,
        asked: Option<CallRef>,
    ) -> Passage<'r> {
        let mut passage = Passage { ticket, may_wait: true, ..Passage::new(relay, relay.server.pipe()) };
        (passage.admission.asked, passage.admission.may_ask) = (asked, true);
        passage
    }

    pub(crate) fn relay(&self) -> &'r Arc<Relay> {
        self.relay
    }

    /// Has the row of a call that a person is asked about written down. An error: it is not, and nobody is to be asked.
    pub(crate) fn record_question(
        &mut self,
        request: &Request<'_>,
        question: &Refusal,
    ) -> Result<CallRef, StoreError> {
        if let Some(asked) = self.admission.asked {
            return Ok(asked);
        }
        let call = self.admission.refuse(request, question);
        if let Some(error) = self.admission.commit().error {
            return Err(error);
        }
        self.admission.asked = Some(call);
        Ok(call)
    }

    /// Refuses a held call that the rules refuse by now without a question. False if they do not.
    pub(crate) fn refuse_by_now(&mut self, request: &ClientRequest<'_>) -> bool {
        let objection = self.admission.objection(&request.request);
        objection.iter().for_each(|refusal| self.refuse(request, refusal));
        objection.is_some()
    }

    /// What a person has to decide before it can go on.
    pub(crate) fn question(&mut self) -> Option<Refusal> {
        self.question.take()
    }

    pub(crate) fn message(&mut self, message: &Message<'_>) {
        match &message.body {
            Body::Request { id, method, params } => self.request(message, id, method, *params),
            Body::Notification { method, params } if method == "notifications/cancelled" => {
                self.cancellation(message, *params);
            }
            Body::Notification { method, params } => self.notification(message, method, *params),
            Body::Response { id, outcome } => {
                // Only an answer that the server waits for: anything else could be a message in disguise.
                let key = id.as_key();
                if self.relay.approvals.take_form(&key, *outcome) {
                    return;
                }
                self.turn_to_server();
                if let Some(request) = self.relay.server_requests.answer(&key) {
                    match request.own == key {
                        true => self.admission.batch.pass(&message.wire()),
                        false => self.admission.batch.pass(&message.with_id(&request.own)),
                    }
                    self.relay.settle_server_request(&request, *outcome);
                } else {
                    self.drop_silently(None, "an answer to a request that the server did not make");
                }
            }
        }
    }

    fn request(&mut self, message: &Message<'_>, id: &Id<'_>, method: &str, params: Option<Raw<'_>>) {
        self.relay.meet(method, params);
        let request = match ClientRequest::new(message, id.as_key(), method, params) {
            Ok(request) => request,
            Err(cause) => {
                let answer = Answer::To(id.as_key());
                return self.refuse_malformed(Some(method), &answer, &cause.to_string());
            }
        };
        if request.key.begins_with(OWN_IDS) {
            let reason = format!("ids that begin with {OWN_IDS:?} belong to the gate");
            return self.refuse_malformed(Some(method), &Answer::To(request.key), &reason);
        }
        if request.is_stray_answer() {
            let reason =
                "it brings an answer to a question of the gate, and not the state that belongs to it";
            return self.refuse_malformed(Some(method), &Answer::To(request.key), reason);
        }
        let passive = request.request.is_passive();
        match self.look_for_server(&request) {
            Ok(()) if self.waits_its_turn(method) => self.hold(message, Some(&request), true),
            Ok(()) if passive => self.pass(&request),
            Ok(()) => self.judge(&request),
            Err(NotEntered::Starting(_) | NotEntered::Idle) if self.needs_no_server(&request) => {
                self.without_server(&request, wording::RESTARTING, true);
            }
            Err(NotEntered::Starting(_) | NotEntered::Idle) if !self.may_wait => {
                if self.relay.pending.wake(Instant::now() + START_WAIT) {
                    self.relay.tell(News::Wanted);
                }
                self.hold(message, Some(&request), true);
            }
            Err(NotEntered::Stopped(why)) if passive => {
                self.without_server(&request, &why.reason, why.lists);
            }
            Err(NotEntered::Stopped(why)) => self.refuse_stopped(&request, &why),
            Err(NotEntered::GivenUp) => self.note_given_up(&request.request),
            Err(why) => self.not_entered(&request.key, method, &why),
        }
    }

    /// May this request go to the server? Turns to one that took the place of another.
    fn look_for_server(&mut self, request: &ClientRequest<'_>) -> Result<(), NotEntered> {
        let relay = self.relay;
        if let Some(ticket) = self.ticket {
            return relay.pending.check_held(&request.key, ticket, self.pipe.generation);
        }
        let checked = relay.pending.check(&request.key, self.pipe.generation);
        if checked != Err(NotEntered::Stale) {
            return checked;
        }
        self.turn_to_server();
        self.admission.rules = relay.rules();
        relay.pending.check(&request.key, self.pipe.generation)
    }

    /// Turns to the server of this moment. True if that is another one than before.
    fn turn_to_server(&mut self) -> bool {
        if self.relay.server.is_current(&self.pipe) {
            return false;
        }
        // What came before is for the server that there was; it has its answers.
        self.forward();
        self.pipe = self.relay.server.pipe();
        true
    }

    /// Would it get ahead of what is held for the same server? Whether anybody is there may be asked at any time.
    fn waits_its_turn(&self, method: &str) -> bool {
        !self.may_wait && method != "ping" && self.relay.held.keeps_order()
    }

    /// Is it known without a server whether anybody is there, and what there was when it was asked for last? Of one that is
    /// being started, what there is is waited for.
    fn needs_no_server(&self, request: &ClientRequest<'_>) -> bool {
        match request.list() {
            Some(list) => !self.relay.pending.is_starting() && self.relay.lists.has(list, request.cursor()),
            None => request.request.method == "ping",
        }
    }

    /// Leaves a message to the thread that waits. What came before it goes before it.
    fn hold(&mut self, message: &Message<'_>, request: Option<&ClientRequest<'_>>, in_order: bool) {
        self.forward();
        let ticket = match request {
            None => None,
            Some(ClientRequest { key, request, .. }) => {
                match self.relay.pending.hold(key.clone(), request.expects) {
                    Ok(ticket) => Some((key, ticket)),
                    Err(why) => return self.not_entered(key, request.method, &why),
                }
            }
        };
        let held = HeldMessage::new(message, ticket.map(|(_, ticket)| ticket), in_order);
        if let Err(error) = self.relay.held.push(self.relay, held)
            && let (Some(request), Some((key, ticket))) = (request, ticket)
            && self.relay.pending.release(key, ticket)
        {
            let reason = format!("it has to wait, and nobody can wait for it ({error})");
            self.unanswered(key, request.request.method, &reason, &NextStep::CallAgain);
        }
    }

    /// A request that is judged, but neither counted nor recorded when it passes: handshake, lists, pings.
    fn pass(&mut self, request: &ClientRequest<'_>) {
        let method = request.request.method;
        if let Err(refusal) = self.admission.judge(&request.request) {
            return self.refuse(request, &refusal);
        }
        let relay = self.relay;
        let what = match request.list() {
            Some(list) => RequestKind::List { list, cursor: request.cursor().map(str::to_owned) },
            None if method == "initialize" => {
                relay.handshake.opened(request.request.params);
                RequestKind::Initialize
            }
            None if method == "server/discover" => RequestKind::Discover,
            None => RequestKind::Other,
        };
        self.enter(request, PendingRequest::new(what), None);
    }

    /// The way of one call. What has to be waited for is waited for by a thread that may.
    fn judge(&mut self, request: &ClientRequest<'_>) {
        let mut evidence = Evidence::default();
        loop {
            let admitted = self.admission.admit(&request.request, &evidence, &request.line());
            let need = match admitted {
                Ok(call) => return self.enter_call(request, call),
                Err(Obstacle::Refused(refusal))
                    if !self.may_wait && self.awaits_first_list(&request.request, &refusal) =>
                {
                    return self.hold(request.message, Some(request), true);
                }
                Err(Obstacle::Refused(refusal)) => return self.refuse(request, &refusal),
                // What is only looked up keeps its place among the calls; a person's answer may take an hour.
                Err(Obstacle::Needs(_)) if !self.may_wait => {
                    return self.hold(request.message, Some(request), true);
                }
                Err(Obstacle::Asks(_)) if !self.may_wait => {
                    return self.hold(request.message, Some(request), false);
                }
                Err(Obstacle::Asks(question)) => {
                    self.question = Some(question);
                    return;
                }
                Err(Obstacle::Needs(need)) => need,
            };
            self.await_list(request);
            evidence.listed = true;
            if need == Need::SchemaCheck {
                let Request { name, args, .. } = &request.request;
                evidence.fits = Some(self.relay.tools.check(name, *args));
            }
            // What takes its time leaves a person the time to change their mind.
            self.admission.rules = self.relay.rules();
        }
    }

    /// A server that has not listed its tools yet is asked to.
    fn await_list(&mut self, request: &ClientRequest<'_>) {
        let tools = &self.relay.tools;
        if self.relay.listed.load(Ordering::Relaxed) && tools.reads_first_list() {
            tools.await_first_list();
        }
        if let Some((read, left)) = tools.asked_for() {
            tools.wait_newer(read, left);
        } else if let Some(read) = tools.wants_list(&request.request.name, Instant::now())
            && self.relay.list_tools(&self.pipe, None, &request.request.own_meta())
        {
            tools.wait_newer(read, LIST_WAIT);
        }
    }

    fn cancellation(&mut self, message: &Message<'_>, params: Option<Raw<'_>>) {
        let turned = self.turn_to_server();
        let id = params.and_then(|params| params.get("requestId")).and_then(|id| Id::read(id).ok());
        let id = id.map(|id| id.as_key());
        if id.as_ref().is_some_and(|id| id.begins_with(OWN_IDS)) {
            // What the gate asks, of the server or of the client, is not the client's to take back.
            return;
        }
        match id.map_or(Cancelled::Unknown, |id| self.relay.pending.cancel(&id)) {
            Cancelled::Sent(call) => {
                if let Some(call) = call {
                    self.relay.codegen.given_up(&call);
                    self.cancelled.push(call);
                }
            }
            // No server knows of it.
            Cancelled::Held => {
                self.relay.approvals.ring();
                return;
            }
            // What it is about was answered when the server before went.
            Cancelled::Unknown if turned || self.is_starting() => return,
            Cancelled::Unknown => {}
        }
        self.admission.batch.pass(&message.wire());
    }

    fn notification(&mut self, message: &Message<'_>, method: &str, params: Option<Raw<'_>>) {
        self.turn_to_server();
        let is_starting = self.is_starting();
        if !self.may_wait && (is_starting || self.waits_its_turn(method)) {
            return self.hold(message, None, true);
        }
        if method == "notifications/initialized" {
            // Before the server can have it: a server that is started again gets it from us, if not from here.
            self.relay.handshake.initialized();
            self.relay.may_list_soon();
        }
        if is_starting {
            // It was waited for long enough, and what is said before a handshake may end a server.
            return;
        }
        // What is no notification of the protocol may be a call under another name.
        if !method.starts_with("notifications/") {
            if self.admission.rules.paused_for(&self.relay.client.name()).is_some() {
                return self.drop_silently(Some(method), "calls are paused");
            }
            let request = Request::for_method(method, params, "");
            if let Err(refusal) = self.admission.judge(&request) {
                return self.drop_silently(Some(method), &refusal.reason);
            }
        }
        self.admission.batch.pass(&message.wire());
    }

    /// Is a server being started again? The first one reads what it likes, when it likes.
    fn is_starting(&self) -> bool {
        let pending = &self.relay.pending;
        pending.generation() != 0 && pending.is_starting()
    }
}

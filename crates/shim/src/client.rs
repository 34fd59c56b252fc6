//! From the client to the server: read, judge, record, forward.
//!
//! The lines of one read are one group: judged in order, recorded with one append, forwarded with one write.
//! Whatever goes wrong here means *not forwarded, and answered*. How one request is judged is in `judging`.

use std::cell::RefCell;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::List;
use callgate_protocol::message::{Body, Incoming, Message, Side, peek_id, read};
use callgate_protocol::method::{Class, class};
use callgate_protocol::{Answer, Malformed, NextStep, answer};
use callgate_store::failpoint;
use callgate_store::{Batch, CallRef, Decision, Outcome, Refused};

use crate::gate::Rules;
use crate::judging::{Ask, named};
use crate::lines::{Chunk, Lines, MAX_LINE, split};
use crate::pending::{NotEntered, Shut};
use crate::relay::{News, OWN_IDS, Relay, ServerPipe};
use crate::revival::AT_THE_DOOR;
use crate::stdio;
use crate::wording::{self, Expects};

/// How many answers without an id (parse errors) a session gives before it only counts them: a flood of
/// junk must not become a flood of answers.
const UNADDRESSED_ANSWERS: u32 = 32;

/// How long a broken pipe waits for the news that its server ended.
const SERVER_END: Duration = Duration::from_secs(1);

/// The thread that reads the client.
pub(crate) struct FromClient<'r> {
    pub(crate) relay: &'r Relay,
    /// The way to the server, as of the last look.
    pipe: RefCell<Arc<ServerPipe>>,
    unaddressed: AtomicU32,
}

/// A request of the group under way that waits for an answer, in case it does not get to the server.
pub(crate) struct Entered {
    pub(crate) id: IdKey,
    /// Its row, unless it is one of those that are not recorded.
    pub(crate) call: Option<CallRef>,
    pub(crate) expects: Expects,
}

impl<'r> FromClient<'r> {
    pub(crate) fn new(relay: &'r Relay) -> Self {
        FromClient { relay, pipe: RefCell::new(relay.server.pipe()), unaddressed: AtomicU32::new(0) }
    }

    /// Relays until the client closes its end.
    pub(crate) fn run(&self, source: impl Read) -> News {
        let mut lines = Lines::new(source);
        loop {
            match lines.next() {
                Ok(Chunk::Lines(chunk)) => {
                    failpoint::reach("shim.line_read");
                    self.relay.parent.get_or_init(stdio::parent);
                    self.group(chunk);
                }
                Ok(Chunk::TooLong { head, bytes }) => self.too_long(head, bytes),
                Ok(Chunk::End) | Err(_) => return News::ClientClosed,
            }
        }
    }

    /// The way to the server of this moment. There is a lock in it only when that is another than last time.
    fn pipe(&self) -> Arc<ServerPipe> {
        let mut pipe = self.pipe.borrow_mut();
        if !self.relay.server.is_current(&pipe) {
            *pipe = self.relay.server.pipe();
        }
        pipe.clone()
    }

    fn group(&self, chunk: &[u8]) {
        let rules = self.relay.rules();
        let mut group = Group {
            from: self,
            pipe: self.pipe(),
            rules,
            batch: self.relay.journal.batch(),
            entered: Vec::new(),
            cancelled: Vec::new(),
        };
        for line in split(chunk) {
            group.line(line);
        }
        group.forward();
    }

    fn too_long(&self, head: &[u8], bytes: u64) {
        let reason =
            format!("a line of {bytes} bytes is longer than the {} MiB that can be judged", MAX_LINE >> 20);
        let mut batch = self.relay.journal.batch();
        batch.refuse(Refused { decision: Decision::Malformed, reason: &reason, ..Refused::default() });
        drop(batch.commit());
        match peek_id(head) {
            Some(id) if self.relay.pending.is_free(&id) => {
                let text = format!("Callgate: {reason}");
                self.relay.to_client.post(answer::error(Some(&id), wording::INVALID_REQUEST, &text));
            }
            _ => self.answer_unaddressed(wording::INVALID_REQUEST, &reason),
        }
    }

    fn answer_unaddressed(&self, code: i64, reason: &str) {
        if self.unaddressed.fetch_add(1, Ordering::Relaxed) < UNADDRESSED_ANSWERS {
            self.relay.to_client.post(answer::error(None, code, &format!("Callgate: {reason}")));
        }
    }
}

/// The lines of one read, on their way.
pub(crate) struct Group<'r> {
    pub(crate) from: &'r FromClient<'r>,
    /// Where the lines go: to this one server, or nowhere.
    pub(crate) pipe: Arc<ServerPipe>,
    pub(crate) rules: Rules,
    pub(crate) batch: Batch<'r>,
    pub(crate) entered: Vec<Entered>,
    /// Calls that were given up; booked after the group, which may hold the calls themselves.
    cancelled: Vec<CallRef>,
}

impl Group<'_> {
    fn line(&mut self, line: &[u8]) {
        match read(Side::Client, line) {
            Incoming::Blank => {}
            Incoming::One(message) => self.message(&message),
            // Never forwarded as an array: later revisions have no batches, and servers differ on them.
            Incoming::Batch(elements) => elements.into_iter().for_each(|element| match element {
                Ok(message) => self.message(&message),
                Err(malformed) => self.malformed(&malformed),
            }),
            Incoming::Bad(malformed) => self.malformed(&malformed),
        }
        failpoint::reach("shim.judged");
    }

    fn message(&mut self, message: &Message<'_>) {
        match &message.body {
            Body::Request { id, method, params } => self.request(message, id, method, *params),
            Body::Notification { method, params } => self.notification(message, method, *params),
            Body::Response { id, outcome } => {
                // Only an answer that the server waits for: anything else could be a message in disguise.
                let key = id.as_key();
                self.turn_to_server();
                if let Some(asked) = self.from.relay.server_asks.answer(&key) {
                    match asked.own == key {
                        true => self.batch.pass(&message.wire()),
                        false => self.batch.pass(&message.with_id(&asked.own)),
                    }
                    self.from.relay.settle_ask(&asked, *outcome);
                } else {
                    self.drop_silently(None, "an answer to a request that the server did not make");
                }
            }
        }
    }

    fn request(&mut self, message: &Message<'_>, id: &Id<'_>, method: &str, params: Option<Raw<'_>>) {
        self.from.relay.meet(method, params);
        let key = id.as_key();
        if key.to_lexeme().strip_prefix('"').is_some_and(|text| text.starts_with(OWN_IDS)) {
            let reason = format!("ids that begin with {OWN_IDS:?} belong to the gate");
            return self.refuse_malformed(Some(method), &Answer::To(key), &reason);
        }
        let class = class(method);
        let mut ask = Ask::new(message, key, method, params);
        let refused = self.look_for_server(&ask);
        match &refused {
            Ok(()) | Err(NotEntered::Shut(_)) => {}
            Err(NotEntered::Asleep) if self.needs_no_server(&ask) => {}
            Err(why) => return self.not_entered(&ask.key, method, why),
        }
        if ask.expects == Expects::ToolResult {
            match message.tool_call() {
                Ok(call) => {
                    (ask.name, ask.args) = (call.name, call.arguments);
                }
                Err(cause) => {
                    return self.refuse_malformed(Some(method), &Answer::To(ask.key), &cause.to_string());
                }
            }
        }
        if class != Class::Harmless && ask.expects == Expects::Anything {
            ask.name = named(method, params);
        }
        match (refused, class) {
            (Err(NotEntered::Shut(shut)), Class::Harmless) => {
                self.without_server(&ask, &shut.reason, shut.lists)
            }
            (Err(NotEntered::Shut(shut)), _) => self.refuse_stopped(&ask, &shut),
            (Err(_), _) => self.without_server(&ask, wording::RESTARTING, true),
            (Ok(()), Class::Harmless) => self.pass(&ask),
            (Ok(()), Class::Guarded | Class::Unknown) => self.judge(&ask),
        }
    }

    /// May this request go to the server? Waits for one that is being started, and turns to one that took the place of
    /// another.
    fn look_for_server(&mut self, ask: &Ask<'_>) -> Result<(), NotEntered> {
        let pending = &self.from.relay.pending;
        let checked = pending.check(&ask.key, self.pipe.generation);
        match checked {
            // Nothing is started to say that it is there, or what there is.
            Err(NotEntered::Asleep) if self.needs_no_server(ask) => return checked,
            Err(NotEntered::Asleep) => {
                if pending.wake(Instant::now() + AT_THE_DOOR) {
                    self.from.relay.tell(News::Wanted);
                }
            }
            Err(NotEntered::Starting(_) | NotEntered::Stale) => {}
            _ => return checked,
        }
        // What came before is for the server that there was; it has its answers.
        self.forward();
        pending.wait_started();
        self.pipe = self.from.pipe();
        self.rules = self.from.relay.rules();
        pending.check(&ask.key, self.pipe.generation)
    }

    /// For what gets no answer: turns to the server of this moment, once it has repeated the handshake. True if that is
    /// another one than before.
    fn turn_to_server(&mut self) -> bool {
        let pending = &self.from.relay.pending;
        let starting = pending.generation() != 0 && pending.is_starting();
        if !starting && self.from.relay.server.is_current(&self.pipe) {
            return false;
        }
        self.forward();
        pending.wait_started();
        self.pipe = self.from.pipe();
        true
    }

    /// Is it known without a server whether anybody is there, and what there was when it was asked for last?
    fn needs_no_server(&self, ask: &Ask<'_>) -> bool {
        match List::asked_by(ask.method) {
            Some(list) => self.from.relay.lists.has(list, ask.cursor()),
            None => ask.method == "ping",
        }
    }

    /// Answers what is not recorded when it passes, while there is no server; with the `lists` of the last one, or without.
    fn without_server(&mut self, ask: &Ask<'_>, reason: &str, lists: bool) {
        if let Some(no) = self.harmless_refused(ask) {
            return self.refuse(ask, &no);
        }
        let relay = self.from.relay;
        let list = List::asked_by(ask.method);
        let known = match list {
            Some(list) if lists => relay.last_list(list, ask.cursor(), &ask.key),
            Some(_) => None,
            None => (ask.method == "ping").then(|| answer::empty(&ask.key)),
        };
        if let (Some(list), None) = (list, &known) {
            relay.lists.owe(list);
        }
        let refused = || answer::error(Some(&ask.key), wording::REFUSED, &format!("Callgate: {reason}"));
        relay.to_client.post(known.unwrap_or_else(refused));
    }

    fn notification(&mut self, message: &Message<'_>, method: &str, params: Option<Raw<'_>>) {
        let turned = self.turn_to_server();
        if turned && method == "notifications/cancelled" {
            // What it is about was answered when the server before went.
            return;
        }
        if method == "notifications/initialized" {
            // Before the server can have it: a server that is started again gets it from us, if not from here.
            self.from.relay.handshake.initialized();
        }
        if turned && self.from.relay.pending.is_starting() {
            // It was waited for long enough, and what is said before a handshake may end a server.
            return;
        }
        if method == "notifications/cancelled"
            && let Some(id) = params.and_then(|params| params.get("requestId"))
            && let Ok(id) = Id::read(id)
            && let Some(call) = self.from.relay.pending.cancel(&id.as_key())
        {
            self.from.relay.codegen.given_up(&call);
            self.cancelled.push(call);
        }
        // What is no notification of the protocol may be a call under another name.
        if !method.starts_with("notifications/") {
            if self.rules.paused_for(&self.from.relay.client.name()).is_some() {
                return self.drop_silently(Some(method), "calls are paused");
            }
            if let Err(reason) = self.may_pass(method, params) {
                return self.drop_silently(Some(method), &reason);
            }
        }
        self.batch.pass(&message.wire());
    }

    fn malformed(&mut self, malformed: &Malformed) {
        self.refuse_malformed(malformed.method.as_deref(), &malformed.answer, &malformed.cause.to_string());
        if malformed.answer == Answer::Unaddressed {
            self.from.answer_unaddressed(malformed.code(), &malformed.cause.to_string());
        }
    }

    pub(crate) fn refuse_malformed(&mut self, method: Option<&str>, answer: &Answer, reason: &str) {
        let client = self.from.relay.client.name();
        self.batch.refuse(Refused {
            decision: Decision::Malformed,
            method: method.unwrap_or(""),
            client: &client,
            reason,
            policy: self.rules.policy.version(),
            ..Refused::default()
        });
        if let Answer::To(id) = answer {
            let text = format!("Callgate: {reason}");
            self.from.relay.to_client.post(answer::error(Some(id), wording::INVALID_REQUEST, &text));
        }
    }

    /// For messages that get no answer.
    fn drop_silently(&mut self, method: Option<&str>, reason: &str) {
        self.refuse_malformed(method, &Answer::Nobody, reason);
    }

    pub(crate) fn not_entered(&mut self, key: &IdKey, method: &str, why: &NotEntered) {
        let unanswered = |reason: &str, next: &NextStep| {
            if let Some(list) = List::asked_by(method) {
                self.from.relay.lists.owe(list);
            }
            let line = wording::unanswered(Expects::of(method), key, reason, next, None);
            self.from.relay.to_client.post(line);
        };
        match why {
            NotEntered::Ended(reason) => unanswered(reason, &NextStep::TellUser),
            NotEntered::Shut(Shut { reason, next, .. }) => unanswered(reason, next),
            NotEntered::Starting(_) | NotEntered::Asleep | NotEntered::Stale => {
                unanswered(wording::RESTARTING, &NextStep::CallAgain);
            }
            NotEntered::IdInUse => {
                let reason = "the id belongs to a request that is not answered yet";
                self.refuse_malformed(Some(method), &Answer::To(key.clone()), reason);
            }
            NotEntered::TooMany => {
                let reason = "too many requests wait for an answer";
                self.refuse_malformed(Some(method), &Answer::To(key.clone()), reason);
            }
        }
    }

    /// Records what there is of the group, then lets it go: intent before effect.
    pub(crate) fn forward(&mut self) {
        let (relay, pipe) = (self.from.relay, self.pipe.clone());
        let commit = std::mem::replace(&mut self.batch, relay.journal.batch()).commit();
        let (entered, cancelled) = (std::mem::take(&mut self.entered), std::mem::take(&mut self.cancelled));
        for (call, cause) in &commit.unrecorded {
            relay.codegen.dropped(call);
            let lost = entered.iter().find(|entered| entered.call.is_some_and(|own| own.id() == call.id()));
            if let Some(lost) = lost.filter(|lost| relay.pending.answer(&lost.id, pipe.generation).is_some())
            {
                let reason = wording::unrecorded(&cause.to_string());
                let (next, call) = (NextStep::TellUser, call.id().to_string());
                let line = wording::refusal(lost.expects, &lost.id, &reason, &next, (&call, "(record)"));
                relay.to_client.post(line);
            }
        }
        failpoint::reach("shim.before_forward");
        // What a server has not got when it makes place for another it does not get any more: it may go on to read for a
        // while, and whoever waited has been told to call again.
        let is_over = relay.pending.generation() != pipe.generation;
        // A server that no longer reads has mostly ended; whoever sees that out says it better and answers everybody.
        if !is_over
            && let Err(undelivered) = pipe.send(&commit.admitted)
            && !entered.is_empty()
            && !relay.pending.wait_severed(pipe.generation, SERVER_END)
        {
            let reason = format!("the server no longer reads ({})", undelivered.cause);
            // What was written in part may have been read in part.
            let (outcome, next) = match undelivered.written {
                0 => (Outcome::NotDelivered, NextStep::CallAgain),
                _ => (Outcome::Unknown, NextStep::CheckEffect),
            };
            let waits = |lost: &&Entered| relay.pending.answer(&lost.id, pipe.generation).is_some();
            for lost in entered.iter().filter(waits) {
                if let Some(call) = &lost.call {
                    relay.codegen.dropped(call);
                    relay.journal.settle_one(call, outcome);
                }
                let call = lost.call.map(|call| call.id().to_string());
                let line = wording::unanswered(lost.expects, &lost.id, &reason, &next, call.as_deref());
                relay.to_client.post(line);
            }
        }
        for call in &cancelled {
            relay.journal.settle_one(call, Outcome::Cancelled);
        }
        failpoint::reach("shim.after_forward");
    }
}

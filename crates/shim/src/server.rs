//! From the server to the client: read, match, filter, deliver, then book.
//!
//! Only whole, well-formed, unambiguous messages get through, and an answer only to a question that is open.
//! The client has its bytes before anything is written down.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::input::{InputRequest, input_requests, required_elicitations};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{self, Filtered, List};
use callgate_protocol::message::{Body, Incoming, Message, Outcome as Reply, Side, peek_id, read, repair};
use callgate_protocol::unknown::Thing;
use callgate_protocol::{Answer, Cause, Malformed, NextStep, answer};
use callgate_store::failpoint;
use callgate_store::{CallRef, Event, EventKind, Outcome};

use crate::asks::No;
use crate::lines::{Chunk, Lines, MAX_LINE, split};
use crate::lists::Listed;
use crate::pending::{Asked, What};
use crate::relay::{News, Relay, ServerPipe};
use crate::server_asks::ServerAsk;
use crate::toolbook::Asker;
use crate::unknown_answers::{Lesson, Unlisted};
use crate::wording::{self, Expects};

/// The thread that reads the server.
pub(crate) struct FromServer<'r> {
    relay: &'r Relay,
    /// The way back, to this server and no other.
    pipe: Arc<ServerPipe>,
}

/// What one read brought, on its way to the client.
struct Delivery<'c> {
    /// The lines as they came.
    chunk: &'c [u8],
    /// How much of `chunk` is to be delivered as it came; `None` once something had to differ.
    untouched: Option<usize>,
    /// What is delivered when something differs.
    rewritten: Vec<u8>,
    /// Calls that were answered, to be booked after the delivery.
    settled: Vec<Settled<'c>>,
    /// Lists, to be learned from after the delivery.
    listed: Vec<Listed<'c>>,
    /// Likewise, failures of requests for something that the server does not list, as far as that is known.
    unlisted: Vec<(Cow<'c, [u8]>, Box<Unlisted>)>,
}

/// Where a line with its LF stands in the chunk.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
}

struct Settled<'c> {
    call: CallRef,
    /// Measured when its answer came: whoever gets it may send the next call before this one is booked.
    took: Duration,
    reply: Booked<'c>,
}

/// How the client gets to know a request of the server.
enum Known {
    As(IdKey),
    NotAtAll,
}

/// What the history keeps of an answer.
enum Booked<'c> {
    /// The second: a tool says that it failed.
    Reply(Reply<'c>, bool),
    /// The server's answer could not be delivered; our error went out in its place.
    Unusable,
}

impl<'r> FromServer<'r> {
    pub(crate) fn new(relay: &'r Relay, pipe: Arc<ServerPipe>) -> Self {
        FromServer { relay, pipe }
    }

    /// Relays until the server closes its output or the client reads no more.
    pub(crate) fn run(&self, source: impl Read) -> News {
        let mut lines = Lines::new(source);
        loop {
            let delivered = match lines.next() {
                Ok(Chunk::Lines(chunk)) => self.chunk(chunk),
                Ok(Chunk::TooLong { head, bytes }) => self.too_long(head, bytes),
                Ok(Chunk::End) | Err(_) => return News::ServerClosed(self.pipe.generation),
            };
            if !delivered {
                return News::ClientGone;
            }
        }
    }

    /// False when the client cannot be reached any more.
    fn chunk(&self, chunk: &[u8]) -> bool {
        // A stray byte in a file that a tool read must not cost the client its answer. LF stays where it is.
        match repair(chunk) {
            None => self.lines(chunk),
            Some(repaired) => self.lines(&repaired),
        }
    }

    fn lines(&self, chunk: &[u8]) -> bool {
        let _delivering = self.relay.pending.delivering();
        let mut delivery = Delivery::new(chunk);
        let mut start = 0;
        for line in split(chunk) {
            let end = start + line.len() + 1;
            self.line(&mut delivery, line, Some(Place { start, end }));
            start = end;
        }
        // Known before the client has the answer: its next request for something hidden is answered like this one.
        let learned: Vec<_> =
            delivery.unlisted.iter().filter_map(|(line, call)| self.unknown(line, call)).collect();
        failpoint::reach("shim.before_answer");
        let delivered = self.relay.to_client.send(delivery.bytes()).is_ok();
        failpoint::reach("shim.after_answer");
        self.book(delivery.settled);
        delivery.listed.iter().for_each(|listed| self.relay.learn(listed));
        for lesson in learned {
            self.relay.tools.write_beside(self.relay.unknown_answers.keeping(lesson));
        }
        delivered
    }

    fn unknown(&self, line: &[u8], call: &Unlisted) -> Option<Lesson> {
        let answers = &self.relay.unknown_answers;
        match call.thing {
            Thing::Tool => answers.answered(line, call, |name| self.relay.tools.lists(name)),
            thing => {
                let names = self.relay.lists.names(thing).filter(|names| !names.may_have(&call.name))?;
                answers.answered(line, call, |name| names.has(name))
            }
        }
    }

    fn line<'c>(&self, out: &mut Delivery<'c>, line: &'c [u8], place: Option<Place>) {
        match read(Side::Server, line) {
            Incoming::Blank => out.skip(place),
            Incoming::One(message) => self.message(out, &message, place),
            Incoming::Batch(elements) => {
                out.skip(place);
                for element in elements {
                    match element {
                        Ok(message) => self.message(out, &message, None),
                        Err(malformed) => self.malformed(out, line, &malformed),
                    }
                }
            }
            Incoming::Bad(malformed) => {
                out.skip(place);
                self.malformed(out, line, &malformed);
            }
        }
    }

    fn message<'c>(&self, out: &mut Delivery<'c>, message: &Message<'c>, place: Option<Place>) {
        // A server that is being ended may go on to talk. Whoever waited for it has been told, and nobody listens any more.
        let is_over = self.relay.pending.generation() != self.pipe.generation;
        match &message.body {
            Body::Notification { .. } | Body::Request { .. } if is_over => out.skip(place),
            Body::Notification { method, params } => self.notification(out, message, method, *params, place),
            Body::Request { id, method, params } => match self.request(id, method, *params) {
                Ok(None) => out.deliver(message, place),
                Ok(Some(Known::As(shown))) => {
                    out.skip(place);
                    out.append(&message.with_id(&shown));
                }
                Ok(Some(Known::NotAtAll)) => out.skip(place),
                Err(no) => {
                    out.skip(place);
                    let text = format!("Callgate: {}", no.text);
                    self.pipe.post(answer::error(Some(&id.as_key()), no.code, &text));
                }
            },
            Body::Response { id, outcome } => self.response(out, message, id, *outcome, place),
        }
    }

    fn notification<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        method: &str,
        params: Option<Raw<'c>>,
        place: Option<Place>,
    ) {
        match method {
            "notifications/tools/list_changed" => self.relay.tools.outdated(),
            "notifications/resources/list_changed" | "notifications/prompts/list_changed" => {
                self.relay.lists.outdated();
            }
            "notifications/progress" => {
                let token = params.and_then(|params| params.get("progressToken"));
                if let Some(token) = token.and_then(|token| Id::read(token).ok()) {
                    self.relay.pending.sign_of_life(&token.as_key());
                }
            }
            "notifications/cancelled" => {
                if let Some(renamed) = self.taken_back(params) {
                    out.skip(place);
                    out.append(&renamed);
                    return;
                }
            }
            _ => {}
        }
        // News of a task may ask the client for something, as results may. It gets no answer, so it is only kept back.
        let asks = params.filter(|_| method.starts_with("notifications/tasks") && self.relay.judges_asks());
        match asks.map_or(Ok(()), |params| self.inside(input_requests(params))) {
            Ok(()) => out.deliver(message, place),
            Err(_) => out.skip(place),
        }
    }

    /// The server no longer wants what it asked for: its id and its place are free again. The line for the client, where it
    /// knows the request by another id.
    fn taken_back(&self, params: Option<Raw<'_>>) -> Option<Vec<u8>> {
        let own =
            params.and_then(|params| params.get("requestId")).and_then(|id| Id::read(id).ok())?.as_key();
        let (asked, shown) = self.relay.server_asks.take_back(&own)?;
        if let Some(call) = asked.call {
            self.relay.journal.settle_one(&call, Outcome::Cancelled);
        }
        (shown != own).then(|| {
            let reason = params.and_then(|params| params.get("reason")).and_then(Raw::as_str);
            answer::cancelled(&shown, &reason.unwrap_or_default())
        })
    }

    /// A request of the server (sampling, elicitation, roots) on its way to the client; how the client is to know it, where
    /// that is not by its own id.
    fn request(&self, id: &Id<'_>, method: &str, params: Option<Raw<'_>>) -> Result<Option<Known>, No> {
        let own = id.as_key();
        if !self.relay.server_asks.has_room(&own) {
            let text = "the id belongs to a request that is not answered yet".to_owned();
            return Err(No { code: wording::INVALID_REQUEST, text });
        }
        let call = self.relay.admit_ask(method, params, &own.to_lexeme())?;
        let ask = ServerAsk { call, since: Instant::now(), own };
        match self.relay.server_asks.enter(ask, self.pipe.generation) {
            Ok(shown) => Ok(shown.map(Known::As)),
            Err(late) => {
                if let Some(call) = late.call {
                    self.relay.journal.settle_one(&call, Outcome::NotDelivered);
                }
                Ok(Some(Known::NotAtAll))
            }
        }
    }

    /// Requests that the server makes inside something else (since 2026-07-28): each is judged like one that it makes by
    /// itself. Only looked for where there are rules about them.
    fn inside(&self, requests: Result<Vec<InputRequest<'_>>, Cause>) -> Result<(), No> {
        let requests = requests.map_err(|cause| No {
            code: wording::INTERNAL,
            text: format!("the server's answer cannot be used: {cause}"),
        })?;
        for InputRequest { method, params, .. } in requests {
            // What the client answers comes as a new call, so nothing more will be known of this one.
            if let Some(call) = self.relay.admit_ask(&method, params, "")? {
                self.relay.journal.settle_one(&call, Outcome::Ok);
            }
        }
        Ok(())
    }

    fn response<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        id: &Id<'c>,
        reply: Reply<'c>,
        place: Option<Place>,
    ) {
        let Some(asked) = self.relay.pending.answer(&id.as_key(), self.pipe.generation) else {
            out.skip(place);
            // Not its words: they may be the second half of what was not to be kept.
            let why = format!("an answer nobody waits for, of {} bytes", message.wire().len());
            self.relay.noise.heard(&self.relay.journal, b"", &why);
            return;
        };
        // Before anybody else sees the answer, and also of one that nobody waits for any more: the server did what it says.
        let lost = match &asked.what {
            What::Call(call, _) => self.relay.codegen.answered(call, reply),
            _ => None,
        };
        if let What::Call(call, _) = &asked.what {
            // The call is over before its answer is seen, so that the next one finds its place free.
            self.relay.journal.call_over(call);
        }
        if asked.late {
            out.skip(place);
            return self.came_late(&asked);
        }
        if asked.what.is_clients()
            && let Err(no) = self.requests_in(reply)
        {
            out.skip(place);
            let (id, text) = (id.as_key(), format!("Callgate: {}", no.text));
            match asked.what {
                What::Call(call, expects) => {
                    out.settled.push(Settled { call, took: asked.since.elapsed(), reply: Booked::Unusable });
                    let call = call.id().to_string();
                    let at = (call.as_str(), "(server's request)");
                    out.append(&wording::refusal(expects, &id, &no.text, &NextStep::AskUser, at));
                }
                _ => out.append(&answer::error(Some(&id), wording::REFUSED, &text)),
            }
            return;
        }
        match asked.what {
            What::Call(call, expects) => {
                out.settled.push(Settled {
                    call,
                    took: asked.since.elapsed(),
                    reply: Booked::Reply(reply, message.tool_failed()),
                });
                match lost {
                    None => {
                        let failed = matches!(reply, Reply::Error(_)) || message.tool_failed();
                        let unlisted = asked.unlisted.filter(|_| failed);
                        out.unlisted.extend(unlisted.map(|call| (message.wire(), call)));
                        out.deliver(message, place);
                    }
                    Some(words) => {
                        out.skip(place);
                        let (id, call) = (id.as_key(), call.id().to_string());
                        let at = (call.as_str(), "(lost codegen session)");
                        out.append(&wording::refusal(expects, &id, &words, &NextStep::AsSaid, at));
                    }
                }
            }
            What::List { list, cursor } => self.list(out, message, (list, cursor), reply, place),
            What::OwnList { first, meta } => {
                out.skip(place);
                if let Reply::Result(result) = reply
                    && let page = lists::page(List::Tools, result, |_| true)
                    && let Some(next) = self.relay.tools.page(
                        Asker::Callgate,
                        first,
                        (result, &page),
                        self.relay.tools.stamp(),
                    )
                {
                    self.relay.list_tools(&self.pipe, Some(&next), &meta);
                }
            }
            What::Greeting => {
                out.skip(place);
                let reply = match reply {
                    Reply::Result(result) => Ok(result.text().to_owned()),
                    Reply::Error(error) => Err(error.text().to_owned()),
                };
                self.relay.tell(News::Greeted(self.pipe.generation, reply));
            }
            What::Quiet => out.skip(place),
            What::Initialize => {
                if let Reply::Result(result) = reply {
                    self.relay.handshake.answered(result);
                    self.relay.unknown_answers.greeted(&message.wire(), result);
                }
                out.deliver(message, place);
            }
            What::Other => out.deliver(message, place),
        }
    }

    /// An answer to a call that was given up. The client has had one.
    fn came_late(&self, asked: &Asked) {
        if let What::Call(call, _) = &asked.what {
            let text = format!(
                "the answer to call {} came after {} s, when it had been given up, and was dropped",
                call.id(),
                asked.since.elapsed().as_secs()
            );
            self.relay.journal.event(Event { kind: EventKind::Note, text: &text });
        }
    }

    /// What the server asks for in an answer, if anything here speaks of such requests.
    fn requests_in(&self, reply: Reply<'_>) -> Result<(), No> {
        if !self.relay.judges_asks() {
            return Ok(());
        }
        match reply {
            Reply::Result(result) => self.inside(input_requests(result)),
            Reply::Error(error) => {
                let required = required_elicitations(error).map(|all| {
                    let asks = |params| InputRequest {
                        key: Cow::Borrowed(""),
                        method: Cow::Borrowed("elicitation/create"),
                        params: Some(params),
                    };
                    all.into_iter().map(asks).collect()
                });
                self.inside(required)
            }
        }
    }

    fn list<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        (list, cursor): (List, Option<String>),
        reply: Reply<'c>,
        place: Option<Place>,
    ) {
        let (Reply::Result(result), Body::Response { id, .. }) = (reply, &message.body) else {
            return out.deliver(message, place);
        };
        if list == List::Tools {
            // Before the client has it: what changes from here on is news to it.
            self.relay.listed.store(true, Ordering::Relaxed);
        }
        self.relay.unknown_answers.listed(&message.wire());
        let page = self.relay.show(list, result);
        match &page.filtered {
            Filtered::Unchanged => out.deliver(message, place),
            Filtered::Rewritten { result, .. } => {
                out.skip(place);
                out.append_whole(message.with_outcome(result));
            }
            Filtered::Unusable(reason) => {
                out.skip(place);
                let text = format!("Callgate: the server's list cannot be used: {reason}");
                out.append(&answer::error(Some(&id.as_key()), wording::INTERNAL, &text));
            }
        }
        let (at, changes) = (self.relay.tools.stamp(), self.relay.lists.changes());
        out.listed.push(Listed { list, cursor, result, page, at, changes });
    }

    /// Noise is dropped; an answer that cannot be passed on is replaced, so that nobody waits for ever.
    fn malformed(&self, out: &mut Delivery<'_>, line: &[u8], malformed: &Malformed) {
        let reason = malformed.cause.to_string();
        match &malformed.answer {
            // An answer's words may be what was not to be kept.
            Answer::Settles(id) => {
                self.unusable(out, id, &reason);
                let why = format!("{reason} (an answer of {} bytes)", line.len());
                return self.relay.noise.heard(&self.relay.journal, b"", &why);
            }
            Answer::To(id) => {
                let text = format!("Callgate: {reason}");
                self.pipe.post(answer::error(Some(id), malformed.code(), &text));
            }
            Answer::Unaddressed | Answer::Nobody => {}
        }
        self.relay.noise.heard(&self.relay.journal, line, &reason);
    }

    fn unusable(&self, out: &mut Delivery<'_>, id: &IdKey, reason: &str) {
        let Some(asked) = self.relay.pending.answer(id, self.pipe.generation) else { return };
        if asked.late {
            if let What::Call(call, _) = &asked.what {
                self.relay.journal.call_over(call);
            }
            return self.came_late(&asked);
        }
        if !asked.what.is_clients() {
            if matches!(asked.what, What::Greeting) {
                self.relay.tell(News::Greeted(self.pipe.generation, Err(reason.to_owned())));
            }
            return;
        }
        let reason = format!("the server's answer cannot be used: {reason}");
        match asked.what {
            What::Call(call, expects) => {
                out.settled.push(Settled { call, took: asked.since.elapsed(), reply: Booked::Unusable });
                let (next, call) = (NextStep::CheckEffect, call.id().to_string());
                out.append(&wording::unanswered(expects, id, &reason, &next, Some(&call)));
            }
            _ => out.append(&wording::unanswered(Expects::Anything, id, &reason, &NextStep::AsSaid, None)),
        }
    }

    fn too_long(&self, head: &[u8], bytes: u64) -> bool {
        let reason = format!("a line of {bytes} bytes is longer than {} MiB", MAX_LINE >> 20);
        let _delivering = self.relay.pending.delivering();
        let mut out = Delivery::new(&[]);
        out.untouched = None;
        // A request of the server's own has an id too, and it is not one of the client's.
        let is_request = memchr::memmem::find(head, b"\"method\"").is_some();
        if let Some(id) = peek_id(head).filter(|_| !is_request) {
            self.unusable(&mut out, &id, &reason);
        }
        self.relay.noise.heard(&self.relay.journal, if is_request { head } else { b"" }, &reason);
        let delivered = self.relay.to_client.send(out.bytes()).is_ok();
        self.book(out.settled);
        delivered
    }

    fn book(&self, settled: Vec<Settled<'_>>) {
        if settled.is_empty() {
            return;
        }
        let mut settlement = self.relay.journal.settle();
        for Settled { call, took, reply } in settled {
            match reply {
                Booked::Reply(Reply::Result(result), failed) => {
                    let outcome = if failed { Outcome::ToolError } else { Outcome::Ok };
                    settlement.add(&call, outcome, took, Some(result));
                }
                Booked::Reply(Reply::Error(error), _) => {
                    settlement.add(&call, Outcome::RpcError, took, Some(error));
                }
                Booked::Unusable => settlement.add(&call, Outcome::Unusable, took, None),
            }
        }
        settlement.commit();
    }
}

impl<'c> Delivery<'c> {
    fn new(chunk: &'c [u8]) -> Self {
        Delivery {
            chunk,
            untouched: Some(0),
            rewritten: Vec::new(),
            settled: Vec::new(),
            listed: Vec::new(),
            unlisted: Vec::new(),
        }
    }

    /// Delivers a message; as it stands in the chunk if it may.
    fn deliver(&mut self, message: &Message<'_>, place: Option<Place>) {
        let wire = message.wire();
        if let (Some(place), Some(untouched)) = (place, self.untouched)
            && wire.len() + 1 == place.end - place.start
            && place.start == untouched
            && matches!(wire, std::borrow::Cow::Borrowed(_))
        {
            self.untouched = Some(place.end);
            return;
        }
        self.append(&wire);
    }

    fn append(&mut self, line: &[u8]) {
        self.differ();
        self.rewritten.extend_from_slice(line);
        self.rewritten.push(b'\n');
    }

    /// The same for a line that may be long and need not be copied, if it is the first.
    fn append_whole(&mut self, line: Vec<u8>) {
        self.differ();
        if self.rewritten.is_empty() {
            self.rewritten = line;
            self.rewritten.push(b'\n');
        } else {
            self.append(&line);
        }
    }

    /// A line of the chunk is not delivered.
    fn skip(&mut self, place: Option<Place>) {
        if place.is_some() {
            self.differ();
        }
    }

    fn differ(&mut self) {
        if let Some(untouched) = self.untouched.take() {
            self.rewritten.extend_from_slice(&self.chunk[..untouched]);
        }
    }

    fn bytes(&self) -> &[u8] {
        match self.untouched {
            Some(untouched) => &self.chunk[..untouched],
            None => &self.rewritten,
        }
    }
}

//! From the server to the client: read, match, filter, deliver, then book.
//!
//! Only whole, well-formed, unambiguous messages get through, and an answer only to a question that is open.
//! The client has its bytes before anything is written down.

use std::io::Read;
use std::sync::atomic::Ordering;

use callgate_policy::{Call, Judgement};
use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::json::Raw;
use callgate_protocol::message::{Body, Incoming, Message, Outcome as Reply, Side, peek_id, read, repair};
use callgate_protocol::method::is_for_servers;
use callgate_protocol::tools::{Filtered, filter_list};
use callgate_protocol::{Answer, Malformed, answer};
use callgate_store::failpoint;
use callgate_store::{CallRef, Outcome};

use crate::lines::{Chunk, Lines, MAX_LINE, split};
use crate::pending::What;
use crate::relay::{Relay, Stop};
use crate::wording;

/// The thread that reads the server.
pub(crate) struct FromServer<'r> {
    relay: &'r Relay,
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
}

/// Where a line with its LF stands in the chunk.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
}

struct Settled<'c> {
    call: CallRef,
    since: std::time::Instant,
    reply: Booked<'c>,
}

/// What the history keeps of an answer.
enum Booked<'c> {
    Reply(Reply<'c>),
    /// The server's answer could not be delivered; our error went out in its place.
    Unusable,
}

impl<'r> FromServer<'r> {
    pub(crate) fn new(relay: &'r Relay) -> Self {
        FromServer { relay }
    }

    /// Relays until the server closes its output or the client reads no more.
    pub(crate) fn run(&self, source: impl Read) -> Stop {
        let mut lines = Lines::new(source);
        loop {
            let delivered = match lines.next() {
                Ok(Chunk::Lines(chunk)) => self.chunk(chunk),
                Ok(Chunk::TooLong { head, bytes }) => self.too_long(head, bytes),
                Ok(Chunk::End) | Err(_) => return Stop::ServerClosed,
            };
            if !delivered {
                return Stop::ClientGone;
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
        let mut delivery = Delivery::new(chunk);
        let mut start = 0;
        for line in split(chunk) {
            let end = start + line.len() + 1;
            self.line(&mut delivery, line, Some(Place { start, end }));
            start = end;
        }
        failpoint::reach("shim.before_answer");
        let delivered = self.relay.to_client.send(delivery.bytes()).is_ok();
        failpoint::reach("shim.after_answer");
        self.book(delivery.settled);
        delivered
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
        match &message.body {
            Body::Notification { .. } => out.deliver(message, place),
            Body::Request { id, method, params } => match self.objection(id, method, *params) {
                None => out.deliver(message, place),
                Some((code, text)) => {
                    out.skip(place);
                    let text = format!("Callgate: {text}");
                    self.relay.to_server.answer(answer::error(Some(&id.as_key()), code, &text));
                }
            },
            Body::Response { id, outcome } => self.response(out, message, id, *outcome, place),
        }
    }

    /// Why a request of the server (sampling, elicitation, roots) does not reach the client, if so.
    fn objection(&self, id: &Id<'_>, method: &str, params: Option<Raw<'_>>) -> Option<(i64, String)> {
        if is_for_servers(method) {
            // The server has the direction wrong, or hopes that we have.
            return Some((wording::METHOD_NOT_FOUND, format!("a server cannot ask for {method}")));
        }
        let client = self.relay.client.name();
        if let Judgement::Refuse(refusal) =
            self.relay.rules().policy.judge(&Call::method(&client, method, params))
        {
            return Some((wording::REFUSED, refusal.reason));
        }
        if !self.relay.server_asks.enter(id.as_key()) {
            let text = "the id belongs to a request that is not answered yet";
            return Some((wording::INVALID_REQUEST, text.to_owned()));
        }
        None
    }

    fn response<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        id: &Id<'c>,
        reply: Reply<'c>,
        place: Option<Place>,
    ) {
        let Some(asked) = self.relay.pending.answer(&id.as_key()) else {
            out.skip(place);
            self.relay.noise.heard(&self.relay.journal, &message.wire(), "an answer nobody waits for");
            return;
        };
        match asked.what {
            What::Call(call) => {
                out.settled.push(Settled { call, since: asked.since, reply: Booked::Reply(reply) });
                out.deliver(message, place);
            }
            What::ToolsList => self.tools_list(out, message, &id.as_key(), reply, place),
            What::Other => out.deliver(message, place),
        }
    }

    fn tools_list<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        id: &IdKey,
        reply: Reply<'c>,
        place: Option<Place>,
    ) {
        let Reply::Result(result) = reply else { return out.deliver(message, place) };
        self.relay.listed.store(true, Ordering::Relaxed);
        let rules = self.relay.rules();
        let client = self.relay.client.name();
        match filter_list(result, |tool| !rules.policy.is_hidden(&client, tool)) {
            Filtered::Unchanged => out.deliver(message, place),
            Filtered::Rewritten { result, .. } => {
                out.skip(place);
                out.append(&message.with_outcome(&result));
            }
            Filtered::Unusable(reason) => {
                out.skip(place);
                let text = format!("Callgate: the server's list of tools cannot be used: {reason}");
                out.append(&answer::error(Some(id), wording::INTERNAL, &text));
            }
        }
    }

    /// Noise is dropped; an answer that cannot be passed on is replaced, so that nobody waits for ever.
    fn malformed(&self, out: &mut Delivery<'_>, line: &[u8], malformed: &Malformed) {
        let reason = malformed.cause.to_string();
        match &malformed.answer {
            Answer::Settles(id) => self.unusable(out, id, &reason),
            Answer::To(id) => {
                let text = format!("Callgate: {reason}");
                self.relay.to_server.answer(answer::error(Some(id), malformed.code(), &text));
            }
            Answer::Unaddressed | Answer::Nobody => {}
        }
        self.relay.noise.heard(&self.relay.journal, line, &reason);
    }

    fn unusable(&self, out: &mut Delivery<'_>, id: &IdKey, reason: &str) {
        let Some(asked) = self.relay.pending.answer(id) else { return };
        let text = format!("Callgate: the server's answer cannot be used: {reason}");
        out.append(&answer::error(Some(id), wording::INTERNAL, &text));
        if let What::Call(call) = asked.what {
            out.settled.push(Settled { call, since: asked.since, reply: Booked::Unusable });
        }
    }

    fn too_long(&self, head: &[u8], bytes: u64) -> bool {
        let reason = format!("a line of {bytes} bytes is longer than {} MiB", MAX_LINE >> 20);
        let mut out = Delivery::new(&[]);
        out.untouched = None;
        // A request of the server's own has an id too, and it is not one of the client's.
        let is_request = memchr::memmem::find(head, b"\"method\"").is_some();
        if let Some(id) = peek_id(head).filter(|_| !is_request) {
            self.unusable(&mut out, &id, &reason);
        }
        self.relay.noise.heard(&self.relay.journal, head, &reason);
        let delivered = self.relay.to_client.send(out.bytes()).is_ok();
        self.book(out.settled);
        delivered
    }

    fn book(&self, settled: Vec<Settled<'_>>) {
        if settled.is_empty() {
            return;
        }
        let mut settlement = self.relay.journal.settle();
        for Settled { call, since, reply } in settled {
            match reply {
                Booked::Reply(Reply::Result(result)) => {
                    let failed = result.get("isError").and_then(Raw::as_bool) == Some(true);
                    let outcome = if failed { Outcome::ToolError } else { Outcome::Ok };
                    settlement.add(&call, outcome, since.elapsed(), Some(result));
                }
                Booked::Reply(Reply::Error(error)) => {
                    settlement.add(&call, Outcome::RpcError, since.elapsed(), Some(error));
                }
                Booked::Unusable => settlement.add(&call, Outcome::Unusable, since.elapsed(), None),
            }
        }
        settlement.commit();
    }
}

impl<'c> Delivery<'c> {
    fn new(chunk: &'c [u8]) -> Self {
        Delivery { chunk, untouched: Some(0), rewritten: Vec::new(), settled: Vec::new() }
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

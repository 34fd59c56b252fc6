//! The thread that reads a server: matches, filters, delivers to the client, then books.
//!
//! Only whole, well-formed, unambiguous messages get through, and an answer only to a question that is open.
//! The client has its bytes before anything is written down.

mod delivery;
mod requests;
mod responses;

use std::io::Read;
use std::sync::Arc;

use callgate_home::failpoint;
use callgate_protocol::id::Id;
use callgate_protocol::json::Raw;
use callgate_protocol::message::{Body, Incoming, Message, Side, peek_id, read, repair};
use callgate_protocol::unknown::Thing;
use callgate_protocol::{Answer, Malformed, answer};

use self::delivery::{Delivery, LineSpan};
use crate::line_reader::{Chunk, LineReader, MAX_LINE, split};
use crate::relay::{News, Relay, ServerPipe};
use crate::unknown_answers::{Lesson, UnlistedRequest};

/// The thread that reads the server.
pub(crate) struct FromServer<'r> {
    relay: &'r Relay,
    /// The way back, to this server and no other.
    pipe: Arc<ServerPipe>,
}

impl<'r> FromServer<'r> {
    pub(crate) fn new(relay: &'r Relay, pipe: Arc<ServerPipe>) -> Self {
        FromServer { relay, pipe }
    }

    /// Relays until the server closes its output or the client reads no more.
    pub(crate) fn run(&self, source: impl Read) -> News {
        let mut lines = LineReader::new(source);
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
            self.line(&mut delivery, line, Some(LineSpan { start, end }));
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

    fn unknown(&self, line: &[u8], call: &UnlistedRequest) -> Option<Lesson> {
        let answers = &self.relay.unknown_answers;
        match call.thing {
            Thing::Tool => answers.answered(line, call, |name| self.relay.tools.lists(name)),
            _ if answers.subscribed(line, call) => None,
            thing => {
                let names = self.relay.lists.names(thing).filter(|names| !names.may_have(&call.name))?;
                answers.answered(line, call, |name| names.has(name))
            }
        }
    }

    fn line<'c>(&self, out: &mut Delivery<'c>, line: &'c [u8], place: Option<LineSpan>) {
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

    fn message<'c>(&self, out: &mut Delivery<'c>, message: &Message<'c>, place: Option<LineSpan>) {
        // A server that is being ended may go on to talk. Whoever waited for it has been told, and nobody listens any more.
        let is_over = self.relay.pending.generation() != self.pipe.generation;
        match &message.body {
            Body::Notification { .. } | Body::Request { .. } if is_over => out.skip(place),
            Body::Notification { method, params } => self.notification(out, message, method, *params, place),
            Body::Request { id, method, params } => self.request(out, message, (id, method, *params), place),
            Body::Response { id, outcome } => self.response(out, message, (id, *outcome), place),
        }
    }

    fn notification<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        method: &str,
        params: Option<Raw<'c>>,
        place: Option<LineSpan>,
    ) {
        match method {
            "notifications/tools/list_changed" => {
                self.relay.tools.outdated();
                self.relay.may_list_soon();
            }
            "notifications/resources/list_changed" | "notifications/prompts/list_changed" => {
                self.relay.lists.outdated();
            }
            "notifications/progress" => {
                let token = params.and_then(|params| params.get("progressToken"));
                if let Some(token) = token.and_then(|token| Id::read(token).ok()) {
                    self.relay.pending.sign_of_life(&token.as_key());
                }
            }
            "notifications/cancelled" if self.takes_back_ours(params) => return out.skip(place),
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
        let task = params.filter(|_| method.starts_with("notifications/tasks"));
        match task.map_or(Ok(()), |params| self.requests_in_task(params)) {
            Ok(()) if self.relay.withheld_capability(method).is_none() => self.deliver(out, message, place),
            Ok(()) | Err(_) => out.skip(place),
        }
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
}

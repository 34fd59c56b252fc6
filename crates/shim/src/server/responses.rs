//! Responses of the server: matched to what was asked, and given to whoever asked it.

use std::sync::atomic::Ordering;

use callgate_journal::{Event, EventKind, Outcome};
use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::lists::{self, Filtered, List};
use callgate_protocol::message::{Body, Message, Outcome as Reply};
use callgate_protocol::{NextStep, answer};

use super::FromServer;
use super::delivery::{Booked, Delivery, LineSpan, Settled};
use crate::lists::ListPage;
use crate::pending::{PendingRequest, RequestKind};
use crate::relay::News;
use crate::tool_cache::Requester;
use crate::unknown_answers::UnlistedRequest;
use crate::wording::{self, Expects};

impl FromServer<'_> {
    pub(super) fn response<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        (id, reply): (&Id<'c>, Reply<'c>),
        place: Option<LineSpan>,
    ) {
        let Some(request) = self.relay.pending.answer(&id.as_key(), self.pipe.generation) else {
            out.skip(place);
            // Not its words: they may be the second half of what was not to be kept.
            let why = format!("an answer nobody waits for, of {} bytes", message.wire().len());
            self.relay.noise.heard(&self.relay.journal, b"", &why);
            return;
        };
        // Before anybody else sees the answer, and also of one that nobody waits for any more: the server did what it says.
        let lost = match &request.what {
            RequestKind::Call(call, _) => {
                self.relay.loops.answered(call.seq(), reply);
                self.relay.codegen.answered(call, reply)
            }
            _ => None,
        };
        if let RequestKind::Call(call, _) = &request.what {
            // The call is over before its answer is seen, so that the next one finds its place free.
            self.relay.journal.call_over(call);
        }
        if request.late {
            out.skip(place);
            return self.came_late(&request);
        }
        if request.what.is_clients()
            && let Err(refusal) = self.requests_in(reply)
        {
            out.skip(place);
            return self.keep_back(out, &request, &id.as_key(), &refusal.reason);
        }
        match request.what {
            RequestKind::Call(call, expects) => {
                let reply = Booked::Reply(reply, message.tool_failed());
                out.settled.push(Settled { call, took: request.since.elapsed(), reply });
                match lost {
                    None => self.call_answered(out, message, request.unlisted, place),
                    Some(words) => {
                        out.skip(place);
                        let at = (&*call.id().to_string(), "(lost codegen session)");
                        out.append(&wording::refusal(expects, &id.as_key(), &words, &NextStep::AsSaid, at));
                    }
                }
            }
            RequestKind::List { list, cursor } => self.list(out, message, (list, cursor), reply, place),
            RequestKind::Initialize => {
                if let Reply::Result(result) = reply {
                    self.relay.handshake.answered(result);
                    self.relay.unknown_answers.greeted(&message.wire(), result);
                }
                self.greeting(out, message, reply, place);
            }
            RequestKind::Discover => self.greeting(out, message, reply, place),
            RequestKind::Other => self.deliver(out, message, place),
            RequestKind::OwnList { first, meta } => {
                out.skip(place);
                self.own_list(reply, first, &meta);
            }
            RequestKind::Greeting => {
                out.skip(place);
                let reply = match reply {
                    Reply::Result(result) => Ok(result.text().to_owned()),
                    Reply::Error(error) => Err(error.text().to_owned()),
                };
                self.relay.tell(News::Greeted(self.pipe.generation, reply));
            }
            // No server knows of what is held.
            RequestKind::Quiet | RequestKind::Held(_) => out.skip(place),
        }
    }

    /// What the server says of itself, as its client may have it.
    fn greeting<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        reply: Reply<'c>,
        place: Option<LineSpan>,
    ) {
        let Reply::Result(result) = reply else { return out.deliver(message, place) };
        match self.relay.greeting(result) {
            None => out.deliver(message, place),
            Some(result) => {
                out.skip(place);
                out.append_whole(message.with_outcome(&result));
            }
        }
    }

    /// A message for the client, without what does not pass beside the protocol.
    pub(super) fn deliver(&self, out: &mut Delivery<'_>, message: &Message<'_>, place: Option<LineSpan>) {
        match self.relay.strip(message) {
            None => out.deliver(message, place),
            Some(line) => {
                out.skip(place);
                out.append_whole(line);
            }
        }
    }

    fn call_answered<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        unlisted: Option<Box<UnlistedRequest>>,
        place: Option<LineSpan>,
    ) {
        let is_error = matches!(&message.body, Body::Response { outcome: Reply::Error(_), .. });
        let tells = |call: &UnlistedRequest| {
            is_error || message.tool_failed() || call.thing != call.thing.listed_as()
        };
        let unlisted = unlisted.filter(|call| tells(call));
        out.unlisted.extend(unlisted.map(|call| (message.wire(), call)));
        self.deliver(out, message, place);
    }

    /// An answer that asks the client for something which the rules refuse: it hears that in its place.
    fn keep_back(&self, out: &mut Delivery<'_>, request: &PendingRequest, id: &IdKey, reason: &str) {
        match request.what {
            RequestKind::Call(call, expects) => {
                out.settled.push(Settled { call, took: request.since.elapsed(), reply: Booked::Unusable });
                let at = (&*call.id().to_string(), "(server's request)");
                out.append(&wording::refusal(expects, id, reason, &NextStep::AskUser, at));
            }
            _ => out.append(&answer::error(Some(id), wording::REFUSED, &format!("Callgate: {reason}"))),
        }
    }

    /// A page of the list that the gate asked for by itself.
    fn own_list(&self, reply: Reply<'_>, first: bool, meta: &str) {
        let Reply::Result(result) = reply else { return };
        let tools = &self.relay.tools;
        let page = lists::page(List::Tools, result, |_| true);
        if let Some(next) = tools.page(Requester::Callgate, first, (result, &page), tools.stamp()) {
            self.relay.list_tools(&self.pipe, Some(&next), meta);
        }
    }

    /// An answer to a call that was given up. The client has had one.
    fn came_late(&self, request: &PendingRequest) {
        if let RequestKind::Call(call, _) = &request.what {
            let text = format!(
                "the answer to call {} came after {} s, when it had been given up, and was dropped",
                call.id(),
                request.since.elapsed().as_secs()
            );
            self.relay.journal.event(Event { kind: EventKind::Note, text: &text });
        }
    }

    fn list<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        (list, cursor): (List, Option<String>),
        reply: Reply<'c>,
        place: Option<LineSpan>,
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
        out.listed.push(ListPage { list, cursor, result, page, at, changes });
    }

    pub(super) fn unusable(&self, out: &mut Delivery<'_>, id: &IdKey, reason: &str) {
        let Some(request) = self.relay.pending.answer(id, self.pipe.generation) else { return };
        if request.late {
            if let RequestKind::Call(call, _) = &request.what {
                self.relay.journal.call_over(call);
            }
            return self.came_late(&request);
        }
        if !request.what.is_clients() {
            if matches!(request.what, RequestKind::Greeting) {
                self.relay.tell(News::Greeted(self.pipe.generation, Err(reason.to_owned())));
            }
            return;
        }
        let reason = format!("the server's answer cannot be used: {reason}");
        match request.what {
            RequestKind::Call(call, expects) => {
                out.settled.push(Settled { call, took: request.since.elapsed(), reply: Booked::Unusable });
                let (next, call) = (NextStep::CheckEffect, call.id().to_string());
                out.append(&wording::unanswered(expects, id, &reason, &next, Some(&call)));
            }
            _ => out.append(&wording::unanswered(Expects::Anything, id, &reason, &NextStep::AsSaid, None)),
        }
    }

    pub(super) fn book(&self, settled: Vec<Settled<'_>>) {
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

//! Answers to requests that do not get to the server: refused, malformed, or without a server that could be asked.

use std::sync::atomic::Ordering;

use callgate_journal::{CallEntry, CallRef, Decision};
use callgate_protocol::id::IdKey;
use callgate_protocol::lists::List;
use callgate_protocol::target::{Ref, completion_ref};
use callgate_protocol::unknown::Thing;
use callgate_protocol::{Answer, NextStep, answer};

use super::{Entered, Passage};
use crate::admission::{ClientRequest, Refusal, Request};
use crate::pending::{NotEntered, Unavailable};
use crate::wording::{self, Expects};

impl Passage<'_> {
    /// Gives the client its one answer; not if what was held has had one, or wants none any more.
    fn answer(&self, key: &IdKey, line: Vec<u8>) {
        if self.ticket.is_none_or(|ticket| self.relay.pending.release(key, ticket)) {
            self.relay.to_client.post(line);
        }
    }

    pub(crate) fn refuse(&mut self, request: &ClientRequest<'_>, refusal: &Refusal) {
        let call = self.admission.refuse(&request.request, refusal);
        let Refusal { decision, rule, reason, next, .. } = refusal;
        let line = match decision {
            // Exactly what this server says of something that it does not have.
            Decision::Hidden => self.unknown(request),
            _ if refusal.is_by_default() && self.is_absent(&request.request) => self.unknown(request),
            Decision::Asked => wording::pending(&request.key, reason, next, &call.id().to_string(), rule),
            _ => {
                let at = (&*call.id().to_string(), rule.as_str());
                wording::refusal(request.request.expects, &request.key, reason, next, at)
            }
        };
        self.answer(&request.key, line);
    }

    /// The same with this answer, which asks the client to put the question.
    pub(crate) fn ask_in_answer(&mut self, request: &ClientRequest<'_>, refusal: &Refusal, line: Vec<u8>) {
        self.admission.refuse(&request.request, refusal);
        self.answer(&request.key, line);
    }

    fn unknown(&self, request: &ClientRequest<'_>) -> Vec<u8> {
        let Request { method, name, params, .. } = &request.request;
        let (answers, key, stateless) =
            (&self.relay.unknown_answers, &request.key, request.request.is_stateless());
        match (Thing::used_by(method), completion_ref(*params)) {
            (Some(thing), _) => answers.answer(thing, key, name, stateless),
            (None, Ok(Ref::Prompt(name))) => answers.completion(Thing::Prompt, key, &name, stateless),
            (None, Ok(Ref::Resource(uri))) => answers.completion(Thing::Resource, key, &uri, stateless),
            (None, _) => answers.answer(Thing::Resource, key, name, stateless),
        }
    }

    /// Is it known not to exist? Told otherwise than what is hidden, what nothing speaks for would tell what that is.
    fn is_absent(&self, request: &Request<'_>) -> bool {
        let relay = self.relay;
        match Thing::used_by(request.method) {
            Some(Thing::Tool) => {
                if relay.listed.load(Ordering::Relaxed) {
                    relay.tools.await_first_list();
                }
                relay.tools.lacks(&request.name)
            }
            Some(thing) => relay.lists.names(thing).is_some_and(|names| !names.may_have(&request.name)),
            None => false,
        }
    }

    /// Does the answer to this refusal of a tool depend on a list that is just being read?
    pub(super) fn awaits_first_list(&self, request: &Request<'_>, refusal: &Refusal) -> bool {
        refusal.is_by_default()
            && request.is_tool_call()
            && self.relay.listed.load(Ordering::Relaxed)
            && self.relay.tools.reads_first_list()
    }

    /// There is no server that could be asked.
    pub(super) fn refuse_stopped(&mut self, request: &ClientRequest<'_>, why: &Unavailable) {
        let (decision, rule) = (Decision::Stopped, why.rule.to_owned());
        let (keep, next) = (self.admission.keep(&request.request), why.next.clone());
        self.refuse(request, &Refusal { decision, rule, reason: why.reason.to_string(), keep, next });
    }

    /// Its client gave it up while it was held: on record, and answered by nobody.
    pub(crate) fn note_given_up(&mut self, request: &Request<'_>) {
        if !request.is_passive() {
            let (decision, rule) = (Decision::Stopped, "(cancelled)".to_owned());
            let reason = "the client cancelled the call while it waited; the server never saw it".to_owned();
            let (keep, next) = (self.admission.keep(request), NextStep::AsSaid);
            self.admission.refuse(request, &Refusal { decision, rule, reason, keep, next });
        }
    }

    /// Answers what is not recorded when it passes, while there is no server; with the `lists` of the last one, or without.
    pub(super) fn without_server(&mut self, request: &ClientRequest<'_>, reason: &str, lists: bool) {
        if let Err(refusal) = self.admission.judge(&request.request) {
            return self.refuse(request, &refusal);
        }
        let relay = self.relay;
        let list = request.list();
        let known = match list {
            Some(list) if lists => relay.last_list(list, request.cursor(), &request.key),
            Some(_) => None,
            None => (request.request.method == "ping").then(|| answer::empty(&request.key)),
        };
        if let (Some(list), None) = (list, &known) {
            relay.lists.owe(list);
        }
        let refused = || answer::error(Some(&request.key), wording::REFUSED, &format!("Callgate: {reason}"));
        self.answer(&request.key, known.unwrap_or_else(refused));
    }

    pub(super) fn not_entered(&mut self, key: &IdKey, method: &str, why: &NotEntered) {
        match why {
            NotEntered::Closed(reason) => self.unanswered(key, method, reason, &NextStep::TellUser),
            NotEntered::Stopped(Unavailable { reason, next, .. }) => {
                self.unanswered(key, method, reason, next);
            }
            NotEntered::Starting(_) | NotEntered::Idle | NotEntered::Stale => {
                self.unanswered(key, method, wording::RESTARTING, &NextStep::CallAgain);
            }
            NotEntered::IdInUse => {
                let reason = "the id belongs to a request that is not answered yet";
                self.refuse_malformed(Some(method), &Answer::To(key.clone()), reason);
            }
            NotEntered::TooMany => {
                let reason = "too many requests wait for an answer";
                self.refuse_malformed(Some(method), &Answer::To(key.clone()), reason);
            }
            NotEntered::GivenUp => {}
        }
    }

    pub(super) fn unanswered(&self, key: &IdKey, method: &str, reason: &str, next: &NextStep) {
        if let Some(list) = List::requested_by(method) {
            self.relay.lists.owe(list);
        }
        self.answer(key, wording::unanswered(Expects::for_method(method), key, reason, next, None));
    }

    /// A call that was let through, and is not forwarded because it could not be recorded.
    pub(super) fn unrecorded(&self, lost: &Entered, call: &CallRef, cause: &str) {
        let (reason, call) = (wording::unrecorded(cause), call.id().to_string());
        let at = (call.as_str(), "(record)");
        self.answer(&lost.id, wording::refusal(lost.expects, &lost.id, &reason, &NextStep::TellUser, at));
    }

    pub(crate) fn refuse_malformed(&mut self, method: Option<&str>, answer: &Answer, reason: &str) {
        let client = self.relay.client.name();
        self.admission.batch.refuse(CallEntry {
            decision: Decision::Malformed,
            method: method.unwrap_or(""),
            client: &client,
            reason,
            policy: self.admission.rules.policy.version(),
            ..CallEntry::default()
        });
        if let Answer::To(id) = answer {
            let text = format!("Callgate: {reason}");
            self.relay.to_client.post(answer::error(Some(id), wording::INVALID_REQUEST, &text));
        }
    }

    /// For messages that get no answer.
    pub(super) fn drop_silently(&mut self, method: Option<&str>, reason: &str) {
        self.refuse_malformed(method, &Answer::Nobody, reason);
    }
}

//! Requests of the server to its client: sampling, elicitation, roots. Judged, counted and recorded like a call.
//!
//! Servers ask by requests of their own, and since 2026-07-28 inside results; both come here.

use std::borrow::Cow;
use std::time::Instant;

use callgate_journal::{CallRef, Decision, Outcome};
use callgate_policy::Keep;
use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::input::{InputRequest, input_requests, required_elicitations};
use callgate_protocol::json::Raw;
use callgate_protocol::message::{Incoming, Message, Outcome as Reply, Side, read};
use callgate_protocol::method::is_for_servers;
use callgate_protocol::{Cause, NextStep, answer};

use super::FromServer;
use super::delivery::{Delivery, LineSpan};
use crate::admission::{Admission, Evidence, Obstacle, Refusal, Request};
use crate::relay::{OWN_IDS, Relay};
use crate::server_requests::ServerRequest;
use crate::wording;

impl Relay {
    /// Is there any rule about what servers ask? (Looking for requests inside results costs a look at each result.)
    fn judges_server_requests(&self) -> bool {
        self.rule_source.last().policy.judges_asks(&self.client.name())
    }

    /// Lets a request of the server through to the client, or says why not. Its row, if it is one that is recorded.
    fn admit_server_request(&self, request: &Request<'_>) -> Result<Option<CallRef>, Refusal> {
        let mut admission = Admission::new(self);
        let admitted = match request.is_passive() {
            true => admission.judge(request).map(|_| None),
            // No line for the server: this one is for the client, and goes when its row is safe.
            false => match admission.admit(request, &Evidence::default(), b"") {
                Ok(call) => Ok(Some(call)),
                Err(Obstacle::Refused(refusal) | Obstacle::Asks(refusal)) => Err(refusal),
                // Only tools have schemas.
                Err(Obstacle::Needs(_)) => Err(unusable("nothing is known of its arguments".to_owned())),
            },
        };
        if let Err(refusal) = &admitted {
            admission.refuse(request, refusal);
        }
        match admission.commit().unrecorded.first() {
            None => admitted,
            Some((_, error)) => Err(Refusal::unrecorded(&error.to_string(), Keep::Full)),
        }
    }
}

/// A request that cannot be judged.
fn unusable(reason: String) -> Refusal {
    let (decision, rule) = (Decision::Malformed, "(server's request)".to_owned());
    Refusal { decision, rule, reason, keep: Keep::Full, next: NextStep::AskUser }
}

/// The server has the direction wrong, or hopes that we have.
fn wrong_way(method: &str) -> String {
    format!("a server cannot ask for {method}")
}

impl FromServer<'_> {
    /// Does the server take back what the gate asks the client for?
    pub(super) fn takes_back_ours(&self, params: Option<Raw<'_>>) -> bool {
        let id = params.and_then(|params| params.get("requestId")).and_then(|id| Id::read(id).ok());
        id.is_some_and(|id| id.as_key().begins_with(OWN_IDS))
    }

    /// The server no longer wants what it asked for: its id and its place are free again. The line for the client, where it
    /// knows the request by another id.
    pub(super) fn taken_back(&self, params: Option<Raw<'_>>) -> Option<Vec<u8>> {
        let own =
            params.and_then(|params| params.get("requestId")).and_then(|id| Id::read(id).ok())?.as_key();
        let (request, shown) = self.relay.server_requests.take_back(&own)?;
        if let Some(call) = request.call {
            self.relay.journal.settle_one(&call, Outcome::Cancelled);
        }
        (shown != own).then(|| {
            let reason = params.and_then(|params| params.get("reason")).and_then(Raw::as_str);
            answer::cancelled(&shown, &reason.unwrap_or_default())
        })
    }

    /// A request of the server's own, on its way to the client.
    pub(super) fn request<'c>(
        &self,
        out: &mut Delivery<'c>,
        message: &Message<'c>,
        (id, method, params): (&Id<'c>, &str, Option<Raw<'c>>),
        place: Option<LineSpan>,
    ) {
        let own = id.as_key();
        let call = match self.admitted(&own, method, params) {
            Ok(call) => call,
            Err((code, reason)) => {
                out.skip(place);
                let text = format!("Callgate: {reason}");
                return self.pipe.post(answer::error(Some(&own), code, &text));
            }
        };
        let request = ServerRequest { call, since: Instant::now(), own };
        match self.relay.server_requests.enter(request, self.pipe.generation) {
            Ok(None) => self.deliver(out, message, place),
            Ok(Some(shown)) => {
                out.skip(place);
                let renamed = message.with_id(&shown);
                let stripped = match read(Side::Server, &renamed) {
                    Incoming::One(message) => self.relay.strip(&message),
                    Incoming::Blank | Incoming::Batch(_) | Incoming::Bad(_) => None,
                };
                out.append(&stripped.unwrap_or(renamed));
            }
            Err(late) => {
                out.skip(place);
                if let Some(call) = late.call {
                    self.relay.journal.settle_one(&call, Outcome::NotDelivered);
                }
            }
        }
    }

    /// Its row, if it is one that is recorded; else what the server hears, as code and text.
    fn admitted(
        &self,
        own: &IdKey,
        method: &str,
        params: Option<Raw<'_>>,
    ) -> Result<Option<CallRef>, (i64, String)> {
        if own.begins_with(OWN_IDS) {
            let reason = format!("ids that begin with {OWN_IDS:?} belong to the gate");
            return Err((wording::INVALID_REQUEST, reason));
        }
        if !self.relay.server_requests.has_room(own) {
            let reason = "the id belongs to a request that is not answered yet";
            return Err((wording::INVALID_REQUEST, reason.to_owned()));
        }
        if is_for_servers(method) {
            return Err((wording::METHOD_NOT_FOUND, wrong_way(method)));
        }
        if let Some(capability) = self.relay.withheld_capability(method) {
            let reason = format!("it belongs to the capability {capability:?}, which the client did not get");
            return Err((wording::METHOD_NOT_FOUND, reason));
        }
        let rpc_id = own.to_lexeme();
        let request = Request::for_method(method, params, &rpc_id);
        self.relay.admit_server_request(&request).map_err(|refusal| (wording::REFUSED, refusal.reason))
    }

    /// Requests that the server makes inside something else (since 2026-07-28): each is judged like one that it makes by
    /// itself. Only looked for where there are rules about them.
    fn inside(&self, requests: Result<Vec<InputRequest<'_>>, Cause>) -> Result<(), Refusal> {
        let requests =
            requests.map_err(|cause| unusable(format!("the server's answer cannot be used: {cause}")))?;
        for InputRequest { method, params, .. } in requests {
            if is_for_servers(&method) {
                return Err(unusable(wrong_way(&method)));
            }
            // What the client answers comes as a new call, so nothing more will be known of this one.
            if let Some(call) = self.relay.admit_server_request(&Request::for_method(&method, params, ""))? {
                self.relay.journal.settle_one(&call, Outcome::Ok);
            }
        }
        Ok(())
    }

    /// What the server asks for in news of a task, if anything here speaks of such requests.
    pub(super) fn requests_in_task(&self, params: Raw<'_>) -> Result<(), Refusal> {
        if self.relay.judges_server_requests() { self.inside(input_requests(params)) } else { Ok(()) }
    }

    /// What the server asks for in an answer, if anything here speaks of such requests.
    pub(super) fn requests_in(&self, reply: Reply<'_>) -> Result<(), Refusal> {
        if !self.relay.judges_server_requests() {
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
}

//! Requests as they are judged: what the rules and the record see of one, and what else a client's has.

use std::borrow::Cow;

use callgate_home::Seal;
use callgate_policy::Call;
use callgate_protocol::Cause;
use callgate_protocol::digest::digest;
use callgate_protocol::form::{QUESTION, can_show};
use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::List;
use callgate_protocol::message::Message;
use callgate_protocol::method::{Class, class};

use crate::approvals::STATE_BEGIN;
use crate::wording::Expects;

/// Arguments larger than this are not summed up when they are refused, so that such a call cannot be allowed by itself.
const DIGESTED: usize = 8 << 20;

/// How long a cursor is at most that a page of a list is remembered under.
const MOST_CURSOR: usize = 4096;

/// A request, of the client or of the server, as far as it is judged and recorded.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// What it names: a tool, a URI, a prompt; empty when nothing is named.
    pub(crate) name: Cow<'a, str>,
    pub(crate) args: Option<Raw<'a>>,
    pub(crate) params: Option<Raw<'a>>,
    /// The id as it is written; empty if it has none.
    pub(crate) rpc_id: Cow<'a, str>,
    pub(crate) expects: Expects,
}

/// A request of the client, with the message that it came in.
pub(crate) struct ClientRequest<'a> {
    pub(crate) key: IdKey,
    pub(crate) message: &'a Message<'a>,
    pub(crate) request: Request<'a>,
}

impl<'a> Request<'a> {
    /// One that names nothing, such as those of a server.
    pub(crate) fn for_method(method: &'a str, params: Option<Raw<'a>>, rpc_id: &'a str) -> Request<'a> {
        let (name, rpc_id) = (Cow::Borrowed(""), Cow::Borrowed(rpc_id));
        Request { method, name, args: params, params, rpc_id, expects: Expects::Anything }
    }

    pub(crate) fn is_tool_call(&self) -> bool {
        self.expects == Expects::ToolResult
    }

    /// Is it judged, but neither counted nor recorded when it passes? Handshake, lists, pings.
    pub(crate) fn is_passive(&self) -> bool {
        class(self.method) == Class::Passive
    }

    pub(crate) fn as_call<'c>(&'c self, client: &'c str) -> Call<'c> {
        match self.expects {
            Expects::ToolResult => Call::tool(client, &self.name, self.args),
            Expects::Anything => Call::method(client, self.method, self.args),
        }
    }

    /// Does its client show forms, as it says with a request without a handshake?
    pub(crate) fn shows_forms(&self) -> bool {
        let meta = self.params.and_then(|params| params.get("_meta"));
        can_show(meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities")))
    }

    /// The state of ours that it brings, if it was answered with a question before.
    pub(crate) fn own_state(&self) -> Option<Cow<'a, str>> {
        own_state(self.params?.get("requestState"))
    }

    /// Does it answer a question of its server?
    pub(crate) fn answers_server(&self) -> bool {
        let has = |name| self.params.is_some_and(|params| params.get(name).is_some());
        self.own_state().is_none() && (has("requestState") || has("inputResponses"))
    }

    /// What a sentence about it names.
    pub(crate) fn subject(&self) -> &str {
        if self.name.is_empty() { self.method } else { &self.name }
    }

    /// Of tool calls that are not too large, sealed.
    pub(crate) fn digest(&self, seal: Option<&Seal>) -> Option<[u8; 32]> {
        let size = self.args.map_or(0, |args| args.text().len());
        let seal = seal.filter(|_| self.is_tool_call() && size <= DIGESTED)?;
        Some(seal.seal(digest(&self.name, self.args).as_bytes()))
    }

    /// What a request of our own has to say about protocol and client: what the client says of itself.
    pub(crate) fn own_meta(&self) -> String {
        let meta = self.params.and_then(|params| params.get("_meta"));
        let mut members = Vec::new();
        for name in ["protocolVersion", "clientInfo", "clientCapabilities"] {
            let key = format!("io.modelcontextprotocol/{name}");
            if let Some(value) = meta.and_then(|meta| meta.get(&key)) {
                members.push(format!("\"{key}\":{}", value.text()));
            }
        }
        if members.is_empty() { String::new() } else { format!("{{{}}}", members.join(",")) }
    }

    /// Does it speak the revision without a handshake?
    pub(crate) fn is_stateless(&self) -> bool {
        let meta = self.params.and_then(|params| params.get("_meta"));
        meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some())
    }
}

impl<'a> ClientRequest<'a> {
    pub(crate) fn new(
        message: &'a Message<'a>,
        key: IdKey,
        method: &'a str,
        params: Option<Raw<'a>>,
    ) -> Result<ClientRequest<'a>, Cause> {
        let expects = Expects::for_method(method);
        let (name, args) = match expects {
            Expects::ToolResult => {
                let call = message.tool_call()?;
                (call.name, call.arguments)
            }
            Expects::Anything if class(method) == Class::Passive => (Cow::Borrowed(""), params),
            Expects::Anything => (named(method, params), params),
        };
        let rpc_id = Cow::Owned(key.to_lexeme().into_owned());
        Ok(ClientRequest { key, message, request: Request { method, name, args, params, rpc_id, expects } })
    }

    /// Of a request for a further page of a list: as it is written, so that no two are taken for one. Of one that is too long
    /// to be remembered, nothing.
    pub(crate) fn cursor(&self) -> Option<&'a str> {
        let text = self.request.params?.get("cursor")?.text();
        Some(if text.len() <= MOST_CURSOR { text } else { "" })
    }

    /// As its server is to get it: what was answered to us is not for the server.
    pub(crate) fn line(&self) -> Cow<'a, [u8]> {
        match own_state(self.message.request_state()) {
            Some(_) => Cow::Owned(self.message.without_input()),
            None => self.message.wire(),
        }
    }

    /// Does it bring an answer to a question of ours without the state that belongs to it?
    pub(crate) fn is_stray_answer(&self) -> bool {
        let answers = |responses: Raw<'_>| responses.get(QUESTION).is_some();
        own_state(self.message.request_state()).is_none()
            && self.message.input_responses().is_some_and(answers)
    }

    pub(crate) fn list(&self) -> Option<List> {
        List::requested_by(self.request.method)
    }

    /// What the server names when it tells of progress.
    pub(crate) fn progress_token(&self) -> Option<IdKey> {
        let token = self.request.params?.get("_meta")?.get("progressToken")?;
        Id::read(token).ok().map(|token| token.as_key())
    }
}

fn own_state(state: Option<Raw<'_>>) -> Option<Cow<'_, str>> {
    state.and_then(Raw::as_str).filter(|state| state.starts_with(STATE_BEGIN))
}

/// What a request beside `tools/call` is about, for the record.
fn named<'a>(method: &str, params: Option<Raw<'a>>) -> Cow<'a, str> {
    let member = match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "prompts/get" => "name",
        _ if method.starts_with("tasks/") => "taskId",
        _ => return Cow::Borrowed(""),
    };
    params.and_then(|params| params.get(member)).and_then(Raw::as_str).unwrap_or_default()
}

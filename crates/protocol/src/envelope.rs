//! The envelope of one message: gathered during the scan, then judged as a whole.
//!
//! Knows what makes a JSON-RPC message unambiguous; does not know what the message is for.

use std::ops::Range;

use crate::{
    call::{Parts, RESPONSES, STATE},
    cause::{Answer, Cause},
    fold,
    id::Id,
    json::{JsonError, Kind, Raw, Sink, decode},
    message::{Body, Outcome, Side},
    method::{self, MethodStatus},
};

const RESERVED: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
const RESERVED_PARAMS: [&str; 17] = [
    "name",
    "arguments",
    "_meta",
    "task",
    "uri",
    "cursor",
    "ref",
    "argument",
    "taskId",
    RESPONSES,
    STATE,
    "level",
    "notifications",
    "tools",
    "toolChoice",
    "mode",
    "url",
];

/// Which reserved member the scan is in: an index into [`RESERVED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

/// The member of some method's params that a lenient reader could take this other one for.
pub(crate) fn param_look_alike(key: &str) -> Option<&'static str> {
    if RESERVED_PARAMS.contains(&key) { None } else { fold::resembles(key, &RESERVED_PARAMS) }
}

type Span = Option<Range<usize>>;

#[derive(Debug)]
pub(crate) struct Envelope {
    slot: Slot,
    spans: [Span; RESERVED.len()],
    /// Members that some reader takes for the id.
    ids: usize,
    /// Members that some reader takes for the method.
    methods: usize,
    look_alike: Option<&'static str>,
    param: Option<Param>,
    params: ParamSpans,
    /// `isError` in the result.
    is_error: Span,
    /// `_meta` in params or result.
    meta: Span,
    param_look_alike: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum Param {
    Name,
    Arguments,
    Task,
    State,
    Responses,
    Meta,
    /// Of a result.
    IsError,
}

#[derive(Debug, Default)]
struct ParamSpans {
    name: Span,
    arguments: Span,
    task: Span,
    state: Span,
    responses: Span,
}

impl Sink for Envelope {
    const DEPTH: usize = 2;

    #[inline]
    fn key(&mut self, depth: usize, key: &str, escaped: bool) {
        if escaped {
            let (key, _) = decode(key);
            self.hear(depth, &key);
        } else {
            self.hear(depth, key);
        }
    }

    #[inline]
    fn value(&mut self, depth: usize, span: Range<usize>) {
        if depth == 1 {
            if let Some(slot) = self.spans.get_mut(self.slot as usize) {
                *slot = Some(span);
            }
        } else if let Some(param) = self.param.take() {
            let slot = match param {
                Param::Name => &mut self.params.name,
                Param::Arguments => &mut self.params.arguments,
                Param::Task => &mut self.params.task,
                Param::State => &mut self.params.state,
                Param::Responses => &mut self.params.responses,
                Param::Meta => &mut self.meta,
                Param::IsError => &mut self.is_error,
            };
            *slot = Some(span);
        }
    }
}

impl Envelope {
    pub(crate) fn new() -> Envelope {
        Envelope {
            slot: Slot::Other,
            spans: [const { None }; RESERVED.len()],
            ids: 0,
            methods: 0,
            look_alike: None,
            param: None,
            params: ParamSpans::default(),
            is_error: None,
            meta: None,
            param_look_alike: None,
        }
    }

    #[inline]
    fn hear(&mut self, depth: usize, key: &str) {
        if depth == 1 {
            self.slot = match key {
                "jsonrpc" => Slot::Version,
                "id" => Slot::Id,
                "method" => Slot::Method,
                "params" => Slot::Params,
                "result" => Slot::Result,
                "error" => Slot::Error,
                _ => {
                    if let Some(reserved) = fold::resembles(key, &RESERVED) {
                        self.ids += (reserved == "id") as usize;
                        self.methods += (reserved == "method") as usize;
                        self.look_alike = Some(reserved);
                    }
                    Slot::Other
                }
            };
            self.ids += (self.slot == Slot::Id) as usize;
            self.methods += (self.slot == Slot::Method) as usize;
        } else if self.slot == Slot::Params {
            self.param = match key {
                "name" => Some(Param::Name),
                "arguments" => Some(Param::Arguments),
                "task" => Some(Param::Task),
                STATE => Some(Param::State),
                RESPONSES => Some(Param::Responses),
                "_meta" => Some(Param::Meta),
                _ => {
                    if let Some(reserved) = param_look_alike(key) {
                        self.param_look_alike = Some(reserved);
                    }
                    None
                }
            };
        } else if self.slot == Slot::Result {
            self.param = match key {
                "isError" => Some(Param::IsError),
                "_meta" => Some(Param::Meta),
                _ => None,
            };
        }
    }

    fn has(&self, slot: Slot) -> bool {
        self.spans[slot as usize].is_some()
    }

    fn raw<'a>(&self, text: &'a str, slot: Slot) -> Option<Raw<'a>> {
        cut(text, &self.spans[slot as usize])
    }

    /// Where the outcome of a response stands in its text.
    pub(crate) fn outcome_span(&self) -> Range<usize> {
        self.spans[Slot::Result as usize].clone().or(self.spans[Slot::Error as usize].clone()).unwrap_or(0..0)
    }

    /// Where the `_meta` of a result, or of params, stands in the text.
    pub(crate) fn meta_span(&self) -> Option<Range<usize>> {
        self.meta.clone()
    }

    pub(crate) fn tool_failed(&self, text: &str) -> bool {
        cut(text, &self.is_error).and_then(Raw::as_bool) == Some(true)
    }

    pub(crate) fn call_parts<'a>(&self, text: &'a str) -> Parts<'a> {
        Parts {
            name: cut(text, &self.params.name),
            arguments: cut(text, &self.params.arguments),
            task: cut(text, &self.params.task),
            state: cut(text, &self.params.state),
            responses: cut(text, &self.params.responses),
        }
    }

    /// The one method that every reader finds in it.
    pub(crate) fn method(&self, text: &str) -> Option<Box<str>> {
        let method = self.raw(text, Slot::Method).filter(|_| self.methods == 1)?;
        method.as_str().map(|method| method.into())
    }

    /// Who waits because of this message, if it is refused.
    pub(crate) fn answer(&self, side: Side, text: &str) -> Answer {
        let asks = self.has(Slot::Method);
        let replies = self.has(Slot::Result) || self.has(Slot::Error);
        // A message that is both is what its writer mostly writes: a client asks, a server replies.
        let is_reply = replies && (!asks || side == Side::Server);
        if self.ids == 1
            && let Some(raw) = self.raw(text, Slot::Id)
        {
            match Id::read(raw) {
                Ok(id) if is_reply => Answer::Settles(id.as_key()),
                Ok(id) => Answer::To(id.as_key()),
                // Without an id that could be echoed a reply helps nobody; null is how some spell a notification.
                Err(Cause::IdNull) => Answer::Nobody,
                Err(_) if is_reply => Answer::Nobody,
                Err(_) => Answer::Unaddressed,
            }
        } else if is_reply || asks && self.ids == 0 {
            Answer::Nobody
        } else {
            Answer::Unaddressed
        }
    }

    pub(crate) fn judge<'a>(
        &self,
        side: Side,
        text: &'a str,
        flaw: Option<JsonError>,
    ) -> Result<Body<'a>, Cause> {
        if let Some(flaw) = flaw {
            return Err(Cause::Flawed(flaw));
        }
        if let Some(reserved) = self.look_alike {
            return Err(Cause::LookAlike(reserved));
        }
        match self.raw(text, Slot::Version) {
            Some(version) if version.text() == r#""2.0""# || version.as_str().as_deref() == Some("2.0") => {}
            _ => return Err(Cause::Version),
        }
        match self.raw(text, Slot::Method) {
            Some(method) => self.question(side, text, method),
            None => self.reply(text),
        }
    }

    fn question<'a>(&self, side: Side, text: &'a str, method: Raw<'a>) -> Result<Body<'a>, Cause> {
        if self.has(Slot::Result) || self.has(Slot::Error) {
            return Err(Cause::BothKinds);
        }
        let id = self.raw(text, Slot::Id).map(Id::read).transpose()?;
        let method = method.as_str().ok_or(Cause::MethodKind)?;
        let params = self.raw(text, Slot::Params);
        let params = match params.map(Raw::kind) {
            None | Some(Kind::Object) => params,
            Some(Kind::Null) if side == Side::Server => None,
            Some(_) => return Err(Cause::ParamsKind),
        };
        let guarded = match method::status(&method) {
            MethodStatus::NearMiss(known) => return Err(Cause::NearMiss(known)),
            MethodStatus::Exact => true,
            MethodStatus::Other => false,
        };
        if guarded && let Some(reserved) = self.param_look_alike {
            return Err(Cause::ParamLookAlike(reserved));
        }
        match id {
            Some(id) => Ok(Body::Request { id, method, params }),
            // Some servers would run it, and no answer could be matched to it.
            None if guarded => Err(Cause::NeedsId),
            None => Ok(Body::Notification { method, params }),
        }
    }

    fn reply<'a>(&self, text: &'a str) -> Result<Body<'a>, Cause> {
        let outcome = match (self.raw(text, Slot::Result), self.raw(text, Slot::Error)) {
            (Some(_), Some(_)) => return Err(Cause::BothOutcomes),
            (Some(result), None) => Outcome::Result(result),
            (None, Some(error)) if error.kind() == Kind::Object => Outcome::Error(error),
            (None, Some(_)) => return Err(Cause::ErrorKind),
            (None, None) => return Err(Cause::NoKind),
        };
        if self.has(Slot::Params) {
            return Err(Cause::BothKinds);
        }
        let id = Id::read(self.raw(text, Slot::Id).ok_or(Cause::NoId)?)?;
        Ok(Body::Response { id, outcome })
    }
}

fn cut<'a>(text: &'a str, span: &Span) -> Option<Raw<'a>> {
    span.clone().map(|span| Raw::checked(&text[span]))
}

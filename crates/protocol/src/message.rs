//! One line from one side, read strictly: a message, a batch of messages, or a refusal.

use std::{borrow::Cow, ops::Range};

use crate::{
    call::{self, Parts, ToolCall},
    cause::{Answer, Cause, Malformed},
    envelope::Envelope,
    id::{Id, IdKey},
    json::{Duplicates, Raw, compact_text, is_safe, scan, structure, write_string},
};

/// Most messages in one batch. A batch of nothing but numbers would otherwise cost a hundred times its size.
pub const MAX_BATCH: usize = 4096;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Who wrote the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Client,
    Server,
}

#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// Nothing but blanks: no message, no answer.
    Blank,
    One(Message<'a>),
    /// Never forwarded as an array: each element is judged and sent alone.
    Batch(Vec<Result<Message<'a>, Malformed>>),
    Bad(Malformed),
}

/// An unambiguous JSON-RPC message inside the line that it came in.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub body: Body<'a>,
    text: &'a str,
    /// The text may be forwarded as it is.
    safe: bool,
    parts: Parts<'a>,
    outcome: Range<usize>,
    meta: Option<Range<usize>>,
    tool_failed: bool,
}

#[derive(Clone, Debug)]
pub enum Body<'a> {
    Request { id: Id<'a>, method: Cow<'a, str>, params: Option<Raw<'a>> },
    Notification { method: Cow<'a, str>, params: Option<Raw<'a>> },
    Response { id: Id<'a>, outcome: Outcome<'a> },
}

#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    Result(Raw<'a>),
    Error(Raw<'a>),
}

/// Reads a line without its LF. Blanks and CR at both ends are dropped.
pub fn read(side: Side, line: &[u8]) -> Incoming<'_> {
    let mut bytes = trim(line);
    if side == Side::Server
        && let Some(rest) = bytes.strip_prefix(BOM)
    {
        bytes = trim(rest);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok("") => return Incoming::Blank,
        Ok(text) => text,
        Err(error) => {
            return Incoming::Bad(Malformed::unaddressed(Cause::Utf8 { offset: error.valid_up_to() }));
        }
    };
    let safe = is_safe(bytes);
    if text.starts_with('[') {
        return batch(side, text, safe);
    }
    match one(side, text, safe) {
        Ok(message) => Incoming::One(message),
        Err(malformed) => Incoming::Bad(malformed),
    }
}

/// The line with each invalid byte sequence replaced by U+FFFD; `None` if it is valid UTF-8 already.
///
/// For a server's line only: its answer then still reaches the client, and well-formed. A client's line with invalid
/// bytes is refused, because what the server would make of them is not known.
pub fn repair(line: &[u8]) -> Option<Vec<u8>> {
    // Nearly every line is valid, and a plain check is many times faster than the search for what to replace.
    match std::str::from_utf8(line) {
        Ok(_) => None,
        Err(_) => Some(String::from_utf8_lossy(line).into_owned().into_bytes()),
    }
}

/// The id of the message that begins like this, for a line that is too long to be read whole.
///
/// Only for settling who waits: the bytes themselves are thrown away. Found when `id` stands before the long part, as
/// everybody we know writes it.
pub fn peek_id(head: &[u8]) -> Option<IdKey> {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let open =
        ["\"params\"", "\"result\"", "\"error\""].iter().filter_map(|member| valid.find(member)).min()?;
    // Closed before its long part, the beginning is a whole object of its own.
    let front = valid[..open].trim_end().strip_suffix(',')?;
    let closed = format!("{front}}}");
    Raw::parse(&closed).ok()?.get("id").and_then(|id| Id::read(id).ok()).map(|id| id.as_key())
}

fn one(side: Side, text: &str, safe: bool) -> Result<Message<'_>, Malformed> {
    let mut envelope = Envelope::new();
    let scan = scan(text, Duplicates::Find, &mut envelope)
        .map_err(|error| Malformed::unaddressed(Cause::Json(error)))?;
    if !text.starts_with('{') {
        return Err(Malformed::unaddressed(Cause::NotAnObject));
    }
    match envelope.judge(side, text, scan.flaw) {
        Ok(body) => Ok(Message {
            body,
            text,
            safe,
            parts: envelope.call_parts(text),
            outcome: envelope.outcome_span(),
            meta: envelope.meta_span(),
            tool_failed: envelope.tool_failed(text),
        }),
        Err(cause) => {
            Err(Malformed { cause, answer: envelope.answer(side, text), method: envelope.method(text) })
        }
    }
}

fn batch(side: Side, text: &str, safe: bool) -> Incoming<'_> {
    // Duplicates are each element's own affair, so that one bad element does not take the others with it.
    let bad = |cause| Incoming::Bad(Malformed::unaddressed(cause));
    match structure(text) {
        Err(error) => return bad(Cause::Json(error)),
        Ok(scan) => {
            if let Some(flaw) = scan.flaw {
                return bad(Cause::Flawed(flaw));
            }
        }
    }
    let elements: Vec<_> = Raw::checked(text).items().take(MAX_BATCH + 1).collect();
    match elements.len() {
        0 => bad(Cause::EmptyBatch),
        1..=MAX_BATCH => {
            Incoming::Batch(elements.into_iter().map(|element| one(side, element.text(), safe)).collect())
        }
        _ => bad(Cause::BatchTooLong { limit: MAX_BATCH }),
    }
}

fn trim(mut bytes: &[u8]) -> &[u8] {
    // Not `trim_ascii`: a form feed is no blank in JSON.
    while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] | [rest @ .., b' ' | b'\t' | b'\r' | b'\n'] = bytes {
        bytes = rest;
    }
    bytes
}

impl<'a> Message<'a> {
    /// As it was received: read again, it is the same message.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// What may be forwarded, without LF: the received bytes when every reader splits and reads them alike, else
    /// the same tokens written safely.
    pub fn wire(&self) -> Cow<'a, [u8]> {
        if self.safe {
            return Cow::Borrowed(self.text.as_bytes());
        }
        let mut out = Vec::new();
        compact_text(self.text.as_bytes(), &mut out);
        Cow::Owned(out)
    }

    /// The message with another value in place of its result or error, without LF; everything else as in
    /// [`wire`](Message::wire). A message that is not a response comes out as it is.
    pub fn with_outcome(&self, value: &[u8]) -> Vec<u8> {
        let Body::Response { .. } = self.body else { return self.wire().into_owned() };
        self.with(&self.outcome, value)
    }

    /// The message under another id, without LF; everything else as in [`wire`](Message::wire). A notification, which has
    /// none, comes out as it is.
    pub fn with_id(&self, id: &IdKey) -> Vec<u8> {
        let (Body::Request { id: own, .. } | Body::Response { id: own, .. }) = &self.body else {
            return self.wire().into_owned();
        };
        let start = own.lexeme().as_ptr().addr() - self.text.as_ptr().addr();
        self.with(&(start..start + own.lexeme().len()), id.to_lexeme().as_bytes())
    }

    /// The `_meta` of its params or its result. Found when it was read: to ask for it costs nothing, however long it is.
    pub fn meta(&self) -> Option<Raw<'a>> {
        self.meta.clone().map(|span| Raw::checked(&self.text[span]))
    }

    /// The message with another `_meta`, where it has one, without LF; everything else as in [`wire`](Message::wire).
    pub fn with_meta(&self, value: &str) -> Vec<u8> {
        match &self.meta {
            Some(span) => self.with(span, value.as_bytes()),
            None => self.wire().into_owned(),
        }
    }

    fn with(&self, span: &Range<usize>, value: &[u8]) -> Vec<u8> {
        let text = self.text.as_bytes();
        // With room for the LF.
        let mut line = Vec::with_capacity(text.len() - span.len() + value.len() + 1);
        for piece in [&text[..span.start], value, &text[span.end..]] {
            line.extend_from_slice(piece);
        }
        if is_safe(&line) {
            return line;
        }
        let mut out = Vec::new();
        compact_text(&line, &mut out);
        out
    }

    /// What the params say as a tools/call. As [`call::tool_call`], without walking the params again.
    pub fn tool_call(&self) -> Result<ToolCall<'a>, Cause> {
        match self.body {
            Body::Request { params: Some(_), .. } => call::from_parts(self.parts),
            _ => Err(Cause::NoParams),
        }
    }

    /// The state that a request brings along because it was answered with a question before.
    pub fn request_state(&self) -> Option<Raw<'a>> {
        self.parts.state
    }

    /// What it brings as the answers to that question.
    pub fn input_responses(&self) -> Option<Raw<'a>> {
        self.parts.responses
    }

    /// A request as if it had not been answered with a question before, without LF.
    pub fn without_input(&self) -> Vec<u8> {
        let Body::Request { params: Some(params), .. } = &self.body else { return self.wire().into_owned() };
        let mut left = b"{".to_vec();
        for (name, value) in
            params.members().filter(|(name, _)| ![call::STATE, call::RESPONSES].contains(&&**name))
        {
            if left.len() > 1 {
                left.push(b',');
            }
            write_string(&mut left, &name);
            left.push(b':');
            left.extend_from_slice(value.text().as_bytes());
        }
        left.push(b'}');
        let start = params.text().as_ptr().addr() - self.text.as_ptr().addr();
        self.with(&(start..start + params.text().len()), &left)
    }

    /// Whether this is a result in which a tool says that it failed (`isError`), without walking the result again.
    pub fn tool_failed(&self) -> bool {
        self.tool_failed
    }

    /// Who waits if this message is refused for a reason that lies outside of it.
    pub fn answer(&self) -> Answer {
        match &self.body {
            Body::Request { id, .. } => Answer::To(id.as_key()),
            Body::Notification { .. } => Answer::Nobody,
            Body::Response { id, .. } => Answer::Settles(id.as_key()),
        }
    }
}

#[cfg(test)]
mod meta_tests {
    use super::*;

    #[test]
    fn only_the_meta_of_params_or_result_is_found_and_exchanged() {
        for (line, found, other) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"_meta":{"a":1}}],"\u005fmeta":{"b":1e0},"n":1.50}}"#,
                Some(r#"{"b":1e0}"#),
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"_meta":{"a":1}}],"\u005fmeta":{},"n":1.50}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"n","params":{"_meta":{"c":1}}}"#,
                Some(r#"{"c":1}"#),
                r#"{"jsonrpc":"2.0","method":"n","params":{"_meta":{}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"_meta":1}"#,
                None,
                r#"{"jsonrpc":"2.0","id":1,"result":{},"_meta":1}"#,
            ),
        ] {
            let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { panic!("{line}") };
            assert_eq!(message.meta().map(Raw::text), found, "{line}");
            assert_eq!(String::from_utf8_lossy(&message.with_meta("{}")), other);
        }
    }
}

#[cfg(test)]
mod id_tests {
    use super::*;

    #[test]
    fn a_message_keeps_everything_but_its_id() {
        let Some(id) = IdKey::from_lexeme(r#""callgate/2-1""#) else { panic!() };
        for (line, renamed) in [
            (
                r#"{ "method":"x","id": 7 ,"params":{"id":7,"n":1.50}}"#,
                r#"{ "method":"x","id": "callgate/2-1" ,"params":{"id":7,"n":1.50}}"#,
            ),
            (r#"{"id":"7","result":{"id":"7"}}"#, r#"{"id":"callgate/2-1","result":{"id":"7"}}"#),
            (r#"{"method":"n","params":{"id":1}}"#, r#"{"method":"n","params":{"id":1}}"#),
        ] {
            let line = line.replacen('{', r#"{"jsonrpc":"2.0","#, 1);
            let renamed = renamed.replacen('{', r#"{"jsonrpc":"2.0","#, 1);
            let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { panic!("{line}") };
            assert_eq!(String::from_utf8_lossy(&message.with_id(&id)), renamed);
        }
    }
}

#[cfg(test)]
mod input_tests {
    use super::*;

    #[test]
    fn a_request_without_its_input_is_the_one_before_it() {
        for (params, state, left) in [
            (
                r#"{ "name":"x", "requestState":"s","arguments":{"requestState":1.0},"inputResponses":{"a":1},"_meta":{"b":[]}}"#,
                Some(r#""s""#),
                r#"{"name":"x","arguments":{"requestState":1.0},"_meta":{"b":[]}}"#,
            ),
            (r#"{"request\u0053tate":"s"}"#, Some(r#""s""#), "{}"),
            (r#"{"inputResponses":{},"n\u0061me":"x"}"#, None, r#"{"name":"x"}"#),
        ] {
            let line = |params: &str| {
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
            };
            let whole = line(params);
            let Incoming::One(message) = read(Side::Client, whole.as_bytes()) else { panic!("{params}") };
            assert_eq!(message.request_state().map(Raw::text), state, "{params}");
            assert_eq!(String::from_utf8_lossy(&message.without_input()), line(left));
        }
    }
}

#[cfg(test)]
mod peek_tests {
    use super::*;

    #[test]
    fn a_long_message_is_known_by_its_beginning() {
        for (head, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"xx"#, Some("7")),
            (r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"xx"#, Some("8")),
            (r#"{ "id" : "a" , "error":{"message":"xx"#, Some(r#""a""#)),
            (r#"{"result":{"id":7,"text":"xx"#, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"result":"x"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":"x"#, None),
            ("just noise", None),
        ] {
            assert_eq!(peek_id(head.as_bytes()).map(|id| id.to_string()).as_deref(), id, "{head}");
        }
    }
}

//! The lines that Callgate writes itself, without their LF.
//!
//! Every text is cleaned: it may quote a policy author, but a quote must not be able to move a cursor or a line.

use crate::{id::IdKey, json::write_string};

/// A refused tools/call: a result, not an error, because models are shown results.
/// `meta` names are written as given; they should begin with `callgate/`.
pub fn tool_refusal(id: &IdKey, text: &str, meta: &[(&str, &str)]) -> Vec<u8> {
    let mut out = opening(Some(id), 192 + text.len());
    out.extend_from_slice(br#","result":{"resultType":"complete","content":[{"type":"text","text":"#);
    write_string(&mut out, &clean(text));
    out.extend_from_slice(br#"}],"isError":true"#);
    for (place, (name, value)) in meta.iter().enumerate() {
        out.extend_from_slice(if place == 0 { br#","_meta":{"# } else { b"," });
        write_string(&mut out, &clean(name));
        out.push(b':');
        write_string(&mut out, &clean(value));
    }
    if !meta.is_empty() {
        out.push(b'}');
    }
    out.extend_from_slice(b"}}");
    out
}

/// A JSON-RPC error; without an id it is addressed to null.
pub fn error(id: Option<&IdKey>, code: i64, message: &str) -> Vec<u8> {
    let mut out = opening(id, 96 + message.len());
    out.extend_from_slice(br#","error":{"code":"#);
    out.extend_from_slice(code.to_string().as_bytes());
    out.extend_from_slice(br#","message":"#);
    write_string(&mut out, &clean(message));
    out.extend_from_slice(b"}}");
    out
}

/// A result that was given before, as JSON.
pub fn result(id: &IdKey, result: &str) -> Vec<u8> {
    let mut out = opening(Some(id), 48 + result.len());
    out.extend_from_slice(br#","result":"#);
    out.extend_from_slice(result.as_bytes());
    out.push(b'}');
    out
}

/// What says nothing but "I am here": the answer to a ping.
pub fn empty(id: &IdKey) -> Vec<u8> {
    let mut out = opening(Some(id), 48);
    out.extend_from_slice(br#","result":{}}"#);
    out
}

/// Nobody wants the answer to this request any more.
pub fn cancelled(id: &IdKey, reason: &str) -> Vec<u8> {
    let mut out = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#.to_vec();
    out.extend_from_slice(id.to_lexeme().as_bytes());
    out.extend_from_slice(br#","reason":"#);
    write_string(&mut out, &clean(reason));
    out.extend_from_slice(b"}}");
    out
}

/// A sign of life for a request, under the token that it came with.
pub fn progress(token: &IdKey, progress: f64, message: &str) -> Vec<u8> {
    let mut out =
        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#.to_vec();
    out.extend_from_slice(token.to_lexeme().as_bytes());
    out.extend_from_slice(format!(r#","progress":{progress},"message":"#).as_bytes());
    write_string(&mut out, &clean(message));
    out.extend_from_slice(b"}}");
    out
}

pub fn notification(method: &str) -> Vec<u8> {
    let mut out = br#"{"jsonrpc":"2.0","method":"#.to_vec();
    write_string(&mut out, &clean(method));
    out.push(b'}');
    out
}

pub(crate) fn opening(id: Option<&IdKey>, capacity: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(capacity);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    match id {
        Some(id) => out.extend_from_slice(id.to_lexeme().as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    out
}

/// Control characters become blanks, those that reorder text are dropped. Joiners stay: some scripts need them.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::message::{Body, Incoming, Side, read};

    fn text(line: Vec<u8>) -> String {
        assert!(matches!(read(Side::Server, &line), Incoming::One(_)));
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_refused_call_is_an_error_result() {
        let id = IdKey::from_lexeme(r#""\u0061""#).unwrap();
        let meta = [("callgate/rule", "/tools/danger"), ("callgate/decision", "deny")];
        assert_eq!(
            text(tool_refusal(&id, "Callgate: no.\u{1b}[2J\u{202e}\n\"x\"", &meta)),
            r#"{"jsonrpc":"2.0","id":"\u0061","result":{"resultType":"complete","content":[{"type":"text","text":"Callgate: no. [2J \"x\""}],"isError":true,"_meta":{"callgate/rule":"/tools/danger","callgate/decision":"deny"}}}"#
        );
        assert!(!text(tool_refusal(&id, "", &[])).contains("_meta"));
    }

    #[test]
    fn errors_carry_the_id_exactly() {
        let id = IdKey::from_lexeme("123456789012345678901234567890").unwrap();
        assert_eq!(
            text(error(Some(&id), -32602, "Unknown tool: x\ny")),
            r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"error":{"code":-32602,"message":"Unknown tool: x y"}}"#
        );
        let line = error(None, -32700, "Callgate: not JSON");
        assert_eq!(
            String::from_utf8(line).unwrap(),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Callgate: not JSON"}}"#
        );
    }

    #[test]
    fn an_empty_answer_and_a_cancellation_name_their_request() {
        let id = IdKey::from_lexeme("7").unwrap();
        assert_eq!(text(empty(&id)), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        assert_eq!(text(result(&id, r#"{"a":1}"#)), r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
        assert_eq!(
            text(cancelled(&id, "it\nended")),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"it ended"}}"#
        );
    }

    #[test]
    fn a_notification_has_only_a_method() {
        let line = notification("notifications/tools/list_changed");
        assert_eq!(line, br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        let Incoming::One(message) = read(Side::Server, &line) else { panic!() };
        assert!(matches!(message.body, Body::Notification { params: None, .. }));
    }
}

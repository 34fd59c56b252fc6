//! How a server answers a call of a tool that it does not have, so that a hidden one can be answered the same.
//!
//! A form is one line with two holes: for the id and for the name. It is the server's own, once such an answer was seen, else
//! that of the SDK which the server's handshake speaks like. Nothing is ever sent to find out.

use std::ops::Range;

use crate::id::IdKey;
use crate::json::{Kind, Raw, write_string};
use crate::message::{Body, Incoming, Outcome, Side, read};

/// Stand for the id and for the name. A line of JSON holds no such character as itself.
const ID: char = '\u{1}';
const NAME: char = '\u{2}';

/// Longer answers are not remembered: what is in them beside the name may be about that one call.
const LONGEST: usize = 1024;
/// A shorter name, or a shorter text among the arguments, may be part of anything.
const SHORTEST: usize = 3;

/// A line with a place for the id and one for the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTool(String);

/// What an answer was seen to.
#[derive(Clone, Copy, Debug)]
pub struct UnlistedCall<'a> {
    pub name: &'a str,
    pub args: Option<Raw<'a>>,
}

impl UnknownTool {
    /// The form that SDKs of this kind of server use, from the whole line that answered its handshake.
    pub fn usual(initialize: Option<&str>) -> UnknownTool {
        UnknownTool(dialect(initialize).form())
    }

    /// The same where there is no handshake, from a line of the server.
    pub fn usual_stateless(line: Option<&str>) -> UnknownTool {
        let form = match line.map(order) {
            Some(Order::ResultFirst) => Dialect::TypeScript2.form(),
            _ => stateless(),
        };
        UnknownTool(form)
    }

    /// The form of an answer to a call of a tool that the server does not list; none, if it is not told by the answer which
    /// part of it is the name, or if it speaks of more than the name. `listed`: is this a name that it lists?
    pub fn seen(line: &str, call: &UnlistedCall<'_>, listed: impl Fn(&str) -> bool) -> Option<UnknownTool> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || is_joining(c);
        if line.len() > LONGEST || call.name.len() < SHORTEST || !call.name.chars().all(is_plain) {
            return None;
        }
        let id = id_of_failure(line)?;
        let name = only_place(line, call.name)?;
        if id.contains(&name.start) || name.contains(&id.start) || line.contains([ID, NAME]) {
            return None;
        }
        let rest = format!("{} {}", &line[..name.start], &line[name.end..]);
        let names_listed = rest.split(|c| !is_plain(c)).any(|word| word.len() >= SHORTEST && listed(word));
        if names_listed || call.args.is_some_and(|args| repeats(&rest, args)) {
            return None;
        }
        let mut form = line.to_owned();
        let mut holes = [(id, ID), (name, NAME)];
        // From the back, so that the first stays where it is.
        holes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, hole) in holes {
            form.replace_range(range, &hole.to_string());
        }
        UnknownTool::from_text(&form)
    }

    /// As [`as_text`](Self::as_text) gave it. Anything that does not make a proper answer is none.
    pub fn from_text(text: &str) -> Option<UnknownTool> {
        let form = UnknownTool(text.to_owned());
        let once = |hole: char| text.matches(hole).count() == 1;
        let whole = text.len() <= LONGEST && once(ID) && once(NAME);
        let line = form.filled("1", "name");
        (whole && id_of_failure(&line).is_some()).then_some(form)
    }

    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// The answer to this request, without its LF.
    pub fn answer(&self, id: &IdKey, name: &str) -> Vec<u8> {
        let line = self.filled(&id.to_lexeme(), name);
        match read(Side::Server, line.as_bytes()) {
            Incoming::One(message) => message.wire().into_owned(),
            _ => UnknownTool(Dialect::Specification.form()).filled(&id.to_lexeme(), name).into_bytes(),
        }
    }

    fn filled(&self, id: &str, name: &str) -> String {
        let mut quoted = Vec::new();
        write_string(&mut quoted, name);
        let quoted = String::from_utf8_lossy(&quoted);
        let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
        self.0.replace(ID, id).replace(NAME, inner)
    }
}

/// Who a server's SDK is, as far as its answers to unknown tools differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// `McpServer` of the TypeScript SDK, version 1.
    TypeScript1,
    TypeScript2,
    /// `Server` of the TypeScript SDK, where each server has words of its own; these are the most common.
    TypeScriptPlain,
    Python1,
    Python2,
    /// FastMCP on either of the two before.
    FastMcp1,
    FastMcp2,
    /// As the specification has it.
    Specification,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    ResultFirst,
    VersionFirst,
}

fn order(line: &str) -> Order {
    let first = Raw::parse(line).ok().and_then(|line| line.members().next().map(|(name, _)| name));
    if first.as_deref() == Some("result") { Order::ResultFirst } else { Order::VersionFirst }
}

fn dialect(initialize: Option<&str>) -> Dialect {
    let Some(line) = initialize else { return Dialect::Specification };
    let result = Raw::parse(line).ok().and_then(|line| line.get("result"));
    let Some(result) = result else { return Dialect::Specification };
    let capability = |name: &str| result.get("capabilities").and_then(|all| all.get(name));
    let lists_change =
        capability("tools").and_then(|tools| tools.get("listChanged")).and_then(Raw::as_bool) == Some(true);
    if order(line) == Order::ResultFirst {
        return if lists_change { Dialect::TypeScript1 } else { Dialect::TypeScriptPlain };
    }
    // What Python's models write though it says nothing.
    let says_no =
        capability("resources").and_then(|resources| resources.get("subscribe")).and_then(Raw::as_bool)
            == Some(false);
    let first = result.members().next().map(|(name, _)| name);
    match (capability("experimental").is_some(), lists_change) {
        (true, false) => Dialect::Python1,
        (true, true) => Dialect::FastMcp1,
        (false, _) if first.as_deref() == Some("capabilities") => Dialect::Python2,
        (false, true) if says_no => Dialect::FastMcp2,
        (false, _) => Dialect::Specification,
    }
}

impl Dialect {
    fn form(self) -> String {
        let (open, close) = (format!(r#"{{"jsonrpc":"2.0","id":{ID},"#), "}");
        let type_first = |text: String| {
            format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}"#)
        };
        let text_first = |text: String| {
            format!(r#""result":{{"content":[{{"text":"{text}","type":"text"}}],"isError":true}}"#)
        };
        let error = |text: String| format!(r#""error":{{"code":-32602,"message":"{text}"}}"#);
        let result_first = |result: String| format!(r#"{{{result},"jsonrpc":"2.0","id":{ID}}}"#);
        match self {
            Dialect::TypeScript1 => {
                result_first(type_first(format!("MCP error -32602: Tool {NAME} not found")))
            }
            Dialect::TypeScriptPlain => result_first(type_first(format!("Unknown tool: {NAME}"))),
            Dialect::TypeScript2 => format!("{open}{}{close}", error(format!("Tool {NAME} not found"))),
            Dialect::Python1 => format!("{open}{}{close}", type_first(format!("Unknown tool: {NAME}"))),
            Dialect::Python2 => format!("{open}{}{close}", text_first(format!("Unknown tool: {NAME}"))),
            Dialect::FastMcp1 => format!("{open}{}{close}", type_first(format!("Unknown tool: '{NAME}'"))),
            Dialect::FastMcp2 => format!("{open}{}{close}", text_first(format!("Unknown tool: '{NAME}'"))),
            Dialect::Specification => format!("{open}{}{close}", error(format!("Unknown tool: {NAME}"))),
        }
    }
}

/// Of the revision without a handshake: every result says that it is whole.
fn stateless() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{ID},"result":{{"content":[{{"text":"Unknown tool: {NAME}","type":"text"}}],"isError":true,"resultType":"complete"}}}}"#
    )
}

/// Where the id stands in an answer that says that something failed.
fn id_of_failure(line: &str) -> Option<Range<usize>> {
    let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { return None };
    let Body::Response { outcome, .. } = &message.body else { return None };
    let failed = matches!(outcome, Outcome::Error(_)) || message.tool_failed();
    let id = Raw::parse(line).ok()?.get("id").filter(|_| failed)?.text();
    let start = (id.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    Some(start..start + id.len())
}

/// Can it be part of a name, so that a name does not end there?
fn is_joining(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/')
}

/// The one place where the text holds this word; none if there are more, or if it is part of another.
fn only_place(text: &str, word: &str) -> Option<Range<usize>> {
    let mut found = text.match_indices(word);
    let (start, _) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let end = start + word.len();
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    // A full stop may follow it.
    let before = text[..start].chars().next_back();
    (apart(before) && apart(text[end..].chars().next())).then_some(start..end)
}

/// Does the text say anything that stands among these arguments?
fn repeats(text: &str, args: Raw<'_>) -> bool {
    let mut left = vec![args];
    while let Some(value) = left.pop() {
        match value.kind() {
            Kind::Object => left.extend(value.members().map(|(_, value)| value)),
            Kind::Array => left.extend(value.items()),
            Kind::String | Kind::Number => {
                let said = value.as_str().unwrap_or(std::borrow::Cow::Borrowed(value.text()));
                if said.len() >= SHORTEST && text.contains(said.as_ref()) {
                    return true;
                }
            }
            Kind::Null | Kind::Bool => {}
        }
    }
    false
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn answer(form: &UnknownTool, id: &str, name: &str) -> String {
        String::from_utf8(form.answer(&IdKey::from_lexeme(id).unwrap(), name)).unwrap()
    }

    fn seen(line: &str, name: &str, args: &str) -> Option<UnknownTool> {
        let call = UnlistedCall { name, args: Some(Raw::parse(args).unwrap()) };
        UnknownTool::seen(line, &call, |word| word == "read_file")
    }

    /// What the SDKs' servers answered to `initialize`, and to a call of `no_such`.
    const SDKS: [(&str, &str); 7] = [
        (
            r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#,
            r#"{"result":{"content":[{"type":"text","text":"MCP error -32602: Tool no_such not found"}],"isError":true},"jsonrpc":"2.0","id":10}"#,
        ),
        (
            r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{},"tools":{}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#,
            r#"{"result":{"content":[{"type":"text","text":"Unknown tool: no_such"}],"isError":true},"jsonrpc":"2.0","id":10}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{},"prompts":{"listChanged":false},"resources":{"subscribe":false,"listChanged":false},"tools":{"listChanged":false}},"serverInfo":{"name":"s","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"Unknown tool: no_such"}],"isError":true}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"prompts":{"listChanged":false},"resources":{"listChanged":false,"subscribe":false},"tools":{"listChanged":false}},"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":""}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: no_such","type":"text"}],"isError":true}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"prompts":{"listChanged":true},"resources":{"subscribe":false,"listChanged":true},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"4"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: 'no_such'","type":"text"}],"isError":true}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"2"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"Unknown tool: 'no_such'"}],"isError":true}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown tool: no_such"}}"#,
        ),
    ];

    #[test]
    fn before_anything_was_seen_an_answer_is_that_of_the_servers_sdk() {
        for (initialize, unknown) in SDKS {
            assert_eq!(
                answer(&UnknownTool::usual(Some(initialize)), "10", "no_such"),
                unknown,
                "{initialize}"
            );
        }
        let (_, specified) = SDKS[6];
        for broken in [None, Some("{}"), Some("no JSON")] {
            assert_eq!(answer(&UnknownTool::usual(broken), "10", "no_such"), specified);
        }
        let whole = answer(&UnknownTool::usual_stateless(None), "10", "no_such");
        assert!(
            whole.contains(r#""resultType":"complete""#) && whole.contains("Unknown tool: no_such"),
            "{whole}"
        );
    }

    #[test]
    fn what_was_seen_is_said_again_with_another_name_and_id() {
        for (_, unknown) in SDKS {
            let form = seen(unknown, "no_such", r#"{"a":1}"#).unwrap();
            let expected = unknown.replace("no_such", "move_file").replace("\"id\":10", "\"id\":\"a\"");
            assert_eq!(answer(&form, "\"a\"", "move_file"), expected);
            assert_eq!(UnknownTool::from_text(form.as_text()), Some(form));
        }
        let quoted = r####"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"### Error\nTool \"no.such\" not found."}],"isError":true}}"####;
        let form = seen(quoted, "no.such", "{}").unwrap();
        assert_eq!(answer(&form, "1", "a\"b"), quoted.replace("no.such", r#"a\"b"#), "and stays JSON");
    }

    #[test]
    fn an_answer_that_is_about_more_than_the_name_is_not_learned() {
        let result = |text: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}}}"#
            )
        };
        for (text, name, args) in [
            ("the browser is not installed", "no_such", "{}"),
            ("Tool Tool not found", "Tool", "{}"),
            ("no_such: no_such is unknown", "no_such", "{}"),
            ("no_such_thing is unknown", "no_such", "{}"),
            ("Unknown tool: read_fil. Did you mean read_file?", "read_fil", "{}"),
            ("Unknown tool: no_such(hunter2)", "no_such", r#"{"p":["hunter2"]}"#),
            ("Unknown tool: ab", "ab", "{}"),
            ("Unknown tool: no such", "no such", "{}"),
        ] {
            assert_eq!(seen(&result(text), name, args), None, "{text}");
        }
        let long = result(&format!("Unknown tool: no_such {}", "x".repeat(LONGEST)));
        assert_eq!(seen(&long, "no_such", "{}"), None, "too long");
        let passed = result("no_such ran").replace("true", "false");
        assert_eq!(seen(&passed, "no_such", "{}"), None, "it is there after all");
        assert_eq!(seen(r#"{"jsonrpc":"2.0","method":"no_such"}"#, "no_such", "{}"), None, "no answer");
    }

    #[test]
    fn a_form_from_a_file_that_makes_no_answer_is_not_used() {
        for text in [
            "",
            "\u{1}\u{2}",
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"result\":{\"x\":\"\u{2}\"}}",
        ] {
            assert_eq!(UnknownTool::from_text(text), None, "{text:?}");
        }
    }
}

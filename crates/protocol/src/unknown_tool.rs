//! How a server answers a call of a tool that it does not have, so that a hidden one can be answered the same.
//!
//! A form is one line with a hole for the id and, where the answer repeats it, one for the name. One answer only suggests a
//! form: what looks like the name may be a word of the server's. Whoever uses it waits for a second name that gives the same
//! one; until then the form is that of the SDK which the server's handshake speaks like. Nothing is ever sent to find out.

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
/// An answer that has so much of the beginning of a name may have cut the rest.
const BEGINNING: usize = 8;

/// A line with a place for the id and at most one for the name, which lies in text that is meant for people.
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

    /// The form that an answer to a call of a tool that the server does not list suggests; none, if it is not told by the
    /// answer which part of it is the name, or if it speaks of more than the name. `listed`: is this a name that it lists?
    pub fn seen(line: &str, call: &UnlistedCall<'_>, listed: impl Fn(&str) -> bool) -> Option<UnknownTool> {
        if line.len() > LONGEST || call.name.len() < SHORTEST || !is_plain(call.name) {
            return None;
        }
        let failure = Failure::read(line)?;
        if line.contains([ID, NAME]) {
            return None;
        }
        let name = match line.match_indices(call.name).count() {
            0 if failure.echoes(line, call.name) => return None,
            0 => None,
            _ => Some(only_place(line, call.name)?),
        };
        let rest = match &name {
            Some(name) => format!("{} {}", &line[..name.start], &line[name.end..]),
            None => line.to_owned(),
        };
        let mut words = rest.split(|c| !is_plain_char(c));
        let names_listed = words.any(|word| word.len() >= SHORTEST && listed(word));
        if names_listed || call.args.is_some_and(|args| repeats(&rest, args)) {
            return None;
        }
        let mut form = line.to_owned();
        let mut holes: Vec<_> = name.map(|name| (name, NAME)).into_iter().chain([(failure.id, ID)]).collect();
        // From the back, so that the first stays where it is.
        holes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, hole) in holes {
            form.replace_range(range, &hole.to_string());
        }
        UnknownTool::from_text(&form)
    }

    /// Is this line what the form makes for this name? None where the answer tells nothing: the tool is there after all, or
    /// its name can be written in more than one way.
    pub fn fits(&self, line: &str, name: &str) -> Option<bool> {
        let id = Failure::read(line).filter(|_| is_plain(name))?.id;
        Some(self.filled(&line[id], name) == line)
    }

    /// As [`as_text`](Self::as_text) gave it. Anything that does not make a proper answer for every name is none.
    pub fn from_text(text: &str) -> Option<UnknownTool> {
        let only = |hole: char| text.matches(hole).count() == 1;
        let name = text.find(NAME);
        if text.len() > LONGEST || !only(ID) || (name.is_some() && !only(NAME)) {
            return None;
        }
        // As long as the holes, so that everything stays where it is.
        let failure = Failure::read(&text.replace(ID, "1").replace(NAME, "x"))?;
        let in_text = |hole: usize| failure.texts.iter().any(|text| text.contains(&hole));
        // The first character of a name must not become part of an escape.
        let escaped = |hole: usize| text[..hole].chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
        let proper = text.find(ID) == Some(failure.id.start)
            && name.is_none_or(|name| in_text(name) && !escaped(name));
        proper.then(|| UnknownTool(text.to_owned()))
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

/// A well-formed answer that says that something failed: where in the line its parts stand.
#[derive(Debug)]
struct Failure {
    id: Range<usize>,
    /// What people may read of it, without the quotes.
    texts: Vec<Range<usize>>,
}

impl Failure {
    fn read(line: &str) -> Option<Failure> {
        let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { return None };
        let Body::Response { outcome, .. } = &message.body else { return None };
        let whole = Raw::parse(line).ok()?;
        let is_text = |value: &Raw<'_>| value.kind() == Kind::String;
        let texts: Vec<Raw<'_>> = if matches!(outcome, Outcome::Error(_)) {
            let error = whole.get("error")?;
            error.get("code").filter(|code| code.text().parse::<i64>().is_ok())?;
            let message = error.get("message").filter(is_text)?;
            let data = error.get("data").map(leaves).unwrap_or_default();
            std::iter::once(message).chain(data.into_iter().filter(is_text)).collect()
        } else {
            let content =
                whole.get("result")?.get("content").filter(|content| content.kind() == Kind::Array)?;
            message.tool_failed().then_some(())?;
            content.items().filter_map(|block| block.get("text").filter(is_text)).collect()
        };
        let range = |part: &str| {
            let start = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
            Some(start..start + part.len())
        };
        let inner = |text: Raw<'_>| range(text.text()).map(|text| text.start + 1..text.end - 1);
        Some(Failure {
            id: range(whole.get("id")?.text())?,
            texts: texts.into_iter().filter_map(inner).collect(),
        })
    }

    /// May its text hold this name in another spelling, or a part of it? Then it is not the same for every name.
    fn echoes(&self, line: &str, name: &str) -> bool {
        let letters = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let said: Vec<String> = self.texts.iter().map(|text| letters(&line[text.clone()])).collect();
        let has = |part: &str| said.iter().any(|text| text.contains(part));
        let whole = letters(name);
        has(whole.get(..BEGINNING).unwrap_or(&whole))
            || name
                .split(|c: char| !c.is_ascii_alphanumeric())
                .any(|part| part.len() >= SHORTEST && has(&letters(part)))
    }
}

/// A name that every server writes in the same way.
fn is_plain(name: &str) -> bool {
    name.chars().all(is_plain_char)
}

fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || is_joining(c)
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
    leaves(args).into_iter().filter(|value| matches!(value.kind(), Kind::String | Kind::Number)).any(
        |value| {
            let said = value.as_str().unwrap_or(std::borrow::Cow::Borrowed(value.text()));
            said.len() >= SHORTEST && text.contains(said.as_ref())
        },
    )
}

/// Every value in this one that holds no other.
fn leaves(value: Raw<'_>) -> Vec<Raw<'_>> {
    let (mut left, mut leaves) = (vec![value], Vec::new());
    while let Some(value) = left.pop() {
        match value.kind() {
            Kind::Object => left.extend(value.members().map(|(_, value)| value)),
            Kind::Array => left.extend(value.items()),
            Kind::String | Kind::Number | Kind::Null | Kind::Bool => leaves.push(value),
        }
    }
    leaves
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
            ("Tool Tool not found", "Tool", "{}"),
            ("Unknown tool: no_such", "No-Such", "{}"),
            ("Unknown tool: no_such", "space.no_such_x", "{}"),
            ("Unknown tool: no_such_lo...", "no_such_long_name", "{}"),
            ("Gone.\\no_such", "no_such", "{}"),
            ("Try read_file", "no_such", "{}"),
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
    fn an_answer_without_the_name_is_a_form_too() {
        let line = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"No such tool"}}"#;
        let form = seen(line, "secret", "{}").unwrap();
        assert_eq!(seen(&line.replace("\"id\":1", "\"id\":\"b\""), "other", "{}"), Some(form.clone()));
        assert_eq!(answer(&form, "1", "anything"), line);
        assert_eq!(form.fits(line, "tool"), Some(true), "a name that is part of it says nothing against it");
        assert_eq!(form.fits(&line.replace("No such tool", "Busy"), "third"), Some(false));
        assert_eq!(
            form.fits(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, "third"),
            None,
            "it is there"
        );
        assert_eq!(form.fits(&line.replace("tool", "t\\u00f6\\u00f6l"), "t\u{f6}\u{f6}l"), None);
    }

    #[test]
    fn a_tool_called_like_a_word_of_the_protocol_does_not_make_a_malformed_form() {
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"No such tool","data":{"why":"none","kind":["absent"]}}}"#;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"No such tool"}],"isError":true,"resultType":"complete"}}"#;
        for name in [
            "message",
            "error",
            "code",
            "data",
            "why",
            "kind",
            "jsonrpc",
            "2.0",
            "32602",
            "-32602",
            "result",
            "content",
            "type",
            "text",
            "isError",
            "true",
            "resultType",
            "complete",
        ] {
            for line in [error, result].into_iter().filter(|line| line.contains(name)) {
                assert_eq!(seen(line, name, "{}"), None, "{name}: {line}");
            }
        }
        for name in ["none", "absent"] {
            assert!(seen(error, name, "{}").is_some(), "{name} stands in the text of its data");
        }
        for malformed in
            [r#""message":"no_such""#, r#""code":"x","message":"no_such""#, r#""code":1,"message":7"#]
        {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{{malformed}}}}}"#);
            assert_eq!(seen(&line, "no_such", "{}"), None, "{line}");
        }
    }

    #[test]
    fn a_form_from_a_file_that_makes_no_answer_is_not_used() {
        for text in [
            "",
            "\u{1}\u{2}",
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"result\":{\"x\":\"\u{2}\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"error\":{\"code\":1,\"\u{2}\":\"a\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"error\":{\"code\":1,\"message\":\"a\",\"\u{2}\":\"a\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":\u{1},\"error\":{\"code\":1,\"message\":\"\\\u{2}\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"\u{1} \u{2}\"}}",
        ] {
            assert_eq!(UnknownTool::from_text(text), None, "{text:?}");
        }
    }
}

//! Answers for unknown names: how a server answers for a tool, resource or prompt that it does not have, so that a hidden
//! one can be answered the same.
//!
//! A form is one line with a hole for the id and, where the answer repeats it, one for the name. One answer only suggests a
//! form: what looks like the name may be a word of the server's. Whoever uses it waits for a second name that gives the same
//! one; until then the form is that of the SDK which the server speaks like ([`Sdk`]). Nothing is ever sent to find out.

mod sdk;

pub use sdk::Sdk;

use std::ops::Range;

use crate::id::IdKey;
use crate::json::{Kind, Raw, quoted};
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

/// What can be unknown to a server, and hidden by a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Thing {
    #[default]
    Tool,
    Resource,
    Prompt,
}

impl Thing {
    pub const ALL: [Thing; 3] = [Thing::Tool, Thing::Resource, Thing::Prompt];

    /// What this request uses.
    pub fn used_by(method: &str) -> Option<Thing> {
        match method {
            "tools/call" => Some(Thing::Tool),
            "resources/read" => Some(Thing::Resource),
            "prompts/get" => Some(Thing::Prompt),
            _ => None,
        }
    }
}

/// A line with a place for the id and perhaps some for the name, which lie in text that is meant for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownForm(String);

/// What an answer was seen to.
#[derive(Clone, Copy, Debug)]
pub struct UnlistedCall<'a> {
    pub thing: Thing,
    pub name: &'a str,
    pub args: Option<Raw<'a>>,
}

impl UnknownForm {
    /// The form that an answer for a name that the server does not list suggests; none, if it is not told by the
    /// answer which part of it is the name, or if it speaks of more than the name. `listed`: is this a name that it lists?
    pub fn seen(line: &str, call: &UnlistedCall<'_>, listed: impl Fn(&str) -> bool) -> Option<UnknownForm> {
        if line.len() > LONGEST || call.name.len() < SHORTEST || !is_plain(call.thing, call.name) {
            return None;
        }
        let failure = Failure::read(line)?;
        if line.contains([ID, NAME]) {
            return None;
        }
        let names = places(line, call.name)?;
        // An id that holds the name tells nothing, and one hole must not lie in another.
        if names.iter().any(|name| name.start < failure.id.end && failure.id.start < name.end) {
            return None;
        }
        if names.is_empty() && failure.echoes(line, call.name) {
            return None;
        }
        let rest = line.replace(call.name, " ");
        let mut words = rest.split(|c| !is_plain_char(call.thing, c));
        let names_listed = words.any(|word| word.len() >= SHORTEST && listed(word));
        if names_listed || call.args.is_some_and(|args| repeats(&rest, args)) {
            return None;
        }
        let mut form = line.to_owned();
        let mut holes: Vec<_> =
            names.into_iter().map(|name| (name, NAME)).chain([(failure.id, ID)]).collect();
        // From the back, so that the first stays where it is.
        holes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, hole) in holes {
            form.replace_range(range, &hole.to_string());
        }
        UnknownForm::from_text(&form)
    }

    /// Is this line what the form makes for this name? None where the answer tells nothing: the thing is there after all, or
    /// its name can be written in more than one way.
    pub fn fits(&self, line: &str, thing: Thing, name: &str) -> Option<bool> {
        let id = Failure::read(line).filter(|_| is_plain(thing, name))?.id;
        Some(self.filled(&line[id], name) == line)
    }

    /// As [`as_text`](Self::as_text) gave it. Anything that does not make a proper answer for every name is none.
    pub fn from_text(text: &str) -> Option<UnknownForm> {
        if text.len() > LONGEST || text.matches(ID).count() != 1 {
            return None;
        }
        // As long as the holes, so that everything stays where it is.
        let failure = Failure::read(&text.replace(ID, "1").replace(NAME, "x"))?;
        let in_text = |hole: usize| failure.texts.iter().any(|text| text.contains(&hole));
        // The first character of a name must not become part of an escape.
        let escaped = |hole: usize| text[..hole].chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
        let proper = text.find(ID) == Some(failure.id.start)
            && text.match_indices(NAME).all(|(name, _)| in_text(name) && !escaped(name));
        proper.then(|| UnknownForm(text.to_owned()))
    }

    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// The answer to this request, without its LF.
    pub fn answer(&self, thing: Thing, id: &IdKey, name: &str) -> Vec<u8> {
        let line = self.filled(&id.to_lexeme(), name);
        match read(Side::Server, line.as_bytes()) {
            Incoming::One(message) => message.wire().into_owned(),
            _ => Sdk::default().unknown(thing).filled(&id.to_lexeme(), name).into_bytes(),
        }
    }

    fn filled(&self, id: &str, name: &str) -> String {
        let quoted = quoted(name);
        let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
        self.0.replace(ID, id).replace(NAME, inner)
    }
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
fn is_plain(thing: Thing, name: &str) -> bool {
    name.chars().all(|c| is_plain_char(thing, c)) && (thing != Thing::Resource || is_normal_uri(name))
}

fn is_plain_char(thing: Thing, c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/') || (c == ':' && thing == Thing::Resource)
}

/// Some servers write an address as their library reads it: host and scheme in small letters, no port that goes without
/// saying, no steps that lead nowhere, a slash after a bare host. One in which there is nothing of that to do.
fn is_normal_uri(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let (host, path) = match rest.strip_prefix("//") {
        Some(after) => after.split_at(after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    };
    let small = |text: &str| !text.contains(|c: char| c.is_ascii_uppercase());
    let gets_a_slash = path.is_empty() && matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp" | "file");
    let steps = path.strip_prefix('/').unwrap_or(path).split('/');
    small(scheme)
        && small(host)
        && !host.contains(':')
        && !gets_a_slash
        && !steps.clone().any(|step| matches!(step, "." | ".."))
        && (path.is_empty() || !steps.clone().any(str::is_empty))
}

/// Every place where the text holds this word; none if one of them is part of another.
fn places(text: &str, word: &str) -> Option<Vec<Range<usize>>> {
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let place = |(start, _): (usize, &str)| {
        let end = start + word.len();
        // A full stop may follow it.
        let before = text[..start].chars().next_back();
        (apart(before) && apart(text[end..].chars().next())).then_some(start..end)
    };
    text.match_indices(word).map(place).collect()
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

    fn answer(form: &UnknownForm, id: &str, name: &str) -> String {
        String::from_utf8(form.answer(Thing::Tool, &IdKey::from_lexeme(id).unwrap(), name)).unwrap()
    }

    fn seen(line: &str, name: &str, args: &str) -> Option<UnknownForm> {
        let call = UnlistedCall { thing: Thing::Tool, name, args: Some(Raw::parse(args).unwrap()) };
        UnknownForm::seen(line, &call, |word| word == "read_file")
    }

    #[test]
    fn an_id_that_holds_the_name_teaches_nothing_and_breaks_nothing() {
        for (id, name) in [("123", "123"), ("\"abc-1\"", "abc"), ("\"search-17\"", "search")] {
            for text in [format!("Tool {name} not found"), "No such tool".to_owned()] {
                let line = format!(
                    r#"{{"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}},"jsonrpc":"2.0","id":{id}}}"#
                );
                assert!(seen(&line, name, "{}").is_none(), "{line}");
            }
        }
    }

    /// What the SDKs' servers answered to `initialize`, and for a tool, a resource and a prompt of the name `no_such`.
    const SDKS: [(&str, [&str; 3]); 7] = [
        (
            r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#,
            [
                r#"{"result":{"content":[{"type":"text","text":"MCP error -32602: Tool no_such not found"}],"isError":true},"jsonrpc":"2.0","id":10}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"MCP error -32602: Resource s://no_such not found"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"MCP error -32602: Prompt no_such not found"}}"#,
            ],
        ),
        (
            r#"{"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{},"tools":{}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#,
            [
                r#"{"result":{"content":[{"type":"text","text":"Unknown tool: no_such"}],"isError":true},"jsonrpc":"2.0","id":10}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32603,"message":"Unknown resource: s://no_such"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32603,"message":"Unknown prompt: no_such"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{},"prompts":{"listChanged":false},"resources":{"subscribe":false,"listChanged":false},"tools":{"listChanged":false}},"serverInfo":{"name":"s","version":"1"}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"Unknown tool: no_such"}],"isError":true}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown resource: s://no_such"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown prompt: no_such"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"prompts":{"listChanged":false},"resources":{"listChanged":false,"subscribe":false},"tools":{"listChanged":false}},"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":""}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: no_such","type":"text"}],"isError":true}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown resource: s://no_such","data":{"uri":"s://no_such"}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown prompt: no_such"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"prompts":{"listChanged":true},"resources":{"subscribe":false,"listChanged":true},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"4"}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: 'no_such'","type":"text"}],"isError":true}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Resource not found: 's://no_such'","data":{"uri":"s://no_such"}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown prompt: 'no_such'"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"2"}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"Unknown tool: 'no_such'"}],"isError":true}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown resource: 's://no_such'"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":0,"message":"Unknown prompt: 'no_such'"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown tool: no_such"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32002,"message":"Resource not found: s://no_such"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown prompt: no_such"}}"#,
            ],
        ),
    ];

    /// The first list of those that need no handshake, and the same answers.
    const STATELESS: [(&str, [&str; 3]); 3] = [
        (
            r#"{"result":{"tools":[{"name":"safe","inputSchema":{"type":"object"}}]},"jsonrpc":"2.0","id":1}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Tool no_such not found"}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Resource not found: s://no_such","data":{"uri":"s://no_such"}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Prompt no_such not found"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"cacheScope":"private","resultType":"complete","tools":[],"ttlMs":0,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":""}}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: no_such","type":"text"}],"isError":true,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":""}}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown resource: s://no_such","data":{"uri":"s://no_such"}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32603,"message":"Internal server error"}}"#,
            ],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"resources":[{"_meta":{"fastmcp":{"tags":[]}},"name":"text","uri":"s://text"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"4"}}}}"#,
            [
                r#"{"jsonrpc":"2.0","id":10,"result":{"content":[{"text":"Unknown tool: 'no_such'","type":"text"}],"isError":true,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"4"}}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Resource not found: 's://no_such'","data":{"uri":"s://no_such"}}}"#,
                r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Unknown prompt: 'no_such'"}}"#,
            ],
        ),
    ];

    fn named(thing: Thing, name: &str) -> String {
        if thing == Thing::Resource { format!("s://{name}") } else { name.to_owned() }
    }

    #[test]
    fn before_anything_was_seen_an_answer_is_that_of_the_servers_sdk() {
        let handshakes = SDKS.map(|(line, unknown)| (Sdk::of_handshake(line), unknown));
        let lists = STATELESS.map(|(line, unknown)| (Sdk::stateless(Some(line)), unknown));
        for (sdk, unknown) in handshakes.into_iter().chain(lists) {
            for (thing, unknown) in Thing::ALL.into_iter().zip(unknown) {
                let id = IdKey::from_lexeme("10").unwrap();
                let said = sdk.unknown(thing).answer(thing, &id, &named(thing, "no_such"));
                assert_eq!(String::from_utf8(said).unwrap(), unknown, "{sdk:?}");
            }
        }
        let (_, [specified, ..]) = SDKS[6];
        for broken in ["", "{}", "no JSON"] {
            assert_eq!(answer(&Sdk::of_handshake(broken).unknown(Thing::Tool), "10", "no_such"), specified);
        }
        let whole = answer(&Sdk::stateless(None).unknown(Thing::Tool), "10", "no_such");
        assert!(whole.ends_with(r#""isError":true,"resultType":"complete"}}"#), "{whole}");
    }

    #[test]
    fn what_was_seen_of_each_thing_is_said_again_with_another_name_and_id() {
        for (_, unknown) in SDKS.into_iter().chain(STATELESS) {
            for (thing, unknown) in Thing::ALL.into_iter().zip(unknown) {
                let (name, other) = (named(thing, "no_such"), named(thing, "move_file"));
                let call = UnlistedCall { thing, name: &name, args: None };
                let form = UnknownForm::seen(unknown, &call, |_| false).unwrap();
                let expected = unknown.replace(&name, &other).replace("\"id\":10", "\"id\":\"a\"");
                let said = form.answer(thing, &IdKey::from_lexeme("\"a\"").unwrap(), &other);
                assert_eq!(String::from_utf8(said).unwrap(), expected);
                assert_eq!(form.fits(&expected, thing, &other), Some(true));
                assert_eq!(UnknownForm::from_text(form.as_text()), Some(form));
            }
        }
    }

    #[test]
    fn an_address_that_a_server_may_write_otherwise_tells_nothing() {
        let line = r#"{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Unknown resource: X"}}"#;
        let form =
            UnknownForm::from_text(&line.replace("\"id\":1", "\"id\":\u{1}").replace('X', "\u{2}")).unwrap();
        for uri in [
            "no address",
            "S://no_such",
            "s://No/such",
            "http://host",
            "http://host:80/x",
            "s://a/../b",
            "s://a//b",
            "s://a?b",
        ] {
            let line = line.replace('X', uri);
            let call = UnlistedCall { thing: Thing::Resource, name: uri, args: None };
            assert_eq!(UnknownForm::seen(&line, &call, |_| false), None, "{uri}");
            assert_eq!(form.fits(&line, Thing::Resource, uri), None, "{uri}");
        }
        for uri in ["s://no_such", "file:///a/b.txt", "http://host/x", "urn:a:b", "s://host/A/b"] {
            let call = UnlistedCall { thing: Thing::Resource, name: uri, args: None };
            assert_eq!(
                UnknownForm::seen(&line.replace('X', uri), &call, |_| false),
                Some(form.clone()),
                "{uri}"
            );
        }
    }

    #[test]
    fn a_name_with_quotes_stays_json_in_a_form_that_has_some() {
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
            ("Unknown tool: no_such", "No-Such", "{}"),
            ("Unknown tool: no_such", "space.no_such_x", "{}"),
            ("Unknown tool: no_such_lo...", "no_such_long_name", "{}"),
            ("Gone.\\no_such", "no_such", "{}"),
            ("Try read_file", "no_such", "{}"),
            ("no_such: no_such_thing is unknown", "no_such", "{}"),
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
        assert_eq!(
            form.fits(line, Thing::Tool, "tool"),
            Some(true),
            "a name that is part of it says nothing against it"
        );
        assert_eq!(form.fits(&line.replace("No such tool", "Busy"), Thing::Tool, "third"), Some(false));
        assert_eq!(
            form.fits(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, Thing::Tool, "third"),
            None,
            "it is there"
        );
        assert_eq!(form.fits(&line.replace("tool", "t\\u00f6\\u00f6l"), Thing::Tool, "t\u{f6}\u{f6}l"), None);
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
            assert_eq!(UnknownForm::from_text(text), None, "{text:?}");
        }
    }
}

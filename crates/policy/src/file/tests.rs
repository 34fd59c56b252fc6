//! `tests`: calls that a policy's writer expects to end in a certain way. Read here, run in `run_tests`.

use std::ops::Range;

use super::reader::{Cursor, Fields, Reader};
use crate::problem::Place;

/// How a call is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    Allow,
    Deny,
    Ask,
    Hidden,
    Capped,
    /// Let through by a policy that only observes, which would have refused it.
    WouldDeny,
}

impl Expectation {
    pub fn word(self) -> &'static str {
        EXPECTATIONS.iter().find(|(_, expectation)| *expectation == self).map_or("", |(word, _)| word)
    }
}

/// What is called. The arguments are a range of the file's text, with the comments that stand in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestedCall {
    Tool { name: String, args: Option<Range<usize>> },
    Method { method: String, params: Option<Range<usize>> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTest {
    pub name: Option<String>,
    pub client: Option<String>,
    pub call: TestedCall,
    /// How many identical calls came just before it.
    pub after: u32,
    pub expect: Expectation,
    /// The rule that should decide, or one above it.
    pub rule: Option<String>,
    pub place: Place,
}

const EXPECTATIONS: &[(&str, Expectation)] = &[
    ("allow", Expectation::Allow),
    ("deny", Expectation::Deny),
    ("ask", Expectation::Ask),
    ("hidden", Expectation::Hidden),
    ("capped", Expectation::Capped),
    ("would_deny", Expectation::WouldDeny),
];

const KEYS: &[&str] = &["name", "client", "tool", "args", "method", "params", "after", "expect", "rule"];

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<PolicyTest> {
    let items = reader.items(cursor, "`tests`");
    items.iter().filter_map(|item| test(reader, item)).collect()
}

fn test(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<PolicyTest> {
    let fields = reader.fields(cursor, "a test", KEYS)?;
    let call = call(reader, &fields);
    if fields.get("expect").is_none() {
        let fix = "add \"expect\": \"deny\"".to_owned();
        reader.error(&cursor.place, "`expect` is missing in a test", Some(fix));
    }
    let mut text = |key: &str| fields.get(key).and_then(|c| reader.string(c, &format!("`{key}`")));
    let (name, client, rule) = (text("name"), text("client"), text("rule"));
    let after = match fields.get("after") {
        Some(c) => reader.count(c, "`after`", "leave it out for the first call").map(u32::from),
        None => Some(0),
    };
    let expect = fields.get("expect").and_then(|c| reader.choice(c, "`expect`", EXPECTATIONS));
    let place = cursor.place.clone();
    Some(PolicyTest { name, client, call: call?, after: after?, expect: expect?.value, rule, place })
}

fn call(reader: &mut Reader<'_, '_, '_>, fields: &Fields<'_>) -> Option<TestedCall> {
    let (tool, method) = (fields.get("tool"), fields.get("method"));
    let (what, with, other) = match (tool, method) {
        (Some(tool), None) => (tool, "args", "params"),
        (None, Some(method)) => (method, "params", "args"),
        (None, None) => {
            let fix = "add \"tool\": \"name\", or \"method\": \"resources/read\"".to_owned();
            reader.error(&fields.place, "`tool` is missing in a test", Some(fix));
            return None;
        }
        (Some(_), Some(method)) => {
            let fix = "write a test for each of them".to_owned();
            reader.error(&method.place, "a test calls a tool or another method, not both", Some(fix));
            return None;
        }
    };
    if let Some(wrong) = fields.get(other) {
        let of = if tool.is_some() { "tool" } else { "method" };
        let message = format!("`{other}` has no meaning beside `{of}`");
        reader.error(&wrong.place, message, Some(format!("write \"{with}\"")));
    }
    let name = reader.string(what, if tool.is_some() { "`tool`" } else { "`method`" })?;
    let with = fields.get(with).and_then(|c| object(reader, c, &format!("`{with}`")));
    Some(match tool {
        Some(_) => TestedCall::Tool { name, args: with },
        None => TestedCall::Method { method: name, params: with },
    })
}

/// Where an object stands in the text.
fn object(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>, what: &str) -> Option<Range<usize>> {
    if !cursor.is_object() {
        reader.wrong_kind(cursor, what, "an object");
        return None;
    }
    Some(cursor.place.offset..cursor.place.offset + cursor.node.span.len())
}

//! `tests`: calls that a policy's writer expects to end in a certain way. Read here, run elsewhere.

use super::reader::{Cursor, Reader};
use crate::problem::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    Allow,
    Deny,
    Ask,
    Hidden,
    Capped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTest {
    pub name: Option<String>,
    pub client: Option<String>,
    pub tool: String,
    /// The arguments as they are written in the file (with its comments).
    pub args: Option<std::ops::Range<usize>>,
    pub expect: Expectation,
    pub rule: Option<String>,
    pub place: Place,
}

const EXPECTATIONS: &[(&str, Expectation)] = &[
    ("allow", Expectation::Allow),
    ("deny", Expectation::Deny),
    ("ask", Expectation::Ask),
    ("hidden", Expectation::Hidden),
    ("capped", Expectation::Capped),
];

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<PolicyTest> {
    let items = reader.items(cursor, "`tests`");
    items.iter().filter_map(|item| test(reader, item)).collect()
}

fn test(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<PolicyTest> {
    let fields = reader.fields(cursor, "a test", &["name", "client", "tool", "args", "expect", "rule"])?;
    for (key, example) in [("tool", "\"tool\": \"name\""), ("expect", "\"expect\": \"deny\"")] {
        if fields.get(key).is_none() {
            reader.error(
                &cursor.place,
                format!("`{key}` is missing in a test"),
                Some(format!("add {example}")),
            );
        }
    }
    let mut text = |key: &str| fields.get(key).and_then(|c| reader.string(c, &format!("`{key}`")));
    let (name, client, tool, rule) = (text("name"), text("client"), text("tool"), text("rule"));
    let expect = fields.get("expect").and_then(|c| reader.choice(c, "`expect`", EXPECTATIONS));
    let args = fields.get("args").and_then(|c| {
        if !c.is_object() {
            reader.wrong_kind(c, "`args`", "an object");
            return None;
        }
        let length = jsonc_parser::common::Ranged::width(c.value);
        Some(c.place.offset..c.place.offset + length)
    });
    Some(PolicyTest {
        name,
        client,
        tool: tool?,
        args,
        expect: expect?.value,
        rule,
        place: cursor.place.clone(),
    })
}

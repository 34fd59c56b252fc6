//! The result of a tools/list: what it offers, and the same with some of its tools taken out.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    fold,
    json::{Kind, Raw, compact_text, is_safe},
    lists::{self, List},
};

pub use crate::lists::{Filtered, ListFault};

/// [`lists::filter`] for tools.
pub fn filter_list(result: Raw<'_>, keep: impl FnMut(&str) -> bool) -> Filtered {
    lists::filter(List::Tools, result, keep)
}

/// What makes a client ask its person before each call of a tool: a member of the entry's `_meta`, exactly `true`.
pub const USER_INTERACTION: &str = "anthropic/requiresUserInteraction";
const META: &str = "_meta";

/// The list with [`USER_INTERACTION`] in the entries of the tools that are `wanted`; none if it stands in all of them
/// already. Everything else stays as the server wrote it, also where that says the same of other tools.
pub fn with_user_interaction(
    result: Raw<'_>,
    mut wanted: impl FnMut(&str) -> bool,
) -> Result<Option<Vec<u8>>, ListFault> {
    let text = result.text();
    let place = |piece: &str| piece.as_ptr().addr() - text.as_ptr().addr();
    let (mut out, mut copied) = (Vec::new(), 0);
    for entry in lists::entries(List::Tools, result)? {
        let Some(tool) = learn(entry).filter(|tool| wanted(&tool.name)) else { continue };
        let meta = tool.definition.get(META);
        let said = meta.filter(|meta| meta.kind() == Kind::Object);
        let (at, until, piece) = match (said, meta) {
            (Some(meta), _) => match meta.get(USER_INTERACTION) {
                Some(said) if said.as_bool() == Some(true) => continue,
                Some(said) => (place(said.text()), place(said.text()) + said.text().len(), "true".to_owned()),
                None => {
                    let comma = if meta.members().next().is_some() { "," } else { "" };
                    let at = place(meta.text()) + 1;
                    (at, at, format!("\"{USER_INTERACTION}\":true{comma}"))
                }
            },
            // What is no object says nothing that a client could read.
            (None, Some(meta)) => {
                let piece = format!("{{\"{USER_INTERACTION}\":true}}");
                (place(meta.text()), place(meta.text()) + meta.text().len(), piece)
            }
            (None, None) => {
                let at = place(tool.definition.text()) + 1;
                (at, at, format!("\"{META}\":{{\"{USER_INTERACTION}\":true}},"))
            }
        };
        out.extend_from_slice(&text.as_bytes()[copied..at]);
        out.extend_from_slice(piece.as_bytes());
        copied = until;
    }
    if out.is_empty() {
        return Ok(None);
    }
    out.extend_from_slice(&text.as_bytes()[copied..]);
    Ok(Some(safe(out)))
}

fn safe(text: Vec<u8>) -> Vec<u8> {
    if is_safe(&text) {
        return text;
    }
    let mut safe = Vec::new();
    compact_text(&text, &mut safe);
    safe
}

/// A tool as its server describes it.
#[derive(Clone, Debug)]
pub struct ListedTool<'a> {
    pub name: Cow<'a, str>,
    /// The whole entry, as it was written.
    pub definition: Raw<'a>,
    /// An object. `None` also where some reader could see another schema than we do: whoever has to check arguments
    /// must not check them against the wrong one.
    pub input_schema: Option<Raw<'a>>,
}

/// The tools of a list that a client could see: those that [`filter_list`] keeps when nothing is hidden.
pub fn learn_tools(result: Raw<'_>) -> Result<Vec<ListedTool<'_>>, ListFault> {
    let entries = lists::entries(List::Tools, result)?;
    let mut seen = HashSet::new();
    Ok(entries.filter_map(learn).filter(|tool| seen.insert(tool.name.clone())).collect())
}

fn learn(definition: Raw<'_>) -> Option<ListedTool<'_>> {
    let mut name = None;
    let mut input_schema = None;
    let mut doubtful_schema = false;
    // Nothing for what is not an object.
    for (key, value) in definition.members() {
        match key.as_ref() {
            "name" => name = value.as_str(),
            "inputSchema" => input_schema = Some(value),
            _ => match fold::resembles(&key, &["name", "inputSchema"]) {
                Some("name") => return None,
                Some(_) => doubtful_schema = true,
                None => {}
            },
        }
    }
    let input_schema = input_schema.filter(|schema| !doubtful_schema && schema.kind() == Kind::Object);
    Some(ListedTool { name: name?, definition, input_schema })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn learned(result: &str) -> Vec<(String, Option<String>)> {
        let tools = learn_tools(Raw::parse(result).unwrap()).unwrap();
        tools
            .iter()
            .map(|tool| (tool.name.to_string(), tool.input_schema.map(|schema| schema.text().to_owned())))
            .collect()
    }

    #[test]
    fn tools_are_learned_with_their_schemas() {
        let result = r#"{"nextCursor":"2","tools":[{"name":"\u0061","inputSchema":{"type":"object"},"x":1e400}, {"name":"b"}]}"#;
        assert_eq!(
            learned(result),
            [("a".to_owned(), Some(r#"{"type":"object"}"#.to_owned())), ("b".to_owned(), None)]
        );
        let raw = Raw::parse(result).unwrap();
        let tools = learn_tools(raw).unwrap();
        assert_eq!(
            tools[0].definition.text(),
            r#"{"name":"\u0061","inputSchema":{"type":"object"},"x":1e400}"#
        );
    }

    #[test]
    fn what_is_not_shown_is_not_learned() {
        let entries = r#"7,[],{},{"name":1},{"name":"a","Name":"b"},{"name":"\ud800"},{"name":"a","v":1},{"name":"a","v":2}"#;
        let result = format!(r#"{{"tools":[{entries}]}}"#);
        let tools = learn_tools(Raw::parse(&result).unwrap()).unwrap();
        let definitions: Vec<&str> = tools.iter().map(|tool| tool.definition.text()).collect();
        assert_eq!(definitions, [r#"{"name":"a","v":1}"#]);
    }

    #[test]
    fn a_doubtful_schema_is_no_schema() {
        for rest in [
            r#""inputSchema":true"#,
            r#""inputSchema":null"#,
            r#""inputSchema":[{}]"#,
            r#""inputSchema":{},"InputSchema":{}"#,
            r#""inputSchema":{},"input_schema":{}"#,
            r#""input_schema":{}"#,
        ] {
            let result = format!(r#"{{"tools":[{{"name":"a",{rest}}}]}}"#);
            assert_eq!(learned(&result), [("a".to_owned(), None)], "{rest}");
        }
    }

    #[test]
    fn wanted_tools_ask_their_person_and_nothing_else_is_touched() {
        let mark = format!("\"{USER_INTERACTION}\":true");
        let asking = |entry: &str| {
            let result = format!(r#"{{"x":1.0,"tools":[{{"name":"other"}}, {entry}],"nextCursor":"2"}}"#);
            with_user_interaction(Raw::parse(&result).unwrap(), |name| name == "a")
                .unwrap()
                .map(|text| String::from_utf8(text).unwrap())
        };
        for (entry, asks) in [
            (r#"{"name":"a"}"#, format!(r#"{{"_meta":{{{mark}}},"name":"a"}}"#)),
            (
                r#"{ "n":1e400,"name":"\u0061"}"#,
                format!(r#"{{"_meta":{{{mark}}}, "n":1e400,"name":"\u0061"}}"#),
            ),
            (r#"{"name":"a","_meta":{}}"#, format!(r#"{{"name":"a","_meta":{{{mark}}}}}"#)),
            (r#"{"name":"a","_meta":{"b":1}}"#, format!(r#"{{"name":"a","_meta":{{{mark},"b":1}}}}"#)),
            (r#"{"name":"a","_meta":"b"}"#, format!(r#"{{"name":"a","_meta":{{{mark}}}}}"#)),
            (
                r#"{"name":"a","_meta":{"anthropic\/requiresUserInteraction": "true", "b":1}}"#,
                r#"{"name":"a","_meta":{"anthropic\/requiresUserInteraction": true, "b":1}}"#.to_owned(),
            ),
        ] {
            let expected = format!(r#"{{"x":1.0,"tools":[{{"name":"other"}}, {asks}],"nextCursor":"2"}}"#);
            assert_eq!(asking(entry).unwrap(), expected);
            assert_eq!(asking(&asks), None, "said already: {asks}");
        }
        for entry in [r#"{"name":"b"}"#, r#"{"name":"a","Name":"b"}"#, "7", r#"{"name":["a"]}"#] {
            assert_eq!(asking(entry), None, "{entry}");
        }
        let two = Raw::parse("{\"tools\":[{\"name\":\"a\",\"d\":\"\u{2028}\"},{\"name\":\"a\"}]}").unwrap();
        let two = String::from_utf8(with_user_interaction(two, |_| true).unwrap().unwrap()).unwrap();
        assert!(two.matches(&mark).count() == 2 && two.contains(r"\u2028"), "{two}");
    }

    #[test]
    fn an_unusable_list_teaches_nothing() {
        for (result, fault) in [
            ("[]", ListFault::NotAnObject),
            ("{}", ListFault::Missing(List::Tools)),
            (r#"{"tools":null}"#, ListFault::NotAnArray(List::Tools)),
            (r#"{"tools":[],"TOOLS":[]}"#, ListFault::LookAlike(List::Tools)),
        ] {
            assert_eq!(learn_tools(Raw::parse(result).unwrap()).unwrap_err(), fault, "{result}");
        }
    }
}

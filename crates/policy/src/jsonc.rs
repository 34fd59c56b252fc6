//! JSON with comments and trailing commas, as policies are written, for the other files that a person edits: read with
//! every duplicate told, and changed in one place with every other byte left alone.

use std::fmt;

use callgate_document::{Draft, NewValue, Node, Value, quote};

use crate::file::parse_tree;
use crate::problem::{Place, Problems, Report, below};

/// A value of such a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    String(String),
    List(Vec<Json>),
    /// In the order of the file, no name twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(own, _)| own == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// What is at the end of these names.
    pub fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => f.write_str(number),
            Json::String(text) => f.write_str(&quote(text)),
            Json::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Json::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("{}: {value}", quote(name))).collect();
                write!(f, "{{{}}}", members.join(", "))
            }
        }
    }
}

/// Reads a whole text. What is no JSON, or says a name twice, is told with its place.
pub fn read(text: &str) -> Result<Json, Report> {
    let mut problems = Problems::new(text);
    let read = parse_tree(text, &mut problems).map(|tree| value(&tree.root, tree.shift, "", &mut problems));
    let found = problems.into_sorted();
    match read {
        Some(read) if found.is_empty() => Ok(read),
        _ => Err(Report { problems: found }),
    }
}

fn value(node: &Node, shift: usize, pointer: &str, problems: &mut Problems<'_>) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Json::Number(number.clone()),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(list) => {
            Json::List(list.iter().map(|item| value(item, shift, pointer, problems)).collect())
        }
        Value::Map(map) => {
            let mut members: Vec<(String, Json)> = Vec::with_capacity(map.len());
            for member in map {
                let pointer = below(pointer, &member.key);
                if members.iter().any(|(known, _)| *known == member.key) {
                    let place = Place { offset: member.key_span.start + shift, pointer: pointer.clone() };
                    problems.error(
                        &place,
                        format!("\"{}\" stands here twice", member.key),
                        "keep one".to_owned(),
                    );
                }
                let value = value(&member.value, shift, &pointer, problems);
                members.push((member.key.clone(), value));
            }
            Json::Object(members)
        }
    }
}

/// The text with this value at the end of these names; sections that are missing are made, and what stands in the place
/// of one and is no object gives way. Comments, order and layout of everything else stay.
pub fn set(text: &str, path: &[&str], value: &Json) -> Result<String, Report> {
    read(text)?;
    let mut draft = Draft::new(text);
    draft.set(path, value.into());
    Ok(draft.into_text())
}

impl From<&Json> for NewValue {
    fn from(value: &Json) -> NewValue {
        match value {
            Json::Null | Json::Bool(_) | Json::Number(_) => NewValue::word(value),
            Json::String(text) => NewValue::text(text),
            Json::List(items) => NewValue::List(items.iter().map(NewValue::from).collect()),
            Json::Object(members) => {
                NewValue::Map(members.iter().map(|(name, value)| (name.clone(), value.into())).collect())
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i32>().prop_map(|number| Json::Number(number.to_string())),
            "\\PC{0,6}".prop_map(Json::String),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let members = prop::collection::btree_map("[a-d/~\"\\\\ ü]{1,2}", inner.clone(), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..3).prop_map(Json::List),
                members.prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_set_is_read_back_and_what_stands_beside_it_stays(
            members in prop::collection::btree_map("[a-d]{1,2}", json(), 0..4),
            path in prop::collection::vec("[a-d]{1,2}", 1..3),
            value in json(),
        ) {
            let before = Json::Object(members.into_iter().collect());
            let text = format!("// above\n{before} // behind\n");
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let changed = set(&text, &path, &value).unwrap();
            let after = read(&changed).unwrap();
            prop_assert_eq!(after.at(&path), Some(&value), "{}", changed);
            prop_assert!(changed.starts_with("// above\n") && changed.ends_with("// behind\n"), "{}", changed);
            let Json::Object(members) = before else { unreachable!() };
            for (name, value) in members.iter().filter(|(name, _)| name != path[0]) {
                prop_assert_eq!(after.get(name), Some(value));
            }
        }
    }

    const FILE: &str = "// mine\n{\n  \"history\": {\n    \"days\": 30, // a month\n  },\n  /* kept */ \"zebra\": [1, 2.50],\n}\n";

    #[test]
    fn one_value_changes_and_every_comment_stays() {
        let changed = set(FILE, &["history", "days"], &Json::Number("7".to_owned())).unwrap();
        assert_eq!(changed, FILE.replace("30", "7"));
        let keep = set(&changed, &["record", "keep"], &Json::String("none".to_owned())).unwrap();
        assert!(
            keep.starts_with("// mine\n") && keep.contains("// a month") && keep.contains("/* kept */"),
            "{keep}"
        );
        assert_eq!(read(&keep).unwrap().at(&["record", "keep"]), Some(&Json::String("none".to_owned())));
        assert_eq!(read(&keep).unwrap().at(&["history", "days"]), Some(&Json::Number("7".to_owned())));
    }

    #[test]
    fn a_new_file_and_windows_lines_are_written_as_they_should() {
        let new = set("{}\n", &["history", "days"], &Json::Number("7".to_owned())).unwrap();
        assert_eq!(new, "{\n  \"history\": {\n    \"days\": 7\n  }\n}\n");
        let crlf = set("\u{feff}{\r\n  \"a\": 1\r\n}\r\n", &["b"], &Json::Bool(true)).unwrap();
        assert_eq!(crlf, "\u{feff}{\r\n  \"a\": 1,\r\n  \"b\": true\r\n}\r\n");
        let nested = set("{ \"app\": 7 }", &["app", "notifications", "blocked"], &Json::Bool(false)).unwrap();
        assert_eq!(read(&nested).unwrap().at(&["app", "notifications", "blocked"]), Some(&Json::Bool(false)));
    }

    #[test]
    fn what_is_no_json_or_says_a_name_twice_is_told_with_its_place() {
        let told = |text: &str| read(text).unwrap_err().headline();
        assert!(
            told("{\n  \"a\": 1,\n  \"a\": 2\n}").starts_with("line 3, column 3: \"a\" stands here twice")
        );
        assert!(told("{ 'a': 1 }").contains("double quotes"), "{}", told("{ 'a': 1 }"));
        assert!(told("").contains("empty"));
        assert!(set("{", &["a"], &Json::Null).is_err());
    }
}

//! JSON as a person reads it in a file: hidden characters of servers' names spelled out.

use std::fmt::Write as _;

use callgate_text::is_hidden;
use serde_json::Value;

/// On one line, with blanks where a person would put them.
pub(crate) fn line(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let each = members.iter().map(|(key, value)| format!("{}: {}", string(key), line(value)));
            format!("{{ {} }}", each.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

pub(crate) fn string(text: &str) -> String {
    spelled_out(&Value::from(text).to_string())
}

fn spelled_out(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_hidden(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing into a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// On several lines, for a person to look at.
pub fn shown(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.lines().map(spelled_out).collect::<Vec<_>>().join("\n")
}

//! A tool's arguments as a table, from its schema. The schema is the server's: it may be endless, and say anything.

use serde_json::Value;

use crate::view::ToolArgument;

const MOST: usize = 200;
const DEEPEST: usize = 4;
/// Of what is said about one, in characters.
const ABOUT: usize = 300;

pub(super) fn of(definition: &Value) -> Vec<ToolArgument> {
    let mut rows = Vec::new();
    if let Some(schema) = definition.get("inputSchema") {
        properties(schema, "", 0, &mut rows);
    }
    rows
}

fn properties(schema: &Value, within: &str, depth: usize, rows: &mut Vec<ToolArgument>) {
    let Some(members) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = |name: &str| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|one| one.as_str() == Some(name)))
    };
    for (name, about) in members {
        if rows.len() >= MOST {
            return;
        }
        let path = format!("{within}{name}");
        rows.push(ToolArgument {
            name: path.clone(),
            kind: kind(about),
            required: required(name),
            about: text(about, "description").chars().take(ABOUT).collect(),
        });
        if depth < DEEPEST {
            properties(about, &format!("{path}."), depth + 1, rows);
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn kind(about: &Value) -> String {
    if let Some(values) = about.get("enum").and_then(Value::as_array) {
        let shown: Vec<&str> = values.iter().filter_map(Value::as_str).take(6).collect();
        let more = if values.len() > shown.len() { ", …" } else { "" };
        return match shown.is_empty() {
            true => format!("one of {}", values.len()),
            false => format!("one of {}{more}", shown.join(", ")),
        };
    }
    let one = |kind: &str| match kind {
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "whole number".to_owned(),
        "array" => match about.get("items").map(|items| text(items, "type")) {
            Some("string") => "list of text".to_owned(),
            Some("object") => "list of objects".to_owned(),
            _ => "list".to_owned(),
        },
        other => other.chars().take(20).collect(),
    };
    match about.get("type") {
        Some(Value::String(kind)) => one(kind),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).take(4).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_named_as_conditions_name_them() {
        let rows = of(&json!({ "inputSchema": {
            "type": "object",
            "required": ["sessionId"],
            "properties": {
                "sessionId": { "type": "string", "description": "Which one" },
                "options": { "type": "object", "properties": {
                    "outputPath": { "type": ["string", "null"] },
                    "format": { "enum": ["ts", "js"] },
                    "tags": { "type": "array", "items": { "type": "string" } },
                } },
            },
        } }));
        let told: Vec<(&str, &str, bool)> =
            rows.iter().map(|row| (row.name.as_str(), row.kind.as_str(), row.required)).collect();
        assert_eq!(
            told,
            [
                ("sessionId", "text", true),
                ("options", "object", false),
                ("options.outputPath", "text or null", false),
                ("options.format", "one of ts, js", false),
                ("options.tags", "list of text", false),
            ]
        );
        assert_eq!(of(&json!({ "inputSchema": { "properties": 7 } })), []);
    }
}

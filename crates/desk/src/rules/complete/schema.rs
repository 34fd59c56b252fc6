//! What the grammar allows below a path, out of the JSON Schema that editors get too.

use std::sync::OnceLock;

use callgate_policy::SCHEMA;
use serde_json::Value;

use super::cursor::PathStep;

/// Where this version cannot ask yet, and refuses: what calls no tool. Not to be offered until it can.
const ASKS_NOT_YET: [&str; 5] = ["resources", "prompts", "completion", "sampling", "elicitation"];

fn schema() -> &'static Value {
    static PARSED: OnceLock<Value> = OnceLock::new();
    // It is part of the program; a test reads it.
    PARSED.get_or_init(|| serde_json::from_str(SCHEMA).unwrap_or(Value::Null))
}

/// A value that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) text: String,
    pub(super) quoted: bool,
    pub(super) detail: Option<String>,
}

/// The names that an object at this path may hold, in the order of the schema.
pub(super) fn keys(path: &[PathStep]) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for node in nodes(path) {
        for (key, property) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if *property != Value::Bool(false) && !found.iter().any(|(known, _)| known == key) {
                found.push((key.clone(), description(property)));
            }
        }
    }
    found
}

/// The values that may stand at this path, as far as they are words.
pub(super) fn values(path: &[PathStep]) -> Vec<Allowed> {
    let mut found: Vec<Allowed> = Vec::new();
    let nodes = nodes(path);
    let own = match path {
        [PathStep::Key(clients), _, own @ ..] if clients == "clients" => own,
        own => own,
    };
    let cannot_ask =
        matches!(own.first(), Some(PathStep::Key(part)) if ASKS_NOT_YET.contains(&part.as_str()));
    let detail = nodes.iter().find_map(|node| node.get("description")?.as_str()).map(str::to_owned);
    let mut add = |value: &Value, detail: Option<String>| {
        let (text, quoted) = match value {
            Value::String(text) => (text.clone(), true),
            other => (other.to_string(), false),
        };
        let is_known = found.iter().any(|known| known.text == text && known.quoted == quoted);
        if !(is_known || cannot_ask && text == "ask") {
            found.push(Allowed { text, quoted, detail });
        }
    };
    for node in &nodes {
        for value in node.get("enum").and_then(Value::as_array).into_iter().flatten() {
            add(value, detail.clone());
        }
        if let Some(value) = node.get("const") {
            add(value, detail.clone());
        }
        if node.get("type").and_then(Value::as_str) == Some("boolean") {
            add(&Value::Bool(true), detail.clone());
            add(&Value::Bool(false), detail.clone());
        }
    }
    found
}

/// Every schema that speaks of this path.
fn nodes(path: &[PathStep]) -> Vec<&'static Value> {
    let mut at = widened(schema());
    for step in path {
        let mut next = Vec::new();
        for node in at {
            let below = match step {
                PathStep::Key(key) => node
                    .get("properties")
                    .and_then(|properties| properties.get(key))
                    .or_else(|| node.get("additionalProperties")),
                PathStep::Index => node.get("items"),
            };
            next.extend(below.filter(|below| below.is_object()).into_iter().flat_map(widened));
        }
        at = next;
    }
    at
}

/// The node with what it refers to and what it may be instead.
fn widened(node: &'static Value) -> Vec<&'static Value> {
    let mut all = vec![node];
    let mut looked = 0;
    while let Some(node) = all.get(looked).copied() {
        looked += 1;
        let reference = node.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
        all.extend(reference.and_then(|pointer| schema().pointer(pointer)));
        all.extend(node.get("anyOf").and_then(Value::as_array).into_iter().flatten());
    }
    all
}

fn description(property: &'static Value) -> Option<String> {
    widened(property).into_iter().find_map(|node| node.get("description")?.as_str()).map(str::to_owned)
}

//! How the parts of a policy are compared and put together: which objects member by member, which lists by what, and
//! what is only ever taken as a whole.

use std::fmt::Write as _;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::window::Window;

/// A part of the grammar, as far as changes need to tell parts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The whole policy, or what an overlay says for one client.
    Body,
    /// Rules by name: `tools`, `classes`.
    Rules,
    /// Overlays by client.
    Clients,
    Rule,
    /// Rules for resources, prompts and single methods.
    Methods,
    /// `ask`, `loop`, `process`, `codegen`.
    Settings,
    /// One entry of `limits`, or `rate_limit`.
    Cap,
    /// `limits`: items go by their counter.
    Caps,
    /// `require` and its kin: items go by their whole value.
    Clauses,
    /// Lists of names or addresses.
    Texts,
    /// `tests`: items go by their name, if they have one.
    Tests,
    /// Taken as a whole.
    Whole,
}

impl Part {
    /// The part that a member of this name is.
    pub(super) fn member(self, key: &str) -> Part {
        match (self, key) {
            (Part::Body, "tools" | "classes") => Part::Rules,
            (Part::Body, "clients") => Part::Clients,
            (Part::Body, "all_tools") | (Part::Rules, _) => Part::Rule,
            (Part::Clients, _) => Part::Body,
            (Part::Body, "resources" | "prompts" | "completion" | "sampling" | "elicitation") => {
                Part::Methods
            }
            (Part::Body | Part::Rule, "ask" | "loop") | (Part::Body, "process" | "codegen") => Part::Settings,
            (Part::Body, "hide") | (Part::Methods, "schemes" | "allow" | "deny" | "hide") => Part::Texts,
            (Part::Body, "tests") => Part::Tests,
            (Part::Rule, "rate_limit") => Part::Cap,
            (Part::Rule | Part::Methods, "limits") => Part::Caps,
            (Part::Rule, "require" | "deny_if" | "ask_if") => Part::Clauses,
            _ => Part::Whole,
        }
    }

    /// The part that an item of this list is.
    pub(super) fn item(self) -> Part {
        if self == Part::Caps { Part::Cap } else { Part::Whole }
    }

    pub(super) fn is_object(self) -> bool {
        matches!(
            self,
            Part::Body
                | Part::Rules
                | Part::Clients
                | Part::Rule
                | Part::Methods
                | Part::Settings
                | Part::Cap
        )
    }

    pub(super) fn is_list(self) -> bool {
        matches!(self, Part::Caps | Part::Clauses | Part::Texts | Part::Tests)
    }

    /// Does a missing member of this name mean the same as an empty one?
    pub(super) fn missing_is_empty(self, key: &str) -> bool {
        match self {
            Part::Body => {
                matches!(key, "hide" | "tools" | "classes" | "clients" | "all_tools" | "tests")
            }
            Part::Rule => matches!(key, "limits" | "require" | "deny_if" | "ask_if"),
            Part::Methods => key == "limits",
            _ => false,
        }
    }

    /// The keys by which items of these lists of one kind are the same item. Each list gets one key per item; no key
    /// occurs twice in one list.
    pub(super) fn keys<const N: usize>(self, lists: [&Array<'_>; N]) -> [Vec<String>; N] {
        let all = |key: fn(&Value<'_>) -> String| -> [Vec<String>; N] {
            lists.map(|list| list.elements.iter().map(key).collect())
        };
        let keys = match self {
            Part::Caps => {
                let by_counter = all(counter_key);
                // Two limits of one counter differ in their scope.
                if by_counter.iter().all(|keys| unique(keys)) { by_counter } else { all(scoped_key) }
            }
            Part::Tests => all(test_key),
            _ => all(canonical),
        };
        keys.map(numbered)
    }
}

fn unique(keys: &[String]) -> bool {
    let mut seen = FxHashSet::default();
    keys.iter().all(|key| seen.insert(key))
}

/// The second and later ones of a key get a number.
fn numbered(keys: Vec<String>) -> Vec<String> {
    let mut seen: FxHashMap<String, usize> = FxHashMap::default();
    keys.into_iter()
        .map(|key| {
            let count = seen.entry(key.clone()).or_default();
            *count += 1;
            if *count == 1 { key } else { format!("{key} #{count}") }
        })
        .collect()
}

/// Each kind of limit has counters of its own; one without a name counts by its window.
fn counter_key(limit: &Value<'_>) -> String {
    let Value::Object(limit) = limit else { return canonical(limit) };
    let kind = text(limit, "kind").unwrap_or("calls");
    match text(limit, "counter") {
        Some(counter) => format!("{kind} {counter:?}"),
        None => format!("{kind} per {}", window(limit).unwrap_or_default()),
    }
}

fn scoped_key(limit: &Value<'_>) -> String {
    let scope = limit.as_object().and_then(|limit| text(limit, "scope")).unwrap_or("grant");
    format!("{} by {scope}", counter_key(limit))
}

fn test_key(test: &Value<'_>) -> String {
    match test.as_object().and_then(|test| text(test, "name")) {
        Some(name) => format!("named {name:?}"),
        None => canonical(test),
    }
}

/// The text of a member.
pub(super) fn text<'v>(object: &'v Object<'_>, key: &str) -> Option<&'v str> {
    match member(object, key)? {
        Value::StringLit(text) => Some(text.value.as_ref()),
        _ => None,
    }
}

pub(super) fn member<'v, 't>(object: &'v Object<'t>, key: &str) -> Option<&'v Value<'t>> {
    object.properties.iter().find(|p| p.name.as_str() == key).map(|p| &p.value)
}

/// The window of a limit as a word, however it is spelled.
pub(super) fn window(limit: &Object<'_>) -> Option<String> {
    let window = match member(limit, "window")? {
        Value::StringLit(text) => text.value.parse().ok(),
        Value::NumberLit(number) => number.value.parse().ok().and_then(|s| Window::from_seconds(s).ok()),
        _ => None,
    };
    window.map(|window: Window| window.to_string())
}

/// Members by name; of several of one name the first counts.
pub(super) fn index<'v, 't>(object: &'v Object<'t>) -> FxHashMap<&'v str, (usize, &'v ObjectProp<'t>)> {
    let mut index = FxHashMap::default();
    for (i, property) in object.properties.iter().enumerate() {
        index.entry(property.name.as_str()).or_insert((i, property));
    }
    index
}

/// Do both say the same, whatever their layout, comments and order of members?
pub(super) fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    canonical(a) == canonical(b)
}

/// A value in one spelling: compact, members sorted.
pub(super) fn canonical(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value<'_>, out: &mut String) {
    match value {
        Value::StringLit(text) => {
            let _ = write!(out, "{:?}", text.value);
        }
        Value::NumberLit(number) => out.push_str(number.value),
        Value::BooleanLit(boolean) => out.push_str(if boolean.value { "true" } else { "false" }),
        Value::NullKeyword(_) => out.push_str("null"),
        Value::Array(array) => {
            out.push('[');
            for (i, item) in array.elements.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            let mut members: Vec<_> = index(object).into_iter().collect();
            members.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, (_, property))) in members.into_iter().enumerate() {
                let _ = write!(out, "{}{key:?}: ", if i > 0 { ", " } else { "" });
                write_canonical(&property.value, out);
            }
            out.push('}');
        }
    }
}

/// An object or a list that stands for one that is missing.
pub(super) fn nothing_like(value: &Value<'_>) -> Value<'static> {
    let range = jsonc_parser::common::Range::new(0, 0);
    match value {
        Value::Array(_) => Value::Array(Array { range, elements: Vec::new() }),
        _ => Value::Object(Object { range, properties: Vec::new() }),
    }
}

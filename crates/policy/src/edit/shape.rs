//! How the parts of a policy are compared and put together: which objects member by member, which lists by what, and
//! what is only ever taken as a whole.

use std::fmt::Write as _;

use callgate_document::{Member, Node, Value};
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
    pub(super) fn keys<const N: usize>(self, lists: [&[Node]; N]) -> [Vec<String>; N] {
        let all = |key: fn(&Node) -> String| -> [Vec<String>; N] {
            lists.map(|list| list.iter().map(key).collect())
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
fn counter_key(limit: &Node) -> String {
    let Some(limit) = limit.map() else { return canonical(limit) };
    let kind = text(limit, "kind").unwrap_or("calls");
    match text(limit, "counter") {
        Some(counter) => format!("{kind} {counter:?}"),
        None => format!("{kind} per {}", window(limit).unwrap_or_default()),
    }
}

fn scoped_key(limit: &Node) -> String {
    let scope = limit.map().and_then(|limit| text(limit, "scope")).unwrap_or("grant");
    format!("{} by {scope}", counter_key(limit))
}

fn test_key(test: &Node) -> String {
    match test.map().and_then(|test| text(test, "name")) {
        Some(name) => format!("named {name:?}"),
        None => canonical(test),
    }
}

/// The text of a member.
pub(super) fn text<'v>(map: &'v [Member], key: &str) -> Option<&'v str> {
    member(map, key)?.text()
}

pub(super) fn member<'v>(map: &'v [Member], key: &str) -> Option<&'v Node> {
    map.iter().find(|member| member.key == key).map(|member| &member.value)
}

/// The window of a limit as a word, however it is spelled.
pub(super) fn window(limit: &[Member]) -> Option<String> {
    let window = match &member(limit, "window")?.value {
        Value::Text(text) => text.parse().ok(),
        Value::Number(number) => number.parse().ok().and_then(|s| Window::from_seconds(s).ok()),
        _ => None,
    };
    window.map(|window: Window| window.to_string())
}

/// Members by name; of several of one name the first counts.
pub(super) fn index(map: &[Member]) -> FxHashMap<&str, (usize, &Member)> {
    let mut index = FxHashMap::default();
    for (i, member) in map.iter().enumerate() {
        index.entry(member.key.as_str()).or_insert((i, member));
    }
    index
}

/// Do both say the same, whatever their layout, comments and order of members?
pub(super) fn same(a: &Node, b: &Node) -> bool {
    canonical(a) == canonical(b)
}

/// A value in one spelling: compact, members sorted.
pub(super) fn canonical(node: &Node) -> String {
    let mut out = String::new();
    write_canonical(node, &mut out);
    out
}

fn write_canonical(node: &Node, out: &mut String) {
    match &node.value {
        Value::Text(text) => {
            let _ = write!(out, "{text:?}");
        }
        Value::Number(number) => out.push_str(number),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            let mut members: Vec<_> = index(map).into_iter().collect();
            members.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, (_, member))) in members.into_iter().enumerate() {
                let _ = write!(out, "{}{key:?}: ", if i > 0 { ", " } else { "" });
                write_canonical(&member.value, out);
            }
            out.push('}');
        }
    }
}

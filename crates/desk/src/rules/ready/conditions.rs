//! What a ready-made rule asks of an argument, and how that is written.

use serde_json::{Map, Value, json};

/// Arguments are named as in paths: `options.outputPath`.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    /// Has to be there, and to lead into the folder.
    Inside(&'static str),
    /// If it is there, it leads into the folder.
    NotOutside(&'static str),
    /// Has to be an http or https address.
    Web(&'static str),
    /// Has to match; the words are for the agent.
    Matches(&'static str, &'static str, &'static str),
    /// Must not match.
    MatchesNot(&'static str, &'static str, &'static str),
    /// Must not be this value.
    IsNot(&'static str, &'static str, &'static str),
    /// Must not be there.
    Without(&'static str, &'static str),
    /// The tool is refused as a whole.
    Refused(&'static str),
}

use Condition::{Inside, IsNot, Matches, MatchesNot, NotOutside, Refused, Web, Without};

impl Condition {
    /// A name of a file that is no path.
    pub(super) const fn plain_name(argument: &'static str) -> Condition {
        MatchesNot(argument, r"[/\\]|^\.\.?$", "a plain file name, without folders, is asked for")
    }

    /// The argument that is compared with the folder.
    pub(super) fn folder_argument(&self) -> Option<&'static str> {
        match self {
            Inside(argument) | NotOutside(argument) => Some(argument),
            Web(_) | Matches(..) | MatchesNot(..) | IsNot(..) | Without(..) | Refused(_) => None,
        }
    }

    /// Into a tool's rule.
    pub(super) fn write(&self, rule: &mut Map<String, Value>, folder: &str) {
        let path = |argument: &str| format!("args.{argument}");
        let (list, entry) = match self {
            Inside(argument) => {
                ("require", json!({ "path": path(argument), "op": "inside", "value": folder }))
            }
            NotOutside(argument) => {
                ("deny_if", json!({ "path": path(argument), "op": "not_inside", "value": folder }))
            }
            Web(argument) => {
                ("require", json!({ "path": path(argument), "op": "regex", "value": "^(?i:https?)://" }))
            }
            Matches(argument, pattern, words) => (
                "require",
                json!({ "path": path(argument), "op": "regex", "value": pattern, "on_deny": words }),
            ),
            MatchesNot(argument, pattern, words) => (
                "deny_if",
                json!({ "path": path(argument), "op": "regex", "value": pattern, "on_deny": words }),
            ),
            IsNot(argument, value, words) => {
                ("deny_if", json!({ "path": path(argument), "op": "eq", "value": value, "on_deny": words }))
            }
            Without(argument, words) => {
                ("deny_if", json!({ "path": path(argument), "op": "exists", "on_deny": words }))
            }
            Refused(reason) => {
                rule.insert("action".to_owned(), json!("deny"));
                rule.insert("reason".to_owned(), json!(reason));
                return;
            }
        };
        let list = rule.entry(list).or_insert_with(|| json!([]));
        if let Value::Array(entries) = list {
            entries.push(entry);
        }
    }
}

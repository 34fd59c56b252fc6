//! Which format a text is in.

use callgate_document::Node;

use crate::ledger::Ledger;
use crate::settings::{Settings, member};
use crate::yaml::{self, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Intercept's YAML: [`crate::intercept::import`].
    Intercept,
    /// Claude Code's settings with permissions: [`crate::claude::import`].
    Claude,
    /// A policy of ours, or PolicyLayer's JSON, which is one as it stands.
    Policy,
}

const INTERCEPT: [&str; 4] = ["version", "default", "hide", "tools"];

/// A guess from the outermost keys; also for texts with mistakes, so that those can be told in the right words.
pub fn detect(text: &str) -> Option<Format> {
    let mut quiet = Ledger::default();
    if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '/'])
        && let Some(settings) = Settings::read(text, &mut quiet)
    {
        return json(&settings.root);
    }
    match yaml::read(text, &mut quiet).as_deref().map(|root| &root.value) {
        Some(Value::Map(entries)) => {
            let known = |key: &str| INTERCEPT.contains(&key);
            entries.iter().any(|(key, _)| key.text().is_some_and(known)).then_some(Format::Intercept)
        }
        Some(_) => None,
        None => {
            let begins = |line: &str| {
                INTERCEPT.iter().any(|key| line.strip_prefix(key).is_some_and(|l| l.starts_with(':')))
            };
            text.lines().any(begins).then_some(Format::Intercept)
        }
    }
}

fn json(root: &Node) -> Option<Format> {
    if member(root, "permissions").is_some() {
        return Some(Format::Claude);
    }
    let tools = member(root, "tools").and_then(Node::map).unwrap_or_default();
    // YAML may be written in JSON's clothes.
    if tools.iter().any(|tool| member(&tool.value, "rules").is_some()) {
        return Some(Format::Intercept);
    }
    let known = |key: &str| {
        INTERCEPT.contains(&key) || matches!(key, "all_tools" | "clients" | "classes" | "$schema")
    };
    root.map()?.iter().any(|member| known(&member.key)).then_some(Format::Policy)
}

#[cfg(test)]
mod tests {
    use super::{Format, detect};

    #[test]
    fn formats_are_told_by_their_keys() {
        for (text, format) in [
            ("version: \"1\"\ntools: {}\n", Some(Format::Intercept)),
            ("# words\n---\ntools:\n  a: {rules: []}\n", Some(Format::Intercept)),
            ("version: \"1\ntools:\n", Some(Format::Intercept)),
            (r#"{"version":"1","tools":{"a":{"rules":[]}}}"#, Some(Format::Intercept)),
            (r#"{"permissions":{"allow":["mcp__a"]}}"#, Some(Format::Claude)),
            (r#"{"version":"1","default":"deny"}"#, Some(Format::Policy)),
            ("// ours\n{\n  \"version\": \"1\", // x\n  \"default\": \"deny\", }", Some(Format::Policy)),
            ("\u{feff}{\"all_tools\":{}}", Some(Format::Policy)),
            ("{}", None),
            ("[1]", None),
            ("", None),
            ("just words", None),
            ("name: x\n", None),
        ] {
            assert_eq!(detect(text), format, "{text}");
        }
    }
}

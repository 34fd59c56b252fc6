//! Which tools a change of policy touches.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use callgate_policy::{Circumstances, Policy};
use callgate_review::impact;

fn shown(old: &str, new: &str) -> String {
    let (old, new) = (Policy::parse(old).unwrap(), Policy::parse(new).unwrap());
    let tools: BTreeSet<String> = ["listed_by_the_server", "read"].map(str::to_owned).into();
    let usage: BTreeMap<String, u64> =
        [("read".to_owned(), 12), ("pay".to_owned(), 3), ("other".to_owned(), 1)].into();
    let mut text = String::new();
    for change in impact(&old, &new, &tools, &usage, &["claude"], &Circumstances::timeless()) {
        let looser = if change.looser { "looser" } else { "" };
        let client = change.client.unwrap_or_default();
        let line = format!(
            "{:<20} {client:<8} {:>3} calls  {} -> {}  {looser}",
            change.tool, change.used, change.before, change.after
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

const OPEN: &str = r#"{ "version": "1", "default": "allow" }"#;
const STRICT: &str = r#"{ "version": "1", "default": "deny", "hide": ["secret"], "tools": {
    "read": { "limits": [{ "counter": "r", "window": "minute", "max": 10 }] },
    "pay": { "require": [{ "path": "args.amount", "op": "lte", "value": 100 }] },
    "delete": { "action": "deny" } } }"#;

#[test]
fn from_open_to_strict() {
    insta::assert_snapshot!(shown(OPEN, STRICT));
}

#[test]
fn from_strict_to_open() {
    insta::assert_snapshot!(shown(STRICT, OPEN));
}

#[test]
fn other_numbers_and_other_conditions() {
    let changed = STRICT.replace("\"max\": 10", "\"max\": 20").replace("\"value\": 100", "\"value\": 1000");
    insta::assert_snapshot!(shown(STRICT, &changed));
    let tighter = STRICT.replace("\"max\": 10", "\"max\": 5");
    insta::assert_snapshot!(shown(STRICT, &tighter));
}

#[test]
fn nothing_changes_between_a_policy_and_itself() {
    assert_eq!(shown(STRICT, STRICT), "");
    assert_eq!(shown(STRICT, &STRICT.replace("\"counter\": \"r\"", "\"counter\": \"s\"")), "");
}

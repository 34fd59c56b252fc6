//! What changed rules would have decided otherwise than today's.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::ops::ControlFlow;
use std::time::Duration;

use callgate_history::History;
use callgate_journal::Decision;
use callgate_policy::{AsWritten, Policy};
use callgate_review::{ComparisonRequest, Difference, ToolDifference, compare};
use common::{SERVER, START_MS, World};

const OPEN: &str = r#"{ "version": "1", "default": "allow" }"#;
/// As the policy of a server that nobody wrote one for.
const CAPPED: &str = r#"{ "version": "1", "default": "allow", "all_tools": {
    "limits": [{ "counter": "all", "window": "minute", "max": 30, "scope": "grant" }] } }"#;

fn policy(text: &str) -> Policy {
    Policy::parse(text).unwrap()
}

fn between(history: &History, today: &str, changed: &str) -> Difference {
    let question = ComparisonRequest { server: SERVER, since_ms: START_MS, files: &AsWritten, examples: 3 };
    compare(history, &policy(today), &policy(changed), &question, |_| ControlFlow::Continue(())).unwrap()
}

const WEEK_MS: i64 = 7 * 86_400_000;

fn headline(difference: &Difference) -> String {
    difference.headline(START_MS + WEEK_MS)
}

/// A loop of 60 reads in a minute, half of which the cap refused, and one write.
fn looped() -> World {
    let mut world = World::new();
    let session = world.session("claude");
    for number in 0..60 {
        let decision = world.tool(session, &policy(CAPPED), "read", "{}");
        assert_eq!(decision == Decision::Capped, number >= 30);
        world.advance(Duration::from_millis(500));
    }
    world.answer_all();
    world.advance(Duration::from_secs(3_600));
    world.tool(session, &policy(CAPPED), "write_file", r#"{"path":"/a"}"#);
    world
}

#[test]
fn a_limit_that_would_have_refused_nothing_is_not_charged_with_what_todays_cap_refuses() {
    let history = looped().history();
    let limited = CAPPED.replacen(
        "\"all_tools\"",
        r#""tools": { "write_file": { "limits": [{ "counter": "w", "window": "minute", "max": 30 }] } }, "all_tools""#,
        1,
    );
    let difference = between(&history, CAPPED, &limited);
    assert_eq!(headline(&difference), "No call of the last 7 days would have been decided differently.");
    assert_eq!(
        difference.details(START_MS + WEEK_MS),
        ["Of 61 calls in the last 7 days, today's rules refuse 30, these 30."]
    );
    assert!(difference.is_none() && difference.tools.is_empty());
}

#[test]
fn calls_that_differ_are_counted_both_ways_by_tool_and_named_newest_first() {
    let history = looped().history();
    let other = r#"{ "version": "1", "default": "allow", "tools": { "write_file": { "action": "deny" } } }"#;
    let difference = between(&history, CAPPED, other);
    assert_eq!(headline(&difference), "Refuses 1 call more than today's rules, 30 fewer.");
    let tool = |tool: &str, more, fewer| ToolDifference { tool: tool.to_owned(), more, fewer };
    assert_eq!(difference.tools, [tool("read", 0, 30), tool("write_file", 1, 0)]);
    assert_eq!((difference.more.examples.len(), difference.fewer.examples.len()), (1, 3));
    assert_eq!(difference.more.examples[0].rule, "/tools/write_file/action");
    assert_eq!(difference.fewer.examples[0].rule, "/all_tools/limits/0", "the rule of today that refuses it");
    assert!(difference.fewer.examples.windows(2).all(|two| two[0].at_ms > two[1].at_ms));
    let back = between(&history, other, CAPPED);
    assert_eq!(headline(&back), "Refuses 30 calls more than today's rules, 1 fewer.");
    assert_eq!((back.more, back.fewer), (difference.fewer, difference.more), "the same from the other side");
}

#[test]
fn what_was_refused_then_is_no_difference_if_both_let_it_through() {
    let history = looped().history();
    let noted = r#"{ "version": "1", "default": "allow", "description": "no caps any more" }"#;
    assert_eq!(
        headline(&between(&history, OPEN, noted)),
        "No call of the last 7 days would have been decided differently."
    );
}

#[test]
fn another_way_of_refusing_is_told_as_that() {
    let mut world = World::new();
    let session = world.session("claude");
    for _ in 0..4 {
        world.tool(session, &policy(OPEN), "pay", "{}");
    }
    let history = world.history();
    let denied = r#"{ "version": "1", "default": "allow", "tools": { "pay": { "action": "deny" } } }"#;
    let hidden = r#"{ "version": "1", "default": "allow", "hide": ["pay"] }"#;
    let difference = between(&history, denied, hidden);
    assert_eq!(headline(&difference), "Refuses the same calls as today's rules.");
    assert_eq!((difference.otherwise, difference.is_none()), (4, false));
    assert!(
        difference.details(START_MS)[1].starts_with("4 calls would be refused by both, but in another way")
    );
    let watched = denied.replace("\"default\"", "\"mode\": \"observe\", \"default\"");
    let difference = between(&history, OPEN, &watched);
    assert_eq!(
        (headline(&difference).as_str(), difference.noted),
        ("Refuses the same calls as today's rules.", 4)
    );
}

#[test]
fn what_no_record_tells_is_no_difference_where_the_question_is_the_same() {
    let mut world = World::new();
    let session = world.session("claude");
    world.tool(session, &policy(OPEN), "note", r#"{"token":"hunter2hunter2"}"#);
    let history = world.history();
    let reads = r#"{ "version": "1", "default": "allow", "tools": {
        "note": { "deny_if": [{ "path": "args.token", "op": "contains", "value": "x" }] } } }"#;
    let and_more = reads.replace("\"note\"", "\"other\": { \"action\": \"deny\" }, \"note\"");
    let difference = between(&history, reads, &and_more);
    assert_eq!((difference.unclear, difference.is_none()), (0, true));
    let reads_otherwise = reads.replace("\"x\"", "\"y\"");
    for (today, changed) in [(OPEN, reads), (reads, OPEN), (reads, &*reads_otherwise)] {
        let difference = between(&history, today, changed);
        assert_eq!((difference.unclear, difference.more.calls, difference.fewer.calls), (1, 0, 0));
        assert_eq!(
            headline(&difference),
            "As far as can be told, no call of the last 7 days would have been decided differently."
        );
    }
}

#[test]
fn without_calls_there_is_nothing_to_tell_apart() {
    let history = World::new().history();
    let difference = between(&history, OPEN, CAPPED);
    assert_eq!(headline(&difference), "There are no calls in the last 7 days to judge.");
    assert!(difference.details(START_MS).is_empty());
}

#[test]
fn what_a_person_would_be_asked_is_told_apart_from_what_is_refused_with_how_often() {
    let history = looped().history();
    let tools = r#""allow", "tools": { "read": { "action": "ask" }, "write_file": { "action": "deny" } }"#;
    let difference = between(&history, OPEN, &OPEN.replacen("\"allow\"", tools, 1));
    assert_eq!(
        headline(&difference),
        "Asks you about 60 calls that pass today, and refuses 1 call more than today's rules, 0 fewer."
    );
    let details = difference.details(START_MS + WEEK_MS);
    assert_eq!(
        details,
        [
            "Of 61 calls in the last 7 days, today's rules refuse 0, these 1.",
            "60 calls would have been asked about, 60 an hour at most.",
        ]
    );
    let said = difference.changed.sentences(START_MS + WEEK_MS);
    assert!(said[0].starts_with("would have refused 1 of 61 calls"), "{said:?}");
}

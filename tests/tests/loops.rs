//! Loops: a call that was made again and again with the same result is refused, through the real gate.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_tests::gate::Bench;
use callgate_tests::history::rows;
use callgate_tests::session::{Session, result_text, told};

/// Refuses something else as well, so that loops are refused, too.
const LOOPS: &str = r#"{ "version": "1", "default": "allow", "loop": { "same_result": 3 }, "hide": ["other"],
    "tools": { "polled": { "loop": { "action": "allow" } } } }"#;

fn said(session: &mut Session, id: u32, tool: &str, args: &str) -> String {
    let answer = session.ask(&id.to_string(), tool, args).unwrap();
    told(&answer).or_else(|| result_text(&answer)).unwrap().to_owned()
}

fn decisions(bench: &Bench) -> Vec<String> {
    rows(bench).unwrap().iter().rev().map(|row| row.decision().to_owned()).collect()
}

#[test]
fn the_fourth_call_with_the_same_result_is_refused_and_the_agent_is_told_to_stop() {
    let bench = Bench::new(LOOPS).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for id in 1..=3 {
        assert_eq!(said(&mut session, id, "safe", r#"{"a":1}"#), "safe ran");
    }
    assert_eq!(
        said(&mut session, 4, "safe", r#"{ "a": 1 }"#),
        "Callgate: \"safe\" was called 3 times with these arguments, and had the same result each time. Stop: do not make this call again. \
         Use what it has told you, do something else, or ask the user."
    );
    assert_eq!(said(&mut session, 5, "safe", r#"{"a":2}"#), "safe ran", "other arguments");
    for id in 6..=12 {
        assert_eq!(said(&mut session, id, "polled", "{}"), "polled ran", "its rule lets it loop");
    }
    let mut other = bench.session("", &[]).unwrap();
    assert_eq!(said(&mut other, 1, "safe", r#"{"a":1}"#), "safe ran", "another session");
    session.close_input();
    let denied: Vec<_> = rows(&bench).unwrap().into_iter().filter(|row| row.decision() == "denied").collect();
    assert_eq!(denied.len(), 1);
    assert_eq!(denied[0].0.get("rule").and_then(|rule| rule.as_text()), Some("/loop"));
    assert_eq!(bench.server_lines().iter().filter(|line| line.contains(r#""safe""#)).count(), 5);
}

#[test]
fn a_page_that_looks_otherwise_each_time_is_no_loop() {
    let bench = Bench::new(LOOPS).unwrap();
    let script: String = (1..=8)
        .map(|nth| {
            format!(
                "on snapshot {nth}\nsend {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"page {nth}\"}}]}}}}\n"
            )
        })
        .collect();
    let mut session = bench.session(&script, &[]).unwrap();
    for id in 1..=8 {
        assert_eq!(said(&mut session, id, "snapshot", "{}"), format!("page {id}"));
    }
}

#[test]
fn where_rules_are_only_watched_or_observed_a_loop_is_reported_and_passes() {
    for policy in [
        r#"{ "version": "1", "default": "allow", "loop": { "same_result": 2 } }"#,
        r#"{ "version": "1", "default": "deny", "mode": "observe", "loop": { "same_result": 2, "action": "deny" }, "tools": { "safe": {} } }"#,
    ] {
        let bench = Bench::new(policy).unwrap();
        let mut session = bench.session("", &[]).unwrap();
        for id in 1..=3 {
            assert_eq!(said(&mut session, id, "safe", "{}"), "safe ran", "{policy}");
        }
        assert_eq!(decisions(&bench).iter().filter(|word| *word == "would_deny").count(), 1, "{policy}");
    }
}

#[test]
fn a_loop_that_is_asked_about_goes_on_after_a_yes_only() {
    let policy = r#"{ "version": "1", "default": "allow", "loop": { "same_result": 2, "action": "ask" } }"#;
    let bench = Bench::new(policy).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for id in 1..=2 {
        assert_eq!(said(&mut session, id, "safe", "{}"), "safe ran");
    }
    // Nobody is there to decide.
    assert!(said(&mut session, 3, "safe", "{}").contains("the user is away"));
}

#[test]
fn without_the_rule_the_call_passes_again_from_the_next_one_on() {
    let bench = Bench::new(LOOPS).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for id in 1..=3 {
        said(&mut session, id, "safe", "{}");
    }
    assert!(said(&mut session, 4, "safe", "{}").contains("Stop: do not make this call again"));
    bench.write_policy(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    assert_eq!(said(&mut session, 5, "safe", "{}"), "safe ran");
}

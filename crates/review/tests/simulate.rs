//! What a policy would have done, as a person reads it.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::time::Duration;

use callgate_history::History;
use callgate_journal::{Decision, Outcome};
use callgate_policy::{AsWritten, Policy};
use callgate_review::{ReviewError, Simulation, simulate};
use common::{SERVER, START_MS, World};

const OPEN: &str = r#"{ "version": "1", "default": "allow" }"#;

fn run(history: &History, policy: &Policy) -> Simulation {
    simulate(history, policy, SERVER, START_MS, &AsWritten, |_| ControlFlow::Continue(())).unwrap()
}

fn shown(simulation: &Simulation, now_ms: i64) -> String {
    let mut text = String::new();
    for sentence in simulation.sentences(now_ms) {
        let _ = writeln!(text, "{sentence}");
    }
    text.push_str(
        "\nrule                           denied hidden capped asked observed untold newly  newest\n",
    );
    for rule in &simulation.rules {
        let newest =
            rule.newest.map_or_else(String::new, |(id, at)| format!("{id} +{}s", (at - START_MS) / 1000));
        let _ = writeln!(
            text,
            "{:<30} {:>6} {:>6} {:>6} {:>5} {:>8} {:>6} {:>5}  {newest}",
            rule.rule,
            rule.denied,
            rule.hidden,
            rule.capped,
            rule.asked,
            rule.observed,
            rule.untold,
            rule.newly
        );
        let _ = writeln!(text, "    {}", rule.reason);
    }
    text.push_str("\ntool                           calls refused untold newly refused  newly passed\n");
    for tool in &simulation.tools {
        let _ = writeln!(
            text,
            "{:<30} {:>5} {:>7} {:>6} {:>13} {:>13}",
            tool.tool, tool.calls, tool.refused, tool.untold, tool.newly_refused, tool.newly_passed
        );
    }
    text
}

#[test]
fn a_stricter_policy_over_a_week_of_calls() {
    let mut world = World::new();
    let then = Policy::parse(
        r#"{ "version": "1", "default": "allow", "tools": { "delete": { "action": "deny" } } }"#,
    )
    .unwrap();
    let (one, two) = (world.session("claude"), world.session("cursor"));
    let day = Duration::from_secs(86_400);
    for number in 0..6 {
        world.tool(one, &then, "list", "{}");
        world.tool(one, &then, "pay", &format!(r#"{{"amount":{}}}"#, 30 * number));
        world.advance(Duration::from_secs(2));
        world.tool(two, &then, "list", "{}");
        world.tool(two, &then, "delete", r#"{"id":1}"#);
        world.answer_all();
        world.advance(day);
    }
    for _ in 0..4 {
        world.tool(one, &then, "list", "{}");
        world.advance(Duration::from_secs(1));
    }
    // A password beside what a rule reads, and one in it.
    world.tool(one, &then, "pay", r#"{"amount":1,"password":"hunter2hunter2"}"#);
    world.tool(one, &then, "note", r#"{"token":"hunter2hunter2"}"#);
    world.request(one, &then, "made/up", "", "{}");
    world.left_out(one, Decision::Paused);
    world.left_out(one, Decision::Malformed);
    world.answer(one, 0, Outcome::Ok);
    let now_ms = world.now_ms();
    let history = world.history();
    let now = Policy::parse(
        r#"{ "version": "1", "default": "deny", "hide": ["delete"], "other_methods": "deny", "tools": {
             "list": { "limits": [{ "counter": "l", "window": "minute", "max": 2, "scope": "grant" }] },
             "pay": { "require": [{ "path": "args.amount", "op": "lte", "value": 100 }] },
             "note": { "deny_if": [{ "path": "args.token", "op": "contains", "value": "x" }] } } }"#,
    )
    .unwrap();
    let simulation = run(&history, &now);
    insta::assert_snapshot!(shown(&simulation, now_ms));
    assert_eq!(simulation, run(&history, &now), "the same again");

    let open = run(&history, &Policy::parse(OPEN).unwrap());
    assert_eq!((open.refused, open.newly_passed, open.calls), (0, 6, simulation.calls));
    assert_eq!(open.newly_passed_examples.len(), 3);
    assert!(open.newly_passed_examples.windows(2).all(|two| two[0].at_ms > two[1].at_ms), "newest first");
    let broken = run(&history, &Policy::refuse_all("no file"));
    assert_eq!(broken.refused, simulation.calls);
}

#[test]
fn nothing_to_judge_is_said() {
    let mut world = World::new();
    let history = world.history();
    let simulation = run(&history, &Policy::parse(OPEN).unwrap());
    assert_eq!(
        simulation.sentences(START_MS + 7 * 86_400_000),
        ["there are no calls in the last 7 days to judge again"]
    );
}

#[test]
fn a_simulation_stops_when_it_is_told_to_and_says_how_far_it_is() {
    let mut world = World::new();
    let open = Policy::parse(OPEN).unwrap();
    let session = world.session("claude");
    for _ in 0..9_000 {
        world.tool(session, &open, "t", "{}");
    }
    let history = world.history();
    let mut heard = Vec::new();
    let stopped = simulate(&history, &open, SERVER, 0, &AsWritten, |progress| {
        heard.push(progress.rows);
        if heard.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(ReviewError::Stopped)));
    assert_eq!(heard, [4096, 8192]);
}

#[test]
fn callgates_own_folder_stays_closed_under_every_policy() {
    let mut world = World::new();
    let session = world.session("claude");
    world.refused(session, "read", "(callgate home)");
    world.refused(session, "read", "/tools/read");
    let history = world.history();
    let simulation = run(&history, &Policy::parse(OPEN).unwrap());
    assert_eq!((simulation.refused, simulation.newly_passed), (1, 1));
    assert_eq!(simulation.rules[0].rule, "(callgate home)");
    let hidden = Policy::parse(r#"{ "version": "1", "default": "allow", "hide": ["read"] }"#).unwrap();
    let rules: Vec<String> = run(&history, &hidden).rules.into_iter().map(|rule| rule.rule).collect();
    assert_eq!(rules, ["/hide/0"], "what comes before it in the order of things still does");
}

#[test]
fn rules_about_codegen_sessions_are_simulated_with_the_sessions_that_there_were() {
    let mut world = World::new();
    let then = Policy::parse(OPEN).unwrap();
    let (one, two) = (world.session("claude"), world.session("cursor"));
    let mut call = |session: usize, tool: &str, id: &str, answer: &str| {
        world.tool(session, &then, tool, &format!(r#"{{"sessionId":"{id}"}}"#));
        world.say(session, answer);
        world.advance(Duration::from_secs(1));
    };
    call(one, "start_codegen_session", "", r#"{"sessionId":"A"}"#);
    call(one, "playwright_click", "", "{}");
    // Another client's server is another one.
    call(two, "start_codegen_session", "", r#"{"sessionId":"B"}"#);
    call(two, "clear_codegen_session", "B", "{}");
    // Refused by the new rules: a second start, and with it everything that is about the session it would have begun.
    call(one, "start_codegen_session", "", r#"{"sessionId":"C"}"#);
    call(one, "end_codegen_session", "C", "{}");
    call(one, "clear_codegen_session", "A", "{}");
    call(one, "end_codegen_session", "A", "{}");
    call(one, "start_codegen_session", "", r#"{"sessionId":"D"}"#);
    let codegen =
        r#""codegen": { "one_open_session": true, "own_sessions_only": true, "keep_unfinished": true }"#;
    let policy = Policy::parse(&format!(r#"{{ "version": "1", "default": "allow", {codegen} }}"#)).unwrap();
    let simulation = run(&world.history(), &policy);
    let denied: Vec<_> = simulation.rules.iter().map(|rule| (rule.rule.as_str(), rule.denied)).collect();
    assert_eq!((simulation.calls, simulation.refused, simulation.untold), (9, 3, 0), "{denied:?}");
    for rule in ["/codegen/one_open_session", "/codegen/own_sessions_only", "/codegen/keep_unfinished"] {
        assert!(denied.contains(&(rule, 1)), "{denied:?}");
    }
    let watching = Policy::parse(OPEN).unwrap();
    assert_eq!(run(&world.history(), &watching).refused, 0);
}

#[test]
fn a_session_whose_name_was_not_kept_cannot_be_told() {
    let mut world = World::new();
    let then = Policy::parse(r#"{ "version": "1", "default": "allow", "tools": { "start_codegen_session": { "record": "none" } } }"#)
        .unwrap();
    let one = world.session("claude");
    world.tool(one, &then, "start_codegen_session", "{}");
    world.say(one, r#"{"sessionId":"A"}"#);
    world.tool(one, &then, "end_codegen_session", r#"{"sessionId":"A"}"#);
    let policy =
        Policy::parse(r#"{ "version": "1", "default": "allow", "codegen": { "own_sessions_only": true } }"#)
            .unwrap();
    let simulation = run(&world.history(), &policy);
    assert_eq!((simulation.refused, simulation.untold), (0, 1));
}

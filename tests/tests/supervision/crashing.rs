//! A server that crashes: once, in a call, again and again, and comes back as another.

use callgate_tests::session::unknown_effect;

use super::*;

#[test]
fn a_crash_between_calls_is_mended_and_the_handshake_is_repeated() {
    for policy in [ALWAYS, BETWEEN] {
        let bench = Bench::new(policy).unwrap();
        let mut session = opened(&bench, CRASH_AFTER);
        assert_eq!(result_text(&session.ask("3", "danger", "{}").unwrap()), Some("danger ran"));
        // What comes before the crash is noticed is a call under way.
        started(&bench, 2);
        assert_eq!(result_text(&session.ask("4", "safe", "{}").unwrap()), Some("safe ran"));
        let lines = bench.server_lines();
        let again: Vec<&String> = lines.iter().skip_while(|line| !line.contains("danger")).skip(1).collect();
        let first = lines[0].split_once("\"params\"").unwrap().1;
        assert!(again[0].contains("\"id\":\"callgate/") && again[0].ends_with(first), "{again:?}");
        assert!(again[1].contains("notifications/initialized"), "{again:?}");
        assert!(again.iter().any(|line| line.contains("tools/list")), "{again:?}");
        assert!(again.last().unwrap().contains("\"id\":4"), "{again:?}");
        assert_one_answer_each(&session, &["0", "1", "2", "3", "4"]);
        assert!(!session.out.text().contains("callgate/"), "what the gate asks is its own business");
        assert!(!session.out.text().contains("list_changed"), "the same tools");
        session.finish().unwrap();
        let events = events(&bench);
        assert!(events[0].starts_with("crashed: exit code 3; it is started again in "), "{events:?}");
        assert_eq!(events[1..], ["restarted: after it crashed"]);
    }
}

#[test]
fn a_crash_in_a_call_is_told_to_that_call_alone() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = opened(&bench, CRASH_IN);
    session.call("3", "never", "{}").unwrap();
    let told = unknown_effect(
        "Callgate: the server crashed (exit code 3) during this call; it is being started again",
    );
    for (id, answer) in
        [("4", session.ask("4", "danger", "{}").unwrap()), ("3", session.answer("3").unwrap())]
    {
        assert_eq!(super::told(&answer), Some(told.as_str()), "{id}");
    }
    assert_eq!(result_text(&session.ask("5", "safe", "{}").unwrap()), Some("safe ran"));
    assert_one_answer_each(&session, &["3", "4", "5"]);
    session.finish().unwrap();
    let outcomes: Vec<String> =
        rows(&bench).unwrap().iter().map(|row| format!("{} {}", row.tool(), row.outcome())).collect();
    assert_eq!(outcomes, ["safe ok", "never server_ended", "danger server_ended", "safe ok"]);
}

#[test]
fn a_crash_that_is_no_reason_to_restart_ends_the_session() {
    for (policy, code) in [(OPEN_POLICY, 3), (BETWEEN, 3), (OPEN_POLICY, 0), (BETWEEN, 0)] {
        let bench = Bench::new(policy).unwrap();
        let mut session = opened(&bench, &format!("on danger\nexit {code}\n"));
        let told =
            unknown_effect(&format!("Callgate: the server ended (exit code {code}) before it answered"));
        assert_eq!(super::told(&session.ask("3", "danger", "{}").unwrap()), Some(told.as_str()));
        session.ended(PATIENCE).unwrap();
        assert_eq!(servers(&bench).len(), 1, "{policy}");
        assert_eq!(
            events(&bench),
            [format!("crashed: exit code {code}; the session ended with it")],
            "{policy}"
        );
    }
}

/// As servers do whose handler of the process's end says 0 whatever happened.
#[test]
fn a_server_that_ends_with_code_0_while_its_client_is_there_has_crashed() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = opened(&bench, "on danger\nexit 0\n");
    let told = unknown_effect(
        "Callgate: the server crashed (exit code 0) during this call; it is being started again",
    );
    assert_eq!(super::told(&session.ask("3", "danger", "{}").unwrap()), Some(told.as_str()));
    assert_eq!(result_text(&session.ask("4", "safe", "{}").unwrap()), Some("safe ran"));
    session.finish().unwrap();
    let events = events(&bench);
    assert!(events[0].starts_with("crashed: exit code 0; it is started again in "), "{events:?}");
    assert_eq!(events[1..], ["restarted: after it crashed"]);
}

#[test]
fn a_server_that_ends_because_its_client_left_has_not_crashed() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = opened(&bench, "");
    assert_eq!(result_text(&session.ask("3", "safe", "{}").unwrap()), Some("safe ran"));
    session.finish().unwrap();
    assert_eq!(events(&bench), Vec::<String>::new());
}

#[test]
fn a_server_that_ends_while_nobody_waits_is_not_said_to_owe_an_answer() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "on danger\nanswer\nexit 3\n");
    session.ask("3", "danger", "{}").unwrap();
    session.ended(PATIENCE).unwrap();
    let said = session.err.text();
    assert!(
        said.contains("the server ended (exit code 3)") && !said.contains("before it answered"),
        "{said}"
    );
}

#[test]
fn a_client_without_a_handshake_needs_none_after_a_crash() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = bench.session(CRASH_AFTER, &[]).unwrap();
    session.ask("1", "danger", "{}").unwrap();
    started(&bench, 2);
    assert_eq!(result_text(&session.ask("2", "safe", "{}").unwrap()), Some("safe ran"));
    assert!(!bench.server_lines().iter().any(|line| line.contains("initialize")));
}

#[test]
fn requests_that_come_while_the_server_is_started_wait_for_it_in_their_order() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = opened(&bench, CRASH_IN);
    session.call("3", "danger", "{}").unwrap();
    session.answer("3").unwrap();
    for id in 10..20 {
        session.call(&id.to_string(), "safe", &format!("{{\"n\":{id}}}")).unwrap();
    }
    session.send(r#"{"jsonrpc":"2.0","id":20,"method":"ping"}"#).unwrap();
    for id in 10..=20 {
        session.answer(&id.to_string()).unwrap();
    }
    let calls: Vec<String> =
        bench.server_lines().into_iter().filter(|line| line.contains("\"n\":")).collect();
    assert_eq!(calls.len(), 10);
    assert!(calls.iter().zip(10..).all(|(line, id)| line.contains(&format!("\"id\":{id},"))), "{calls:?}");
}

#[test]
fn a_server_that_crashes_again_and_again_is_given_up_and_a_person_can_bring_it_back() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = opened(&bench, CRASH_IN);
    script(&bench, "on start\nstderr Error: no such \u{1b}[31mdatabase\nexit 7\n");
    session.ask("3", "danger", "{}").unwrap();
    let answer = session.ask("4", "safe", "{}").unwrap();
    assert!(is_refusal(&answer), "{answer:?}");
    let said = result_text(&answer).unwrap();
    assert!(
        said.contains("crashed more than 5 times in 10 minutes, last: exit code 7")
            && said.contains("Its last words: Error: no such database"),
        "{said}"
    );
    assert_eq!(servers(&bench).len(), 6, "five restarts, no more");
    session.send(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).unwrap();
    assert!(session.answer("5").unwrap().get("result").is_some());
    session.send(r#"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"#).unwrap();
    assert!(error_message(&session.answer("6").unwrap()).unwrap().contains("crashed more than 5 times"));
    assert!(callgate(&bench, &["status"]).contains("crash loop"));
    script(&bench, "");
    assert!(awakened(&bench).contains("Running: corpus in 1 session"));
    session.line_with("notifications/tools/list_changed").unwrap();
    assert_eq!(result_text(&session.ask("7", "safe", "{}").unwrap()), Some("safe ran"));
    session.finish().unwrap();
    let decisions: Vec<String> =
        rows(&bench).unwrap().iter().map(|row| format!("{} {}", row.tool(), row.decision())).collect();
    assert_eq!(decisions, ["safe allowed", "danger allowed", "safe stopped", "safe allowed"]);
    let events = events(&bench);
    assert_eq!(events.iter().filter(|event| event.starts_with("crashed: ")).count(), 6, "{events:#?}");
    assert_eq!(events.last().unwrap(), "restarted: by the user");
}

#[test]
fn a_client_whose_list_crashed_the_server_is_told_to_list_again() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = bench.session("on prompts/list\nexit 3\n", &[]).unwrap();
    open(&mut session);
    session.send(r#"{"jsonrpc":"2.0","id":3,"method":"prompts/list"}"#).unwrap();
    assert!(error_message(&session.answer("3").unwrap()).unwrap().contains("crashed (exit code 3)"));
    session.line_with("notifications/prompts/list_changed").unwrap();
    assert!(!session.out.text().contains("notifications/tools/list_changed"), "the same tools");
}

#[test]
fn a_server_that_comes_back_as_another_ends_the_session_with_words() {
    for (result, told) in [
        (
            r#"{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}},"serverInfo":{"name":"x","version":"1"}}"#,
            "other capabilities",
        ),
        (
            r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}"#,
            "another protocol version",
        ),
    ] {
        let bench = Bench::new(ALWAYS).unwrap();
        let mut session = opened(&bench, CRASH_IN);
        script(
            &bench,
            &format!("on initialize\nsend {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{result}}}\n"),
        );
        session.ask("3", "danger", "{}").unwrap();
        session.call("4", "safe", "{}").unwrap();
        let answer = session.answer("4").unwrap();
        assert!(super::told(&answer).unwrap().contains(told), "{answer:?}");
        session.out.wait_closed(PATIENCE).unwrap();
        assert!(!session.ended(PATIENCE).unwrap().success());
        assert_one_answer_each(&session, &["3", "4"]);
    }
}

#[test]
fn what_a_dead_server_asked_is_taken_back_and_never_mistaken_for_what_the_next_one_asks() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = opened(&bench, CRASH_IN);
    let ask = r#"{"method":"roots/list","params":{}}"#;
    session.call("3", "ask", ask).unwrap();
    session.line_with("\"id\":\"s1\"").unwrap();
    session.call("4", "danger", "{}").unwrap();
    let taken_back = session.line_with("notifications/cancelled").unwrap();
    assert!(taken_back.contains("\"requestId\":\"s1\""), "{taken_back}");
    session.call("5", "ask", ask).unwrap();
    session.line_with("\"id\":\"callgate/1-1\"").unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":"s1","result":{"roots":["late"]}}"#).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":"callgate/1-1","result":{"roots":["right"]}}"#).unwrap();
    let answer = session.answer("5").unwrap();
    assert!(answer.to_text().contains("right"), "{answer:?}");
    let got = bench.server_lines();
    assert!(!got.iter().any(|line| line.contains("late")), "{got:?}");
    assert!(got.iter().any(|line| line.contains("\"id\":\"s1\"") && line.contains("right")), "{got:?}");
}

//! How much a server may take, and how long a call may.

use super::*;

fn limited(process: &str) -> Bench {
    Bench::new(&format!(r#"{{ "version": "1", "default": "allow", "process": {process} }}"#)).unwrap()
}

#[test]
fn a_call_that_hangs_is_given_up_and_its_late_answer_is_dropped() {
    let bench = limited(r#"{ "call_time": "1s" }"#);
    let mut session = opened(&bench, "");
    session.call("3", "later", r#"{"ms":3000}"#).unwrap();
    let answer = session.answer("3").unwrap();
    assert!(is_refusal(&answer), "{answer:?}");
    let said = result_text(&answer).unwrap();
    assert!(said.starts_with("Callgate: the call was given up after 1 s without a sign of life"), "{said}");
    eventually("the server is told", PATIENCE, || {
        let told =
            |line: &String| line.contains("notifications/cancelled") && line.contains("\"requestId\":3");
        bench.server_lines().iter().any(told).then_some(())
    });
    assert_eq!(result_text(&session.ask("4", "safe", "{}").unwrap()), Some("safe ran"), "the server goes on");
    eventually("the late answer is on record", PATIENCE, || {
        callgate(&bench, &["events"]).contains("when it had been given up, and was dropped").then_some(())
    });
    assert_one_answer_each(&session, &["3", "4"]);
    session.finish().unwrap();
    let rows = rows(&bench).unwrap();
    assert!(rows.iter().any(|row| row.tool() == "later" && row.outcome() == "timed_out"));
}

#[test]
fn a_call_that_a_person_cancels_is_told_to_server_and_agent_and_on_record() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    session.call("3", "later", r#"{"ms":3000}"#).unwrap();
    let id = eventually("the call is on record", PATIENCE, || {
        rows(&bench).unwrap().iter().find(|row| row.tool() == "later").map(|row| row.id().to_owned())
    });
    let said = callgate(&bench, &["cancel", &id]);
    assert!(said.starts_with("Cancelled later on corpus: its server and the agent were told"), "{said}");
    let answer = session.answer("3").unwrap();
    assert!(is_refusal(&answer), "{answer:?}");
    let said = result_text(&answer).unwrap();
    assert!(said.contains("cancelled by the user while it ran") && said.contains(&id), "{said}");
    let told = |line: &String| {
        line.contains("notifications/cancelled")
            && line.contains("\"requestId\":3")
            && line.contains("cancelled by the user")
    };
    assert!(bench.server_lines().iter().any(told), "{:?}", bench.server_lines());
    assert_eq!(result_text(&session.ask("4", "safe", "{}").unwrap()), Some("safe ran"), "the server goes on");
    eventually("the late answer is dropped", PATIENCE, || {
        callgate(&bench, &["events"]).contains("when it had been given up, and was dropped").then_some(())
    });
    let again = bench.callgate(["cancel", &id]).unwrap().output().unwrap();
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("over already"), "{again:?}");
    assert_one_answer_each(&session, &["3", "4"]);
    session.finish().unwrap();
    let rows = rows(&bench).unwrap();
    assert!(rows.iter().any(|row| row.tool() == "later" && row.outcome() == "cancelled_by_user"));
    let left = std::fs::read_dir(bench.home().join("control")).unwrap();
    assert!(!left.flatten().any(|file| file.file_name().to_string_lossy().starts_with("session-")));
}

#[test]
fn the_place_of_a_cancelled_call_is_free_when_its_server_was_started_again() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "all_tools": { "limits": [ { "counter": "c", "kind": "concurrent", "max": 1, "scope": "server" },
                                        { "counter": "s", "kind": "concurrent", "max": 1, "scope": "session" } ] } }"#,
    )
    .unwrap();
    let mut session = opened(&bench, "");
    session.call("3", "never", "{}").unwrap();
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#).unwrap();
    eventually("the end of the call is on record", PATIENCE, || {
        rows(&bench).unwrap().iter().any(|row| row.outcome() == "cancelled").then_some(())
    });
    let refused = session.ask("4", "safe", "{}").unwrap();
    let said = result_text(&refused).unwrap();
    assert!(said.contains("a cancelled call may still be at work, and counts for "), "{said}");
    assert!(said.contains(" s more at most"), "{said}");
    callgate(&bench, &["restart", SERVER]);
    assert_eq!(result_text(&session.ask("5", "safe", "{}").unwrap()), Some("safe ran"));
    session.finish().unwrap();
}

#[test]
fn a_late_answer_to_a_call_that_a_person_cancelled_frees_its_place() {
    let bench = Bench::new(
        r#"{ "version": "1", "default": "allow",
             "all_tools": { "limits": [ { "counter": "c", "kind": "concurrent", "max": 1 } ] } }"#,
    )
    .unwrap();
    let mut session = opened(&bench, "");
    session.call("3", "later", r#"{"ms":3000}"#).unwrap();
    let id = eventually("the call is on record", PATIENCE, || {
        rows(&bench).unwrap().iter().find(|row| row.tool() == "later").map(|row| row.id().to_owned())
    });
    callgate(&bench, &["cancel", &id]);
    session.answer("3").unwrap();
    eventually("the late answer is dropped", PATIENCE, || {
        callgate(&bench, &["events"]).contains("when it had been given up, and was dropped").then_some(())
    });
    assert_eq!(result_text(&session.ask("4", "safe", "{}").unwrap()), Some("safe ran"));
    session.finish().unwrap();
}

#[test]
fn a_server_that_answers_when_it_is_cancelled_has_the_last_word() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "on danger\nhold\non notifications/cancelled\nrelease\n");
    session.call("3", "danger", "{}").unwrap();
    let id = eventually("the call is on record", PATIENCE, || {
        rows(&bench).unwrap().iter().find(|row| row.tool() == "danger").map(|row| row.id().to_owned())
    });
    let cancel = |is_over: bool| {
        let output = bench.callgate(["cancel", &id]).unwrap().output().unwrap();
        assert_eq!(output.status.success(), is_over, "{output:?}");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let said = cancel(true);
    assert!(said.contains("ended (ok) after it was asked to: because of that or by itself"), "{said}");
    assert!(!said.contains("Cancelled"), "{said}");
    assert_eq!(result_text(&session.answer("3").unwrap()), Some("danger ran"));
    let lines = bench.server_lines();
    assert!(lines.iter().any(|line| line.contains("notifications/cancelled")), "it was told: {lines:?}");
    let late = cancel(false);
    assert!(late.contains("over already"), "{late}");
    assert_one_answer_each(&session, &["3"]);
    session.finish().unwrap();
    assert!(rows(&bench).unwrap().iter().all(|row| row.outcome() != "cancelled_by_user"));
}

#[test]
fn progress_keeps_a_long_call_alive() {
    let bench = limited(r#"{ "call_time": "2s" }"#);
    let mut session = opened(&bench, "");
    let params = r#"{"name":"working","arguments":{"steps":10,"ms":500},"_meta":{"progressToken":"p"}}"#;
    session.send(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{params}}}"#)).unwrap();
    assert_eq!(result_text(&session.answer("3").unwrap()), Some("working ran"));
}

#[test]
fn a_memory_hog_is_told_of_and_left_alone_unless_ending_is_wanted() {
    let bench = limited(r#"{ "memory": "100MB" }"#);
    let mut session = opened(&bench, "");
    session.ask("3", "hog", r#"{"mb":150}"#).unwrap();
    let told = eventually("it is told", PATIENCE, || events(&bench).pop());
    assert!(
        told.starts_with("limit: its processes take 1") && told.ends_with("more than its limit of 100 MB"),
        "{told}"
    );
    assert!(callgate(&bench, &["status"]).contains("more than its limit"));
    session.ask("4", "safe", "{}").unwrap();
    assert_eq!(servers(&bench).len(), 1);
}

#[test]
fn a_memory_hog_is_ended_between_calls_and_comes_back_with_the_next_one() {
    let bench = limited(r#"{ "memory": "100MB", "on_limit": "end", "restart": "between-calls" }"#);
    let mut session = opened(&bench, "");
    session.call("3", "later", r#"{"ms":8000}"#).unwrap();
    session.ask("4", "hog", r#"{"mb":150}"#).unwrap();
    assert_eq!(result_text(&session.answer("3").unwrap()), Some("later ran"), "never during a call");
    gone("server", servers(&bench)[0], PATIENCE);
    session.send(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).unwrap();
    session.answer("5").unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).unwrap();
    assert!(session.answer("7").unwrap().at(&["result", "tools"]).is_some());
    assert_eq!(servers(&bench).len(), 1, "neither a ping nor a known list is a reason to start it");
    assert_eq!(result_text(&session.ask("6", "safe", "{}").unwrap()), Some("safe ran"));
    session.finish().unwrap();
    let events = events(&bench);
    assert!(events.iter().any(|event| event.ends_with("; it was ended")), "{events:?}");
    assert_eq!(events.last().unwrap(), "restarted: for a call, after it was ended by its limits");
}

#[test]
fn a_fork_bomb_is_ended_to_its_last_process_and_waits_for_a_person() {
    let bench = limited(r#"{ "processes": 10, "on_limit": "end" }"#);
    let mut session = opened(&bench, "");
    session.ask("3", "breed", r#"{"count":40}"#).unwrap();
    let bred = eventually("forty processes", PATIENCE, || {
        let all = pids_in(&bench.path("pids"));
        (all.iter().filter(|(name, _)| name == "grandchild").count() == 40).then_some(all)
    });
    for (name, pid) in bred.iter().filter(|(name, _)| name != "keeper") {
        gone(name, *pid, PATIENCE);
    }
    let answer = session.ask("4", "safe", "{}").unwrap();
    let said = result_text(&answer).unwrap();
    assert!(is_refusal(&answer) && said.contains("it has 41 processes, more than its limit of 10"), "{said}");
    let refused =
        bench.callgate(["start", SERVER]).unwrap().stdin(std::process::Stdio::null()).output().unwrap();
    assert!(!refused.status.success(), "it waits for a person: {refused:?}");
    awakened(&bench);
    assert_eq!(result_text(&session.ask("5", "safe", "{}").unwrap()), Some("safe ran"));
}

#[test]
fn an_idle_server_is_ended_and_comes_back_with_the_next_call() {
    let bench = limited(r#"{ "idle": "4s", "on_limit": "end", "restart": "always" }"#);
    let mut session = opened(&bench, "");
    gone("server", servers(&bench)[0], PATIENCE);
    assert_eq!(result_text(&session.ask("3", "safe", "{}").unwrap()), Some("safe ran"));
    let events = events(&bench);
    assert_eq!(
        events,
        [
            "limit: nobody called it for 4 s; it was ended",
            "restarted: for a call, after it was ended by its limits"
        ]
    );
}

#[test]
fn limits_do_not_end_a_server_while_a_codegen_session_is_open() {
    let bench = limited(r#"{ "idle": "4s", "on_limit": "end", "restart": "always" }"#);
    let started = r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"{\"sessionId\":\"S1\"}"}]}}"#;
    let mut session = opened(&bench, &format!("on start_codegen_session\nsend {started}\n"));
    session.ask("3", "start_codegen_session", "{}").unwrap();
    let told = eventually("it is told", PATIENCE, || events(&bench).pop());
    assert_eq!(told, "limit: nobody called it for 4 s; it is kept for its open codegen session");
    assert!(is_alive(servers(&bench)[0]));
    session.ask("4", "end_codegen_session", r#"{"sessionId":"S1"}"#).unwrap();
    gone("server", servers(&bench)[0], PATIENCE);
    eventually("it is told", PATIENCE, || {
        (events(&bench).pop()? == "limit: nobody called it for 4 s; it was ended").then_some(())
    });
}

#[test]
fn one_limit_that_is_passed_does_not_hide_another() {
    let bench = limited(r#"{ "memory": "100MB", "idle": "8s" }"#);
    let mut session = opened(&bench, "");
    session.ask("3", "hog", r#"{"mb":150}"#).unwrap();
    let told = eventually("both are told", PATIENCE, || Some(events(&bench)).filter(|told| told.len() == 2));
    assert!(told[0].starts_with("limit: its processes take "), "{told:?}");
    assert_eq!(told[1], "limit: nobody called it for 8 s");
    eventually("the status has both", PATIENCE, || {
        let both = "more than its limit of 100 MB; nobody called it for 8 s";
        callgate(&bench, &["status"]).contains(both).then_some(())
    });
}

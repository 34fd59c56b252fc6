//! A session goes on without its server, and with another: stopped, started again, crashed, given up.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use callgate_tests::gate::{Bench, OPEN_POLICY, SERVER};
use callgate_tests::history::rows;
use callgate_tests::json::Json;
use callgate_tests::oracle::client_messages;
use callgate_tests::processes::{eventually, is_alive, pids_in, signal};
use callgate_tests::session::{PATIENCE, Session, error_message, gone, is_refusal, result_text};
use rustix::process::Signal;

const ALWAYS: &str = r#"{ "version": "1", "default": "allow", "process": { "restart": "always" } }"#;
const BETWEEN: &str = r#"{ "version": "1", "default": "allow", "process": { "restart": "between-calls" } }"#;
/// Answers, then crashes with nothing under way.
const CRASH_AFTER: &str = "on danger\nanswer\nexit 3\n";
const CRASH_IN: &str = "on danger\nexit 3\n";
const NOTHING_LEFT: Duration = Duration::from_secs(5);

/// A client that has opened, seen the tools, and called once.
fn opened(bench: &Bench, script: &str) -> Session {
    let mut session = bench.session(script, &[]).unwrap();
    open(&mut session);
    session
}

fn open(session: &mut Session) {
    let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"tester","version":"1"}}"#;
    session.send(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#)).unwrap();
    session.answer("0").unwrap();
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
    session.answer("1").unwrap();
    assert_eq!(result_text(&session.ask("2", "safe", "{}").unwrap()), Some("safe ran"));
}

/// What the server that is started next does.
fn script(bench: &Bench, text: &str) {
    std::fs::write(bench.path("script"), text).unwrap();
}

fn callgate(bench: &Bench, args: &[&str]) -> String {
    let output = bench.callgate(args).unwrap().output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{args:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn servers(bench: &Bench) -> Vec<u32> {
    let all = pids_in(&bench.path("pids"));
    all.into_iter().filter(|(name, _)| name == "server").map(|(_, pid)| pid).collect()
}

/// Waits until so many servers were started, one after the other.
fn started(bench: &Bench, count: usize) {
    eventually(&format!("server {count} runs"), PATIENCE, || (servers(bench).len() == count).then_some(()));
}

/// The events of these kinds, oldest first, as `kind: text`.
fn events(bench: &Bench) -> Vec<String> {
    let said = callgate(bench, &["events", "--json", "--limit", "1000"]);
    let text =
        |event: &Json, key: &str| event.get(key).and_then(Json::as_text).unwrap_or_default().to_owned();
    said.lines()
        .filter_map(|line| Json::parse(line, callgate_tests::json::Dialect::Strict))
        .filter(|event| {
            ["stopped", "restarted", "crashed", "limit", "start_failed"]
                .contains(&text(event, "kind").as_str())
        })
        .map(|event| format!("{}: {}", text(&event, "kind"), text(&event, "text")))
        .collect()
}

/// Each id once, and nothing that is no message.
fn assert_one_answer_each(session: &Session, ids: &[&str]) {
    let (messages, wrong) = client_messages(&session.out.bytes());
    assert_eq!(wrong, Vec::<String>::new());
    let text = session.out.text();
    for id in ids {
        let mark = format!("\"id\":{id},");
        let answers =
            text.lines().filter(|line| line.contains(&mark) && !line.contains("\"method\"")).count();
        assert_eq!(answers, 1, "{id} in {messages:?}");
    }
}

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
    let told = "Callgate: the server crashed (exit code 3) during this call; it is being started again";
    for (id, answer) in
        [("4", session.ask("4", "danger", "{}").unwrap()), ("3", session.answer("3").unwrap())]
    {
        assert_eq!(error_message(&answer), Some(told), "{id}");
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
    for (policy, script, told) in [
        (OPEN_POLICY, CRASH_IN, "Callgate: the server ended (exit code 3) before it answered"),
        (BETWEEN, CRASH_IN, "Callgate: the server ended (exit code 3) before it answered"),
        (ALWAYS, "on danger\nexit 0\n", "Callgate: the server ended (exit code 0) before it answered"),
    ] {
        let bench = Bench::new(policy).unwrap();
        let mut session = opened(&bench, script);
        assert_eq!(error_message(&session.ask("3", "danger", "{}").unwrap()), Some(told));
        session.ended(PATIENCE).unwrap();
        assert_eq!(servers(&bench).len(), 1, "{policy}");
    }
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
    assert!(callgate(&bench, &["start", SERVER]).starts_with("Running: corpus in 1 session"));
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
fn stop_start_and_restart_keep_the_session_and_leave_no_process() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &["--grandchild", "--ignore-eof", "--ignore-term"]).unwrap();
    open(&mut session);
    let said = callgate(&bench, &["stop", SERVER]);
    assert!(said.starts_with("Stopped: corpus in 1 session; its processes are ended"), "{said}");
    for (name, pid) in pids_in(&bench.path("pids")) {
        assert_eq!(is_alive(pid), name == "keeper", "{name}");
    }
    let answer = session.ask("3", "safe", "{}").unwrap();
    assert!(
        is_refusal(&answer) && result_text(&answer).unwrap().contains("stopped by the user"),
        "{answer:?}"
    );
    session.send(r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#).unwrap();
    assert!(session.answer("4").unwrap().get("result").is_some());
    session.send(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#).unwrap();
    assert!(error_message(&session.answer("5").unwrap()).unwrap().contains("stopped by the user"));
    assert!(callgate(&bench, &["status"]).contains("server stopped"));

    callgate(&bench, &["start", SERVER, "--client", "tester"]);
    assert_eq!(result_text(&session.ask("6", "safe", "{}").unwrap()), Some("safe ran"));
    callgate(&bench, &["start", SERVER]);
    assert_eq!(servers(&bench).len(), 2, "it runs already");
    callgate(&bench, &["restart", SERVER]);
    assert_eq!(result_text(&session.ask("7", "safe", "{}").unwrap()), Some("safe ran"));
    assert_eq!(servers(&bench).len(), 3);
    assert_one_answer_each(&session, &["3", "4", "5", "6", "7"]);
    session.finish().unwrap();
    let pids = pids_in(&bench.path("pids"));
    pids.iter().for_each(|(name, pid)| gone(name, *pid, NOTHING_LEFT));
    assert_eq!(events(&bench), ["stopped: by the user", "restarted: by the user", "restarted: by the user"]);
    let left = std::fs::read_dir(bench.home().join("control")).unwrap();
    assert!(!left.flatten().any(|file| file.file_name().to_string_lossy().starts_with("session-")));
}

#[test]
fn a_call_that_is_under_way_when_the_server_is_stopped_is_cancelled_and_answered() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    session.call("3", "never", "{}").unwrap();
    eventually("the call is with the server", PATIENCE, || {
        bench.server_lines().iter().any(|line| line.contains("never")).then_some(())
    });
    callgate(&bench, &["stop", SERVER]);
    assert_eq!(
        error_message(&session.answer("3").unwrap()),
        Some("Callgate: the server was stopped by the user during this call")
    );
    let last = bench.server_lines().pop().unwrap();
    assert!(last.contains("notifications/cancelled") && last.contains("\"requestId\":3"), "{last}");
}

#[test]
fn a_server_that_nobody_runs_cannot_be_stopped() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let output = bench.callgate(["stop", "nobody"]).unwrap().output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no session of nobody runs"));
}

#[test]
fn other_tools_after_a_restart_are_told_to_the_client() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let session = opened(&bench, "");
    let tools = r#"{"tools":[{"name":"safe","description":"changed","inputSchema":{"type":"object"}}]}"#;
    script(&bench, &format!("on tools/list\nsend {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{tools}}}\n"));
    callgate(&bench, &["restart", SERVER]);
    session.line_with("notifications/tools/list_changed").unwrap();
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
        assert!(error_message(&answer).unwrap().contains(told), "{answer:?}");
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

#[test]
fn what_lasted_is_brought_back_as_far_as_the_policy_still_lets_it() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    for (id, method, params) in [
        ("3", "logging/setLevel", r#"{"level":"debug"}"#),
        ("4", "resources/subscribe", r#"{"uri":"x:kept"}"#),
        ("5", "resources/subscribe", r#"{"uri":"x:forbidden"}"#),
    ] {
        session
            .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
            .unwrap();
        session.answer(id).unwrap();
    }
    bench
        .write_policy(r#"{ "version": "1", "default": "allow", "resources": { "default": "allow", "deny": ["x:forbidden"] } }"#)
        .unwrap();
    callgate(&bench, &["restart", SERVER]);
    session.ask("6", "safe", "{}").unwrap();
    let lines = bench.server_lines();
    let times = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!((times("\"debug\""), times("x:kept"), times("x:forbidden")), (2, 2, 1), "{lines:#?}");
}

#[test]
fn stop_everything_pauses_answers_and_ends_all() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut one = opened(&bench, "");
    let mut other = opened(&bench, "");
    one.call("3", "never", "{}").unwrap();
    eventually("the call is with the server", PATIENCE, || {
        bench.server_lines().iter().any(|line| line.contains("never")).then_some(())
    });
    let said = callgate(&bench, &["stop", "--all"]);
    assert!(said.contains("Paused every server. Stopped: every server in 2 sessions"), "{said}");
    assert!(error_message(&one.answer("3").unwrap()).unwrap().contains("stopped by the user"));
    servers(&bench).iter().for_each(|pid| assert!(!is_alive(*pid)));
    for session in [&mut one, &mut other] {
        assert!(is_refusal(&session.ask("4", "safe", "{}").unwrap()));
    }
    callgate(&bench, &["start", SERVER]);
    let answer = other.ask("5", "safe", "{}").unwrap();
    assert!(result_text(&answer).unwrap().contains("paused by the user"), "{answer:?}");
}

#[test]
fn the_keeper_killed_or_the_shim_killed_in_a_later_generation_leaves_nothing() {
    for kill_keeper in [true, false] {
        let bench = Bench::new(OPEN_POLICY).unwrap();
        let mut session = bench.session("", &["--grandchild", "--ignore-eof", "--ignore-term"]).unwrap();
        open(&mut session);
        callgate(&bench, &["restart", SERVER]);
        session.ask("3", "safe", "{}").unwrap();
        let pids = pids_in(&bench.path("pids"));
        let keeper = pids.iter().find(|(name, _)| name == "keeper").unwrap().1;
        signal(if kill_keeper { keeper } else { session.pid() }, Signal::KILL);
        pids.iter().for_each(|(name, pid)| gone(name, *pid, NOTHING_LEFT));
        session.ended(NOTHING_LEFT).unwrap();
    }
}

#[test]
fn a_client_that_leaves_while_its_server_is_stopped_or_starting_is_not_kept() {
    for wish in ["stop", "restart"] {
        let bench = Bench::new(OPEN_POLICY).unwrap();
        let mut session = opened(&bench, "");
        if wish == "restart" {
            // It never answers the handshake.
            script(&bench, "on initialize\nhold\n");
            let mut restarting =
                bench.callgate([wish, SERVER]).unwrap().stdout(std::process::Stdio::null()).spawn().unwrap();
            started(&bench, 2);
            session.close_input();
            assert!(session.ended(NOTHING_LEFT).unwrap().success());
            restarting.wait().unwrap();
        } else {
            callgate(&bench, &[wish, SERVER]);
            session.close_input();
            assert!(session.ended(Duration::from_secs(2)).unwrap().success());
        }
        servers(&bench).iter().for_each(|pid| gone("server", *pid, NOTHING_LEFT));
    }
}

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
    assert_eq!(servers(&bench).len(), 1, "a ping is no reason to start it");
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
    callgate(&bench, &["start", SERVER]);
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
fn a_server_that_cannot_start_is_explained() {
    for (said, told) in [
        (
            "Error: listen EADDRINUSE: address already in use :::3000",
            "the port that it wants is in use by another program",
        ),
        ("browserType.launch: Executable doesn't exist at /x", "its browser is not installed"),
        ("AttributeError: no such thing", "(see docs/errors/CG-110.md)"),
    ] {
        let bench = Bench::new(ALWAYS).unwrap();
        let mut session = bench.session(&format!("on initialize\nstderr {said}\nexit 1\n"), &[]).unwrap();
        session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
        let answer = session.answer("0").unwrap();
        let words = error_message(&answer).unwrap();
        assert!(words.starts_with("Callgate: the server ended (exit code 1) before it answered"), "{words}");
        assert!(words.contains(told) && words.ends_with(&format!("Its last words: {said}")), "{words}");
        session.ended(PATIENCE).unwrap();
        assert_eq!(servers(&bench).len(), 1, "what never served is not started again");
        let events = events(&bench);
        assert!(events[0].starts_with("start_failed: ") && events[0].contains(told), "{events:?}");
        assert!(callgate(&bench, &["status"]).contains(told));
    }
}

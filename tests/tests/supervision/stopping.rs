//! A person stops, starts and restarts a server under a client that stays.

use super::*;

#[test]
fn stop_start_and_restart_keep_the_session_and_leave_no_process() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &["--grandchild", "--ignore-eof", "--ignore-term"]).unwrap();
    open(&mut session);
    let listed = session.answer("1").unwrap();
    let said = callgate(&bench, &["stop", SERVER]);
    assert!(said.starts_with("Stopped: corpus in 1 session; the processes are ended"), "{said}");
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
    assert_eq!(session.answer("5").unwrap().get("result"), listed.get("result"), "what there was");
    assert!(callgate(&bench, &["status"]).contains("server stopped"));

    started_again(&bench, &["start", SERVER, "--client", "tester"]);
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
fn while_a_server_is_stopped_its_last_lists_are_shown_by_the_rules_of_now() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    let mut list = |id: u32, method: &str, params: &str| asked(&mut session, id, method, params);
    let names = |answer: &Json| -> Vec<String> {
        let tools = answer.at(&["result", "tools"]).unwrap().items();
        tools.iter().map(|tool| tool.get("name").unwrap().as_text().unwrap().to_owned()).collect()
    };
    let before = names(&list(10, "tools/list", "{}"));
    assert!(before.contains(&"danger".to_owned()), "{before:?}");
    callgate(&bench, &["stop", SERVER]);
    assert_eq!(names(&list(11, "tools/list", "{}")), before);
    let hiding = r#"{ "version": "1", "default": "allow", "hide": ["danger"] }"#;
    bench.write_policy(hiding).unwrap();
    let now = names(&list(12, "tools/list", "{}"));
    assert_eq!(now, before.into_iter().filter(|name| name != "danger").collect::<Vec<_>>());
    let answer = list(13, "prompts/list", "{}");
    let words = error_message(&answer).unwrap_or_default();
    assert!(words.contains("stopped by the user"), "never asked for before: {answer:?}");
    started_again(&bench, &["start", SERVER]);
    session.line_with("notifications/prompts/list_changed").unwrap();
}

#[test]
fn a_page_of_a_list_is_found_again_under_the_very_cursor_it_had_and_hidden_prompts_stay_hidden() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let page = r#"{"prompts":[{"name":"kept"},{"name":"secret"}],"nextCursor":"2"}"#;
    let asking = r#"{"resources":[],"inputRequests":{"a":{"method":"elicitation/create","params":{}}}}"#;
    let script = format!(
        "on prompts/list\nsend {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{page}}}\n\
         on resources/list\nsend {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{asking}}}\n"
    );
    let mut session = opened(&bench, &script);
    let mut list = |id: u32, method: &str, params: &str| asked(&mut session, id, method, params);
    list(10, "prompts/list", "{}");
    list(11, "prompts/list", r#"{"cursor":"2"}"#);
    assert!(list(12, "resources/list", "{}").get("result").is_some());
    callgate(&bench, &["stop", SERVER]);
    let rules =
        r#"{ "version": "1", "default": "allow", "prompts": { "default": "allow", "hide": ["secret"] } }"#;
    bench.write_policy(rules).unwrap();
    for (id, method, params, known) in [
        (13, "prompts/list", "{}", true),
        (14, "prompts/list", r#"{"cursor":"2"}"#, true),
        (15, "prompts/list", r#"{"cursor":2}"#, false),
        (16, "prompts/list", r#"{"cursor":"3"}"#, false),
        // What it asked of the client was judged once, and does not come again.
        (17, "resources/list", "{}", false),
    ] {
        let answer = list(id, method, params).to_text();
        assert_eq!(answer.contains("kept"), known, "{method} {params}: {answer}");
        assert!(!answer.contains("secret") && !answer.contains("elicitation"), "{answer}");
    }
}

#[test]
fn a_call_that_is_under_way_when_the_server_is_stopped_is_cancelled_and_answered() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    session.call("3", "never", "{}").unwrap();
    eventually("the call is with the server", PATIENCE, || {
        bench.server_lines().iter().any(|line| line.contains("never")).then_some(())
    });
    eventually("the call is on record", PATIENCE, || {
        let said = callgate(&bench, &["log", "--json"]);
        said.lines().any(|line| line.contains("never")).then_some(())
    });
    let said = callgate(&bench, &["stop", SERVER]);
    assert!(said.contains("Ends with it: 1 call runs and is answered with an error"), "{said}");
    assert_eq!(
        told(&session.answer("3").unwrap()),
        Some(
            "Callgate: the server was stopped by the user during this call. Stop here and wait for the user: every call is refused until the user lets them go on."
        )
    );
    let last = bench.server_lines().pop().unwrap();
    assert!(last.contains("notifications/cancelled") && last.contains("\"requestId\":3"), "{last}");
}

/// The server itself tries, from where its ancestors cannot be seen.
#[cfg(target_os = "linux")]
#[test]
fn a_namespace_does_not_hide_from_which_session_a_loosening_comes() {
    use std::process::Command;

    let unshared = |flags: &str| Command::new("unshare").args([flags, "true"]).status();
    if !unshared("-Urpf").is_ok_and(|status| status.success()) {
        // This system lets nobody make one: there is nothing to hide behind.
        return;
    }
    for (namespace, why) in [
        ("unshare -Urpf --mount-proc", "a pid namespace of its own"),
        ("unshare -Ur", "runs below session"),
        (
            "unshare -Urmpf --mount-proc sh -c 'mount -t tmpfs none \"$CALLGATE_HOME/leases\" && exec \"$@\"' -",
            "put together",
        ),
    ] {
        let bench = Bench::new(OPEN_POLICY).unwrap();
        callgate(&bench, &["pause"]);
        let (heard, binary) = (bench.path("heard"), callgate_tests::gate::callgate_binary().unwrap());
        let script = format!(
            "env -i PATH=\"$PATH\" CALLGATE_HOME=\"$CALLGATE_HOME\" {namespace} '{}' resume >'{heard}.part' 2>&1; \
             mv '{heard}.part' '{heard}'; cat >/dev/null",
            binary.display(),
            heard = heard.display(),
        );
        let mut command = bench.callgate(["run", "--server", SERVER, "--", "sh", "-c"]).unwrap();
        command.arg(script);
        let session = callgate_tests::session::Session::start(command).unwrap();
        let said = eventually("the server tried", PATIENCE, || std::fs::read_to_string(&heard).ok());
        assert!(said.contains("nothing was changed") && said.contains(why), "{namespace}: {said}");
        assert!(bench.home().join("control/paused.json").exists(), "{namespace}");
        drop(session);
    }
}

#[test]
fn an_agent_with_a_shell_cannot_start_what_a_person_stopped() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    let refused = |command: &mut std::process::Command, why: &str| {
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
    };
    for wish in ["start", "restart"] {
        refused(
            bench.callgate([wish, SERVER]).unwrap().env("CALLGATE_SESSION", "k3v9qa"),
            "below session k3v9qa",
        );
    }
    callgate(&bench, &["stop", SERVER]);
    for wish in ["start", "restart"] {
        refused(&mut bench.callgate([wish, SERVER]).unwrap(), "is done by a person");
    }
    assert!(is_refusal(&session.ask("3", "safe", "{}").unwrap()));
    assert_eq!(servers(&bench).len(), 1);
    started_again(&bench, &["restart", SERVER]);
    assert_eq!(result_text(&session.ask("4", "safe", "{}").unwrap()), Some("safe ran"));
}

#[test]
fn a_server_that_nobody_runs_cannot_be_stopped() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let output = bench.callgate(["stop", "nobody"]).unwrap().output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("\"nobody\" is known here"));
}

#[test]
fn a_server_that_runs_for_another_client_is_not_said_to_be_down() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let _session = opened(&bench, "");
    let output = bench.callgate(["restart", "--client", "nosuch", SERVER]).unwrap().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("does not run for nosuch; it runs as") && said.contains("for tester"), "{said}");
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
fn a_server_that_does_not_come_up_is_not_said_to_run() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let _session = opened(&bench, "");
    script(&bench, "on start\nstderr Error: no such database\nexit 7\n");
    let output = bench.callgate(["restart", SERVER]).unwrap().output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success(), "{said}");
    for part in
        ["Not running: corpus", "exit code 7", "callgate explain CG-", "no such database", "callgate events"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!said.contains("Running: corpus"), "{said}");
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
    eventually("the call is on record", PATIENCE, || {
        let said = callgate(&bench, &["log", "--json"]);
        said.lines().any(|line| line.contains("never")).then_some(())
    });
    let said = callgate(&bench, &["stop", "--all"]);
    assert!(said.contains("Paused every server. Stopped: every server in 2 sessions"), "{said}");
    assert!(said.contains("Ends with it: 1 call runs and is answered with an error"), "{said}");
    assert!(told(&one.answer("3").unwrap()).unwrap().contains("stopped by the user"));
    servers(&bench).iter().for_each(|pid| assert!(!is_alive(*pid)));
    for session in [&mut one, &mut other] {
        assert!(is_refusal(&session.ask("4", "safe", "{}").unwrap()));
    }
    started_again(&bench, &["start", SERVER]);
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

/// A server that is being ended, but goes on for as long as it may.
const STUBBORN: [&str; 2] = ["--ignore-eof", "--ignore-term"];

#[test]
fn what_a_server_asks_while_it_is_being_ended_reaches_nobody() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let ask = r#"{"jsonrpc":"2.0","id":"s1","method":"roots/list"}"#;
    let news =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"late"}}"#;
    let script = format!("on notifications/cancelled\nsend {news}\nsend {ask}\nstderr said\n");
    let mut session = bench.session(&script, &STUBBORN).unwrap();
    open(&mut session);
    session.call("3", "never", "{}").unwrap();
    eventually("the call is with the server", PATIENCE, || {
        bench.server_lines().iter().any(|line| line.contains("never")).then_some(())
    });
    callgate(&bench, &["restart", SERVER]);
    // The one that comes next asks under the same id, and has its own answer.
    session.call("4", "ask", r#"{"method":"roots/list","params":{}}"#).unwrap();
    session.line_with("\"id\":\"callgate/1-1\"").unwrap();
    let heard = session.out.text();
    assert!(!heard.contains("\"id\":\"s1\"") && !heard.contains("\"late\""), "{heard}");
    session.send(r#"{"jsonrpc":"2.0","id":"callgate/1-1","result":{"roots":["right"]}}"#).unwrap();
    assert!(session.answer("4").unwrap().to_text().contains("right"));
    assert!(session.err.text().contains("said"), "the old one did ask");
}

#[test]
fn a_call_that_is_told_to_come_again_was_not_done_by_the_server_before() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &STUBBORN).unwrap();
    open(&mut session);
    let mut next = 100;
    for _ in 0..3 {
        let mut restarting = bench.callgate(["restart", SERVER]).unwrap();
        let mut restarting = restarting.stdout(std::process::Stdio::null()).spawn().unwrap();
        while restarting.try_wait().unwrap().is_none() {
            session.ask(&next.to_string(), "safe", "{}").unwrap();
            next += 1;
        }
    }
    let lines = bench.server_lines();
    for id in 100..next {
        let answer = session.answer(&id.to_string()).unwrap();
        let done = lines.iter().filter(|line| line.contains(&format!("\"id\":{id},"))).count();
        match told(&answer) {
            None => assert_eq!(done, 1, "{answer:?}"),
            Some(words) if words.contains("Call again in a moment") => assert_eq!(done, 0, "{words}"),
            Some(words) => assert!(words.contains("this call was ended"), "{words}"),
        }
    }
}

#[test]
fn what_a_client_tells_is_kept_until_the_next_server_has_had_its_handshake() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    // Its handshake takes until something else is said.
    script(&bench, "on initialize\nhold\non notifications/roots/list_changed\nexit 9\n");
    let mut restarting = bench.callgate(["restart", SERVER]).unwrap();
    let mut restarting = restarting.stdout(std::process::Stdio::null()).spawn().unwrap();
    started(&bench, 2);
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).unwrap();
    // A second restart answers the handshake; only then is the news told.
    eventually("the handshake is with the server", PATIENCE, || {
        let lines = bench.server_lines();
        (lines.iter().filter(|line| line.contains("\"initialize\"")).count() == 2).then_some(())
    });
    script(&bench, "");
    callgate(&bench, &["restart", SERVER]);
    eventually("the news is told", PATIENCE, || {
        bench.server_lines().last()?.contains("roots/list_changed").then_some(())
    });
    restarting.wait().unwrap();
    assert_eq!(servers(&bench).len(), 3, "nobody heard it too early");
}

#[test]
fn what_lasted_is_brought_back_while_calls_are_paused_too() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "");
    session
        .send(r#"{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"x:kept"}}"#)
        .unwrap();
    session.answer("3").unwrap();
    callgate(&bench, &["stop", "--all"]);
    started_again(&bench, &["start", SERVER]);
    let asked = || bench.server_lines().iter().filter(|line| line.contains("x:kept")).count();
    eventually("it is subscribed again", PATIENCE, || (asked() == 2).then_some(()));
}

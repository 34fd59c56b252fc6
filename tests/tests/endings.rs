//! However a session ends, everyone who waits hears it and no process is left.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::{Duration, Instant};

use callgate_tests::gate::{Bench, Gate, OPEN_POLICY, SERVER};
use callgate_tests::oracle::client_messages;
use callgate_tests::processes::{children, eventually, is_alive, pids_in};
use callgate_tests::session::{
    PATIENCE, Session, all_gone, call_line, error_code, error_message, gone, is_refusal, result_text, told,
    unknown_effect,
};
use rustix::process::Signal;

/// What the promise says: nothing of the tree left after this.
const NOTHING_LEFT: Duration = Duration::from_secs(5);
const AT_ONCE: Duration = Duration::from_secs(1);

fn bench() -> Bench {
    Bench::new(OPEN_POLICY).unwrap()
}

/// Waits until the server runs, and its detached grandchild if it has one; gives all pids by name.
fn tree(bench: &Bench, names: &[&str]) -> Vec<(String, u32)> {
    eventually("the server's processes", PATIENCE, || {
        let pids = pids_in(&bench.path("pids"));
        names.iter().all(|name| pids.iter().any(|(found, _)| found == name)).then_some(pids)
    })
}

fn pid_of(tree: &[(String, u32)], name: &str) -> u32 {
    tree.iter().find(|(found, _)| found == name).unwrap().1
}

/// A session whose server has a detached grandchild that is deaf to TERM.
fn session_with_grandchild(bench: &Bench, options: &[&str]) -> (Session, Vec<(String, u32)>) {
    let mut all = vec!["--grandchild"];
    all.extend(options);
    let mut session = bench.session("", &all).unwrap();
    let tree = tree(bench, &["server", "keeper", "grandchild"]);
    session.ask("0", "safe", "{}").unwrap();
    (session, tree)
}

#[test]
fn server_exit_answers_every_pending_call_once_and_its_code_is_passed_on() {
    let bench = bench();
    let mut session = bench.session("on danger\nexit 3\n", &[]).unwrap();
    for id in ["1", "\"two\"", "3"] {
        session.call(id, "never", "{}").unwrap();
    }
    session.send(r#"{"jsonrpc":"2.0","id":4,"method":"resources/list"}"#).unwrap();
    session.answer("4").unwrap();
    session.call("5", "danger", "{}").unwrap();
    session.out.wait_closed(PATIENCE).unwrap();
    let status = session.ended(PATIENCE).unwrap();
    assert_eq!(status.code(), Some(3));
    for id in ["1", "\"two\"", "3", "5"] {
        let answer = session.answer(id).unwrap();
        assert_eq!(
            told(&answer),
            Some(&*unknown_effect("Callgate: the server ended (exit code 3) before it answered"))
        );
    }
    let (messages, wrong) = client_messages(&session.out.bytes());
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(messages.len(), 5, "each id once: {}", session.out.text());
}

#[test]
fn server_killed_is_told_at_once() {
    let bench = bench();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    session.call("1", "never", "{}").unwrap();
    let server = pid_of(&tree(&bench, &["server"]), "server");
    eventually("the call is with the server", PATIENCE, || (bench.server_lines().len() == 2).then_some(()));
    callgate_tests::processes::signal(server, Signal::KILL);
    let killed = Instant::now();
    let answer = session.answer("1").unwrap();
    assert!(killed.elapsed() < AT_ONCE * 2, "took {:?}", killed.elapsed());
    assert_eq!(
        told(&answer),
        Some(&*unknown_effect("Callgate: the server ended (ended by SIGKILL) before it answered"))
    );
    assert_eq!(session.ended(PATIENCE).unwrap().code(), Some(128 + 9));
}

#[test]
fn death_in_the_middle_of_an_answer_gives_one_clean_error() {
    let bench = bench();
    let mut session =
        bench.session("on safe\nraw {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"con\nabort\n", &[]).unwrap();
    session.call("1", "safe", "{}").unwrap();
    assert!(is_refusal(&session.answer("1").unwrap()));
    session.out.wait_closed(PATIENCE).unwrap();
    let (messages, wrong) = client_messages(&session.out.bytes());
    assert_eq!((messages.len(), wrong), (1, vec![]));
}

#[test]
fn server_that_exits_at_once_is_told_to_the_first_request() {
    let bench = bench();
    let started = Instant::now();
    let mut session = bench.session("on start\nexit 0\n", &[]).unwrap();
    // The pipe may be closed already: then there is nobody to hear it, which is the client's answer too.
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
    let answer = session.answer("0").unwrap();
    assert_eq!(
        error_message(&answer),
        Some("Callgate: the server ended (exit code 0) before it answered (see `callgate explain CG-110`)")
    );
    assert!(started.elapsed() < AT_ONCE * 3, "took {:?}", started.elapsed());
    assert_eq!(session.ended(PATIENCE).unwrap().code(), Some(0));
}

#[test]
fn client_that_closes_its_end_still_gets_its_answers() {
    let bench = bench();
    let mut session = bench.session("", &[]).unwrap();
    session.call("1", "later", r#"{"ms":700}"#).unwrap();
    session.call("2", "later", r#"{"ms":300}"#).unwrap();
    session.close_input();
    for id in ["1", "2"] {
        assert_eq!(result_text(&session.answer(id).unwrap()), Some("later ran"));
    }
    assert_eq!(session.ended(PATIENCE).unwrap().code(), Some(0));
}

#[test]
fn stubborn_server_is_ended_after_the_client_left() {
    let bench = bench();
    let (mut session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    session.close_input();
    let closed = Instant::now();
    all_gone(&tree, NOTHING_LEFT);
    session.ended(NOTHING_LEFT).unwrap();
    assert!(closed.elapsed() < NOTHING_LEFT);
}

#[test]
fn server_that_closes_its_output_but_lives_on_is_ended() {
    let bench = bench();
    let mut session =
        bench.session("on danger\nclose\n", &["--grandchild", "--ignore-eof", "--ignore-term"]).unwrap();
    session.call("1", "never", "{}").unwrap();
    session.call("2", "danger", "{}").unwrap();
    for id in ["1", "2"] {
        assert!(is_refusal(&session.answer_within(id, AT_ONCE * 3).unwrap()));
    }
    all_gone(&tree(&bench, &["server", "keeper", "grandchild"]), NOTHING_LEFT);
    session.ended(NOTHING_LEFT).unwrap();
}

#[test]
fn server_that_leaves_on_eof_is_not_kept_waiting_for() {
    let bench = bench();
    let mut session = bench.session("", &["--exit", "7"]).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    let closed = Instant::now();
    session.close_input();
    assert_eq!(session.ended(PATIENCE).unwrap().code(), Some(7));
    assert!(closed.elapsed() < AT_ONCE, "took {:?}", closed.elapsed());
}

#[test]
fn shim_killed_leaves_nothing() {
    let bench = bench();
    let (session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    session.signal(Signal::KILL);
    all_gone(&tree, NOTHING_LEFT);
}

#[test]
fn keeper_killed_leaves_nothing_and_the_client_hears_it() {
    let bench = bench();
    let (mut session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    session.call("1", "never", "{}").unwrap();
    eventually("the call is with the server", PATIENCE, || (bench.server_lines().len() == 2).then_some(()));
    callgate_tests::processes::signal(pid_of(&tree, "keeper"), Signal::KILL);
    let answer = session.answer_within("1", NOTHING_LEFT).unwrap();
    assert!(told(&answer).unwrap().starts_with("Callgate: the server"), "{answer:?}");
    all_gone(&tree, NOTHING_LEFT);
    session.ended(NOTHING_LEFT).unwrap();
}

/// The server's end is seen before the keeper's: the two signs come in either order.
#[test]
fn keeper_killed_right_after_its_server_leaves_nothing() {
    let bench = bench();
    let (_session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    let keeper = pid_of(&tree, "keeper");
    callgate_tests::processes::signal(keeper, Signal::STOP);
    callgate_tests::processes::signal(pid_of(&tree, "server"), Signal::KILL);
    gone("server", pid_of(&tree, "server"), PATIENCE);
    callgate_tests::processes::signal(keeper, Signal::KILL);
    all_gone(&tree, NOTHING_LEFT);
}

#[test]
fn keeper_killed_while_the_session_ends_leaves_nothing() {
    let bench = bench();
    let (mut session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    session.close_input();
    callgate_tests::processes::signal(pid_of(&tree, "keeper"), Signal::KILL);
    all_gone(&tree, NOTHING_LEFT);
}

#[test]
fn what_a_double_kill_leaves_is_swept_at_the_next_start() {
    let bench = bench();
    let (session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    callgate_tests::processes::signal(pid_of(&tree, "keeper"), Signal::STOP);
    session.signal(Signal::KILL);
    gone("shim", session.pid(), PATIENCE);
    callgate_tests::processes::signal(pid_of(&tree, "keeper"), Signal::KILL);
    gone("keeper", pid_of(&tree, "keeper"), PATIENCE);
    std::fs::remove_file(bench.path("pids")).unwrap();
    let mut next = bench.session("", &[]).unwrap();
    next.ask("0", "safe", "{}").unwrap();
    all_gone(&tree, NOTHING_LEFT);
}

#[test]
fn what_is_swept_is_told_of_the_server_that_left_it_not_of_the_one_that_swept() {
    let bench = bench();
    let (session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    eventually("it is written down who is there", PATIENCE, || {
        std::fs::read_dir(bench.home().join("trees")).ok()?.next().map(drop)
    });
    callgate_tests::processes::signal(pid_of(&tree, "keeper"), Signal::STOP);
    session.signal(Signal::KILL);
    gone("shim", session.pid(), PATIENCE);
    callgate_tests::processes::signal(pid_of(&tree, "keeper"), Signal::KILL);
    let server = bench.fake_server("", &[]).unwrap();
    let mut command = bench.callgate(["run", "--server", "another", "--client", "tester", "--"]).unwrap();
    command.args(&server);
    let mut next = Session::start(command).unwrap();
    next.ask("0", "safe", "{}").unwrap();
    all_gone(&tree, NOTHING_LEFT);
    let told = eventually("it is on record", PATIENCE, || {
        let said = bench.callgate(["events", "--json"]).unwrap().output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        said.lines().find(|line| line.contains("\"swept\"")).map(str::to_owned)
    });
    assert!(told.contains(&format!("\"server\":\"{SERVER}\"")), "{told}");
}

#[test]
fn client_killed_ends_everything() {
    let bench = bench();
    let server = bench.fake_server("", &["--grandchild", "--ignore-eof"]).unwrap();
    let (mut session, stdout) =
        Session::start_unread(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
    session.call("1", "never", "{}").unwrap();
    let tree = tree(&bench, &["server", "keeper", "grandchild"]);
    eventually("the call is with the server", PATIENCE, || (bench.server_lines().len() == 1).then_some(()));
    // What a killed client leaves: both pipes closed, a call pending.
    drop(stdout);
    session.close_input();
    all_gone(&tree, NOTHING_LEFT);
    session.ended(NOTHING_LEFT).unwrap();
}

/// The pipe to read from is in the hands of another process, so that it does not close with the client.
#[test]
fn a_client_that_is_gone_is_not_waited_for_though_somebody_holds_its_reading_end() {
    let bench = bench();
    let server = bench.fake_server("", &["--grandchild", "--ignore-eof"]).unwrap();
    let gate = bench.command(Gate::Callgate, &server).unwrap();
    let mut client = std::process::Command::new("sh");
    client
        .args(["-c", r#"exec 3<&0; "$@" <&3 3<&- & wait"#, "client"])
        .arg(gate.get_program())
        .args(gate.get_args());
    client.envs(gate.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut session = Session::start(client).unwrap();
    session.call("1", "never", "{}").unwrap();
    let tree = tree(&bench, &["server", "keeper", "grandchild"]);
    eventually("the call is with the server", PATIENCE, || (bench.server_lines().len() == 1).then_some(()));
    session.signal(Signal::KILL);
    session.ended(PATIENCE).unwrap();
    session.close_input();
    all_gone(&tree, NOTHING_LEFT);
    session.out.wait_closed(NOTHING_LEFT).unwrap();
}

/// Half a minute is what a client gets that closed its end, reads, and waits for an answer that does not come.
#[test]
fn a_client_that_closed_its_end_and_still_reads_does_not_wait_for_ever() {
    let bench = bench();
    let (mut session, tree) = session_with_grandchild(&bench, &["--ignore-eof"]);
    session.call("1", "never", "{}").unwrap();
    session.close_input();
    let bound = Duration::from_secs(30);
    let answer = session.answer_within("1", bound + NOTHING_LEFT).unwrap();
    let reason = "Callgate: the client closed its end, and the server did not answer within 30 s";
    assert_eq!(told(&answer), Some(&*unknown_effect(reason)));
    all_gone(&tree, NOTHING_LEFT);
    session.ended(NOTHING_LEFT).unwrap();
}

#[test]
fn signals_to_the_shim_end_the_tree() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let bench = bench();
        let (mut session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
        session.signal(signal);
        all_gone(&tree, NOTHING_LEFT);
        session.ended(NOTHING_LEFT).unwrap();
    }
}

#[test]
fn kill_right_behind_the_signal_changes_nothing() {
    let bench = bench();
    let (session, tree) = session_with_grandchild(&bench, &["--ignore-eof", "--ignore-term"]);
    session.signal(Signal::INT);
    session.signal(Signal::KILL);
    all_gone(&tree, NOTHING_LEFT);
}

#[test]
fn stopped_and_continued_shim_loses_nothing() {
    let bench = bench();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    session.signal(Signal::STOP);
    for n in 1..=20 {
        session.call(&n.to_string(), "safe", "{}").unwrap();
    }
    session.signal(Signal::CONT);
    for n in 1..=20 {
        session.answer(&n.to_string()).unwrap();
    }
}

#[test]
fn server_that_cannot_be_started_is_explained_within_a_second() {
    let bench = bench();
    let plain = bench.path("not-executable");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    let interpreter = bench.path("bad-interpreter");
    std::fs::write(&interpreter, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&interpreter, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let cases = [
        ("/no/such/server".into(), "/no/such/server"),
        (plain.into_os_string(), "not-executable"),
        (interpreter.into_os_string(), "bad-interpreter"),
        ("no-such-server-in-the-path".into(), "no-such-server-in-the-path"),
    ];
    for (program, named) in cases {
        let started = Instant::now();
        let mut session = Session::start(bench.command(Gate::Callgate, &[program]).unwrap()).unwrap();
        session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
        let answer = session.answer("0").unwrap();
        assert!(started.elapsed() < AT_ONCE * 2, "{named}: took {:?}", started.elapsed());
        assert_eq!(error_code(&answer), Some(-32603), "{answer:?}");
        let message = error_message(&answer).unwrap().to_owned();
        assert!(message.starts_with("Callgate: ") && message.contains(named), "{message}");
        let status = session.ended(PATIENCE).unwrap();
        assert!(!status.success());
        let why = message.strip_prefix("Callgate: ").unwrap();
        session.err.wait_closed(PATIENCE).unwrap();
        assert!(
            session.err.text().contains(why),
            "stderr says {:?}, the client heard {why:?}",
            session.err.text()
        );
    }
}

#[test]
fn last_line_without_its_end_is_never_judged() {
    let bench = bench();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    session.send_bytes(call_line("1", "safe", "{}").as_bytes()).unwrap();
    let finished = session.finish().unwrap();
    assert_eq!(bench.server_lines().len(), 1);
    assert_eq!(client_messages(&finished.out).0.len(), 1);
}

#[test]
fn a_finished_session_leaves_no_process_at_all() {
    let bench = bench();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    let shim = session.pid();
    let below = children(shim);
    assert!(!below.is_empty());
    session.finish().unwrap();
    for pid in below {
        gone("a child of the shim", pid, NOTHING_LEFT);
    }
    assert!(!is_alive(shim));
}

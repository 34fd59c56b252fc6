//! Requests that wait for a server that is being started, and what passes them meanwhile.

use super::*;

const PING: &str = r#"{"jsonrpc":"2.0","id":50,"method":"ping"}"#;
const CAPPED: &str = r#"{ "version": "1", "default": "allow", "process": { "restart": "always" },
    "tools": { "big": { "limits": [{ "counter": "big", "window": "hour", "max": 2 }] } } }"#;

/// A session whose second server has been started, and does not answer the handshake.
fn starting(bench: &Bench) -> Session {
    let mut session = opened(bench, CRASH_AFTER);
    script(bench, "on initialize\nhold\n");
    assert_eq!(result_text(&session.ask("3", "danger", "{}").unwrap()), Some("danger ran"));
    eventually("the second server hears the handshake", PATIENCE, || {
        let greeted = bench.server_lines().iter().filter(|line| line.contains("\"initialize\"")).count();
        (greeted == 2).then_some(())
    });
    session
}

/// The second server makes way for a third, which serves.
fn let_start(bench: &Bench) {
    script(bench, "");
    signal(servers(bench)[1], Signal::KILL);
}

fn cancel(session: &mut Session, id: &str) {
    let line = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
    session.send(&format!("{line}{id}}}}}")).unwrap();
}

/// The ids of the calls that some server got, in the order in which they got there.
fn calls_seen(bench: &Bench) -> Vec<String> {
    let lines = bench.server_lines();
    let calls = lines.iter().filter(|line| line.contains("\"tools/call\""));
    calls.map(|line| line.split_once("\"id\":").unwrap().1.split_once(',').unwrap().0.to_owned()).collect()
}

#[test]
fn ping_is_answered_while_a_call_waits_for_a_starting_server() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = starting(&bench);
    session.call("4", "safe", "{}").unwrap();
    session.send(PING).unwrap();
    session.answer("50").unwrap();
    assert!(!session.out.text().contains("\"id\":4,"), "the call still waits: {}", session.out.text());
    let_start(&bench);
    assert_eq!(result_text(&session.answer("4").unwrap()), Some("safe ran"));
    assert_one_answer_each(&session, &["0", "1", "2", "3", "4", "50"]);
}

#[test]
fn a_call_that_is_cancelled_while_its_server_starts_never_gets_there() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = starting(&bench);
    session.call("4", "safe", r#"{"cancelled":true}"#).unwrap();
    session.call("5", "safe", "{}").unwrap();
    cancel(&mut session, "4");
    // Behind the cancellation: when it is answered, that has been heard.
    session.send(PING).unwrap();
    session.answer("50").unwrap();
    // Its id is free again.
    session.call("4", "safe", r#"{"again":true}"#).unwrap();
    let_start(&bench);
    assert_eq!(result_text(&session.answer("5").unwrap()), Some("safe ran"));
    assert_eq!(result_text(&session.answer("4").unwrap()), Some("safe ran"));
    assert_one_answer_each(&session, &["4", "5"]);
    session.finish().unwrap();
    assert_eq!(calls_seen(&bench), ["2", "3", "5", "4"]);
    let got = String::from_utf8(bench.server_got()).unwrap();
    assert!(!got.contains("cancelled") && got.contains("again"), "{got}");
    let rows = rows(&bench).unwrap();
    let given_up = rows.iter().find(|row| row.arg("cancelled").is_some()).unwrap();
    assert_eq!(given_up.decision(), "stopped");
}

#[test]
fn calls_that_wait_for_a_starting_server_keep_their_order_their_ids_and_their_quota() {
    let bench = Bench::new(CAPPED).unwrap();
    let mut session = starting(&bench);
    for id in ["4", "5", "6"] {
        session.call(id, "big", r#"{"bytes":1}"#).unwrap();
    }
    session.call("5", "safe", "{}").unwrap();
    let twice = session.answer("5").unwrap();
    assert!(error_message(&twice).unwrap().contains("not answered yet"), "{twice:?}");
    let_start(&bench);
    session.call("7", "safe", "{}").unwrap();
    assert_eq!(result_text(&session.answer("7").unwrap()), Some("safe ran"));
    assert!(is_refusal(&session.answer("6").unwrap()), "the third of two");
    session.finish().unwrap();
    assert_eq!(calls_seen(&bench), ["2", "3", "4", "5", "7"]);
}

#[test]
fn a_client_that_closes_its_end_gets_the_answer_of_a_call_that_waits() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = starting(&bench);
    session.call("4", "safe", "{}").unwrap();
    session.send(PING).unwrap();
    session.answer("50").unwrap();
    session.close_input();
    let_start(&bench);
    assert_eq!(result_text(&session.answer("4").unwrap()), Some("safe ran"));
    session.ended(PATIENCE).unwrap();
}

#[test]
fn a_call_that_waits_is_answered_once_when_a_person_stops_its_server() {
    let bench = Bench::new(ALWAYS).unwrap();
    let mut session = starting(&bench);
    session.call("4", "safe", "{}").unwrap();
    session.send(PING).unwrap();
    session.answer("50").unwrap();
    callgate(&bench, &["stop", SERVER]);
    assert!(is_refusal(&session.answer("4").unwrap()));
    assert_one_answer_each(&session, &["4"]);
    session.finish().unwrap();
    assert_eq!(calls_seen(&bench), ["2", "3"]);
}

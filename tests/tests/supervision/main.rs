//! A session goes on without its server, and with another: stopped, started again, crashed, given up.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crashing;
mod limits;
mod starting;
mod stopping;
mod unanswered;
mod waiting;

use std::time::Duration;

use callgate_tests::gate::{Bench, OPEN_POLICY, SERVER};
use callgate_tests::history::rows;
use callgate_tests::json::Json;
use callgate_tests::oracle::client_messages;
use callgate_tests::processes::{eventually, is_alive, pids_in, signal};
use callgate_tests::session::{PATIENCE, Session, error_message, gone, is_refusal, result_text, told};
use callgate_tests::terminal::at_terminal;
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

/// The answer to any request.
fn asked(session: &mut Session, id: u32, method: &str, params: &str) -> Json {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    session.send(&line).unwrap();
    session.answer(&id.to_string()).unwrap()
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

/// A person at a terminal takes back that they stopped it.
fn started_again(bench: &Bench, args: &[&str]) {
    let (status, said) = at_terminal(bench.callgate(args).unwrap(), args[0]).unwrap();
    assert!(status.success() && said.contains("This loosens the gate"), "{args:?}: {said}");
}

/// A person at a terminal starts what waits for one.
fn awakened(bench: &Bench) -> String {
    let (status, said) = at_terminal(bench.callgate(["start", SERVER]).unwrap(), "start").unwrap();
    assert!(status.success() && said.contains("This would start"), "{said}");
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

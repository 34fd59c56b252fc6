//! Whole sessions as transcripts: what the client said, what the server got, what the client got.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::{ALLOW_POLICY, Bench, DENY_POLICY, OPEN_POLICY};
use callgate_tests::json::{Dialect, Json};
use callgate_tests::session::Session;

/// Plays the client's lines one after another and writes down what each brought about.
fn transcript(policy: &str, script: &str, lines: &[&str]) -> String {
    let bench = Bench::new(policy).unwrap();
    let mut session = bench.session(script, &[]).unwrap();
    let mut out = String::new();
    let mut seen = Seen::default();
    for (step, line) in lines.iter().enumerate() {
        if let Some(words) = line.strip_prefix("callgate ") {
            out += &format!("person says   {line}\n");
            person_says(&bench, words);
            synchronise(&mut session, step);
            seen.news(&bench, &session, &mut out);
            continue;
        }
        out += &format!("client says   {line}\n");
        session.send(line).unwrap();
        hear_answers(&session, line, &mut seen);
        synchronise(&mut session, step);
        seen.news(&bench, &session, &mut out);
    }
    let finished = session.finish().unwrap();
    out += &format!("the gate ends with {}\n", finished.status);
    out
}

/// At a terminal, because some things are asked of a person only.
#[cfg(unix)]
fn person_says(bench: &Bench, words: &str) {
    let typed = words.split(' ').next().unwrap_or_default();
    let command = bench.callgate(words.split(' ')).unwrap();
    assert!(callgate_tests::terminal::at_terminal(command, typed).unwrap().0.success());
}

#[cfg(not(unix))]
fn person_says(_bench: &Bench, words: &str) {
    panic!("there is no terminal here to say {words:?} at");
}

/// A request of ours, left out of the transcript: when it is answered, all before it has been dealt with. Not a ping, which is
/// answered while a server starts.
fn synchronise(session: &mut Session, step: usize) {
    let id = format!("\"sync-{step}\"");
    session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"server/discover"}}"#)).unwrap();
    session.answer(&id).unwrap();
}

/// Our own answers do not wait for the server's, so that says nothing about them.
fn hear_answers(session: &Session, line: &str, seen: &mut Seen) {
    let Some(value) = Json::parse(line, Dialect::Strict) else {
        seen.nobody += 1;
        session.nth_line_with("\"id\":null", seen.nobody).unwrap();
        return;
    };
    let asked = std::slice::from_ref(&value).iter().chain(value.items());
    for id in asked.filter_map(|message| message.get("id")) {
        session.answer(&id.to_text()).unwrap();
    }
}

#[derive(Default)]
struct Seen {
    /// Answers to lines whose id nobody can tell.
    nobody: usize,
    server: usize,
    client: usize,
}

impl Seen {
    fn news(&mut self, bench: &Bench, session: &Session, out: &mut String) {
        let (server, client) = (bench.server_lines(), session.out.text());
        for line in server[self.server..].iter().filter(|line| !line.contains("\"sync-")) {
            *out += &format!("  server got  {}\n", normal(line));
        }
        let home = bench.home().display().to_string();
        let client: Vec<_> = client.lines().map(|line| normal(&line.replace(&home, "~/.callgate"))).collect();
        for line in client[self.client..].iter().filter(|line| !line.contains("\"sync-")) {
            *out += &format!("  client got  {line}\n");
        }
        out.push('\n');
        (self.server, self.client) = (server.len(), client.len());
    }
}

/// Replaces what differs from run to run: call ids, the gate's own ids, seconds.
fn normal(line: &str) -> String {
    let mut line = line.to_owned();
    let varying = [
        ("(call ", ")"),
        ("\"callgate/call\":\"", "\""),
        ("\"id\":\"callgate/", "\""),
        ("can pass in ", " s"),
    ];
    for (before, after) in varying {
        let mut from = 0;
        while let Some(start) = line[from..].find(before).map(|at| from + at + before.len()) {
            let Some(length) = line[start..].find(after) else { break };
            line.replace_range(start..start + length, "…");
            from = start;
        }
    }
    line
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: &str, tool: &str) -> String {
    callgate_tests::session::call_line(id, tool, "{}")
}

#[test]
fn an_ordinary_session() {
    let lines = [
        INITIALIZE,
        INITIALIZED,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        &call("2", "safe"),
        &call("\"three\"", "fail"),
        r#"{"jsonrpc":"2.0","id":4,"method":"resources/list"}"#,
    ];
    insta::assert_snapshot!(transcript(OPEN_POLICY, "", &lines));
}

#[test]
fn every_kind_of_refusal() {
    let script = "on tools/list\nsend {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"safe\"},{\"name\":\"hidden_one\"},{\"name\":\"danger\"}]}}\n";
    let lines = [
        INITIALIZE,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        &call("2", "safe"),
        &call("3", "danger"),
        &call("4", "hidden_one"),
        &call("5", "unheard_of"),
        &call("6", "slow"),
        &call("7", "slow"),
        &call("8", "slow"),
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"safe","name":"danger"}}"#,
        r#"{"jsonrpc":"2.0","id":10,"method":"Tools/Call","params":{"name":"danger"}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"safe"}}"#,
        "this is not JSON",
        r#"[{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"hidden_one"}},{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"danger"}}]"#,
    ];
    insta::assert_snapshot!(transcript(DENY_POLICY, script, &lines));
}

#[test]
fn a_policy_that_allows_what_it_does_not_name() {
    let lines =
        [&*call("1", "unheard_of"), &call("2", "Danger"), &call("3", "danger"), &call("4", "HIDDEN_ONE")];
    insta::assert_snapshot!(transcript(ALLOW_POLICY, "", &lines));
}

#[test]
fn a_broken_policy() {
    let lines = [INITIALIZE, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, &call("2", "safe")];
    let script =
        "on tools/list\nsend {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"safe\"}]}}\n";
    insta::assert_snapshot!(transcript("{ \"version\": \"1\", \"default\": \"alow\" }", script, &lines));
}

#[test]
fn a_stateless_session() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let lines = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{meta}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"safe",{meta}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"danger",{meta}}}}}"#),
    ];
    insta::assert_snapshot!(transcript(DENY_POLICY, "", &lines.each_ref().map(String::as_str)));
}

#[test]
fn a_noisy_server() {
    let script = "on safe 1\nsend Session s1 created\nsend {\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\nanswer\nsend {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"fine\"}}\n";
    insta::assert_snapshot!(transcript(OPEN_POLICY, script, &[&call("1", "safe"), &call("2", "safe")]));
}

#[test]
#[cfg(unix)]
fn a_server_that_crashes_in_a_call_and_is_started_again() {
    let policy = r#"{ "version": "1", "default": "allow", "process": { "restart": "always" } }"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let level = r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"debug"}}"#;
    let lines = [INITIALIZE, INITIALIZED, list, level, &call("4", "danger"), &call("5", "safe")];
    insta::assert_snapshot!(transcript(policy, "on danger\nexit 3\n", &lines));
}

#[test]
#[cfg(unix)]
fn a_server_that_a_person_stops_and_starts() {
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let news = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    let lines = [
        INITIALIZE,
        INITIALIZED,
        &call("1", "safe"),
        "callgate stop corpus",
        list,
        &call("3", "safe"),
        news,
        "callgate start corpus",
        &call("4", "safe"),
    ];
    insta::assert_snapshot!(transcript(OPEN_POLICY, "", &lines));
}

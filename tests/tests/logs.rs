//! What Callgate's own programs log: sessions, servers and files, never calls, and no secret.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::{Bench, Gate, OPEN_POLICY};
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session};
use serde_json::Value;

/// What the server is started with.
const TOKEN: &str = "tok-quark-of-the-shop-7731";
const RESTART: &str = r#"{ "version": "1", "default": "allow", "process": { "restart": "always" } }"#;

fn diagnostics(bench: &Bench) -> String {
    let files = std::fs::read_dir(bench.home().join("diagnostics")).into_iter().flatten().flatten();
    files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()).collect()
}

fn eventually_logged(bench: &Bench, words: &str) {
    eventually(&format!("{words:?} is logged"), PATIENCE, || {
        diagnostics(bench).contains(words).then_some(())
    });
}

fn logs(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let words = ["logs", "--json"].iter().chain(args);
    let output = bench.callgate(words).unwrap().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_session_is_logged_from_its_start_to_its_end_and_its_calls_are_not() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for id in 1..50 {
        session.ask(&id.to_string(), "safe", "{}").unwrap();
    }
    bench.write_policy("{ this is no policy").unwrap();
    eventually_logged(&bench, "the last good policy stays in force");
    session.finish().unwrap();
    let lines = logs(&bench, &["--program", "gate"]);
    let texts: Vec<&str> = lines.iter().map(|line| line["text"].as_str().unwrap()).collect();
    let has = |at: usize, begin: &str| assert!(texts[at].starts_with(begin), "{texts:#?}");
    assert_eq!(texts.len(), 4, "{texts:#?}");
    has(0, "policy read version=");
    has(1, "session started server=corpus client=tester");
    has(3, "session ended reason=client_closed");
    assert_eq!((&lines[2]["level"], &lines[2]["target"]), (&"warn".into(), &"callgate_shim::relay".into()));
    assert!(lines.iter().all(|line| line["session"] == lines[0]["session"] && line["session"].is_string()));
    assert_eq!(logs(&bench, &["--level", "warn"]).len(), 1);
    assert_eq!(logs(&bench, &["--program", "app", "--program", "cli"]).len(), 0);
}

#[test]
fn a_secret_of_the_environment_or_of_a_command_line_is_not_logged() {
    let bench = Bench::new(RESTART).unwrap();
    let said = format!("on danger\nstderr no {TOKEN}\nexit 3\n");
    let server = bench.fake_server(&said, &[]).unwrap();
    let started = |server: &[std::ffi::OsString]| {
        let mut command = bench.command(Gate::Callgate, server).unwrap();
        command.env("SHOP_TOKEN", TOKEN);
        Session::start(command).unwrap()
    };
    let mut session = started(&server);
    let hello =
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}"#;
    session.send(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#)).unwrap();
    session.answer("0").unwrap();
    session.call("1", "danger", &format!("{{\"token\":\"{TOKEN}\"}}")).unwrap();
    session.answer("1").unwrap();
    eventually_logged(&bench, "server crashed");
    bench.write_policy(&format!(r#"{{ "version": "1", "default": "allow", "{TOKEN}": 1 }}"#)).unwrap();
    eventually_logged(&bench, "cannot be used");
    session.finish().unwrap();
    bench.write_policy(OPEN_POLICY).unwrap();
    let nowhere = [bench.path("none").into(), "--api-key".into(), "quark-hunter2-quark".into(), TOKEN.into()];
    let not_started = started(&nowhere);
    eventually_logged(&bench, "failed_to_start");
    not_started.finish().unwrap();
    let text = diagnostics(&bench);
    assert!(!text.contains("quark"), "{text}");
    assert!(text.contains("[masked"), "the policy's words were logged: {text}");
}

#[test]
fn following_shows_what_is_logged_meanwhile_also_in_a_log_that_was_begun_anew() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let fail = |server: &str| {
        let failed = bench.callgate(["stderr", server]).unwrap().output().unwrap();
        assert!(!failed.status.success());
    };
    fail("first");
    let follower = Session::start(bench.callgate(["logs", "--follow"]).unwrap()).unwrap();
    follower.line_with("no server first").unwrap();
    fail("second");
    let line = follower.line_with("no server second").unwrap();
    assert!(line.contains(" WARN  cli[") && line.ends_with(" command=stderr"), "{line}");
    let log = bench.home().join("diagnostics/cli.log");
    std::fs::rename(&log, log.with_extension("log.1")).unwrap();
    fail("third");
    follower.line_with("no server third").unwrap();
}

//! Arguments that are checked against a schema which was made to take for ever, or all memory.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::time::Duration;

use callgate_tests::gate::Bench;
use callgate_tests::processes::{children, eventually, is_alive, signal};
use callgate_tests::session::{Session, call_line, result_text, told};
use rustix::process::Signal;

const VALIDATE: &str = r#"{ "version": "1", "default": "allow", "validate": true }"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
const SOON: Duration = Duration::from_secs(20);
/// What a gate may hold at any time of such a session.
const MOST: u64 = 64 << 20;

/// So many levels that each try the next one twice, and end in what no number fits.
fn doubling(keyword: &str, levels: usize) -> String {
    let next = |n: usize| format!(r##"{{"$ref":"#/$defs/n{}"}}"##, n + 1);
    let levels_text: Vec<String> =
        (0..levels).map(|n| format!(r#""n{n}":{{"{keyword}":[{0},{0}]}}"#, next(n))).collect();
    format!(
        r##"{{"properties":{{"a":{{"$ref":"#/$defs/n0"}}}},"$defs":{{{},"n{levels}":{{"type":"string"}}}}}}"##,
        levels_text.join(",")
    )
}

/// The script of a server with one tool for each schema, and `safe`.
fn listing(schemas: &[(String, String)]) -> String {
    let tools: Vec<String> = schemas
        .iter()
        .map(|(name, schema)| format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#))
        .chain([r#"{"name":"safe","inputSchema":{"required":["url"]}}"#.to_owned()])
        .collect();
    let list = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{}]}}}}"#, tools.join(","));
    format!("on tools/list\nsend {list}\n")
}

fn status(pid: u32, member: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(member)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
}

fn threads(session: &Session) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", session.pid())).unwrap();
    let name = |task: std::io::Result<fs::DirEntry>| fs::read_to_string(task.unwrap().path().join("comm"));
    tasks.map(|task| name(task).unwrap_or_default().trim_end().to_owned()).collect()
}

/// The processes in which this gate has arguments checked.
fn checking(session: &Session) -> Vec<u32> {
    let words = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    children(session.pid()).into_iter().filter(|pid| words(pid).contains("check-arguments")).collect()
}

fn call(session: &mut Session, id: usize, tool: &str, args: &str) -> String {
    let id = id.to_string();
    session.call(&id, tool, args).unwrap();
    let answer = session.answer_within(&id, SOON).unwrap();
    told(&answer).or_else(|| result_text(&answer)).unwrap().to_owned()
}

#[test]
fn a_schema_that_never_ends_takes_no_memory_of_the_gate_and_leaves_nothing_behind() {
    let schemas = [("anyOf", 14), ("anyOf", 22), ("anyOf", 25), ("anyOf", 40), ("oneOf", 40)]
        .map(|(keyword, levels)| (format!("{keyword}{levels}"), doubling(keyword, levels)));
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session(&listing(&schemas), &[]).unwrap();
    assert!(call(&mut session, 1, "safe", r#"{"url":1}"#).contains("safe ran"));
    for (n, (tool, _)) in schemas.iter().enumerate() {
        for round in 0..3 {
            let said = call(&mut session, 10 * (n + 1) + round, tool, r#"{"a":1}"#);
            let words = ["fit the tool's own schema", "takes too long, or too much memory, to check"];
            assert!(words.iter().any(|words| said.contains(words)), "{tool}: {said}");
        }
    }
    for deep in ["anyOf40", "oneOf40"] {
        assert!(call(&mut session, 2, deep, r#"{"a":1}"#).contains("too much memory"), "{deep}");
    }
    assert!(
        call(&mut session, 3, "safe", r#"{"url":1}"#).contains("safe ran"),
        "others are checked as before"
    );
    assert!(call(&mut session, 4, "safe", "{}").contains("args.url is required"));
    assert!(status(session.pid(), "VmHWM") << 10 < MOST, "{} kB", status(session.pid(), "VmHWM"));
    assert_eq!(threads(&session).iter().filter(|name| *name == "schema").count(), 1);
    let left = checking(&session);
    assert_eq!(left.len(), 1, "one process checks everything");
    assert!(!String::from_utf8(bench.server_got()).unwrap().contains("Of"), "none of them ran");
    session.finish().unwrap();
    assert!(!is_alive(left[0]));
}

#[test]
fn a_killed_gate_takes_the_process_with_it_that_checks_for_it() {
    let endless = [("endless".to_owned(), doubling("anyOf", 60))];
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session(&listing(&endless), &[]).unwrap();
    assert!(call(&mut session, 1, "safe", r#"{"url":1}"#).contains("safe ran"));
    let [process] = checking(&session)[..] else { panic!("one") };
    session.call("2", "endless", r#"{"a":1}"#).unwrap();
    session.signal(Signal::KILL);
    eventually("the process is gone", SOON, || (!is_alive(process)).then_some(()));
}

#[test]
fn a_process_that_somebody_killed_between_two_calls_is_replaced() {
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session(&listing(&[]), &[]).unwrap();
    assert!(call(&mut session, 1, "safe", r#"{"url":1}"#).contains("safe ran"));
    let [process] = checking(&session)[..] else { panic!("one") };
    signal(process, Signal::KILL);
    let stat = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    eventually("it is gone", SOON, || (stat().is_empty() || stat().contains(") Z ")).then_some(()));
    assert!(call(&mut session, 2, "safe", r#"{"url":1}"#).contains("safe ran"));
}

#[test]
fn cancellation_reaches_a_call_that_waits_for_its_schema() {
    let policy = r#"{ "version": "1", "default": "allow", "tools": { "safe": { "validate": true } } }"#;
    let bench = Bench::new(policy).unwrap();
    // The list comes with the answer to the ping.
    let mut session = bench.session("on tools/list\nhold\non ping\nanswer\nrelease\n", &[]).unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let waits = [call_line("1", "safe", r#"{"cancelled":true}"#), call_line("2", "safe", "{}")];
    session.send(&[&waits[0], &waits[1], cancel, &call_line("3", "danger", "{}")].join("\n")).unwrap();
    assert_eq!(result_text(&session.answer("3").unwrap()), Some("danger ran"), "it needs no schema");
    let listing = || String::from_utf8(bench.server_got()).unwrap().contains("\"tools/list\"");
    eventually("the gate asks for the list", SOON, || listing().then_some(()));
    session.send(PING).unwrap();
    session.answer("9").unwrap();
    // It came after the cancelled one, so that is over when this one is answered.
    session.answer("2").unwrap();
    let out = String::from_utf8(session.finish().unwrap().out).unwrap();
    assert!(!out.contains("\"id\":1,"), "nobody waits for it: {out}");
    let got = String::from_utf8(bench.server_got()).unwrap();
    assert!(!got.contains("cancelled"), "neither the call nor its cancellation: {got}");
}

#[test]
fn ping_is_answered_while_arguments_are_checked() {
    let endless = [("endless".to_owned(), doubling("anyOf", 60))];
    let bench = Bench::new(VALIDATE).unwrap();
    let mut session = bench.session(&listing(&endless), &[]).unwrap();
    assert!(call(&mut session, 1, "safe", r#"{"url":1}"#).contains("safe ran"));
    session.send(&[&call_line("2", "endless", r#"{"a":1}"#), PING].join("\n")).unwrap();
    session.answer("9").unwrap();
    assert!(!session.out.text().contains("\"id\":2,"), "the check goes on: {}", session.out.text());
    assert!(told(&session.answer_within("2", SOON).unwrap()).unwrap().contains("too long"));
}

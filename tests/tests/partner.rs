//! The gate and the program beside it: one is never there without the other for long, and what happens when it is.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use callgate_tests::gate::{callgate_binary, program};
use callgate_tests::person::{CURSOR, Person};
use callgate_tests::session::{Session, is_refusal};
use serde_json::json;

const VALIDATE: &str = r#"{ "version": "1", "default": "allow", "validate": true }"#;
/// A tool that takes a URL and nothing else.
const SCRIPT: &str = "on tools/list\nsend {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"open\",\"inputSchema\":{\"required\":[\"url\"]}}]}}\n";

/// Somebody whose one server is behind the gate, and has its arguments checked.
fn protected() -> Person {
    let person = Person::new();
    person.write("script", SCRIPT.as_bytes());
    let server = json!({ "command": program("fake-server").unwrap(), "args": ["--script", "script", "--record", "got"] });
    person.write(CURSOR, json!({ "mcpServers": { "a": server } }).to_string().as_bytes());
    person.say(&["protect", "cursor"]);
    fs::write(person.path(".callgate/policies/a.json"), VALIDATE).unwrap();
    person
}

fn session(person: &Person) -> Session {
    person.start(&person.entry(CURSOR, "a"))
}

fn partners(person: &Person) -> Vec<PathBuf> {
    let programs = fs::read_dir(person.path(".callgate/bin")).unwrap().map(|entry| entry.unwrap().path());
    programs.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("callgate-cli")).collect()
}

/// The two programs as another build of them, in a folder of their own.
fn another_build(person: &Person) -> PathBuf {
    fs::create_dir_all(person.path("build")).unwrap();
    for name in ["callgate", "callgate-cli"] {
        fs::copy(callgate_binary().unwrap().with_file_name(name), person.path("build").join(name)).unwrap();
    }
    let gate = person.path("build/callgate");
    fs::OpenOptions::new().append(true).open(&gate).unwrap().write_all(b"\nanother\n").unwrap();
    gate
}

#[test]
fn a_gate_without_its_partner_still_stands_before_the_server_and_says_what_is_missing() {
    let person = protected();
    partners(&person).iter().for_each(|partner| fs::remove_file(partner).unwrap());
    let gate = person.path(".callgate/bin/callgate");

    let told = person.command(&gate).arg("log").output().unwrap();
    let said = String::from_utf8(told.stderr).unwrap();
    assert_eq!(told.status.code(), Some(1));
    assert!(said.contains("has no callgate-cli") && said.contains("start Callgate's app"), "{said}");
    assert!(person.command(&gate).arg("--version").output().unwrap().status.success());

    // What would have to be checked is refused, with why.
    let answer = session(&person).ask("1", "open", r#"{"url":"x"}"#).unwrap();
    assert!(is_refusal(&answer) && answer.to_text().contains("has no callgate-cli"), "{}", answer.to_text());

    let said = person.does(&["clients", "protect", "cursor"]);
    assert!(said.contains("in place"), "{said}");
    assert!(!is_refusal(&session(&person).ask("1", "open", r#"{"url":"x"}"#).unwrap()));
}

#[test]
fn a_server_whose_secrets_are_in_the_keychain_is_not_started_by_a_gate_that_cannot_ask_for_them() {
    let person = protected();
    partners(&person).iter().for_each(|partner| fs::remove_file(partner).unwrap());
    let mut command = person.starting(&person.entry(CURSOR, "a"));
    command.env("API_TOKEN", "keychain://callgate/0123456789abcdef0123456789abcdef/API_TOKEN");
    let told = person.refused(Session::start(command).unwrap());
    assert!(told.contains("has no callgate-cli"), "{told}");
    assert!(!person.path("got").exists(), "the server was started");
}

#[test]
fn an_update_under_a_running_session_leaves_it_the_partner_that_it_began_with() {
    let person = protected();
    let mut running = session(&person);
    running.send(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).unwrap();
    running.answer(r#""a""#).unwrap();

    let updated =
        person.command(another_build(&person)).args(["clients", "protect", "cursor"]).output().unwrap();
    assert!(updated.status.success(), "{}", String::from_utf8_lossy(&updated.stderr));
    assert_eq!(partners(&person).len(), 2, "the old one and the new one");
    // Only now does it have a check to run.
    let answer = running.ask("1", "open", r#"{"url":"x"}"#).unwrap();
    assert!(!is_refusal(&answer), "{}", answer.to_text());
    assert!(
        !is_refusal(&session(&person).ask("1", "open", r#"{"url":"x"}"#).unwrap()),
        "the new one, with its own"
    );
}

#[test]
fn version_tells_both_programs_and_that_they_differ() {
    let person = Person::new();
    let gate = another_build(&person);
    let version = || person.command(person.path("build/callgate-cli")).arg("version").output().unwrap();
    let same = version();
    let said = String::from_utf8(same.stdout).unwrap();
    assert!(
        same.status.success() && said.contains("build/callgate\n") && said.contains("build/callgate-cli\n"),
        "{said}"
    );

    fs::remove_file(&gate).unwrap();
    person.program("build/callgate", "#!/bin/sh\necho callgate 0.0.7\n");
    let differ = version();
    let said = String::from_utf8(differ.stdout).unwrap();
    assert_eq!(differ.status.code(), Some(1));
    assert!(said.contains("0.0.7") && said.contains("They differ"), "{said}");
}

#[test]
fn uninstalling_takes_both_programs_away() {
    let person = protected();
    let (code, screen) = person.typed(&["uninstall", "--keep-history"], "uninstall");
    assert_eq!(code, Some(0), "{screen}");
    assert!(!person.path(".callgate/bin").exists());
}

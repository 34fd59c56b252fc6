//! Claude Code and calls that a person decides about: held, answered in time and made again, and what it does with a tool that
//! says that its person has to be asked.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use callgate_controls::approval::{Approval, Approvals, Decider, Verdict};
use callgate_controls::decider::{self, Presence};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_tests::json::{Dialect, Json};
use callgate_tests::model::{Model, Turn};
use callgate_tests::person::{Person, Said};
use callgate_tests::processes::eventually;
use callgate_tests::session::Session;
use serde_json::json;

use crate::calling::claude_code;
use crate::client::Client;

/// It takes its time to start.
const LONG: Duration = Duration::from_secs(60);
const SLOW: &str = "mcp__notes__slow";

/// A person whose policy asks about `slow`.
fn asking(settings: &str) -> Person {
    let person = Client::ClaudeCode.protected(&[]);
    let path = ".callgate/policies/notes.json";
    let policy = format!(
        r#"{{ "version": "1", "default": "allow", "ask": {{ {settings} }}, "tools": {{ "slow": {{ "action": "ask" }} }} }}"#
    );
    person.write(path, policy.as_bytes());
    std::fs::set_permissions(person.path(path), std::fs::Permissions::from_mode(0o600)).unwrap();
    person
}

fn home(person: &Person) -> Home {
    Home::at(person.path(".callgate"))
}

/// Waits until a card was asked so often, and approves it.
fn approve(person: &Person, times: u32) {
    let (home, now) = (home(person), SystemClock::default().now());
    let mut store = Approvals::new(&home);
    let meant = |one: &Approval| one.asked == times;
    let card = eventually("a card", LONG, || store.open(&now).unwrap().into_iter().find(meant));
    store.decide(&SystemClock::default().now(), card.id, &Verdict::Once, Decider::Window).unwrap();
    decider::ring(&home);
}

/// Its one question, answered by this model.
fn begin(person: &Person, model: &Model) -> Session {
    let mut session = Session::start(claude_code(person, model, &["-p", "go"])).unwrap();
    session.close_input();
    session
}

fn end(mut session: Session) -> String {
    let status = session.ended(LONG).unwrap();
    let out = session.out.text();
    assert!(status.success(), "{out}\n{}", session.err.text());
    out
}

fn ran(person: &Person) -> String {
    std::fs::read_to_string(person.path("marks")).unwrap_or_default()
}

#[test]
fn a_call_of_claude_code_that_is_held_runs_once_after_a_yes() {
    let person = asking("");
    let _presence = Presence::announce(&home(&person)).unwrap();
    let model = Model::start(vec![Turn::Call(SLOW), Turn::Say("that was all")]).unwrap();
    let session = begin(&person, &model);
    approve(&person, 1);
    assert!(end(session).contains("that was all"));
    let results = model.results();
    assert!(matches!(&results[..], [(said, false)] if said.contains("slow ran")), "{results:?}");
    assert_eq!(ran(&person), "slow\n");
}

#[test]
fn a_call_of_claude_code_that_is_answered_in_time_runs_once_when_it_is_made_again() {
    let person = asking(r#""hold": "4s""#);
    let _presence = Presence::announce(&home(&person)).unwrap();
    let model = Model::start(vec![Turn::Call(SLOW), Turn::Call(SLOW), Turn::Say("that was all")]).unwrap();
    let session = begin(&person, &model);
    approve(&person, 2);
    assert!(end(session).contains("that was all"));
    let results = model.results();
    let [(first, first_failed), (second, second_failed)] = &results[..] else { panic!("{results:?}") };
    assert!(first.contains("Waiting for the user's approval") && *first_failed, "{results:?}");
    assert!(second.contains("slow ran") && !second_failed, "{results:?}");
    assert_eq!(ran(&person), "slow\n");
}

/// Nobody could decide in Callgate, so its list has the mark. Without a terminal and without a host there is nobody to prompt, and
/// neither its list of allowed tools nor any of its modes nor a hook answers in a person's place.
#[test]
fn claude_code_calls_no_marked_tool_without_somebody_to_prompt() {
    let hook = |event: &str, said: &serde_json::Value| {
        let echo = format!("echo '{}'", json!({ "hookSpecificOutput": said }));
        json!({ "hooks": { event: [{ "matcher": ".*", "hooks": [{ "type": "command", "command": echo }] }] } }).to_string()
    };
    let before = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
    let request = json!({ "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } });
    let (before, request) = (hook("PreToolUse", &before), hook("PermissionRequest", &request));
    let marked: [&[&str]; 5] = [
        &[],
        &["--permission-mode", "bypassPermissions"],
        &["--permission-mode", "dontAsk"],
        &["--settings", &before],
        &["--settings", &request],
    ];
    for words in marked {
        let person = asking("");
        let model = Model::start(vec![Turn::Call(SLOW), Turn::Say("that was all")]).unwrap();
        let mut command = claude_code(&person, &model, &[&["-p", "go"], words].concat());
        // Else it refuses to bypass anything where everybody is root.
        command.env("IS_SANDBOX", "1");
        let said: Said = command.output().unwrap().into();
        let results = model.results();
        assert!(matches!(&results[..], [(_, true)]), "{words:?}: {results:?} {said:?}");
        assert_eq!((ran(&person).as_str(), person.calls().len()), ("", 0), "{words:?}: {said:?}");
    }
    // With somebody there the tool is not marked, and Callgate asks.
    let person = asking("");
    let _presence = Presence::announce(&home(&person)).unwrap();
    let model = Model::start(vec![Turn::Call(SLOW), Turn::Say("that was all")]).unwrap();
    let session = begin(&person, &model);
    approve(&person, 1);
    end(session);
    assert_eq!(ran(&person), "slow\n");
}

/// A host that answers in its person's place (an editor, the SDK) is asked, also about a tool that is allowed already.
#[test]
fn a_host_of_claude_code_is_asked_about_a_marked_tool_and_its_answer_counts() {
    for (behavior, runs) in [("allow", "slow\n"), ("deny", "")] {
        let person = asking("");
        let model = Model::start(vec![Turn::Call(SLOW), Turn::Say("that was all")]).unwrap();
        let words = ["-p", "--verbose", "--permission-prompt-tool", "stdio"];
        let streams = ["--input-format", "stream-json", "--output-format", "stream-json"];
        let command = claude_code(&person, &model, &[&words[..], &streams].concat());
        let mut session = Session::start(command).unwrap();
        let question = json!({ "type": "user", "message": { "role": "user", "content": "go" } });
        session.send(&question.to_string()).unwrap();
        let line = session.line_with("can_use_tool").unwrap();
        let prompt = Json::parse(&line, Dialect::Strict).unwrap();
        let of = |member: &str| prompt.at(&["request", member]).map(Json::to_text).unwrap_or_default();
        assert_eq!(of("tool_name"), format!("\"{SLOW}\""));
        assert_eq!(
            (of("requires_user_interaction"), of("suppress_always_allow_rule")),
            ("true".to_owned(), "true".to_owned())
        );
        let id = prompt.get("request_id").unwrap().as_text().unwrap();
        let answer = json!({ "behavior": behavior, "updatedInput": {}, "message": "no" });
        let reply = json!({ "subtype": "success", "request_id": id, "response": answer });
        session.send(&json!({ "type": "control_response", "response": reply }).to_string()).unwrap();
        session.line_with("that was all").unwrap();
        session.close_input();
        end(session);
        assert_eq!(ran(&person), runs, "{behavior}");
        let calls = person.calls();
        assert_eq!(calls.len(), runs.lines().count(), "{calls:?}");
        if behavior == "allow" {
            let log = person.does(&["log", "--json"]);
            assert!(log.contains("asked by the client, maybe not by a person"), "{log}");
        }
    }
}

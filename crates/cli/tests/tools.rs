//! `callgate tools`, `tool` and `scan` as a person types them.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::fs;

use callgate_controls::catalogue;
use callgate_home::Home;
use callgate_policy::Policy;
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;
use common::Callgate;
use serde_json::Value;

const TOOLS: [&str; 4] = [
    r#"{"name":"get_codegen_session","description":"Get information about a code generation session"}"#,
    r#"{"name":"end_codegen_session","description":"End a code generation session and generate the test file","inputSchema":{"type":"object","properties":{"sessionId":{"type":"string","description":"Which one"}},"required":["sessionId"]}}"#,
    r#"{"name":"start_codegen_session","description":"Start a new code generation session to record Playwright actions"}"#,
    r#"{"name":"clear_codegen_session","description":"Clear a code generation session without generating a test"}"#,
];

/// With a server `play` that listed four tools.
fn playing() -> Callgate {
    let callgate = Callgate::knowing(&["play"]);
    let raw: Vec<Raw<'_>> = TOOLS.iter().map(|text| Raw::parse(text).unwrap()).collect();
    let names: Vec<_> = raw.iter().map(|raw| raw.get("name").unwrap().as_str().unwrap()).collect();
    let listed = names.iter().map(|name| &**name).zip(raw.iter().copied());
    catalogue::write(&Home::at(callgate.home()), &Masker::default(), "play", 1, listed).unwrap();
    callgate
}

#[test]
fn every_listed_tool_is_shown_with_its_class_and_what_the_rules_make_of_it() {
    let callgate = playing();
    let said = callgate.say(&["tools"]);
    assert!(said.contains("clear_codegen_session  Destructive (critical)"), "{said}");
    assert!(said.contains("4 tools, 1 critical"), "{said}");
    let lines: Vec<Value> = callgate
        .say(&["tools", "play", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> =
        lines.iter().map(|one| (one["tool"].as_str().unwrap(), one["class"].as_str().unwrap())).collect();
    assert_eq!(
        told,
        [
            ("get_codegen_session", "Read"),
            ("end_codegen_session", "Write"),
            ("start_codegen_session", "Execute"),
            ("clear_codegen_session", "Destructive"),
        ]
    );
    assert!(lines.iter().all(|one| one["state"] == "allowed"), "{lines:?}");
    assert!(callgate.fail(&["tools", "plya"]).contains("did you mean"));
}

#[test]
fn the_page_of_a_tool_says_what_it_is_and_apply_puts_its_rule_in_force() {
    let callgate = playing();
    let said = callgate.say(&["tool", "play", "end_codegen_session"]);
    for words in [
        "Write (medium)",
        "Recommended rule",
        "\"max\": 30",
        "sessionId  text, required: Which one",
        "Can I rate-limit end_codegen_session?",
        "callgate tool play end_codegen_session --apply",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = callgate.say(&["tool", "play", "clear_codegen_session", "--apply"]);
    assert!(said.contains("Hid clear_codegen_session on play") && said.contains("undo "), "{said}");
    callgate.say(&["tool", "play", "end_codegen_session", "--apply"]);
    let page: Value =
        serde_json::from_str(&callgate.say(&["tool", "play", "end_codegen_session", "--json"])).unwrap();
    assert_eq!((&page["state"], &page["recommended"]["in_force"]), (&"limited".into(), &true.into()));
    assert_eq!(page["recommended"]["rule"]["tools"]["end_codegen_session"]["limits"][0]["max"], 30);
    let policy = fs::read_to_string(callgate.home().join("policies/play.json")).unwrap();
    assert!(policy.contains("\"default\": \"allow\""), "{policy}");
}

#[test]
fn a_corrected_class_is_kept_and_no_other_word_is_one() {
    let callgate = playing();
    let said = callgate.say(&["tool", "play", "end_codegen_session", "--class", "Execute"]);
    assert!(said.contains("counts as Execute (high), as you say"), "{said}");
    assert!(callgate.say(&["tools", "play"]).contains("Execute (high), yours"));
    assert!(
        callgate
            .fail(&["tool", "play", "end_codegen_session", "--class", "Harmless"])
            .contains("is no class")
    );
    callgate.say(&["tool", "play", "end_codegen_session", "--class", "none"]);
    assert!(!callgate.say(&["tools", "play"]).contains("yours"));
}

#[test]
fn a_scan_of_a_server_is_a_policy_of_what_it_listed_and_can_be_applied() {
    let callgate = playing();
    let file = callgate.folder.path().join("play.json");
    callgate.say(&["scan", "play", "-o", file.to_str().unwrap()]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("// Recommended for play: 4 tools."), "{text}");
    Policy::parse(&text).unwrap();
    let said = callgate.say(&["policy", "apply", "play", file.to_str().unwrap(), "--replace", "--dry-run"]);
    assert!(said.contains("3 tools change state") && !said.contains("would loosen"), "{said}");
}

#[test]
fn a_scan_of_a_command_starts_it_lists_all_pages_and_leaves_nothing() {
    let callgate = Callgate::new();
    let script = callgate.folder.path().join("server.sh");
    fs::write(
        &script,
        r#"while read -r line; do
case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}}}}';;
*'"cursor"'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"delete_file","description":"Delete a file","inputSchema":{"type":"object"}}]}}';;
*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"get_file","description":"Get a file","inputSchema":{"type":"object"}}],"nextCursor":"x"}}';;
esac
done
"#,
    )
    .unwrap();
    let scratch = callgate.folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let output = callgate
        .command(&["scan", "--", "sh", script.to_str().unwrap()])
        .env("TMPDIR", &scratch)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Policy::parse(&text).unwrap();
    assert!(
        text.contains("\"get_file\": {}") && text.contains("\"delete_file\": { \"action\": \"ask\" }"),
        "{text}"
    );
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "the temporary home is gone");
    let said = callgate.fail(&["scan", "--", "sh", "-c", "exit 3"]);
    assert!(said.contains("could not be asked for its tools"), "{said}");
}

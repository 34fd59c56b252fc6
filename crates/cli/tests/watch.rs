//! `callgate watch` on a real terminal, over calls of a real session.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use common::Callgate;

#[test]
fn a_key_blocks_the_tool_and_another_takes_it_back() {
    let callgate = Callgate::new();
    callgate.say(&["demo"]);
    let mut terminal = callgate.terminal(&["watch", "--tool", "get_codegen_session"]);
    terminal.wait_for("get_codegen_session");
    // While the log follows, the first press only chooses.
    terminal.press("b");
    terminal.wait_for("b once more blocks it");
    terminal.press("b");
    terminal.wait_for("takes it back");
    let client = first_client(&callgate);
    let asked = ["--server", "callgate-demo", "--tool", "get_codegen_session", "--client", &client];
    assert_eq!(callgate.explain(&asked)["decision"], "deny", "{}", callgate.policy("callgate-demo"));
    terminal.press("u");
    terminal.wait_for("Undone");
    assert_ne!(callgate.explain(&asked)["decision"], "deny", "{}", callgate.policy("callgate-demo"));
    terminal.press("q");
    let (success, screen) = terminal.end();
    assert!(success, "{screen}");
    assert!(screen.contains("\u{1b}[?1049l"), "the screen is given back");
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let callgate = Callgate::new();
    let complaint = callgate.fail(&["watch"]);
    assert!(complaint.contains("callgate log --follow"), "{complaint}");
}

fn first_client(callgate: &Callgate) -> String {
    let line = callgate.say(&["log", "--json", "--tool", "get_codegen_session"]);
    let call: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    call["client"].as_str().unwrap().to_owned()
}

//! What a client says about its servers when it has tried them: `mcp list`.

use crate::client::{Client, words};

/// The server behind the gate answers; one whose program is nowhere does not, and the client does not hang for it.
fn assert_connects(client: Client, connected: &str) {
    let person = client.protected(&[("gone", words(&["/nowhere/at/all"]))]);
    let said = client.does(&person, &["mcp", "list"]);
    let about = |name: &str| -> &str {
        let lines = || {
            said.lines()
                .filter(|line| line.contains(&format!("{name}: ")) || line.contains(&format!(" {name} ")))
        };
        lines().next().unwrap_or_else(|| panic!("nothing about {name} in\n{said}"))
    };
    assert!(about("notes").contains(connected), "{said}");
    assert!(!about("gone").contains(connected), "{said}");
    assert!(said.contains(".callgate/bin/callgate"), "{said}");
}

#[test]
fn claude_code_connects_through_the_gate() {
    assert_connects(Client::ClaudeCode, "✔ Connected");
}

#[test]
fn gemini_cli_connects_through_the_gate() {
    assert_connects(Client::Gemini, "- Connected");
}

#[test]
fn qwen_code_connects_through_the_gate() {
    assert_connects(Client::Qwen, "- Connected");
}

#[test]
fn opencode_connects_through_the_gate() {
    assert_connects(Client::OpenCode, "✓");
}

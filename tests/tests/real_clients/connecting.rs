//! What a client says about its servers when it has tried them: `mcp list`.

use callgate_tests::person::{Person, Said};

use crate::client::{Client, Server, notes};

/// The server behind the gate answers; one whose program is nowhere does not, and the client does not hang for it.
fn assert_connects(client: Client, connected: &str) {
    let person = client.protected(&[Server::new("gone", &["/nowhere/at/all"])]);
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

/// A file that the gate is not put into, because its client could not read it: the client is asked whether that is so.
#[test]
fn what_is_refused_as_unreadable_is_refused_by_its_client_too() {
    for (client, from, to) in [
        (Client::ClaudeCode, "{\n", "{ // mine\n"),
        (Client::Gemini, "\n  }\n}", "\n  },\n}"),
        (Client::Qwen, "\n  }\n}", "\n  },\n}"),
    ] {
        let person = Person::new();
        let good = client.file_with(&[notes(&person)]);
        let bad = good.replacen(from, to, 1);
        assert_ne!(good, bad);
        for (text, reads) in [(good, true), (bad, false)] {
            person.write(client.file(), text.as_bytes());
            let listed: Said = client.command(&person, &["mcp", "list"]).output().unwrap().into();
            assert_eq!(listed.all().contains("Connected"), reads, "{client:?}: {listed:?}");
            person.write(client.file(), text.as_bytes());
            let protected = person.clients(&["protect", client.id(), "--dry-run"]);
            assert_eq!(protected.code, Some(if reads { 0 } else { 1 }), "{client:?}: {protected:?}");
        }
    }
}

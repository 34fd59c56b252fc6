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

/// Claude Code keeps such a server in the person's own file, below the project's folder.
#[test]
fn a_server_that_claude_code_added_for_one_project_is_seen_and_protected() {
    let person = Person::new();
    let Server { program, args, .. } = notes(&person);
    let args = args.unwrap_or_default();
    let mut add = vec!["mcp", "add", "notes", "--", &program];
    add.extend(args.iter().map(String::as_str));
    Client::ClaudeCode.does(&person, &add);
    let [entry] = &person.entries()[..] else { panic!("{:?}", person.entries()) };
    assert_eq!(entry["project"], person.home.path().to_str().unwrap(), "{entry}");
    assert_eq!(entry["state"], "not_protected", "{entry}");
    person.say(&["protect", "claude-code"]);
    let said = Client::ClaudeCode.does(&person, &["mcp", "list"]);
    assert!(said.contains(".callgate/bin/callgate run") && said.contains("✔ Connected"), "{said}");
}

/// What a project's own file says is started through the gate, or waits for the person's approval as it would without it.
#[test]
fn files_of_a_project_are_read_with_the_gate_in_them() {
    for (client, file, told) in [
        (Client::ClaudeCode, ".mcp.json", "Pending approval"),
        (Client::Codex, ".codex/config.toml", "enabled"),
        (Client::Gemini, ".gemini/settings.json", "- Connected"),
        (Client::Qwen, ".qwen/settings.json", "Pending approval"),
        (Client::OpenCode, "opencode.json", "✓"),
        (Client::OpenCode, "opencode.jsonc", "✓"),
    ] {
        let person = Person::new();
        let project = person.path("project");
        person.write(&format!("project/{file}"), client.file_with(&[notes(&person)]).as_bytes());
        // Codex reads only the files of projects that a person trusts.
        let trust = format!("[projects.{:?}]\ntrust_level = \"trusted\"\n", project.to_str().unwrap());
        person.write(Client::Codex.file(), trust.as_bytes());
        person.say(&["protect", client.id(), "--project", project.to_str().unwrap()]);
        let said: Said =
            client.command(&person, &["mcp", "list"]).current_dir(&project).output().unwrap().into();
        assert!(said.all().contains(".callgate/bin/callgate"), "{client:?} {file}: {said:?}");
        assert!(said.all().contains(told), "{client:?} {file}: {said:?}");
    }
}

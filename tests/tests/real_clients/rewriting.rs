//! Clients that write their own file after the gate was put into it: what is left of the gate, and what comes back.
//!
//! A twin who never had a gate lets the client do the same. Once the gate is gone, both files must say the same.

use callgate_tests::person::Person;
use serde_json::Value;

use crate::client::{Client, Server, names};

/// With arguments, without any, with none in a list, and with some that look like ours.
fn servers(client: Client) -> Vec<Server> {
    let mut servers = vec![
        Server::new("notes", &["npx", "-y", "a server", "--key=\"x\""]),
        Server::without_args("plain", "/opt/plain/server"),
        Server::new("odd", &["uvx", "--", "run", ""]),
    ];
    // Codex leaves an empty list out when it writes its file. Behind the gate it is not empty and stays: the same to Codex,
    // though not the same bytes.
    if client != Client::Codex {
        servers.push(Server::new("empty", &["npx"]));
    }
    servers
}

fn named(servers: &[Server]) -> Vec<&str> {
    servers.iter().map(|server| server.name).collect()
}

/// The words that add an entry, and those that remove one.
fn add(client: Client, name: &str) -> Vec<&str> {
    match client {
        Client::ClaudeCode => vec!["mcp", "add", "--scope", "user", name, "--", "node", "/srv/new.mjs"],
        Client::Codex => vec!["mcp", "add", name, "--", "node", "/srv/new.mjs"],
        Client::Gemini | Client::Qwen => vec!["mcp", "add", "--scope", "user", name, "node", "/srv/new.mjs"],
        Client::OpenCode => vec!["mcp", "add", name, "--", "node", "/srv/new.mjs"],
    }
}

fn remove(client: Client, name: &str) -> Vec<&str> {
    match client {
        Client::Codex => vec!["mcp", "remove", name],
        _ => vec!["mcp", "remove", "--scope", "user", name],
    }
}

/// Two people with the same file; the first of them with the gate in it.
fn twins(client: Client) -> [Person; 2] {
    let servers = servers(client);
    let both = [Person::new(), Person::new()];
    for person in &both {
        person.write(client.file(), client.file_with(&servers).as_bytes());
    }
    both[0].say(&["protect", client.id()]);
    assert_eq!(names(&both[0], "protected"), named(&servers));
    both
}

/// The part of a file that is about servers; Claude Code's has times and random numbers in the rest.
fn about_servers(client: Client, person: &Person) -> String {
    let text = person.text(client.file());
    if client != Client::ClaudeCode {
        return text;
    }
    let from = text.find("  \"mcpServers\": {").unwrap_or_else(|| panic!("no servers in {text}"));
    let (servers, _) = text[from..].split_once("\n  }").unwrap();
    servers.to_owned()
}

fn assert_survives(client: Client) {
    let [person, twin] = twins(client);
    let do_both = |words: &[&str]| [&person, &twin].map(|who| client.does(who, words));
    let mut servers = servers(client);

    do_both(&add(client, "new"));
    assert_eq!(names(&person, "protected"), named(&servers), "{}", person.text(client.file()));
    assert_eq!(names(&person, "not_protected"), ["new"]);
    let listed = person.say(&[]);
    assert!(listed.contains(&format!("{} protected, 1 not protected", servers.len())), "{listed}");
    assert!(!listed.contains("has lost"), "{listed}");

    // OpenCode has no command for this.
    if client != Client::OpenCode {
        do_both(&remove(client, "plain"));
        servers.retain(|server| server.name != "plain");
        assert_eq!(names(&person, "protected"), named(&servers));
        assert!(!person.say(&[]).contains("has lost"), "what its client removed is gone, and not missed");
    }

    person.unprotect(client.id());
    assert_eq!(about_servers(client, &person), about_servers(client, &twin));
}

#[test]
fn gates_survive_claude_code_writing_its_file() {
    assert_survives(Client::ClaudeCode);
}

#[test]
fn gates_survive_codex_writing_its_file() {
    assert_survives(Client::Codex);
}

#[test]
fn gates_survive_gemini_cli_writing_its_file() {
    assert_survives(Client::Gemini);
}

#[test]
fn gates_survive_qwen_code_writing_its_file() {
    assert_survives(Client::Qwen);
}

#[test]
fn gates_survive_opencode_writing_its_file() {
    assert_survives(Client::OpenCode);
}

/// A client that only reads leaves every byte, so every byte comes back.
#[test]
fn what_a_client_only_read_comes_back_byte_for_byte() {
    for client in [Client::Codex, Client::Gemini] {
        let [person, twin] = twins(client);
        client.does(&person, &["mcp", "list"]);
        person.unprotect(client.id());
        assert_eq!(person.text(client.file()), twin.text(client.file()), "{client:?}");
    }
}

/// Adding a server under a name that is there replaces it, gate and all. It starts another program then, so it is as a new
/// one: a person is asked, and nothing is put back by itself.
#[test]
fn an_entry_that_its_client_replaced_by_another_program_is_told_as_not_protected() {
    for client in [Client::Codex, Client::Gemini, Client::Qwen] {
        let [person, _] = twins(client);
        client.does(&person, &add(client, "notes"));
        assert_eq!(names(&person, "not_protected"), ["notes"], "{client:?}");
        assert!(!person.say(&[]).contains("has lost"), "{client:?}");
        person.say(&["protect", client.id()]);
        assert_eq!(names(&person, "not_protected"), [""; 0], "{client:?}");
    }
}

/// Codex as the judge: behind the gate and afterwards it reads the same entries as before.
#[test]
fn codex_reads_the_same_servers_before_and_after() {
    let [person, twin] = twins(Client::Codex);
    let read = |person: &Person| -> Value {
        let said = Client::Codex.command(person, &["mcp", "list", "--json"]).output().unwrap();
        serde_json::from_slice(&said.stdout).unwrap()
    };
    let original = read(&twin);
    Client::Codex.does(&person, &add(Client::Codex, "new"));
    assert_ne!(read(&person), original);
    Client::Codex.does(&person, &remove(Client::Codex, "new"));
    person.unprotect("codex");
    assert_eq!(read(&person), original);
}

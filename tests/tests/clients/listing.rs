//! How things stand, and what an edit would be: shown, with nothing written and nothing secret.

use std::fs;
use std::path::Path;

use callgate_tests::installed::ours;
use callgate_tests::person::{CURSOR, DESKTOP, Person};
use serde_json::{Value, json};

#[test]
fn list_tells_of_every_entry_of_every_client() {
    let person = Person::with_every_fixture();
    let text = person.say(&[]);
    assert_eq!(text, person.say(&["list"]));
    for words in [
        "Claude Desktop (claude-desktop)  ~/.config/Claude/claude_desktop_config.json",
        "Cursor (cursor)  ~/.cursor/mcp.json",
        "Codex (codex)  ~/.codex/config.toml",
        "Goose (goose)  ~/.config/goose/config.yaml",
        "Claude Code (claude-code)  ~/.claude.json",
        "a Desktop Extension, which Claude starts by itself",
        "in /home/ada/my project: uvx mcp-server-sqlite",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }

    let entries = person.entries();
    let of = |client: &str, name: &str| -> &Value {
        let mut found = entries.iter().filter(|entry| entry["client"] == client && entry["name"] == name);
        let entry = found.next().unwrap_or_else(|| panic!("{client} has no {name} in {entries:#?}"));
        assert_eq!(found.next(), None);
        entry
    };
    assert_eq!(
        *of("claude-code", "db"),
        json!({
            "client": "claude-code", "path": person.path(".claude.json"), "project": "/home/ada/my project",
            "name": "db", "state": "not_protected", "server": null, "why": null,
            "command": "uvx mcp-server-sqlite --db-path ./a.db",
        })
    );
    for (client, name, state) in [
        ("claude-desktop", "quote\"d-35", "not_coverable"),
        ("claude-desktop", "ünïcode-名-34", "not_protected"),
        ("claude-code", "remote", "not_coverable"),
        ("cursor", "playwright", "not_protected"),
        ("cursor", "linear", "not_coverable"),
        ("codex", "with.dot", "not_protected"),
        ("codex", "remote", "not_coverable"),
        ("goose", "developer", "not_coverable"),
        ("goose", "same level", "not_protected"),
    ] {
        let entry = of(client, name);
        assert_eq!(entry["state"], state, "{entry}");
        assert_eq!(entry["why"].is_string(), state == "not_coverable", "{entry}");
    }
    let counts = ["protected", "not_protected", "not_coverable"].map(|state| person.count(state));
    let summary =
        format!("{} protected, {} not protected, {} not coverable.", counts[0], counts[1], counts[2]);
    assert!(text.contains(&summary), "{summary:?} is not in\n{text}");
    assert_eq!(counts[0], 0);
}

#[test]
fn diff_and_dry_runs_show_the_edit_and_write_nothing() {
    let person = Person::with_every_fixture();
    let before = person.everything();
    for words in [&["diff", "--all"][..], &["protect", "--all", "--dry-run"], &["diff", "codex", "bare"]] {
        let text = person.say(words);
        assert!(text.contains("+command = \""), "{text}");
        assert!(text.contains("Codex: would protect "), "{text}");
        let others = text.contains("Goose: would protect ");
        assert_eq!(others, words.contains(&"--all"), "{words:?}: {text}");
    }
    person.assert_fixtures_untouched();
    assert_eq!(person.everything(), before, "no file came or went");
}

#[test]
fn no_secret_of_a_client_is_shown() {
    let person = Person::new();
    let secrets = [
        "hunter2hunter2",
        "correct-horse-battery",
        "qu\\\"oted-pass",
        "by-argument-1",
        "s3cr3t-in-url",
        "of-goose-9",
    ];
    person.write(
        DESKTOP,
        br#"{ "mcpServers": {
  "a": { "command": "npx", "args": ["--api-key", "by-argument-1", "postgres://u:s3cr3t-in-url@db/x"], "env": {
      "API_TOKEN": "hunter2hunter2", "MODE": "correct-horse-battery", "DB_PASSWORD": "qu\"oted-pass" } } } }"#,
    );
    person.write(
        ".codex/config.toml",
        b"[mcp_servers.a]\ncommand = \"srv\"\n[mcp_servers.a.env]\nAPI_TOKEN = 'hunter2hunter2'\nMODE = \"correct-horse-battery\"\n",
    );
    person.write(
        ".config/goose/config.yaml",
        b"extensions:\n  g:\n    type: stdio\n    cmd: srv\n    args: []\n    envs:\n      TOKEN: of-goose-9\n",
    );
    let shown = |person: &Person, text: &str| {
        let shown: Vec<_> = secrets.iter().filter(|secret| text.contains(**secret)).collect();
        assert!(shown.is_empty(), "{shown:?} of {:?} in\n{text}", person.home.path());
    };
    for words in [&["list"][..], &["list", "--json"], &["diff", "--all"], &["protect", "--all", "--dry-run"]]
    {
        shown(&person, &person.say(words));
    }
    shown(&person, &person.say(&["protect", "--all", "--force"]));
    for words in [&["list"][..], &["list", "--json"], &["unprotect", "--all", "--dry-run"], &["backups"]] {
        shown(&person, &person.say(words));
    }
    for copy in ["claude-desktop", "codex", "goose"].map(|client| person.backups(client).remove(0)) {
        shown(&person, &person.say(&["restore", copy["backup"].as_str().unwrap(), "--dry-run"]));
    }
}

#[test]
fn a_list_that_is_no_map_is_told_and_not_taken_for_done() {
    let person = Person::new();
    person.write(CURSOR, br#"{"mcpServers": []}"#);
    for words in [&["protect", "cursor"][..], &["diff", "cursor"]] {
        let said = person.clients(words);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.all().contains("`mcpServers` is not a map"), "{said:?}");
        assert!(!said.all().contains("Nothing to do"), "{said:?}");
    }
}

#[test]
fn a_long_name_can_be_copied_out_of_a_list() {
    let person = Person::new();
    let (name, last) = ("n".repeat(70), "at-the-very-end-of-a-long-command-line");
    let words = ["word"; 60].join(" ");
    let file = json!({"mcpServers": {&name: {"command": "x", "args": [words, last],
        "env": {"A_NAME_THAT_IS_LONGER_THAN_FORTY_LETTERS_TOKEN": "hunter2hunter2"}}}});
    person.write(CURSOR, file.to_string().as_bytes());
    let listed = person.say(&["list"]);
    assert!(listed.contains(&name) && listed.contains(last), "{listed}");
    let secrets = person.does(&["secrets"]);
    assert!(secrets.contains(&name) && secrets.contains("LONGER_THAN_FORTY_LETTERS_TOKEN"), "{secrets}");
}

#[test]
fn a_client_is_known_by_its_name_and_in_capitals_and_a_command_one_step_too_high() {
    let person = Person::new();
    person.write(CURSOR, br#"{"mcpServers": {"a": {"command": "x"}}}"#);
    person.write(DESKTOP, br#"{"mcpServers": {"a": {"command": "x"}}}"#);
    assert!(person.say(&["diff", "Cursor"]).contains("Cursor: would protect a"));
    assert!(person.say(&["diff", "claude desktop"]).contains("Claude Desktop: would protect a"));
    let said = person.run(&["protect", "cursor"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("callgate clients protect"), "{said:?}");
    let help = |command| person.say(&[command, "--help"]);
    assert!(!help("protect").contains("--leave-secrets") && help("unprotect").contains("--leave-secrets"));
    let said = person.run(&["stop", "pw", "--session", "nosuch-1"]);
    assert!(said.err.contains("a session looks like") && !said.err.contains("call id"), "{said:?}");
}

#[test]
fn the_documentation_tells_of_the_versions_that_are_installed() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let told = fs::read_to_string(workspace.join("docs/clients.md")).unwrap();
    let pinned = |name: &str| fs::read_to_string(ours(name)).unwrap();
    let packages = |name: &str| -> Value { serde_json::from_str(&pinned(name)).unwrap() };
    for (client, list, package) in [
        ("MCP Inspector", "clients-node", "@modelcontextprotocol/inspector"),
        ("TypeScript SDK", "node", "@modelcontextprotocol/sdk"),
        ("Claude Code", "real-clients", "@anthropic-ai/claude-code"),
        ("Codex", "real-clients", "@openai/codex"),
        ("Gemini CLI", "real-clients", "@google/gemini-cli"),
        ("Qwen Code", "real-clients", "@qwen-code/qwen-code"),
        ("OpenCode", "real-clients", "opencode-linux-x64"),
    ] {
        let list = packages(&format!("{list}/package.json"));
        let version = list["dependencies"][package].as_str().unwrap();
        assert!(told.contains(&format!("| {client} | {version} |")), "{client} {version}");
    }
    for (client, list, package) in
        [("FastMCP", "fastmcp", "fastmcp=="), ("Python SDK, approvals", "2", "mcp==")]
    {
        let python = pinned(&format!("python/requirements-{list}.txt"));
        let version = python.lines().find_map(|line| line.strip_prefix(package)).unwrap();
        assert!(told.contains(&format!("| {client} | {version} |")), "{client} {version}");
    }
}

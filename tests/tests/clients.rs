//! `callgate clients` as a person uses it, on the files that real clients write, and real clients on what it wrote.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use callgate_tests::installed::{installed, ours};
use callgate_tests::person::{CURSOR, DESKTOP, FIXTURES, Person, Said, StandIn, fixture};
use callgate_tests::session::{PATIENCE, Session};
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
fn protect_and_unprotect_leave_every_file_as_it_was() {
    let person = Person::with_every_fixture();
    let open = person.count("not_protected");
    // Forced, because other tests' stand-ins for Claude Desktop may run at this moment.
    let text = person.say(&["protect", "--all", "--force"]);
    for client in ["Claude Desktop", "Cursor", "Codex", "Goose", "Claude Code"] {
        assert!(text.contains(&format!("{client}: protected ")), "{text}");
    }
    assert_eq!((person.count("protected"), person.count("not_protected")), (open, 0));
    let binary = person.path(".callgate/bin/callgate");
    for (path, name) in FIXTURES {
        assert!(person.text(path).contains(binary.to_str().unwrap()), "{path}");
        assert_ne!(person.read(path), fixture(name), "{path}");
    }
    let ran: Said = person.command(&binary).arg("--version").output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let protected: Vec<_> = FIXTURES.iter().map(|(path, _)| person.read(path)).collect();
    assert!(person.say(&["protect", "--all"]).starts_with("Nothing to do"));
    let again: Vec<_> = FIXTURES.iter().map(|(path, _)| person.read(path)).collect();
    assert!(again == protected);

    let (code, screen) = person.clients_at_terminal(&["unprotect", "--all", "--force"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Codex: no longer protected:"), "{screen}");
    person.assert_fixtures_untouched();
    assert_eq!(person.count("protected"), 0);
}

#[test]
fn only_what_is_named_is_protected() {
    let person = Person::with_every_fixture();
    let text = person.say(&["protect", "codex", "bare", "with.dot"]);
    assert!(text.contains("Codex: protected with.dot, bare"), "{text}");
    assert_eq!(person.count("protected"), 2);

    for (words, complaint) in [
        (&["protect", "codex", "nobody"][..], "no such server: nobody"),
        (&["protect", "netscape"], "\"netscape\" is no client that Callgate knows"),
        (&["protect", "zed"], "Zed has no configuration file here"),
        (&["protect"], "name a client (`callgate clients` lists them), or say --all"),
    ] {
        let said = person.clients(words);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(complaint), "{said:?}");
    }
    // Asked for by name, what cannot be done is a failure.
    let said = person.clients(&["protect", "codex", "remote"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("remote stays as it is: reached over the network"), "{said:?}");
    assert_eq!(person.count("protected"), 2);
}

#[test]
fn taking_the_gate_away_needs_a_person_and_their_word() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "cursor"]);
    let gated = person.read(CURSOR);
    let said = person.clients(&["unprotect", "--all", "--force"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("Loosening needs a person at a terminal"), "{said:?}");
    let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor"], "yes");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("nothing was changed"), "{screen}");
    assert!(person.read(CURSOR) == gated);
}

#[test]
fn a_file_that_is_not_understood_is_left_alone_and_the_others_are_done() {
    let plain = r#"{"mcpServers":{"a":{"command":"npx","args":[]}}}"#;
    let cases = [
        ("a comment", plain.replacen('{', "{ // mine\n", 1), "it is not valid JSON"),
        ("a byte order mark", format!("\u{feff}{plain}"), "it begins with a byte order mark"),
        (
            "a key twice",
            plain.replacen("\"args\"", "\"command\":\"x\",\"args\"", 1),
            "`command` stands there twice",
        ),
        ("cut off", plain[..plain.len() - 2].to_owned(), "it is not valid JSON"),
        ("empty", String::new(), "it is not valid JSON"),
    ];
    for (what, text, words) in cases {
        let person = Person::new();
        person.write(DESKTOP, text.as_bytes());
        person.write(CURSOR, &fixture("cursor/mcp.json"));
        let listed = person.say(&["list"]);
        assert!(listed.contains("left alone: ") && listed.contains(words), "{what}: {listed}");
        let said = person.clients(&["protect", "--all", "--force"]);
        assert_eq!(said.code, Some(1), "{what}: {said:?}");
        let refusal = format!("~/{DESKTOP}: {words}");
        assert!(said.out.contains(&refusal), "{what}: {refusal:?} is not in {said:?}");
        assert!(said.out.contains("Cursor: protected playwright, shell"), "{what}: {said:?}");
        assert_eq!(person.text(DESKTOP), text, "{what}");
        assert!(person.text(CURSOR).contains(".callgate/bin/callgate"), "{what}");
        assert!(person.backups("claude-desktop").is_empty(), "{what}");
    }
}

#[test]
fn a_byte_order_mark_is_taken_away_when_that_is_all_and_nothing_else_is_mended() {
    let person = Person::new();
    let crlf = fixture("claude-desktop/crlf.json");
    let marked = [b"\xef\xbb\xbf", crlf.as_slice()].concat();
    person.write(DESKTOP, &marked);
    person.write(CURSOR, b"\xef\xbb\xbf{,");
    person.write(".codex/config.toml", &fixture("codex/config.toml"));
    assert!(person.say(&["list"]).contains("Take it away: callgate clients repair"));
    let said = person.clients(&["repair", "--dry-run"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains(&format!("~/{DESKTOP}: the byte order mark would go")), "{said:?}");
    assert!(
        said.out.contains(&format!("~/{CURSOR}: taking the byte order mark away would not be enough")),
        "{said:?}"
    );
    assert!(person.read(DESKTOP) == marked, "a dry run writes nothing");

    let desktop = StandIn::start(&person);
    let said = person.clients(&["repair", "claude-desktop"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("Claude Desktop runs and would write its own copy over it"), "{said:?}");
    assert!(person.read(DESKTOP) == marked);
    desktop.quit();
    person.say(&["repair", "claude-desktop"]);
    assert!(person.read(DESKTOP) == crlf);
    let copies = person.backups("claude-desktop");
    assert_eq!(copies.iter().map(|copy| &copy["bytes"]).collect::<Vec<_>>(), [&json!(marked.len())]);
    assert!(person.say(&["repair", "codex"]).starts_with("Nothing to repair"));
    assert_eq!(person.read(CURSOR), b"\xef\xbb\xbf{,");
}

#[test]
fn a_link_that_leads_nowhere_stays_one_and_a_good_one_stays_a_link() {
    let person = Person::new();
    person.write(CURSOR, &fixture("cursor/mcp.json"));
    person.write("dotfiles/codex.toml", &fixture("codex/config.toml"));
    fs::create_dir_all(person.path(".config/Claude")).unwrap();
    fs::create_dir_all(person.path(".codex")).unwrap();
    symlink(person.path("dotfiles/claude.json"), person.path(DESKTOP)).unwrap();
    symlink("../dotfiles/codex.toml", person.path(".codex/config.toml")).unwrap();

    let said = person.clients(&["protect", "--all", "--force"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains(": it is a link that leads nowhere"), "{said:?}");
    assert!(said.out.contains("Cursor: protected "), "{said:?}");
    let target = |path: &str| fs::read_link(person.path(path)).unwrap();
    assert_eq!(target(DESKTOP), person.path("dotfiles/claude.json"));
    assert!(!person.path("dotfiles/claude.json").exists());
    assert_eq!(target(".codex/config.toml"), Path::new("../dotfiles/codex.toml"));
    assert!(person.text("dotfiles/codex.toml").contains(".callgate/bin/callgate"));
}

#[test]
fn a_running_claude_desktop_is_not_written_under_unless_one_insists() {
    let person = Person::with_every_fixture();
    let desktop = StandIn::start(&person);
    let untouched = || assert!(person.read(DESKTOP) == fixture("claude-desktop/app-written.json"));

    let listed = person.say(&["list"]);
    assert!(listed.contains("claude_desktop_config.json  (runs now)"), "{listed}");
    let said = person.clients(&["protect", "claude-desktop"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("Claude Desktop runs and would write its own copy over it"), "{said:?}");
    untouched();
    // The others do not wait for it.
    let said = person.clients(&["protect", "--all"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("Codex: protected "), "{said:?}");
    untouched();

    let text = person.say(&["protect", "claude-desktop", "--force"]);
    assert!(text.contains("Claude Desktop: protected "), "{text}");
    assert!(person.text(DESKTOP).contains(".callgate/bin/callgate"));
    // Nothing to write, nothing to wait for.
    assert!(person.say(&["protect", "claude-desktop"]).starts_with("Nothing to do"));
    desktop.quit();
}

#[test]
fn waiting_writes_when_claude_desktop_has_quit() {
    let person = Person::with_every_fixture();
    let desktop = StandIn::start(&person);
    let mut waiting =
        Session::start(person.callgate(&["clients", "protect", "claude-desktop", "--wait"])).unwrap();
    let waits = |bytes: &[u8], _| {
        String::from_utf8_lossy(bytes).contains("Waiting for Claude Desktop to quit").then_some(())
    };
    waiting.out.wait("that it waits", PATIENCE, waits).unwrap();
    assert!(person.read(DESKTOP) == fixture("claude-desktop/app-written.json"));
    desktop.quit();
    let status = waiting.ended(PATIENCE).unwrap();
    assert!(status.success(), "{} {}", waiting.out.text(), waiting.err.text());
    assert!(person.text(DESKTOP).contains(".callgate/bin/callgate"));
    // It has ended; what it said may still be on its way.
    let said =
        |bytes: &[u8], _| String::from_utf8_lossy(bytes).contains("Claude Desktop: protected ").then_some(());
    waiting.out.wait("that it is protected", PATIENCE, said).unwrap();
}

#[test]
fn a_copy_brings_a_file_back_whatever_happened_to_it() {
    let person = Person::with_every_fixture();
    assert_eq!(person.say(&["backups"]), "No copies: no client's file has been edited.\n");
    person.say(&["protect", "--all", "--force"]);
    let copies = person.backups("claude-desktop");
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(copies[0]["path"], json!(person.path(DESKTOP)));
    let id = copies[0]["backup"].as_str().unwrap().to_owned();
    assert!(person.say(&["backups"]).contains(&id));

    let wiped = br#"{"preferences":{}}"#;
    person.write(DESKTOP, wiped);
    let said = person.clients(&["restore", &id, "--force"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("This needs a person at a terminal"), "{said:?}");
    let text = person.say(&["restore", &id, "--dry-run"]);
    assert!(text.contains("+    \"with space-7\": {"), "{text}");
    assert!(person.read(DESKTOP) == wiped);

    // What was behind the gate before the wipe is so again; a file that still has servers comes back as the copy has it.
    let (code, screen) = person.clients_at_terminal(&["restore", &id, "--force"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("behind the gate again"), "{screen}");
    assert!(person.text(DESKTOP).contains(".callgate/bin/callgate"));
    let (code, screen) = person.clients_at_terminal(&["restore", &id, "--force"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(person.read(DESKTOP) == fixture("claude-desktop/app-written.json"));
    // What was there is kept, too: a restore can be taken back.
    let copies = person.backups("claude-desktop");
    assert!(copies.iter().any(|copy| copy["bytes"] == wiped.len()), "{copies:?}");

    // Gone altogether, it is made anew.
    fs::remove_file(person.path(CURSOR)).unwrap();
    let id = person.backups("cursor")[0]["backup"].as_str().unwrap().to_owned();
    let (code, screen) = person.clients_at_terminal(&["restore", &id], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(person.text(CURSOR).contains(".callgate/bin/callgate"));

    // Or it is gone on purpose, which is a person's word.
    fs::remove_file(person.path(CURSOR)).unwrap();
    assert!(person.say(&[]).contains("gone on purpose: callgate clients gone cursor"));
    let said = person.clients(&["gone", "cursor"]);
    assert!(said.err.contains("This needs a person at a terminal"), "{said:?}");
    let (code, screen) = person.clients_at_terminal(&["gone", "cursor"], "gone");
    assert_eq!(code, Some(0), "{screen}");
    assert!(!person.say(&[]).contains("has lost all"), "{}", person.say(&[]));

    let said = person.clients(&["restore", "cursor-00000000/1-2"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("there is no copy \"cursor-00000000/1-2\""), "{said:?}");
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
fn what_restoring_does_to_the_gates_is_said_as_it_is() {
    let person = Person::new();
    person.write(CURSOR, br#"{"mcpServers": {"a": {"command": "x"}}}"#);
    person.say(&["protect", "cursor"]);
    let plain = person.backups("cursor")[0]["backup"].as_str().unwrap().to_owned();
    let (code, screen) = person.clients_at_terminal(&["restore", &plain], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("This loosens the gate"), "{screen}");
    assert!(screen.contains("without the gate in front of a."), "{screen}");
    // Now the other way round: the gate comes back.
    let gated = person.backups("cursor").into_iter().find(|copy| copy["gates"] == 1).unwrap();
    let (code, screen) =
        person.clients_at_terminal(&["restore", gated["backup"].as_str().unwrap()], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("with the gate in front of a.") && !screen.contains("loosens"), "{screen}");
}

#[test]
fn unprotecting_asks_about_the_servers_by_name() {
    let person = Person::new();
    person.write(CURSOR, br#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}"#);
    person.say(&["protect", "cursor"]);
    let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor", "b"], "no");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("let Cursor start b without the gate"), "{screen}");
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
fn each_copy_says_what_it_holds() {
    let person = Person::new();
    person
        .write(CURSOR, br#"{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "hunter2hunter2"}}}}"#);
    person.say(&["protect", "cursor"]);
    person.unprotect("cursor");
    let listed = person.say(&["backups"]);
    assert!(listed.contains("1 server, 1 gate, 1 secret in plain text"), "{listed}");
    assert!(listed.contains("the first copy, 1 server, no gates, 1 secret in plain text"), "{listed}");
    let copies = person.backups("cursor");
    let told: Vec<_> = copies.iter().map(|copy| (&copy["first"], &copy["gates"], &copy["secrets"])).collect();
    assert_eq!(told, [(&json!(false), &json!(1), &json!(1)), (&json!(true), &json!(0), &json!(1))]);
}

/// Who was tried is written down with its version; the versions are pinned elsewhere.
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
    let python = pinned("python/requirements-fastmcp.txt");
    let version = python.lines().find_map(|line| line.strip_prefix("fastmcp==")).unwrap();
    assert!(told.contains(&format!("| FastMCP | {version} |")), "FastMCP {version}");
}

/// Published clients that read Claude Desktop's file.
mod published {
    use super::*;

    /// A person whose Claude Desktop starts our server on the Python SDK, protected, with a policy for it.
    fn protected() -> Person {
        let person = Person::new();
        let file = json!({ "mcpServers": { "notes": {
            "command": installed("py2/bin/python"),
            "args": [ours("python/server.py"), person.path("marks")],
        } } });
        person.write(DESKTOP, serde_json::to_string_pretty(&file).unwrap().as_bytes());
        person.say(&["protect", "claude-desktop", "--force"]);
        person.does(&["block", "notes", "danger", "--reason", "not from an agent"]);
        person
    }

    /// Lists tools, makes a call that is allowed and one that is not.
    fn assert_works(person: &Person, client: &dyn Fn(&[&str]) -> Command, calls: [&[&str]; 3]) {
        let [list, safe, danger] = calls.map(|words| Said::from(client(words).output().unwrap()));
        assert_eq!(list.code, Some(0), "{list:?}");
        assert!(list.out.contains("safe") && list.out.contains("picture"), "{list:?}");
        assert_eq!(safe.code, Some(0), "{safe:?}");
        assert!(safe.out.contains("safe ran"), "{safe:?}");
        assert!(danger.all().contains("not from an agent"), "{danger:?}");
        assert!(!person.path("marks").exists(), "it ran: {}", person.text("marks"));

        assert_eq!(
            person.calls(),
            [["danger", "denied", "notes", "claude-desktop"], ["safe", "allowed", "notes", "claude-desktop"]],
        );
    }

    #[test]
    fn mcp_inspector_works_through_the_gate_and_is_refused_by_it() {
        let person = protected();
        let inspector = installed("clients-node/node_modules/@modelcontextprotocol/inspector");
        let client = |words: &[&str]| {
            let mut command = person.command("node");
            command
                .arg(inspector.join("clients/launcher/build/index.js"))
                .args(["--cli", "--server", "notes", "--config"])
                .arg(person.path(DESKTOP))
                .arg("--method")
                .args(words)
                .env("MCP_INSPECTOR_SECRET_STORE", "memory");
            command
        };
        assert_works(
            &person,
            &client,
            [
                &["tools/list"],
                &["tools/call", "--tool-name", "safe", "--tool-arg", "x=1"],
                &["tools/call", "--tool-name", "danger", "--tool-arg", "x=1"],
            ],
        );
    }

    #[test]
    fn fastmcp_works_through_the_gate_and_is_refused_by_it() {
        let person = protected();
        let client = |words: &[&str]| {
            let mut command = person.command(installed("pyfastmcp/bin/fastmcp"));
            command.args(words).env("COLUMNS", "400");
            command
        };
        // It finds Claude Desktop's file by itself.
        let found: Said = client(&["discover"]).output().unwrap().into();
        assert!(found.out.contains("claude-desktop") && found.out.contains("notes"), "{found:?}");
        assert_works(
            &person,
            &client,
            [&["list", "notes"], &["call", "notes", "safe", "x=1"], &["call", "notes", "danger", "x=1"]],
        );
    }
}

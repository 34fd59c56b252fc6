//! Servers of one's own, as a person adds them: into `servers.json`, into clients' files behind the gate, used by the client,
//! and gone again.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use callgate_tests::gate::{callgate_binary, program};
use callgate_tests::keychain::Bus;
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::terminal::{at_terminal, when_asked};
use serde_json::Value;
use tempfile::TempDir;

const DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
const CURSOR: &str = ".cursor/mcp.json";
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

/// Somebody with a home, and three clients.
struct Person {
    home: TempDir,
    bus: Option<String>,
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    text: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Said { code: output.status.code(), text }
    }
}

const FILES: [(&str, &str); 3] = [
    (DESKTOP, "{\r\n\t\"scale\": 0\r\n}"),
    (
        CURSOR,
        "{\n  // mine\n  \"mcpServers\": {\n    \"far\": { \"url\": \"https://example.com/mcp\" }, // remote\n  },\n}\n",
    ),
    (CODEX, "model = \"x\" # the model\n"),
];

impl Person {
    fn new(bus: Option<&Bus>) -> Person {
        let home = TempDir::with_prefix("callgate-own-").unwrap();
        let person = Person { home, bus: bus.map(Bus::address) };
        for (path, text) in FILES {
            fs::create_dir_all(person.path(path).parent().unwrap()).unwrap();
            fs::write(person.path(path), text).unwrap();
        }
        fs::write(person.path("server.sh"), SERVER).unwrap();
        person
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        if let Some(bus) = &self.bus {
            // A display that nobody sees: the time to wait is that for a person, so a slow machine fails no test.
            command.env("DBUS_SESSION_BUS_ADDRESS", bus).env("DISPLAY", ":60123");
        }
        command
    }

    fn callgate(&self, words: &[&str]) -> Command {
        let mut command = self.command(&callgate_binary().unwrap());
        command.args(words);
        command
    }

    fn say(&self, words: &[&str]) -> Said {
        let said: Said = self.callgate(words).output().unwrap().into();
        assert!(!said.text.contains(TOKEN), "{words:?}: {said:?}");
        said
    }

    /// With success.
    fn done(&self, words: &[&str]) -> String {
        let said = self.say(words);
        assert_eq!(said.code, Some(0), "{words:?}: {said:?}");
        said.text
    }

    /// With a line on its standard input.
    fn piped(&self, words: &[&str], line: &str) -> Said {
        let mut command = self.callgate(words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    fn assert_untouched(&self) {
        for (path, text) in FILES {
            assert_eq!(self.text(path), text, "{path}");
        }
    }

    /// The entry of a strict client, as that reads it.
    fn entry(&self, path: &str, name: &str) -> Value {
        let file: Value = serde_json::from_str(&self.text(path)).unwrap();
        file["mcpServers"][name].clone()
    }

    /// The server as its client would start it.
    fn start(&self, entry: &Value) -> Session {
        let mut command = self.command(Path::new(entry["command"].as_str().unwrap()));
        command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        for (name, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap());
        }
        Session::start(command).unwrap()
    }

    fn servers(&self) -> Vec<Value> {
        self.done(&["servers", "--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn a_server_is_added_used_through_the_gate_and_gone_without_a_trace() {
    let person = Person::new(None);
    let server = program("fake-server").unwrap();
    let server = server.to_str().unwrap();
    let words = ["add", "notes", "--env", "MODE=fast", "--client", "claude-desktop", "--client", "cursor"];
    let words: Vec<_> = words.into_iter().chain(["--client", "codex"]).collect();
    let with = |more: &[&'static str]| -> Vec<String> {
        let all = words.iter().chain(more).chain(&["--"]);
        all.map(|word| (*word).to_owned()).chain([server.to_owned()]).collect()
    };
    let said = |words: &[String]| person.done(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let shown = said(&with(&["--dry-run"]));
    assert!(shown.contains("+[mcp_servers.notes]") && shown.contains("servers.json"), "{shown}");
    person.assert_untouched();
    assert!(!person.path(".callgate/servers.json").exists());

    let text = said(&with(&[]));
    for client in ["Claude Desktop", "Cursor", "Codex"] {
        assert!(text.contains(&format!("{client}: placed notes behind the gate")), "{text}");
    }
    let listed = person.servers();
    assert_eq!(listed.len(), 1);
    let states: Vec<_> = listed[0]["clients"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["protected", "protected", "protected"]);
    assert!(person.done(&["clients"]).contains("3 protected, 0 not protected, 1 not coverable"));

    let entry = person.entry(DESKTOP, "notes");
    assert_eq!(entry["command"], person.path(".callgate/bin/callgate").to_str().unwrap());
    let mut session = person.start(&entry);
    let answer = session.ask("7", "safe", "{}").unwrap().to_text();
    assert!(!answer.contains("Callgate:"), "{answer}");
    session.finish().unwrap();
    person.done(&["block", "notes", "safe"]);
    let mut session = person.start(&entry);
    let answer = session.ask("8", "safe", "{}").unwrap().to_text();
    assert!(answer.contains("Callgate:"), "{answer}");
    session.finish().unwrap();

    // The same again is no edit; the same name for something else is refused before anything is written.
    let again = said(&with(&[]));
    assert!(again.contains("Cursor: notes is there already"), "{again}");
    let other = person.say(&["add", "notes", "--client", "cursor", "--", "other"]);
    assert!(other.code == Some(1) && other.text.contains("another server called notes"), "{other:?}");
    let clash = person.say(&["add", "far", "--client", "cursor", "--client", "codex", "--", "x"]);
    assert!(clash.code == Some(1) && clash.text.contains("another server of this name"), "{clash:?}");
    assert!(!person.text(CODEX).contains("far") && !person.text(".callgate/servers.json").contains("far"));

    let refused = person.say(&["remove", "notes"]);
    assert!(refused.text.contains("needs a person at a terminal"), "{refused:?}");
    let (status, screen) = at_terminal(person.callgate(&["remove", "notes"]), "remove").unwrap();
    assert!(status.success(), "{screen}");
    person.assert_untouched();
    assert!(person.servers().is_empty());
}

#[test]
fn what_others_wrote_meanwhile_stays_when_a_server_goes() {
    let person = Person::new(None);
    person.done(&["add", "notes", "--client", "codex", "--client", "cursor", "--", "npx", "notes"]);
    let codex = person.text(CODEX) + "\n[profiles.fast]\nmodel = \"y\"\n";
    fs::write(person.path(CODEX), codex).unwrap();
    // Without its gate it is a plain entry of its client; still ours to take out.
    let (status, screen) =
        at_terminal(person.callgate(&["clients", "unprotect", "cursor", "notes"]), "unprotect").unwrap();
    assert!(status.success(), "{screen}");
    assert!(person.text(CURSOR).contains("\"command\": \"npx\""), "{}", person.text(CURSOR));
    let told = person.done(&["servers"]);
    assert!(told.contains("not protected  Cursor"), "{told}");

    person.done(&["remove", "notes", "--client", "codex", "--yes"]);
    assert_eq!(person.text(CODEX), format!("{}\n[profiles.fast]\nmodel = \"y\"\n", FILES[2].1));
    assert_eq!(person.servers().len(), 1, "it stays in the list");
    person.done(&["remove", "notes", "--yes"]);
    assert_eq!(person.text(CURSOR), FILES[1].1);
    assert!(person.servers().is_empty());
}

#[test]
fn a_secret_is_in_the_keychain_for_each_client_and_nowhere_else() {
    let bus = Bus::with_keyring().unwrap();
    let person = Person::new(Some(&bus));
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
    assert_eq!(person.servers()[0]["secrets"][0], "TOKEN");

    let entry = person.entry(DESKTOP, "gh");
    let mut session = person.start(&entry);
    let answer = session.ask("7", "any", "{}").unwrap().to_text();
    assert!(answer.contains(&format!("it is {TOKEN}")), "the server has its token: {answer}");
    session.finish().unwrap();
    assert_eq!(person.text("ran"), format!("{TOKEN}\n"));

    // Another command that names the reference does not get it.
    let mut stolen = entry.clone();
    stolen["args"].as_array_mut().unwrap().push("--more".into());
    let told = refused(&person, &stolen);
    assert!(told.contains("stored for another server or another command"), "{told}");

    person.done(&["remove", "gh", "--yes"]);
    person.assert_untouched();
    let told = refused(&person, &entry);
    assert!(told.contains("the keychain has nothing of this name"), "{told}");
}

/// What the client hears in place of an answer.
fn refused(person: &Person, entry: &Value) -> String {
    let mut session = person.start(entry);
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#).unwrap();
    let answer = session.answer("1").unwrap().to_text();
    session.finish().unwrap();
    assert!(answer.contains("the server was not started: "), "{answer}");
    answer
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed() {
    let bus = Bus::with_keyring().unwrap();
    let person = Person::new(Some(&bus));
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
    let person = Person::new(Some(&bus));
    let words = ["add", "gh", "--secret", "TOKEN", "--client", "cursor", "--", "gh-mcp"];
    let said = person.piped(&words, &format!("{TOKEN}\n"));
    assert!(said.code == Some(1) && said.text.contains("Nothing was added"), "{said:?}");
    person.assert_untouched();
    assert!(!person.path(".callgate/servers.json").exists());
    // A value that looks like a secret is told of, with the way to keep it.
    let told = person.done(&[
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

/// A process that, by where its program lies, is Claude Desktop. It quits when its input ends.
struct StandIn(Child);

impl StandIn {
    fn start(person: &Person) -> StandIn {
        let folder = person.path("usr/lib/claude-desktop");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("claude-desktop");
        fs::copy(program("fake-server").unwrap(), &path).unwrap();
        // Written a moment ago by a process that forks: nobody may still hold it open for writing.
        StandIn(eventually("the stand-in starts", PATIENCE, || {
            let mut command = Command::new(&path);
            command.env("HOME", person.home.path()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().ok()
        }))
    }

    fn quit(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn a_running_claude_desktop_is_not_written_under() {
    let person = Person::new(None);
    let desktop = StandIn::start(&person);
    let words = ["add", "notes", "--client", "claude-desktop", "--client", "cursor", "--", "npx", "notes"];
    let said = person.say(&words);
    assert!(said.code == Some(1) && said.text.contains("Claude Desktop runs and would write"), "{said:?}");
    person.assert_untouched();
    assert!(!person.path(".callgate/servers.json").exists(), "all or nothing");
    // Every client that is here: those that can, do.
    let said = person.say(&["add", "notes", "--all-clients", "--", "npx", "notes"]);
    assert!(said.code == Some(1) && said.text.contains("Codex: placed notes"), "{said:?}");
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

//! Claude Desktop's servers behind the gate, started the way it starts them: by its SDK, from `/`, with nearly nothing in the
//! environment, and twice.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use callgate_tests::installed::{installed, ours};
use callgate_tests::person::{DESKTOP, Person};
use callgate_tests::processes::{is_alive, signal};
use callgate_tests::session::{PATIENCE, Session, all_gone};
use rustix::process::Signal;
use serde_json::{Value, json};

/// From the moment that its client lets go.
const NOTHING_LEFT: Duration = Duration::from_secs(5);

/// A person whose Claude Desktop has these servers, behind the gate.
fn protected(servers: &Value, person: Person) -> Person {
    let file = json!({ "mcpServers": servers, "preferences": { "sidebar": true } });
    person.write(DESKTOP, serde_json::to_string_pretty(&file).unwrap().as_bytes());
    // Forced, because other tests' stand-ins for Claude Desktop may run at this moment.
    person.say(&["protect", "claude-desktop", "--force"]);
    person
}

/// Our servers on both SDKs.
fn with_two_servers() -> Person {
    let person = Person::new();
    let servers = json!({
        "notes": {
            "command": "node",
            "args": [ours("node/server.mjs"), installed("node"), "1", person.path("marks")],
        },
        "more": {
            "command": installed("py2/bin/python"),
            "args": [ours("python/server.py"), person.path("marks")],
            "env": { "MODE": "quiet" },
        },
    });
    protected(&servers, person)
}

struct Desktop {
    session: Session,
}

impl Desktop {
    /// Starts it and waits until it has connected to so many servers.
    fn start(person: &Person, coordinators: usize, connections: usize) -> Desktop {
        let mut command = person.command("node");
        command
            .arg(ours("node/desktop.mjs"))
            .arg(installed("node"))
            .arg(person.path(DESKTOP))
            .arg(coordinators.to_string())
            .envs([("USER", "ada"), ("LOGNAME", "ada"), ("SHELL", "/bin/sh"), ("TERM", "dumb")])
            // What a desktop has and does not hand on: nobody's home is here.
            .envs(["CALLGATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"].map(|name| (name, "/nowhere")));
        let session = Session::start(command).unwrap();
        session
            .nth_line_with("\"started\"", connections)
            .unwrap_or_else(|error| panic!("{error:#}\n{}", session.err.text()));
        Desktop { session }
    }

    /// What it said about its servers, a line each.
    fn started(&self) -> Vec<Value> {
        let lines = self.session.out.text();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|line: &Value| line["started"].is_string())
            .collect()
    }

    /// The processes that it started.
    fn gates(&self) -> Vec<(String, u32)> {
        let pid = |line: &Value| u32::try_from(line["pid"].as_u64().unwrap()).unwrap();
        self.started().iter().map(|line| ("gate".to_owned(), pid(line))).collect()
    }

    fn ask(&mut self, what: &Value, said: &str) -> Value {
        let before = self.session.out.text().matches(said).count();
        self.session.send(&what.to_string()).unwrap();
        serde_json::from_str(&self.session.nth_line_with(said, before + 1).unwrap()).unwrap()
    }

    /// The words that come back from a tool, and whether they are an error.
    fn call(&mut self, by: usize, server: &str, tool: &str) -> (String, bool) {
        let said = self.ask(&json!({ "call": tool, "server": server, "by": by }), "\"called\"");
        (said["text"].as_str().unwrap().to_owned(), said["isError"] == true)
    }

    fn quit(mut self) {
        self.session.close_input();
        assert!(self.session.ended(PATIENCE).unwrap().success(), "{}", self.session.err.text());
    }
}

#[test]
fn both_coordinators_of_claude_desktop_work_through_the_gate_and_share_its_limits() {
    let person = with_two_servers();
    person.does(&["block", "notes", "danger", "--reason", "not from an agent"]);
    person.does(&["hide", "more", "hidden_one"]);
    person.does(&["cap", "notes", "slow", "1/hour"]);

    let mut desktop = Desktop::start(&person, 2, 4);
    let (started, gates) = (desktop.started(), desktop.gates());
    for (server, by) in [("notes", 0), ("notes", 1), ("more", 0), ("more", 1)] {
        let line = started.iter().find(|line| line["started"] == server && line["by"] == by).unwrap();
        let tools = line["tools"].as_array().unwrap();
        assert!(tools.contains(&json!("safe")), "{line}");
        assert_eq!(tools.contains(&json!("hidden_one")), server == "notes", "{line}");
    }
    assert_eq!(desktop.call(0, "notes", "safe"), ("safe ran".to_owned(), false));
    assert_eq!(desktop.call(1, "more", "danger"), ("danger ran".to_owned(), false));
    for by in [0, 1] {
        let (words, refused) = desktop.call(by, "notes", "danger");
        assert!(refused && words.contains("not from an agent"), "{words}");
    }
    // One counter for both.
    assert_eq!(desktop.call(0, "notes", "slow"), ("slow ran".to_owned(), false));
    let (words, refused) = desktop.call(1, "notes", "slow");
    assert!(refused && words.starts_with("Callgate: "), "{words}");
    desktop.quit();

    assert_eq!(person.text("marks"), "danger\nslow\n", "what ran");
    assert_eq!(
        person.calls(),
        [
            ["danger", "allowed", "more", "claude-desktop"],
            ["danger", "denied", "notes", "claude-desktop"],
            ["danger", "denied", "notes", "claude-desktop"],
            ["safe", "allowed", "notes", "claude-desktop"],
            ["slow", "allowed", "notes", "claude-desktop"],
            ["slow", "capped", "notes", "claude-desktop"],
        ]
    );
    all_gone(&gates, NOTHING_LEFT);
}

#[test]
fn servers_that_a_running_claude_desktop_wiped_are_told_of_and_come_back_behind_the_gate() {
    let person = with_two_servers();
    let gated = person.text(DESKTOP);
    let mut desktop = Desktop::start(&person, 1, 2);
    desktop.ask(&json!({ "settings": { "sidebar": false } }), "\"wrote\"");
    assert_eq!(person.text(DESKTOP), "{\n  \"preferences\": {\n    \"sidebar\": false\n  }\n}");
    let listed = person.say(&[]);
    assert!(listed.contains("has lost all its servers, 2 of them behind the gate"), "{listed}");
    // What runs goes on running, behind the gate.
    assert_eq!(desktop.call(0, "notes", "safe"), ("safe ran".to_owned(), false));
    desktop.quit();

    let newest = person.backups("claude-desktop")[0]["backup"].as_str().unwrap().to_owned();
    let (code, screen) = person.clients_at_terminal(&["restore", &newest, "--force"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(!person.say(&[]).contains("has lost"), "{}", person.say(&[]));
    assert_eq!(person.text(DESKTOP), gated);
    Desktop::start(&person, 1, 2).quit();
}

/// A person whose Claude Desktop has nothing but a server that does not want to end.
fn with_a_stubborn_server() -> Person {
    let person = Person::new();
    let words = person.stubborn_server();
    protected(&json!({ "stubborn": { "command": words[0], "args": words[1..] } }), person)
}

/// Everything that was started for it: the gates, and what is behind them.
fn processes(person: &Person, desktop: &Desktop) -> Vec<(String, u32)> {
    let gates = desktop.gates();
    let mut all = person.stubborn_processes(gates.len());
    all.extend(gates);
    assert!(all.iter().all(|(_, pid)| is_alive(*pid)), "{all:?}");
    all
}

/// The SDK closes the input, says TERM after 2 s and KILL after 2 s more, and only to the process that it started.
#[test]
fn claude_desktop_that_quits_leaves_nothing_of_a_stubborn_server() {
    let person = with_a_stubborn_server();
    let desktop = Desktop::start(&person, 2, 2);
    let processes = processes(&person, &desktop);
    desktop.quit();
    all_gone(&processes, NOTHING_LEFT);
}

#[test]
fn claude_desktop_that_is_killed_leaves_nothing_of_a_stubborn_server() {
    let person = with_a_stubborn_server();
    let mut desktop = Desktop::start(&person, 2, 2);
    let processes = processes(&person, &desktop);
    signal(desktop.session.pid(), Signal::KILL);
    desktop.session.ended(PATIENCE).unwrap();
    all_gone(&processes, NOTHING_LEFT);
}

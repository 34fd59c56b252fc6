//! Calls that wait for a decision, at the command line: listed, decided, made a rule of. Who asks here is the store, as a gate
//! that holds a call does it.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use callgate_controls::approval::{Approvals, Arguments, Asked, EXPIRES, Question, Subject};
use callgate_controls::decider;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_home::{Home, SessionId};
use common::Callgate;
use serde_json::Value;

/// A home where calls of a session that lives are held.
struct Asking {
    callgate: Callgate,
    home: Home,
    session: SessionId,
    _alive: File,
    calls: u8,
}

impl Asking {
    fn new() -> Asking {
        let callgate = Callgate::knowing(&["files"]);
        let home = Home::at(callgate.home());
        let session = SessionId::random();
        let alive = File::create(home.lease_lock(session)).unwrap();
        alive.lock().unwrap();
        Asking { callgate, home, session, _alive: alive, calls: 0 }
    }

    /// One more call that waits, and its id.
    fn ask(&mut self) -> String {
        let text = format!(r#"{{"path":"/tmp/{}"}}"#, self.calls + 1);
        self.ask_with(&Arguments { text, bytes: 17, complete: true, masked: 0 })
    }

    fn ask_with(&mut self, arguments: &Arguments) -> String {
        self.calls += 1;
        let question = Question {
            subject: Subject {
                server: "files",
                command: &[1; 32],
                client: "cursor",
                tool: "write_file",
                definition: &[2; 32],
                digest: &[self.calls; 32],
            },
            call: self.session.call(u64::from(self.calls)),
            rule: "/tools/write_file/action",
            reason: "look twice",
            arguments: Some(arguments),
            hold: Duration::from_secs(600),
            expires: EXPIRES,
        };
        let asked = Approvals::new(&self.home).ask(&SystemClock::default().now(), &question).unwrap();
        decider::ring(&self.home);
        match asked {
            Asked::Open(id) => id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn states(&self) -> Vec<(String, String)> {
        let all = self.callgate.say(&["approvals", "--json", "--all"]);
        let row = |line: &str| {
            let row: Value = serde_json::from_str(line).unwrap();
            (row["id"].as_str().unwrap().to_owned(), row["state"].as_str().unwrap().to_owned())
        };
        all.lines().map(row).collect()
    }

    fn state(&self, id: &str) -> String {
        self.states().into_iter().find(|(known, _)| known == id).unwrap().1
    }

    fn kind(&self) -> String {
        let asked = ["--server", "files", "--tool", "write_file", "--client", "cursor"];
        self.callgate.explain(&asked)["kind"].as_str().unwrap().to_owned()
    }
}

#[test]
fn ask_makes_a_rule_at_once_and_says_how_to_take_it_back() {
    let callgate = Callgate::knowing(&["files"]);
    let said = callgate.say(&["ask", "files", "write_file", "--reason", "look twice", "--new"]);
    assert!(said.contains("Asking you about every call of write_file"), "{said}");
    let explained = callgate.explain(&["--server", "files", "--tool", "write_file"]);
    assert_eq!((explained["kind"].as_str(), explained["reason"].as_str()), (Some("ask"), Some("look twice")));
    assert!(callgate.policy("files").contains(r#""action": "ask""#), "{}", callgate.policy("files"));
    let unknown = callgate.fail(&["ask", "flies", "write_file"]);
    assert!(unknown.contains("files"), "the name that was meant: {unknown}");
}

#[test]
fn what_waits_is_listed_for_people_and_for_programs() {
    let mut asking = Asking::new();
    assert_eq!(asking.callgate.say(&["approvals", "--json"]), "");
    let id = asking.ask();
    let listed = asking.callgate.say(&["approvals"]);
    for words in [&id, "write_file of files, for Cursor", "look twice", r#"{"path":"/tmp/1"}"#, "waits for"] {
        assert!(listed.contains(words), "{words} in {listed}");
    }
    let row: Value = serde_json::from_str(&asking.callgate.say(&["approvals", "--json"])).unwrap();
    assert_eq!((row["id"].as_str(), row["state"].as_str()), (Some(id.as_str()), Some("open")));
    assert_eq!(row["arguments"].as_str(), Some(r#"{"path":"/tmp/1"}"#));
    // What docs/json.md names, and nothing else.
    let documented = include_str!("../../../docs/json.md");
    let section =
        documented.split("## `callgate approvals --json`").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let mut named: Vec<&str> =
        cells.flat_map(|cell| cell.split(['`', ',', ' '])).filter(|name| !name.is_empty()).collect();
    let mut written: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    named.sort_unstable();
    written.sort_unstable();
    assert_eq!(written, named);
}

#[test]
fn what_masking_hides_is_counted_where_a_call_is_shown() {
    let mut asking = Asking::new();
    let text = r#"{"password":"[masked, 40 characters]","token":"[masked, 9 characters]"}"#.to_owned();
    asking.ask_with(&Arguments { text, bytes: 80, complete: true, masked: 2 });
    let listed = asking.callgate.say(&["approvals"]);
    assert!(listed.contains("2 values are hidden by masking"), "{listed}");
    let row: Value = serde_json::from_str(&asking.callgate.say(&["approvals", "--json"])).unwrap();
    assert_eq!(row["masked"], 2);
}

#[test]
fn a_follower_shows_what_comes_and_is_somebody_who_could_decide() {
    let mut asking = Asking::new();
    let first = asking.ask();
    assert!(!decider::is_present(&asking.home));
    let mut command = asking.callgate.command(&["approvals", "--json", "--follow"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["id"].as_str(), Some(first.as_str()));
    assert!(decider::is_present(&asking.home));
    let second = asking.ask();
    assert_eq!(next()["id"].as_str(), Some(second.as_str()), "each once");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!decider::is_present(&asking.home));
}

#[test]
fn a_no_needs_no_terminal_and_can_block_with_its_reason() {
    let mut asking = Asking::new();
    asking.callgate.say(&["ask", "files", "write_file", "--new"]);
    let id = asking.ask();
    let said = asking.callgate.say(&["deny", &id, "--reason", "only in the project"]);
    assert!(said.contains("Denied write_file of files, for Cursor"), "{said}");
    assert_eq!((asking.state(&id).as_str(), asking.kind().as_str()), ("denied", "ask"));
    let late = asking.callgate.fail(&["deny", &id]);
    assert!(late.contains(&id) && late.contains("denied"), "{late}");
    let id = asking.ask();
    let said = asking.callgate.say(&["deny", &id, "--block", "--reason", "never"]);
    assert!(said.contains("blocked the tool"), "{said}");
    assert_eq!(asking.kind(), "deny");
    assert!(asking.callgate.policy("files").contains("never"), "{}", asking.callgate.policy("files"));
}

#[test]
fn a_yes_takes_a_person_at_a_terminal_who_types_the_word() {
    let mut asking = Asking::new();
    let id = asking.ask();
    let refused = asking.callgate.fail(&["approve", &id]);
    assert!(refused.contains("needs a person at a terminal"), "{refused}");
    let (success, screen) = asking.callgate.at_terminal(&["approve", &id], "yes");
    assert!(!success && screen.contains(r#"{"path":"/tmp/1"}"#), "{screen}");
    assert_eq!(asking.state(&id), "open");
    let (success, screen) = asking.callgate.at_terminal(&["approve", &id], "approve");
    assert!(success && screen.contains("Approved write_file of files, for Cursor"), "{screen}");
    assert_eq!(asking.state(&id), "approved");
    let late = asking.callgate.fail(&["approve", &id]);
    assert!(late.contains("approved"), "{late}");
}

#[test]
fn a_yes_for_more_is_listed_in_status_and_can_be_revoked() {
    for (option, words) in [
        ("--burst", "until nothing comes for a minute"),
        ("--until-restart", "until the client restarts, in all of its chats"),
    ] {
        let mut asking = Asking::new();
        let id = asking.ask();
        let (success, screen) = asking.callgate.at_terminal(&["approve", &id, option], "approve");
        assert!(success, "{screen}");
        for list in ["approvals", "status"] {
            let shown = asking.callgate.say(&[list]);
            assert!(shown.contains("write_file of files passes for Cursor"), "{list}: {shown}");
            assert!(shown.contains(words) && shown.contains(&format!("--revoke {id}")), "{list}: {shown}");
        }
        let said = asking.callgate.say(&["approvals", "--revoke", &id]);
        assert!(said.contains("calls are asked about again"), "{said}");
        assert!(!asking.callgate.say(&["status"]).contains("passes for Cursor"));
        asking.callgate.fail(&["approvals", "--revoke", &id]);
    }
}

#[test]
fn a_yes_for_good_changes_the_rule_after_a_second_word() {
    let mut asking = Asking::new();
    asking.callgate.say(&["ask", "files", "write_file", "--new"]);
    let id = asking.ask();
    let mut terminal = asking.callgate.terminal(&["approve", &id, "--always"]);
    terminal.wait_for("Type approve to go on");
    terminal.press("approve\n");
    terminal.wait_for("Type allow to go on");
    assert_eq!(asking.kind(), "ask", "not before the word");
    terminal.press("allow\n");
    let (success, screen) = terminal.end();
    assert!(success, "{screen}");
    assert_eq!((asking.state(&id).as_str(), asking.kind().as_str()), ("approved", "allow"));
}

#[test]
fn a_yes_for_good_can_come_with_a_cap() {
    let mut asking = Asking::new();
    asking.callgate.say(&["ask", "files", "write_file", "--new"]);
    let id = asking.ask();
    assert!(asking.callgate.fail(&["approve", &id, "--cap", "10/min"]).contains("--always"));
    let mut terminal = asking.callgate.terminal(&["approve", &id, "--always", "--cap", "10/min"]);
    terminal.wait_for("Type approve to go on");
    terminal.press("approve\n");
    terminal.wait_for("Type allow to go on");
    terminal.press("allow\n");
    let (success, screen) = terminal.end();
    assert!(success, "{screen}");
    assert_eq!(asking.kind(), "allow");
    let policy = asking.callgate.policy("files");
    assert!(policy.contains(r#""max": 10"#) && policy.contains("minute"), "{policy}");
}

#[test]
fn a_burst_takes_only_tools_that_are_asked_about_and_a_conversation_only_where_the_client_tells_it() {
    let mut asking = Asking::new();
    let id = asking.ask();
    assert!(asking.callgate.fail(&["approve", &id, "--tool", "read_file"]).contains("--burst"));
    let (success, screen) =
        asking.callgate.at_terminal(&["approve", &id, "--burst", "--tool", "read_fiel"], "approve");
    assert!(
        !success && screen.contains("files lists no tool read_fiel that you are asked about"),
        "{screen}"
    );
    let (success, screen) = asking.callgate.at_terminal(&["approve", &id, "--conversation"], "approve");
    assert!(!success && screen.contains("does not say which conversation"), "{screen}");
    assert_eq!(asking.state(&id), "open");
    // A tool that its server lists, and that a rule asks about.
    let catalogue = r#"{"server":"files","seen_ms":1,"tools":[{"name":"read_file","definition":"{\"name\":\"read_file\"}"},
        {"name":"write_file","definition":"{\"name\":\"write_file\"}"}]}"#;
    std::fs::create_dir_all(asking.home.path().join("tools")).unwrap();
    std::fs::write(asking.home.path().join("tools/files.json"), catalogue).unwrap();
    asking.callgate.say(&["ask", "files", "read_file"]);
    let (success, screen) =
        asking.callgate.at_terminal(&["approve", &id, "--burst", "--tool", "read_file"], "approve");
    assert!(success && screen.contains("with the next calls of this tool and of read_file"), "{screen}");
    let listed = asking.callgate.say(&["approvals"]);
    assert!(listed.contains("write_file, read_file of files passes for Cursor"), "{listed}");
}

#[test]
fn the_live_log_says_that_a_call_waits_and_decides_by_the_same_road() {
    let mut asking = Asking::new();
    let mut terminal = asking.callgate.terminal(&["watch"]);
    terminal.wait_for("following");
    assert!(decider::is_present(&asking.home), "who watches can decide");
    let (first, second) = (asking.ask(), asking.ask());
    terminal.wait_for("2 calls wait for your decision");
    terminal.press("a");
    terminal.wait_for(r#"{"path":"/tmp/1"}"#);
    terminal.press("y");
    terminal.wait_for("Type approve to let it through once");
    terminal.press("approve\r");
    terminal.wait_for("Approved write_file of files, for Cursor");
    assert_eq!((asking.state(&first).as_str(), asking.state(&second).as_str()), ("approved", "open"));
    terminal.press("k");
    terminal.wait_for("1 call waits for your decision");
    terminal.press("a");
    terminal.wait_for(r#"{"path":"/tmp/2"}"#);
    terminal.press("d");
    terminal.wait_for("Denied write_file of files, for Cursor");
    assert_eq!(asking.state(&second), "denied");
    terminal.press("q");
    let (success, screen) = terminal.end();
    assert!(success, "{screen}");
    assert!(!decider::is_present(&asking.home));
}

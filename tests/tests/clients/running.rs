//! A client that runs and would write its own copy over an edit.

use callgate_tests::person::{DESKTOP, Person, StandIn, fixture};
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::terminal::at_terminal_until;
use serde_json::{Value, json};

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

/// What the window leaves in the queue while Claude Desktop runs.
fn queued(person: &Person, todo: &Value, name: &str) {
    let row = json!([{ "client": "claude-desktop", "path": person.path(DESKTOP), "name": name, "todo": todo, "since_ms": 1 }]);
    person.write(".callgate/queue.json", row.to_string().as_bytes());
}

#[test]
fn a_wiped_file_is_put_back_when_claude_desktop_has_quit() {
    let person = Person::new();
    person.write(DESKTOP, br#"{"mcpServers": {"a": {"command": "x"}}}"#);
    person.say(&["protect", "claude-desktop", "--force"]);
    let gated = person.text(DESKTOP);
    let copy = person.backups("claude-desktop")[0]["backup"].as_str().unwrap().to_owned();
    person.write(DESKTOP, b"{}");
    let desktop = StandIn::start(&person);
    let (code, screen) = person.clients_at_terminal(&["restore", &copy], "restore");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("Claude Desktop runs and would write its own copy over it"), "{screen}");
    assert!(screen.contains("let this wait for that: --wait") && !screen.contains("Type"), "{screen}");
    assert_eq!(person.text(DESKTOP), "{}");

    // Asked first, then waited for.
    let command = person.callgate(&["clients", "restore", &copy, "--wait"]);
    let mut desktop = Some(desktop);
    let quit = || {
        assert_eq!(person.text(DESKTOP), "{}");
        desktop.take().unwrap().quit();
    };
    let (status, screen) =
        at_terminal_until(command, "restore", "Waiting for Claude Desktop to quit", quit).unwrap();
    assert!(status.success(), "{screen}");
    assert!(screen.contains("a is behind the gate again"), "{screen}");
    assert_eq!(person.text(DESKTOP), gated);
}

#[test]
fn what_waits_in_the_window_is_listed() {
    let person = Person::new();
    person.write(DESKTOP, br#"{"mcpServers": {"a": {"command": "x"}}}"#);
    person.say(&["protect", "claude-desktop", "--force"]);
    let copy = person.backups("claude-desktop")[0]["backup"].clone();
    let restore = json!({ "restore": { "copy": copy } });
    let desktop = StandIn::start(&person);
    for (todo, name, words) in [
        (restore, "", "Claude Desktop: To be restored: ~/.config/Claude/claude_desktop_config.json."),
        (json!("unprotect"), "a", "Claude Desktop: To be unprotected: a."),
    ] {
        queued(&person, &todo, name);
        let listed = person.say(&[]);
        assert!(listed.contains(&format!("{words} Waits until Claude Desktop has quit")), "{listed}");
    }
    desktop.quit();
    let listed = person.say(&[]);
    assert!(listed.contains("a. Waits for Callgate's app, which writes it when it runs."), "{listed}");
}

#[test]
fn a_gate_that_claude_desktop_put_back_over_an_unprotect_is_told_with_a_way_to_finish() {
    let person = Person::new();
    let plain = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    person.write(DESKTOP, plain.as_bytes());
    person.say(&["protect", "claude-desktop", "--force"]);
    let gated = person.read(DESKTOP);
    let desktop = StandIn::start(&person);
    person.unprotect("claude-desktop");
    assert!(!person.say(&[]).contains("put the gate back"));
    // It writes its whole file back from memory.
    person.write(DESKTOP, &gated);
    desktop.quit();
    let told = person.say(&[]);
    assert!(
        told.contains("Claude Desktop put the gate back in front of a: it ran when you took it away"),
        "{told}"
    );
    assert!(told.contains("Take it away again: callgate clients unprotect claude-desktop a."), "{told}");
    // Kept, it is not told of any more.
    assert!(person.say(&["protect", "claude-desktop", "a"]).starts_with("Nothing to do"));
    assert!(!person.say(&[]).contains("put the gate back"));
    person.unprotect("claude-desktop");
    assert_eq!(person.text(DESKTOP), plain);
    assert!(!person.say(&[]).contains("put the gate back"));
}

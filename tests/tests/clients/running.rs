//! A client that runs and would write its own copy over an edit.

use callgate_tests::person::{DESKTOP, Person, StandIn, fixture};
use callgate_tests::session::{PATIENCE, Session};

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

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_clients::System;
use callgate_clients::ledger::{LedgerKey, LedgerRow};
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;

use super::*;
use crate::testing::TestHome;

fn place() -> TestHome {
    let mut place = TestHome::new();
    let empty = place.home.path().join("nobody");
    let home = place.home.clone();
    let clock = place.clock.clone();
    place.desk = Desk::new(home, clock, callgate_journal::Origin::Window).on(System::here(empty));
    place
}

fn target(server: &str, tool: Option<&str>, client: Option<&str>) -> Target {
    Target { server: server.to_owned(), tool: tool.map(str::to_owned), client: client.map(str::to_owned) }
}

fn list(place: &TestHome, server: &str, tools: &[&str]) {
    let definition = Raw::parse("{}").unwrap();
    let listed = tools.iter().map(|tool| (*tool, definition));
    catalogue::write(&place.home, &Masker::default(), server, 1, listed).unwrap();
}

/// Entries behind the gate: the client, its own name for the server, and the name at the gate.
fn protect(place: &TestHome, entries: &[(&str, &str, &str)]) {
    let mut held = ledger::hold(place.home.path()).unwrap();
    for (client, name, server) in entries {
        let key = LedgerKey {
            client: (*client).to_owned(),
            path: "/c".into(),
            project: None,
            name: (*name).to_owned(),
        };
        let (server, original) = ((*server).to_owned(), String::new());
        held.ledger.put(LedgerRow { key, server, original, text: None, loads: None, at_ms: 1 });
    }
    held.save().unwrap();
}

fn refused(place: &TestHome, target: &Target, purpose: Purpose) -> String {
    place.desk.inventory().check(target, purpose).unwrap_err().to_string()
}

#[test]
fn a_mistyped_server_tool_or_client_is_refused_with_what_was_meant() {
    let place = place();
    protect(&place, &[("claude-desktop", "filesystem", "filesystem")]);
    list(&place, "filesystem", &["read_text_file", "write_file"]);
    for (typed, meant) in [
        (target("filesytem", Some("write_file"), None), "did you mean \"filesystem\"?"),
        (target("filesystem", Some("read_text_fil"), None), "did you mean \"read_text_file\"?"),
        (target("filesystem", Some("wirte_*"), None), "fits \"wirte_*\""),
        (target("filesystem", None, Some("claud-desktop")), "did you mean \"claude-desktop\"?"),
    ] {
        let told = refused(&place, &typed, Purpose::Restrict);
        assert!(told.contains(meant) && told.contains("nothing was changed"), "{told}");
    }
    for right in [
        target("filesystem", Some("write_file"), None),
        target("filesystem", Some("write_*"), Some("Claude Desktop")),
        target("filesystem", None, None),
    ] {
        let found = place.desk.inventory().check(&right, Purpose::Restrict).unwrap();
        assert!(found.client.is_none_or(|client| client == "claude-desktop"));
    }
}

#[test]
fn a_tool_of_a_server_that_never_listed_any_is_taken_as_it_is() {
    let place = place();
    protect(&place, &[("cursor", "ev", "ev")]);
    place.desk.inventory().check(&target("ev", Some("echo"), None), Purpose::Restrict).unwrap();
}

#[test]
fn a_tool_that_only_agents_called_is_not_known_once_the_server_listed_its_own() {
    let place = place();
    let session = place.session("s");
    session.calls("made_up", 1);
    session.end();
    let typed = target("s", Some("made_up"), None);
    assert!(place.desk.inventory().check(&typed, Purpose::Restrict).is_ok());
    list(&place, "s", &["read"]);
    assert!(refused(&place, &typed, Purpose::Restrict).contains("no tool"));
}

#[test]
fn what_only_rules_name_can_be_taken_back_and_not_protected() {
    let place = place();
    place.write_policy(
        "gone",
        r#"{"version":"1","default":"allow","tools":{"x":{"action":"deny"}},"clients":{"old":{"hide":["y"]}}}"#,
    );
    list(&place, "gone", &["z"]);
    for (tool, client) in [("x", None), ("y", Some("old"))] {
        let target = target("gone", Some(tool), client);
        place.desk.inventory().check(&target, Purpose::Loosen).unwrap();
    }
    assert!(
        refused(&place, &target("gone", Some("z"), None), Purpose::Restrict).contains("none is known yet")
    );
    let no_tool = target("gone", Some("nosuch"), None);
    assert!(refused(&place, &no_tool, Purpose::Loosen).contains("no tool"));
}

#[test]
fn servers_of_one_name_are_known_as_siblings_until_one_is_given_up() {
    let place = place();
    protect(
        &place,
        &[
            ("claude-desktop", "files", "files"),
            ("cursor", "files", "files@cursor"),
            ("zed", "other", "other@home"),
        ],
    );
    place.session("files@vscode-2").end();
    let siblings = |server, client| place.desk.siblings(server, client);
    assert_eq!(siblings("files", None), ["files@cursor", "files@vscode-2"]);
    assert_eq!(siblings("files@cursor", None), ["files", "files@vscode-2"]);
    assert_eq!(siblings("files", Some("cursor")), ["files@cursor"]);
    assert!(siblings("other@home", None).is_empty());
    let told = refused(&place, &target("files", None, Some("cursor")), Purpose::Restrict);
    assert_eq!(
        told,
        "Cursor has this server as files@cursor, not as files; nothing was changed. Name files@cursor."
    );
    let mut held = ledger::hold(place.home.path()).unwrap();
    let key = held.ledger.rows.iter().find(|row| row.server == "files@cursor").unwrap().key.clone();
    held.ledger.leave_open(&key);
    held.save().unwrap();
    drop(held);
    assert_eq!(siblings("files", None), ["files@vscode-2"]);
}

#[test]
fn a_restriction_is_not_refused_because_the_history_cannot_be_read() {
    let place = place();
    protect(&place, &[("claude-desktop", "files", "files")]);
    list(&place, "files", &["read"]);
    let seldom = target("files", Some("read"), Some("some-client"));
    refused(&place, &seldom, Purpose::Restrict);
    for end in ["", "-wal", "-shm"] {
        let path = format!("{}{end}", place.home.history_db().display());
        drop(std::fs::remove_file(path));
    }
    std::fs::create_dir(place.home.history_db()).unwrap();
    let checked = place.desk.inventory().check(&seldom, Purpose::Restrict).unwrap();
    assert_eq!(checked, seldom);
    refused(&place, &target("files", Some("unlisted"), None), Purpose::Loosen);
}

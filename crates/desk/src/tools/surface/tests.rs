#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;

use callgate_wiring::view::{ClientAct, DraftVariable, EntryState, ServerDraft};

use crate::tools::tests::lists;
use crate::view::{Answer, StepKind, SurfaceServer, ToolsFrom};
use crate::wiring_tests::{World, world};

const READ: &str = r#"{"name":"read_note","description":"Read a note"}"#;
const DROP: &str = r#"{"name":"delete_note","description":"Delete a note for good"}"#;

fn rows(world: &World, client: &str) -> Vec<SurfaceServer> {
    let view = world.desk.surface().unwrap();
    view.clients.into_iter().find(|one| one.id == client).unwrap().servers
}

fn writes(world: &World, cursor: &str) {
    fs::write(&world.cursor, cursor).unwrap();
    fs::write(&world.claude, "{}").unwrap();
}

#[test]
fn what_agents_can_call_is_known_before_a_server_ever_ran() {
    let world = world();
    let view = world.desk.surface().unwrap();
    assert_eq!(
        view.clients.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        ["Claude Desktop", "Cursor"]
    );
    let play = &rows(&world, "cursor")[0];
    assert_eq!((play.from, play.known.as_deref()), (ToolsFrom::Catalogue, Some("Playwright MCP")));
    assert!(play.classes.tools > 20 && play.classes.execute > 10, "{:?}", play.classes);
    let far = &rows(&world, "cursor")[1];
    assert_eq!((far.from, far.state), (ToolsFrom::Nothing, EntryState::NotCoverable));
    assert!(far.why.is_some());
    // Both clients start the same: it is one server more to know, and not two.
    assert_eq!(view.total, play.classes, "a server that two clients have counts once");
    let told = format!("{view:?}");
    assert!(!told.contains("sk-1234567890abcdef"), "{told}");
}

#[test]
fn the_next_step_leads_from_open_to_known_to_ruled() {
    let world = world();
    writes(&world, r#"{"mcpServers":{"notes":{"command":"notes-server"}}}"#);
    let next = world.desk.surface().unwrap().next.unwrap();
    assert_eq!((next.kind, next.entries.len()), (StepKind::Protect, 1));
    assert!(next.words.contains("notes in Cursor"), "{}", next.words);
    world.desk.wiring().change_clients(ClientAct::Protect, &next.entries, false).unwrap();
    let next = world.desk.surface().unwrap().next.unwrap();
    assert_eq!((next.kind, next.server.as_deref()), (StepKind::Scan, Some("notes")));
    lists(&world.place, "notes", &[READ, DROP]);
    let view = world.desk.surface().unwrap();
    assert_eq!((view.total.tools, view.total.critical, view.unknown), (2, 1, 0));
    assert_eq!(view.words, "2 tools of 1 server, 1 of them critical.");
    let next = view.next.unwrap();
    assert_eq!((next.kind, next.server.as_deref()), (StepKind::Rules, Some("notes")));
    world.place.write_policy("notes", r#"{"version":"1","default":"ask","tools":{"read_note":{}}}"#);
    assert_eq!(world.desk.surface().unwrap().next, None);
}

#[test]
fn nothing_to_call_is_said_with_the_way_to_the_first_server() {
    let world = world();
    writes(&world, "{}");
    let view = world.desk.surface().unwrap();
    assert_eq!((view.total.tools, view.servers), (0, 0));
    assert_eq!(view.next.unwrap().kind, StepKind::Add);
}

#[test]
fn what_one_program_listed_is_not_told_of_another_of_its_name() {
    let world = world();
    writes(&world, r#"{"mcpServers":{"notes":{"command":"notes-server"}}}"#);
    fs::write(&world.claude, r#"{"mcpServers":{"notes":{"command":"other-notes"}}}"#).unwrap();
    lists(&world.place, "notes", &[READ]);
    for client in ["cursor", "claude-desktop"] {
        assert_eq!(
            rows(&world, client)[0].from,
            ToolsFrom::Nothing,
            "{client}: whose list it is cannot be told"
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_rest_is_counted() {
    let world = world();
    fs::write(&world.claude, "{ oops").unwrap();
    let view = world.desk.surface().unwrap();
    assert_eq!(view.unread.len(), 1);
    assert!(view.unread[0].starts_with("Claude Desktop: "), "{:?}", view.unread);
    assert!(view.total.tools > 20);
}

#[test]
fn a_session_of_no_known_file_is_in_it_too() {
    let world = world();
    writes(&world, "{}");
    let session = world.place.session_of("loose", "some-client");
    lists(&world.place, "loose", &[READ]);
    let view = world.desk.surface().unwrap();
    let row = &view.clients[0].servers[0];
    assert_eq!((row.server.as_str(), row.entry.is_none(), row.classes.read), ("loose", true, 1));
    drop(session);
}

#[test]
fn what_a_server_begins_with_is_told_by_the_name_that_it_gets_and_put_in_force() {
    let world = world();
    let keys: Vec<_> = rows(&world, "cursor").into_iter().filter_map(|row| row.entry).collect();
    let starts = world.desk.server_starts(&keys[..1]).unwrap();
    let [start] = &starts[..] else { panic!("{starts:?}") };
    assert_eq!((start.server.as_str(), start.from, start.has_rules), ("play", ToolsFrom::Catalogue, false));
    let ids: Vec<&str> = start.points.iter().map(|point| point.id.as_str()).collect();
    assert_eq!(ids, ["watch-only", "recommended", "read-only", "locked"]);
    assert!(start.points[0].in_force && !start.points[1].in_force);
    assert!(start.points[1].words.contains("change state"), "{}", start.points[1].words);

    world.desk.wiring().change_clients(ClientAct::Protect, &keys[..1], false).unwrap();
    let Answer::Done(done) = world.desk.begin_with("play", &start.points[1]).unwrap() else {
        panic!("it opens nothing")
    };
    assert!(done.undo.is_some() && done.words.contains("begins with “Recommended”"), "{}", done.words);
    let text = fs::read_to_string(world.place.home.policy("play")).unwrap();
    assert!(text.contains("\"browser_snapshot\": {}") && text.contains("\"default\": \"ask\""), "{text}");
    let again = world.desk.server_starts(&keys[..1]).unwrap();
    assert!(again[0].has_rules, "a person chose them");
    world.desk.undo(&done.undo.unwrap().token).unwrap();
    assert!(!world.desk.server_starts(&keys[..1]).unwrap()[0].has_rules);
}

#[test]
fn of_a_server_that_nobody_knows_only_what_is_true_is_offered() {
    let world = world();
    writes(&world, r#"{"mcpServers":{"notes":{"command":"notes-server"}}}"#);
    let keys: Vec<_> = rows(&world, "cursor").into_iter().filter_map(|row| row.entry).collect();
    let starts = world.desk.server_starts(&keys).unwrap();
    let ids: Vec<&str> = starts[0].points.iter().map(|point| point.id.as_str()).collect();
    assert_eq!(ids, ["watch-only", "locked"], "“tools that read pass” would be untrue");
}

#[test]
fn a_stricter_default_makes_a_starting_point_a_question() {
    let world = world();
    callgate_home::atomic::replace(
        &world.place.home.default_policy(),
        br#"{"version":"1","default":"deny"}"#,
    )
    .unwrap();
    let keys: Vec<_> = rows(&world, "cursor").into_iter().filter_map(|row| row.entry).collect();
    let starts = world.desk.server_starts(&keys[..1]).unwrap();
    assert!(!starts[0].points[1].loosened.is_empty());
    world.desk.wiring().change_clients(ClientAct::Protect, &keys[..1], false).unwrap();
    let Answer::Ask(question) = world.desk.begin_with("play", &starts[0].points[1]).unwrap() else {
        panic!("more is let through than by the default")
    };
    assert!(!world.place.home.policy("play").exists(), "nothing is written before a yes");
    world.desk.confirm(&question.token).unwrap();
    assert!(world.place.home.policy("play").exists());
}

#[test]
fn a_server_that_is_typed_is_known_by_its_command_and_not_by_an_older_one_of_its_name() {
    let world = world();
    lists(&world.place, "mine", &[DROP]);
    let draft = |command: &str| ServerDraft {
        name: "mine".to_owned(),
        command: command.to_owned(),
        variables: Vec::<DraftVariable>::new(),
        clients: Vec::new(),
    };
    let of = |command: &str| world.desk.draft_start(&draft(command)).unwrap();
    assert_eq!(of("uvx mcp-server-fetch").unwrap().known.as_deref(), Some("Reference: fetch"));
    assert_eq!(of("notes-server").unwrap().from, ToolsFrom::Nothing);
    assert_eq!(of("'notes"), None, "no command yet");
}

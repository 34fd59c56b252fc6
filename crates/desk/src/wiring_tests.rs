#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod own_servers;
mod repairing;
#[cfg(target_os = "linux")]
mod running;
mod secrets;
mod tampering;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use callgate_clients::backup::Backups;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::queue::{self, Todo};
use callgate_clients::{Os, System, ledger};
use callgate_controls::patience;
use callgate_wiring::view::{ClientAct, ClientChange, ClientEntry, DriftFix, EntryState, RefusedEntry};

use crate::Desk;
use crate::testing::TestHome;
use crate::view::{Fix, IconState};

const FILE: &str = r#"{
  "mcpServers": {
    "play": { "command": "npx", "args": ["-y", "@playwright/mcp"], "env": { "API_TOKEN": "sk-1234567890abcdef" } },
    "far": { "url": "https://example.com/mcp" }
  }
}
"#;

/// A home with Cursor's and Claude Desktop's files, and our program in its place.
pub(super) struct World {
    pub(super) place: TestHome,
    pub(super) desk: Desk,
    pub(super) cursor: PathBuf,
    pub(super) claude: PathBuf,
    person: tempfile::TempDir,
}

pub(super) fn world() -> World {
    let place = TestHome::new();
    let person = tempfile::tempdir().unwrap();
    let cursor = person.path().join(".cursor/mcp.json");
    let claude = person.path().join(".config/Claude/claude_desktop_config.json");
    for file in [&cursor, &claude] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, FILE).unwrap();
    }
    let binary = callgate_programs::place(place.home.path());
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    fs::write(&binary, "").unwrap();
    let machine = System { os: Os::Linux, home: person.path().to_owned(), variables: BTreeMap::new() };
    let desk =
        Desk::new(place.home.clone(), place.clock.clone(), callgate_journal::Origin::Window).on(machine);
    World { place, desk, cursor, claude, person }
}

impl World {
    /// An entry of Claude Desktop's file.
    fn key(&self, name: &str) -> LedgerKey {
        let (client, path) = ("claude-desktop".to_owned(), self.claude.clone());
        LedgerKey { client, path, project: None, name: name.to_owned() }
    }

    /// What choosing it does while Claude Desktop runs.
    fn keep_and_wait(&self, key: &LedgerKey, todo: &Todo) {
        let bytes = fs::read(&key.path).unwrap();
        Backups::of(self.place.home.path()).keep(&key.client, &key.path, &bytes, 5).unwrap();
        queue::add(self.place.home.path(), std::slice::from_ref(key), todo, 5).unwrap();
    }

    fn entries(&self, client: &str) -> Vec<ClientEntry> {
        let clients = self.desk.wiring().clients().unwrap();
        let view = clients.into_iter().find(|view| view.id == client).unwrap();
        view.files.into_iter().flat_map(|file| file.entries).collect()
    }

    pub(super) fn states(&self, client: &str) -> Vec<(String, EntryState)> {
        self.entries(client).into_iter().map(|entry| (entry.key.name, entry.state)).collect()
    }
}

#[test]
fn every_client_is_listed_with_its_servers_and_nothing_secret() {
    let world = world();
    let clients = world.desk.wiring().clients().unwrap();
    let names: Vec<_> = clients.iter().map(|client| client.name.as_str()).collect();
    assert_eq!(names, ["Claude Desktop", "Cursor"]);
    assert_eq!(clients[0].files[0].shown, "~/.config/Claude/claude_desktop_config.json");
    let expected = [("play".to_owned(), EntryState::Open), ("far".to_owned(), EntryState::NotCoverable)];
    assert_eq!(world.states("cursor"), expected);
    assert_eq!(world.entries("cursor")[0].command, "npx -y @playwright/mcp");
    let said =
        format!("{clients:?}{:?}", world.desk.wiring().preview_clients(ClientAct::Protect, &[]).unwrap());
    assert!(!said.contains("sk-1234567890abcdef"), "{said}");
}

#[test]
fn everything_is_shown_then_protected_then_given_back_byte_for_byte() {
    let world = world();
    let preview = world.desk.wiring().preview_clients(ClientAct::Protect, &[]).unwrap();
    let shown: Vec<_> = preview.files.iter().map(|file| file.client_name.as_str()).collect();
    assert_eq!(shown, ["Claude Desktop", "Cursor"]);
    assert!(preview.files[0].diff.contains("--server"), "{}", preview.files[0].diff);
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), FILE, "nothing was written");

    let change = world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    assert_eq!((change.done.len(), change.waiting.len(), change.refused), (2, 0, Vec::<RefusedEntry>::new()));
    assert_eq!(world.states("cursor")[0].1, EntryState::Protected);
    assert_eq!(world.desk.wiring().client_backups().unwrap().len(), 2);
    assert!(world.desk.overview().unwrap().needs.is_empty());

    world.desk.wiring().change_clients(ClientAct::Unprotect, &[], false).unwrap();
    for file in [&world.cursor, &world.claude] {
        assert_eq!(fs::read_to_string(file).unwrap(), FILE);
    }
    assert!(world.desk.overview().unwrap().needs.is_empty(), "what a person took away is not missed");
}

#[test]
fn a_byte_order_mark_is_offered_to_be_taken_away_and_nothing_else_is() {
    let world = world();
    fs::write(&world.cursor, format!("\u{feff}{FILE}")).unwrap();
    fs::write(&world.claude, "\u{feff}{").unwrap();
    let file = |client: &str| {
        let clients = world.desk.wiring().clients().unwrap();
        clients.into_iter().find(|view| view.id == client).unwrap().files.remove(0)
    };
    assert!(file("cursor").problem.unwrap().contains("byte order mark"));
    assert_eq!((file("cursor").repairable, file("claude-desktop").repairable), (true, false));
    world.desk.wiring().repair_file("cursor", world.cursor.to_str().unwrap(), false).unwrap();
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), FILE);
    assert_eq!((file("cursor").problem, file("cursor").repairable, file("cursor").backups), (None, false, 1));
    let error =
        world.desk.wiring().repair_file("claude-desktop", world.claude.to_str().unwrap(), false).unwrap_err();
    assert!(error.to_string().contains("would not be enough"), "{error}");
    assert!(world.desk.wiring().repair_file("cursor", "/etc/passwd", true).is_err(), "only a client's file");
}

#[test]
fn only_what_is_chosen_is_protected_and_what_cannot_be_is_told() {
    let world = world();
    let keys: Vec<_> = world.entries("cursor").into_iter().map(|entry| entry.key).collect();
    let change = world.desk.wiring().change_clients(ClientAct::Protect, &keys, false).unwrap();
    assert_eq!(change.done.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["play"]);
    assert_eq!(change.refused.len(), 1);
    assert_eq!(change.refused[0].name.as_deref(), Some("far"));
    assert!(change.refused[0].why.contains("network"), "{:?}", change.refused);
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Open);
}

#[test]
fn an_entry_that_lost_its_gate_needs_a_person_until_it_has_it_again() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    fs::write(&world.cursor, FILE).unwrap();
    world.desk.wiring().guard().unwrap();
    let overview = world.desk.overview().unwrap();
    assert_eq!(overview.icon, IconState::NotProtecting);
    assert_eq!(overview.needs[0].fix, Some(Fix::OpenClients));
    assert!(overview.needs[0].words.contains("Cursor: play has lost its gate"), "{:?}", overview.needs);

    let drift = world.desk.wiring().clients().unwrap().remove(1).files.remove(0).drift;
    let Some(DriftFix::Protect { entries }) = &drift[0].fix else { panic!("{drift:?}") };
    world.desk.wiring().change_clients(ClientAct::Protect, entries, false).unwrap();
    assert!(world.desk.overview().unwrap().needs.is_empty());
}

#[test]
fn calls_are_held_no_longer_than_the_time_out_of_their_entry_allows() {
    let world = world();
    let file = world.claude.parent().unwrap().parent().unwrap().parent().unwrap().join(".codex/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text =
        |timeout: &str| format!("[mcp_servers.slow]\ncommand = \"npx\"\ntool_timeout_sec = {timeout}\n");
    fs::write(&file, text("20")).unwrap();
    let hold = || patience::hold(&world.place.home, "codex", "slow").as_secs();
    assert_eq!(hold(), 240, "no gate is there yet");
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    assert_eq!(hold(), 15);
    let gated = fs::read_to_string(&file).unwrap();
    for (timeout, expected) in [("40.5", 30), ("900", 240), ("\"20\"", 240), ("-1", 240), ("0", 240)] {
        fs::write(&file, gated.replace("tool_timeout_sec = 20", &format!("tool_timeout_sec = {timeout}")))
            .unwrap();
        world.desk.wiring().guard().unwrap();
        assert_eq!(hold(), expected, "{timeout}");
    }
}

#[test]
fn servers_without_a_gate_at_the_first_start_are_not_called_quiet() {
    let world = world();
    world.desk.wiring().guard().unwrap();
    let overview = world.desk.overview().unwrap();
    assert_eq!((overview.icon, overview.unprotected), (IconState::NotProtecting, 2), "play, in two files");
    assert_eq!(overview.headline, "Not protecting: 2 servers run without the gate");
    let play = world.entries("cursor").remove(0).key;
    world.desk.wiring().leave_open(&[play]).unwrap();
    assert_eq!(world.desk.overview().unwrap().unprotected, 1, "decided about");
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    assert_eq!(world.desk.overview().unwrap().icon, IconState::Quiet);
    world.desk.wiring().change_clients(ClientAct::Unprotect, &[], false).unwrap();
    assert_eq!(world.desk.overview().unwrap().unprotected, 0, "taken away on purpose");
}

#[test]
fn a_new_server_is_asked_about_once() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let text = fs::read_to_string(&world.cursor).unwrap();
    let text = text.replace(r#""far": {"#, r#""more": { "command": "uvx" }, "far": {"#);
    fs::write(&world.cursor, text).unwrap();
    world.desk.wiring().guard().unwrap();
    let overview = world.desk.overview().unwrap();
    assert_eq!(overview.icon, IconState::NeedsYou);
    assert!(overview.needs[0].words.contains("more is new"), "{:?}", overview.needs);
    let more = world.entries("cursor").into_iter().find(|entry| entry.key.name == "more").unwrap().key;
    world.desk.wiring().leave_open(&[more]).unwrap();
    assert!(world.desk.overview().unwrap().needs.is_empty());
}

#[test]
fn what_somebody_else_edited_or_removed_is_told_until_it_is_noted() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let gated = fs::read_to_string(&world.cursor).unwrap();
    let removed = r#"{ "mcpServers": { "far": { "url": "https://example.com/mcp" } } }"#;
    for (text, words) in [
        (
            gated.replace("@playwright/mcp", "@playwright/mcp@2"),
            "Cursor: play was edited; it is behind the gate",
        ),
        (removed.to_owned(), "Cursor: play was removed from the file"),
    ] {
        fs::write(&world.cursor, &text).unwrap();
        let drift = || world.desk.wiring().clients().unwrap().remove(1).files.remove(0).drift;
        let told = drift();
        assert_eq!(told[0].words, words);
        assert!(world.desk.overview().unwrap().needs.is_empty(), "theirs to do");
        let Some(DriftFix::TakeNote { entries }) = &told[0].fix else { panic!("{told:?}") };
        world.desk.wiring().take_note(entries).unwrap();
        assert_eq!(drift(), []);
        assert_eq!(fs::read_to_string(&world.cursor).unwrap(), text, "nothing is written");
    }
    // What comes back after that is new.
    fs::write(&world.cursor, FILE).unwrap();
    let told = world.desk.wiring().clients().unwrap().remove(1).files.remove(0).drift;
    assert_eq!(told.len(), 0, "no entry of this file is behind the gate any more");
}

#[test]
fn servers_that_claude_wiped_come_back_behind_their_gates() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    // What Claude Desktop writes when it could not read its file.
    fs::write(&world.claude, "{\n  \"scale\": 0\n}").unwrap();
    world.desk.wiring().guard().unwrap();
    let drift = world.desk.wiring().clients().unwrap().remove(0).files.remove(0).drift;
    assert!(drift[0].words.contains("lost all its servers, 1 of them"), "{drift:?}");
    let Some(DriftFix::Restore { backup, .. }) = &drift[0].fix else { panic!("{drift:?}") };
    assert!(world.desk.wiring().preview_backup(backup).unwrap().diff.contains("+    \"play\""));
    world.desk.wiring().restore_backup(backup, false).unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert!(world.desk.overview().unwrap().needs.is_empty());
}

#[test]
fn servers_come_back_as_they_were_last_and_not_as_they_were_before_the_last_edit() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let text = fs::read_to_string(&world.claude).unwrap();
    let text = text.replace(r#""far": {"#, r#""more": { "command": "uvx" }, "far": {"#);
    fs::write(&world.claude, &text).unwrap();
    world.desk.wiring().guard().unwrap();
    let copies = world.desk.wiring().client_backups().unwrap().len();
    fs::write(&world.claude, text.replace("\n}", ",\n  \"scale\": 1\n}")).unwrap();
    world.desk.wiring().guard().unwrap();
    assert_eq!(world.desk.wiring().client_backups().unwrap().len(), copies, "the servers are the same");

    fs::write(&world.claude, "{}").unwrap();
    world.desk.wiring().guard().unwrap();
    let drift = world.desk.wiring().clients().unwrap().remove(0).files.remove(0).drift;
    let Some(DriftFix::Restore { backup, .. }) = &drift[0].fix else { panic!("{drift:?}") };
    world.desk.wiring().restore_backup(backup, false).unwrap();
    assert_eq!(fs::read_to_string(&world.claude).unwrap(), text);
}

#[test]
fn what_waited_is_written_once_its_client_has_quit() {
    let world = world();
    let key = callgate_clients::ledger::LedgerKey {
        client: "claude-desktop".into(),
        path: world.claude.clone(),
        project: None,
        name: "play".into(),
    };
    queue::add(world.place.home.path(), &[key], &Todo::Protect, 5).unwrap();
    assert!(world.desk.wiring().has_queued());
    assert_eq!(world.desk.wiring().clients().unwrap()[0].queued.len(), 1);
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert!(!world.desk.wiring().has_queued());
}

#[test]
fn servers_that_claude_wiped_before_it_quit_come_back_with_the_gate_that_waited() {
    let world = world();
    let play = world.key("play");
    world.keep_and_wait(&play, &Todo::Protect);
    fs::write(&world.claude, "{}").unwrap();
    world.desk.wiring().settle_queue().unwrap();
    let drift = world.desk.wiring().clients().unwrap().remove(0).files.remove(0).drift;
    let Some(DriftFix::Restore { backup, .. }) = &drift[0].fix else { panic!("{drift:?}") };
    world.desk.wiring().restore_backup(backup, false).unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert!(!world.desk.wiring().has_queued());
    assert!(world.desk.overview().unwrap().needs.is_empty());
}

#[test]
fn what_is_not_in_its_file_any_more_or_cannot_be_read_is_told_and_not_dropped_without_a_word() {
    let world = world();
    let mut gone = world.entries("cursor").remove(0).key;
    gone.name = "gone".to_owned();
    let told = |change: ClientChange| change.refused.into_iter().map(|one| one.why).collect::<Vec<_>>();
    let change = world.desk.wiring().change_clients(ClientAct::Protect, &[gone], false).unwrap();
    assert_eq!(told(change), ["it is not in ~/.cursor/mcp.json any more"]);

    let play = world.key("play");
    queue::add(world.place.home.path(), &[play], &Todo::Protect, 5).unwrap();
    fs::write(&world.claude, "{").unwrap();
    let change = world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    assert!(told(change)[0].contains("not valid JSON"));
    world.desk.wiring().settle_queue().unwrap();
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs[0].words.contains("Claude Desktop: play was not protected: ~/"), "{needs:?}");
    assert!(needs[0].words.contains("not valid JSON"), "{needs:?}");
}

#[test]
fn secrets_that_were_put_back_are_in_the_newest_copy_too() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let gated = fs::read_to_string(&world.claude).unwrap();
    // Moved and put back, as the file sees it.
    for text in [gated.replace("sk-1234567890abcdef", "keychain://callgate/00/API_TOKEN"), gated.clone()] {
        fs::write(&world.claude, text).unwrap();
        world.desk.wiring().guard().unwrap();
    }
    fs::write(&world.claude, "{}").unwrap();
    world.desk.wiring().guard().unwrap();
    let drift = world.desk.wiring().clients().unwrap().remove(0).files.remove(0).drift;
    let Some(DriftFix::Restore { backup, .. }) = &drift[0].fix else { panic!("{drift:?}") };
    world.desk.wiring().restore_backup(backup, false).unwrap();
    assert_eq!(fs::read_to_string(&world.claude).unwrap(), gated);
}

#[test]
fn servers_that_are_gone_on_purpose_are_not_missed_for_ever() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    // Its last server removed by hand; the client uninstalled.
    fs::write(&world.claude, "{}").unwrap();
    fs::remove_file(&world.cursor).unwrap();
    world.desk.wiring().guard().unwrap();
    assert_eq!(world.desk.overview().unwrap().icon, IconState::NotProtecting);
    for id in ["claude-desktop", "cursor"] {
        let clients = world.desk.wiring().clients().unwrap();
        let view = clients.into_iter().find(|view| view.id == id).unwrap();
        let Some(DriftFix::Restore { lost, .. }) = &view.files[0].drift[0].fix else { panic!("{view:?}") };
        world.desk.wiring().take_note(lost).unwrap();
    }
    assert!(world.desk.overview().unwrap().needs.is_empty());
    let names: Vec<_> = world.desk.wiring().clients().unwrap().into_iter().map(|view| view.id).collect();
    assert_eq!(names, ["claude-desktop"]);
}

#[test]
fn what_was_lost_is_told_on_the_desktop_once() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let titles =
        || -> Vec<_> { world.desk.wiring().guard_news().into_iter().map(|notice| notice.title).collect() };
    assert_eq!(titles(), Vec::<String>::new());
    let gated = fs::read_to_string(&world.claude).unwrap();
    for _ in 0..2 {
        fs::write(&world.claude, "{}").unwrap();
        fs::write(&world.cursor, FILE).unwrap();
        world.desk.wiring().guard().unwrap();
        world.desk.wiring().guard().unwrap();
        assert_eq!(titles(), ["A gate is lost", "Claude Desktop has lost all its servers"]);
        // What is mended and lost again is told again.
        fs::write(&world.claude, &gated).unwrap();
        world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
        assert_eq!(titles(), Vec::<String>::new());
    }
}

#[test]
fn what_keeps_waiting_changes_from_being_written_needs_a_person() {
    let world = world();
    world.keep_and_wait(&world.key("play"), &Todo::Protect);
    let binary = callgate_programs::place(world.place.home.path());
    fs::remove_file(&binary).unwrap();
    world.desk.wiring().watch_over_clients().unwrap();
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs[0].words.starts_with("What waits for a client to quit was not written: "), "{needs:?}");
    fs::write(&binary, "").unwrap();
    world.desk.wiring().watch_over_clients().unwrap();
    assert!(world.desk.overview().unwrap().needs.is_empty());
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
}

#[test]
fn only_what_is_named_of_what_waits_for_a_client_is_dropped() {
    let world = world();
    for name in ["play", "far"] {
        queue::add(world.place.home.path(), &[world.key(name)], &Todo::Protect, 5).unwrap();
    }
    let play = world.entries("claude-desktop").remove(0).key;
    world.desk.wiring().drop_queued("claude-desktop", &[play]).unwrap();
    let left = queue::read(world.place.home.path()).unwrap();
    assert_eq!(left.iter().map(|queued| queued.key.name.as_str()).collect::<Vec<_>>(), ["far"]);
}

#[test]
fn a_broken_ledger_is_told_with_what_to_do() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    fs::write(world.place.home.path().join("ledger.json"), "{").unwrap();
    assert!(ledger::read(world.place.home.path()).is_err());
    world.desk.wiring().guard().unwrap();
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs[0].words.contains("not as we left it"), "{needs:?}");
    assert!(world.desk.wiring().clients().unwrap_err().to_string().contains("move it away"));
}

#[test]
fn a_broken_queue_is_told_and_keeps_nobody_from_their_clients() {
    let world = world();
    fs::write(world.place.home.path().join("queue.json"), "[{").unwrap();
    world.desk.wiring().guard().unwrap();
    assert_eq!(world.desk.wiring().clients().unwrap().len(), 2);
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs[0].words.contains("queue.json"), "{needs:?}");
}

#[test]
fn what_waited_and_could_not_be_done_is_told_until_the_next_change() {
    let world = world();
    let far = world.entries("claude-desktop").into_iter().find(|entry| entry.key.name == "far").unwrap().key;
    let key = callgate_clients::ledger::LedgerKey {
        client: far.client,
        path: world.claude.clone(),
        project: None,
        name: far.name,
    };
    queue::add(world.place.home.path(), &[key], &Todo::Protect, 5).unwrap();
    world.desk.wiring().settle_queue().unwrap();
    assert!(!world.desk.wiring().has_queued(), "it is not tried for ever");
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs[0].words.contains("far was not protected"), "{needs:?}");
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    assert!(world.desk.overview().unwrap().needs.is_empty());
}

#[test]
fn a_change_in_a_file_of_one_long_line_is_seen_and_a_secret_far_behind_is_not() {
    let world = world();
    let filler = format!("\"filler\": \"{}\"", "x ".repeat(6_000));
    let padding = "y ".repeat(4_080);
    let line = FILE.replace('\n', " ").replacen('{', &format!("{{ {filler}, \"p\": \"{padding}\","), 1);
    fs::write(&world.cursor, line).unwrap();
    let preview = world.desk.wiring().preview_clients(ClientAct::Protect, &[]).unwrap();
    let diff = &preview.files.iter().find(|file| file.client == "cursor").unwrap().diff;
    assert!(diff.contains("--server") && diff.contains('…'), "{diff}");
    assert!(!diff.contains("sk-1234"), "{diff}");
}

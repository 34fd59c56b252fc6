//! `callgate uninstall`: every client's file is what it was, whatever was done to it in between; and where that cannot be, nothing
//! is removed that it still needs.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File};

use callgate_tests::gate::callgate_binary;
use callgate_tests::keychain::Bus;
use callgate_tests::person::{CURSOR, DESKTOP, EVERY_CLIENT, Person, StandIn, fixture};
use callgate_tests::session::Session;
use callgate_tests::terminal::at_terminal;
use serde_json::json;

const KEEP: &[&str] = &["uninstall", "--keep-history"];
const DELETE: &[&str] = &["uninstall", "--delete-history"];
const PROJECT: &str = "work/.mcp.json";
const LOGIN: &str = ".config/autostart/Callgate.desktop";
const BIN: &str = ".callgate/bin";
const GATE: &str = ".callgate/bin/callgate";

/// Secrets that people write into such files, some in ways that only the original text has: where, in place of what.
const SECRETS: [(&str, &str, &str); 6] = [
    (DESKTOP, r#""API_KEY": "k0""#, r#""API_KEY": "h\u0075nter2\/hunter2""#),
    (".codex/config.toml", r#"TOKEN = "abc""#, r#"TOKEN = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'"#),
    (
        ".codeium/windsurf/mcp_config.json",
        "GITHUB_TOKEN=abc",
        "GITHUB_TOKEN=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    ),
    (".config/zed/settings.json", r#"{ "A": "b" }"#, r#"{ "A_TOKEN":"hunter2-hunter2"  }"#),
    (".kiro/settings/mcp.json", r#""FASTMCP_LOG_LEVEL": "ERROR""#, r#""FASTMCP_TOKEN": "hunter2-hunter2""#),
    (".config/goose/config.yaml", "envs: {A: b}", "envs: {A_TOKEN:   hunter2-hunter2}"),
];

/// Somebody with every client that is known and all of it behind the gate, and how each file was before.
fn protected() -> (Person, Vec<(&'static str, Vec<u8>)>) {
    let person = Person::with(&EVERY_CLIENT);
    person.write(PROJECT, &fixture("claude-code/project.json"));
    for (path, plain, secret) in SECRETS {
        let text = person.text(path);
        assert!(text.contains(plain), "{path}");
        person.write(path, text.replacen(plain, secret, 1).as_bytes());
    }
    let paths = EVERY_CLIENT.into_iter().map(|(path, _)| path).chain([PROJECT]);
    let before = paths.map(|path| (path, person.read(path))).collect();
    let project = person.path("work");
    person.say(&["protect", "--all", "--project", project.to_str().unwrap()]);
    assert!(person.count("protected") > 40 && person.count("not_protected") == 0);
    (person, before)
}

fn assert_restored(person: &Person, before: &[(&str, Vec<u8>)]) {
    for (path, bytes) in before {
        assert!(person.read(path) == *bytes, "{path} is not as it was:\n{}", person.text(path));
    }
}

/// With success; what was on the screen.
fn uninstalled(person: &Person, words: &[&str], typed: &str) -> String {
    let (code, screen) = person.typed(words, typed);
    assert_eq!(code, Some(0), "{screen}");
    screen
}

/// Without; nothing that clients need was removed.
fn not_uninstalled(person: &Person, words: &[&str]) -> String {
    let (code, screen) = person.typed(words, "uninstall");
    assert_eq!(code, Some(1), "{screen}");
    let version = person.command(person.path(GATE)).arg("--version").output().unwrap();
    assert!(version.status.success(), "the gate is gone: {screen}");
    assert!(person.path(".callgate/policies/_default.json").exists(), "{screen}");
    screen
}

#[test]
fn every_file_of_every_client_is_as_it_was_with_secrets_moved_in_between() {
    let bus = Bus::with_keyring().unwrap();
    let (mut person, before) = protected();
    for (path, _) in &before {
        assert!(person.text(path).contains(GATE), "{path} is not protected");
    }
    person.set("DBUS_SESSION_BUS_ADDRESS", bus.address());
    person.set("DISPLAY", ":60123");
    let moved = person.run(&["secrets", "move", "--all", "--yes"]);
    assert!(moved.out.contains("moved into the keychain"), "{moved:?}");
    for (path, _, secret) in SECRETS {
        let text = person.text(path);
        assert!(text.contains("keychain://callgate/") && !text.contains(secret), "{path}: {moved:?}\n{text}");
    }
    person.write(
        LOGIN,
        b"[Desktop Entry]\nType=Application\nName=Callgate\nExec=\"/opt/callgate-app\" --hidden\n",
    );
    let shown = person.run(&["uninstall", "--dry-run"]);
    assert!(shown.out.contains("FASTMCP_TOKEN would come back from the keychain"), "{shown:?}");
    let queued = json!([{ "client": "claude-desktop", "path": person.path(DESKTOP), "name": "x", "todo": "protect", "since_ms": 1 }]);
    person.write(".callgate/queue.json", queued.to_string().as_bytes());

    let screen = uninstalled(&person, KEEP, "uninstall");
    assert_restored(&person, &before);
    assert_eq!(person.count("protected"), 0);
    assert!(!person.path(BIN).exists() && !person.path(LOGIN).exists(), "{screen}");
    assert_eq!(person.text(".callgate/queue.json"), "[]", "nothing puts the gate back later");
    assert!(screen.contains("back in the file") && screen.contains("no longer started at login"), "{screen}");
    assert!(screen.contains("Nothing names Callgate's gate any more"), "{screen}");
    assert!(person.path(".callgate/policies/_default.json").exists(), "kept, as was said");

    // Once more: there is nothing left to do, and nobody has to be asked for that.
    let tree = person.tree();
    let again = person.run(&["uninstall"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(
        again.out.contains("Nothing to take away") && again.out.contains("--delete-history"),
        "{again:?}"
    );
    assert!(person.tree() == tree);

    let screen = uninstalled(&person, DELETE, "uninstall");
    assert!(screen.contains("~/.callgate is deleted"), "{screen}");
    assert!(!person.path(".callgate").exists());
    assert_restored(&person, &before);
    let again = person.run(DELETE);
    assert_eq!((again.code, again.out.contains("Nothing to take away")), (Some(0), true), "{again:?}");
    assert!(!person.path(".callgate").exists(), "looking makes no home");
}

#[test]
fn who_only_presses_enter_keeps_the_history_and_who_types_delete_does_not() {
    for (typed, kept) in [("uninstall\n", true), ("uninstall\nyes", true), ("uninstall\ndelete", false)] {
        let person = Person::with_every_fixture();
        person.say(&["protect", "--all"]);
        // The copy of the gate is enough: the package may be gone.
        let mut command = person.command(person.path(GATE));
        command.arg("uninstall");
        let (status, screen) = at_terminal(command, typed).unwrap();
        assert!(status.success(), "{screen}");
        person.assert_fixtures_untouched();
        assert!(screen.contains("Type delete to delete them, or press Enter to keep them"), "{screen}");
        assert_eq!((person.path(".callgate").exists(), person.path(BIN).exists()), (kept, false), "{screen}");
    }
}

#[test]
fn a_file_of_the_person_in_the_home_is_left_and_told() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "cursor"]);
    person.write(".callgate/notes.txt", b"mine");
    let screen = uninstalled(&person, DELETE, "uninstall");
    assert!(screen.contains("notes.txt is not Callgate's, and stays"), "{screen}");
    assert_eq!(fs::read_dir(person.path(".callgate")).unwrap().count(), 1);
}

#[test]
fn it_takes_a_person_at_a_terminal_and_their_word() {
    let mut person = Person::with_every_fixture();
    person.say(&["protect", "--all"]);
    // That somebody tried is on record, and nothing else.
    let tree = |person: &Person| {
        let mut tree = person.tree();
        let record = ["/.callgate/outbox", "/.callgate/bell", "/.callgate/history"];
        tree.retain(|path, _| !record.iter().any(|own| path.to_string_lossy().contains(own)));
        tree
    };
    let before = tree(&person);
    let said = person.run(KEEP);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("Loosening needs a person at a terminal"), "{said:?}");
    let (code, screen) = person.typed(KEEP, "yes");
    assert_eq!((code, screen.contains("nothing was changed")), (Some(1), true), "{screen}");
    // Below a session even a terminal is no person.
    person.set("CALLGATE_SESSION", "abc123");
    let (code, screen) = person.typed(KEEP, "uninstall");
    assert_eq!((code, screen.contains("runs below session abc123")), (Some(1), true), "{screen}");
    assert!(tree(&person) == before, "something was changed");
}

#[test]
fn the_app_that_runs_would_put_it_back_so_it_has_to_quit_first() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "cursor"]);
    let lock = File::create(person.path(".callgate/control/app.lock")).unwrap();
    lock.lock().unwrap();
    let screen = not_uninstalled(&person, KEEP);
    assert!(screen.contains("Callgate's app runs"), "{screen}");
    drop(lock);
    uninstalled(&person, KEEP, "uninstall");
    person.assert_fixtures_untouched();
}

#[test]
fn a_dry_run_shows_all_of_it_and_changes_nothing() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "--all"]);
    person.write(LOGIN, b"[Desktop Entry]\nType=Application\nName=Callgate\n");
    let before = person.tree();
    let said = person.run(&["uninstall", "--dry-run"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for words in [
        "Codex: would no longer protect",
        "+command = \"",
        "no longer be started at login",
        "~/.callgate/bin/callgate would be removed",
        "~/.callgate would be kept, or deleted if you say so",
    ] {
        assert!(said.out.contains(words), "{words:?} is not in\n{}", said.out);
    }
    assert!(person.tree() == before);
}

#[test]
fn what_cannot_be_restored_is_told_and_keeps_what_it_needs() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "--all"]);
    // Somebody broke a file that names the gate, and another one that does not.
    let gated = person.text(CURSOR);
    person.write(CURSOR, gated.replacen('{', "{,", 1).as_bytes());
    person.write(".config/zed/settings.json", b"{,");
    let screen = not_uninstalled(&person, DELETE);
    assert!(screen.contains("~/.cursor/mcp.json names Callgate's program, and cannot be edited"), "{screen}");
    assert!(screen.contains("so that what is left goes on working") && !screen.contains("zed"), "{screen}");
    assert!(person.read(DESKTOP) == fixture("claude-desktop/app-written.json"), "the others are restored");
    // Mended, it is done.
    person.write(CURSOR, gated.as_bytes());
    uninstalled(&person, DELETE, "uninstall");
    person.assert_fixtures_untouched();
    assert!(!person.path(".callgate").exists());
}

#[test]
fn an_entry_whose_secrets_cannot_come_back_keeps_its_gate() {
    let bus = Bus::with_keyring().unwrap();
    let mut person = Person::new();
    person.set("DBUS_SESSION_BUS_ADDRESS", bus.address());
    person.set("DISPLAY", ":60123");
    let secret =
        json!({ "command": "/bin/sh", "env": { "API_TOKEN": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" } });
    let file = json!({ "mcpServers": { "gh": secret, "plain": { "command": "/bin/sh" } } }).to_string();
    person.write(CURSOR, file.as_bytes());
    person.say(&["protect", "cursor"]);
    assert_eq!(person.run(&["secrets", "move", "cursor", "--yes"]).code, Some(0));
    let reachable = bus.address();
    person.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let screen = not_uninstalled(&person, KEEP);
    assert!(
        screen.contains("gh stays behind the gate") && screen.contains("gh still starts through the gate"),
        "{screen}"
    );
    assert_eq!(person.count("protected"), 1, "only that one: {screen}");
    person.set("DBUS_SESSION_BUS_ADDRESS", reachable);
    uninstalled(&person, KEEP, "uninstall");
    assert_eq!(person.text(CURSOR), file);
}

#[test]
fn a_running_claude_desktop_is_not_written_under_unless_one_insists() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "--all"]);
    let gated = person.read(DESKTOP);
    let desktop = StandIn::start(&person);
    let screen = not_uninstalled(&person, KEEP);
    assert!(screen.contains("Claude Desktop runs and would write its own copy over it"), "{screen}");
    assert!(person.read(DESKTOP) == gated, "{screen}");
    let words = ["uninstall", "--keep-history", "--wait"];
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| uninstalled(&person, &words, "uninstall"));
        // It may not yet have come to wait; it is all the same to it.
        desktop.quit();
        let screen = waiting.join().unwrap();
        assert!(screen.contains("Nothing names Callgate's gate any more"), "{screen}");
    });
    person.assert_fixtures_untouched();

    person.say(&["protect", "claude-desktop"]);
    let desktop = StandIn::start(&person);
    // Its memory still has the gate, and it writes that when it likes: what it would name has to be there. Told twice as well.
    for words in [&["uninstall", "--keep-history", "--force"][..], KEEP] {
        let screen = not_uninstalled(&person, words);
        assert!(screen.contains("Claude Desktop runs and may write its file back"), "{screen}");
        person.assert_fixtures_untouched();
    }
    desktop.quit();
    uninstalled(&person, KEEP, "uninstall");
    assert!(!person.path(BIN).exists());
    person.assert_fixtures_untouched();
}

#[test]
fn a_project_that_only_a_broken_or_lost_ledger_knew_is_not_left_with_servers_that_do_not_start() {
    let person = Person::new();
    let file =
        json!({ "mcpServers": { "demo": { "command": "/bin/sh", "args": ["server.sh"] } } }).to_string();
    person.write(PROJECT, file.as_bytes());
    let project = person.path("work");
    person.say(&["protect", "claude-code", "--project", project.to_str().unwrap()]);
    let ledger = ".callgate/ledger.json";
    for (text, words) in [("{", "is not as we left it"), (r#"{"format":99}"#, "a newer Callgate")] {
        person.write(ledger, text.as_bytes());
        let screen = not_uninstalled(&person, KEEP);
        assert!(screen.contains(words) && screen.contains("nothing is removed"), "{screen}");
        assert!(person.text(PROJECT).contains(GATE), "{screen}");
    }
    // Moved away, as is said: the copies know the file still.
    fs::remove_file(person.path(ledger)).unwrap();
    uninstalled(&person, KEEP, "uninstall");
    assert_eq!(person.text(PROJECT), file);
    assert!(!person.path(BIN).exists());
}

#[test]
fn a_session_that_runs_is_told_and_goes_on_and_its_home_is_not_deleted_under_it() {
    let person = Person::new();
    let file = json!({ "mcpServers": { "demo": { "command": callgate_binary().unwrap(), "args": ["demo-server"] } } });
    person.write(CURSOR, file.to_string().as_bytes());
    person.say(&["protect", "cursor"]);
    let mut command = person.command(person.path(GATE));
    command.args(["run", "--server", "demo", "--client", "cursor", "--"]);
    command.arg(callgate_binary().unwrap()).arg("demo-server");
    let mut session = Session::start(command).unwrap();
    assert!(session.ask("1", "get_codegen_session", "{}").unwrap().to_text().contains("demo-1"));

    let screen = not_uninstalled(&person, DELETE);
    assert!(screen.contains("1 session runs through the gate now: demo"), "{screen}");
    assert!(screen.contains("was not deleted: 1 session runs still through the gate"), "{screen}");
    assert_eq!(person.text(CURSOR), file.to_string(), "the client is restored all the same");
    assert!(session.ask("2", "get_codegen_session", "{}").unwrap().to_text().contains("demo-1"));
    uninstalled(&person, KEEP, "uninstall");
    assert!(!person.path(BIN).exists());
    assert!(
        session.ask("3", "get_codegen_session", "{}").unwrap().to_text().contains("demo-1"),
        "it goes on"
    );
    session.finish().unwrap();
    uninstalled(&person, DELETE, "uninstall");
    assert!(!person.path(".callgate").exists());
}

#[test]
fn the_gate_of_another_home_is_left_alone() {
    let mut person = Person::with_every_fixture();
    person.set("CALLGATE_HOME", person.path("other"));
    person.say(&["protect", "cursor"]);
    let theirs = person.read(CURSOR);
    person.unset("CALLGATE_HOME");
    person.say(&["protect", "codex"]);
    let screen = uninstalled(&person, DELETE, "uninstall");
    assert!(screen.contains("Cursor: playwright starts the gate of another home"), "{screen}");
    assert!(person.read(CURSOR) == theirs && !person.path(".callgate").exists());
    assert_eq!(person.read(".codex/config.toml"), fixture("codex/config.toml"));
    // Its home gone, it is nobody's, and would start nothing.
    fs::remove_dir_all(person.path("other")).unwrap();
    uninstalled(&person, KEEP, "uninstall");
    person.assert_fixtures_untouched();
    assert!(person.path(".callgate/backups").exists(), "what was written is kept as a copy");
}

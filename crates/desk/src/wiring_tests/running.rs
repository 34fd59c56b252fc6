//! While Claude Desktop runs: what it would write over waits, and what it wrote over is told.

use std::process::{Child, Command};
use std::time::Duration;

use callgate_wiring::view::{DriftView, Restored};

use super::*;

/// By the lock of its folder, this is Claude Desktop.
struct Running {
    child: Child,
    lock: PathBuf,
}

impl Running {
    fn start(world: &World) -> Running {
        let home = world.person.path();
        let child = Command::new("/bin/sleep").arg("600").env("HOME", home).spawn().unwrap();
        let lock = world.claude.with_file_name("SingletonLock");
        std::os::unix::fs::symlink(format!("some-host-{}", child.id()), &lock).unwrap();
        Running { child, lock }
    }

    fn quit(self) {}
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
        let _gone = fs::remove_file(&self.lock);
    }
}

/// What is told of Claude Desktop's file.
fn drift(world: &World) -> Vec<DriftView> {
    world.desk.wiring().clients().unwrap().remove(0).files.remove(0).drift
}

/// Its servers are behind the gate, and then all gone. The copy that brings them back.
fn wiped(world: &World) -> String {
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    fs::write(&world.claude, "{}").unwrap();
    match drift(world).remove(0).fix {
        Some(DriftFix::Restore { backup, .. }) => backup,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wiped_file_comes_back_with_its_gates_when_its_client_has_quit() {
    let world = world();
    let backup = wiped(&world);
    let claude = Running::start(&world);
    assert_eq!(world.desk.wiring().restore_backup(&backup, false).unwrap(), Restored::Waits);
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(fs::read_to_string(&world.claude).unwrap(), "{}", "it runs still");
    let view = world.desk.wiring().clients().unwrap().remove(0);
    let shown: Vec<_> = view.restores.iter().map(|one| one.shown.as_str()).collect();
    assert_eq!(shown, ["~/.config/Claude/claude_desktop_config.json"]);
    assert_eq!(view.queued, []);
    assert!(drift(&world)[0].words.ends_with("; it is put back when Claude Desktop has quit"));

    claude.quit();
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert!(!world.desk.wiring().has_queued());
    assert!(world.desk.overview().unwrap().needs.is_empty());
}

#[test]
fn a_file_that_waits_to_be_put_back_is_left_when_that_is_cancelled_or_its_servers_are_let_go() {
    for let_go in [false, true] {
        let world = world();
        let backup = wiped(&world);
        let claude = Running::start(&world);
        world.desk.wiring().restore_backup(&backup, false).unwrap();
        match (let_go, drift(&world).remove(0).fix) {
            (true, Some(DriftFix::Restore { lost, .. })) => world.desk.wiring().take_note(&lost).unwrap(),
            _ => world.desk.wiring().drop_queued("claude-desktop", &[]).unwrap(),
        }
        claude.quit();
        world.desk.wiring().settle_queue().unwrap();
        assert_eq!(fs::read_to_string(&world.claude).unwrap(), "{}", "let go: {let_go}");
        assert!(!world.desk.wiring().has_queued());
    }
}

#[test]
fn a_person_who_insists_has_the_file_back_at_once_and_nothing_waits() {
    let world = world();
    let backup = wiped(&world);
    let _claude = Running::start(&world);
    world.desk.wiring().restore_backup(&backup, false).unwrap();
    assert_eq!(world.desk.wiring().restore_backup(&backup, true).unwrap(), Restored::Done);
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert!(!world.desk.wiring().has_queued());
}

/// Everything is protected; the copy of Claude Desktop's file from before that.
fn copy_without_gates(world: &World) -> String {
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let copies = world.desk.wiring().client_backups().unwrap();
    copies.into_iter().find(|copy| copy.client == "claude-desktop").unwrap().id
}

#[test]
fn what_was_wished_for_after_a_restore_counts_beside_it() {
    let world = world();
    let plain = copy_without_gates(&world);
    let claude = Running::start(&world);
    world.desk.wiring().restore_backup(&plain, false).unwrap();
    world.place.clock.advance(Duration::from_millis(1));
    queue::add(world.place.home.path(), &[world.key("play")], &Todo::Protect, i64::MAX).unwrap();
    claude.quit();
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(
        world.states("claude-desktop")[0].1,
        EntryState::Protected,
        "the copy has no gate; the newer wish has"
    );
    assert!(!world.desk.wiring().has_queued(), "both were done");
}

#[test]
fn a_gate_that_is_written_now_is_not_undone_by_a_copy_that_waited_before() {
    let world = world();
    let plain = copy_without_gates(&world);
    let claude = Running::start(&world);
    let play = world.entries("claude-desktop").remove(0).key;
    world.desk.wiring().change_clients(ClientAct::Unprotect, std::slice::from_ref(&play), true).unwrap();
    world.desk.wiring().restore_backup(&plain, false).unwrap();
    world.desk.wiring().change_clients(ClientAct::Protect, std::slice::from_ref(&play), true).unwrap();
    claude.quit();
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
}

#[test]
fn a_copy_that_is_gone_when_its_time_comes_is_told_and_not_waited_for() {
    let world = world();
    let backup = wiped(&world);
    let claude = Running::start(&world);
    world.desk.wiring().restore_backup(&backup, false).unwrap();
    fs::remove_dir_all(world.place.home.path().join("backups")).unwrap();
    claude.quit();
    world.desk.wiring().settle_queue().unwrap();
    assert!(!world.desk.wiring().has_queued());
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs[0].words.starts_with("Claude Desktop: its file was not restored: "), "{needs:?}");
}

/// Claude Desktop wrote its own copy over an unprotect that was made while it ran.
fn gate_that_came_back(world: &World) -> Running {
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let gated = fs::read_to_string(&world.claude).unwrap();
    let claude = Running::start(world);
    let play = world.entries("claude-desktop").remove(0).key;
    let change = world.desk.wiring().change_clients(ClientAct::Unprotect, &[play], true).unwrap();
    assert_eq!((change.done.len(), drift(world).len()), (1, 0));
    fs::write(&world.claude, gated).unwrap();
    world.desk.wiring().guard().unwrap();
    claude
}

#[test]
fn a_gate_that_claude_put_back_over_an_unprotect_is_told_and_taken_away_once_it_has_quit() {
    let world = world();
    let claude = gate_that_came_back(&world);
    let told = drift(&world);
    assert!(told[0].words.starts_with("Claude Desktop put the gate back in front of play: "), "{told:?}");
    let overview = world.desk.overview().unwrap();
    assert_eq!((overview.icon, &overview.needs[0].words), (IconState::NeedsYou, &told[0].words));
    let Some(DriftFix::Unprotect { entries }) = &told[0].fix else { panic!("{told:?}") };
    let change = world.desk.wiring().change_clients(ClientAct::Unprotect, entries, false).unwrap();
    assert_eq!(change.waiting.len(), 1);
    assert!(drift(&world)[0].words.ends_with("; it is taken away when Claude Desktop has quit"));
    claude.quit();
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(fs::read_to_string(&world.claude).unwrap(), FILE);
    assert_eq!(drift(&world), []);
}

#[test]
fn a_gate_that_came_back_can_be_kept_and_is_missed_again_when_it_is_lost() {
    for by_note in [true, false] {
        let world = world();
        let _claude = gate_that_came_back(&world);
        let Some(DriftFix::Unprotect { entries }) = drift(&world).remove(0).fix else { panic!() };
        if by_note {
            world.desk.wiring().take_note(&entries).unwrap();
        } else {
            world.desk.wiring().change_clients(ClientAct::Protect, &entries, false).unwrap();
        }
        assert_eq!(drift(&world), []);
        assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
        fs::write(&world.claude, FILE).unwrap();
        assert!(
            drift(&world)[0].words.contains("play has lost its gate and runs unwatched"),
            "{:?}",
            drift(&world)
        );
    }
}

#[test]
fn a_gate_that_comes_back_with_a_restored_copy_was_wanted() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    world.desk.wiring().change_clients(ClientAct::Unprotect, &[], false).unwrap();
    let gated = world
        .desk
        .wiring()
        .client_backups()
        .unwrap()
        .into_iter()
        .find(|copy| copy.client == "claude-desktop");
    world.desk.wiring().restore_backup(&gated.unwrap().id, false).unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert_eq!(drift(&world), []);
}

#[test]
fn a_server_without_its_gate_runs_unwatched_only_while_its_client_runs() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    fs::write(&world.claude, FILE).unwrap();
    assert_eq!(drift(&world)[0].words, "Claude Desktop: play has lost its gate and would run unwatched");
    let _claude = Running::start(&world);
    assert_eq!(drift(&world)[0].words, "Claude Desktop: play has lost its gate and runs unwatched");
    // Of Cursor nobody can tell.
    fs::write(&world.cursor, FILE).unwrap();
    let cursor = world.desk.wiring().clients().unwrap().remove(1).files.remove(0).drift.remove(0);
    assert_eq!(cursor.words, "Cursor: play has lost its gate and runs unwatched");
}

#[test]
fn several_lost_gates_of_one_file_are_one_thing_to_know_and_said_as_one_is() {
    let world = world();
    let two = FILE.replace(r#""far": {"#, r#""more": { "command": "uvx" }, "far": {"#);
    fs::write(&world.claude, &two).unwrap();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    fs::write(&world.claude, &two).unwrap();
    let needs = || -> Vec<String> {
        world.desk.wiring().guard().unwrap();
        world.desk.overview().unwrap().needs.into_iter().map(|need| need.words).collect()
    };
    assert_eq!(
        needs(),
        ["2 servers of Claude Desktop have lost their gates and would run unwatched: more, play"]
    );
    let _claude = Running::start(&world);
    assert_eq!(needs(), ["2 servers of Claude Desktop have lost their gates and run unwatched: more, play"]);
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let waits = "; they are put back when Claude Desktop has quit";
    assert_eq!(
        needs(),
        [format!("2 servers of Claude Desktop have lost their gates and run unwatched{waits}: more, play")]
    );
}

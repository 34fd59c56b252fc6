#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::process::{Child, Command};
use std::time::Duration;

use callgate_home::clock::Clock;

use super::*;
use crate::testing::{POLICY, Place};

/// A process that a session left.
struct Stray(Child);

impl Stray {
    fn of(session: &str) -> Stray {
        Stray(Command::new("sleep").arg("600").env("CALLGATE_SESSION", session).spawn().unwrap())
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        // What it started first: nobody finds it once its parent is gone, and it would hold the test's output open.
        let below = callgate_supervise::tree_of(self.0.id()).into_iter().map(|one| one.id);
        let _ended = callgate_supervise::end(&below.collect::<Vec<_>>());
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

#[test]
fn what_a_dead_session_left_is_told_with_its_server_and_ended() {
    let place = Place::new();
    place.write_policy("files", POLICY);
    let (living, dead) = (place.session("files"), place.session("files"));
    let session = dead.info.id.to_string();
    dead.calls("read", 1);
    let (mut left, kept) = (Stray::of(&session), Stray::of(&living.info.id.to_string()));
    let stranger = Stray::of("zzzzzz");
    let mut sampler = place.desk.sampler().unwrap();
    assert_eq!(place.desk.strays(&mut sampler).unwrap().leftovers, [], "it runs");
    place.clock.advance(Duration::from_secs(60));
    let ended_ms = place.clock.now().wall_ms;
    dead.end();

    // A process is there under our own name for a moment before it is `sleep`.
    let found = loop {
        let found = place.desk.strays(&mut sampler).unwrap().leftovers;
        if found.iter().any(|one| one.processes.iter().any(|process| process.what == "sleep")) {
            break found;
        }
    };
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].session.as_str(), found[0].ended_ms), (session.as_str(), Some(ended_ms)));
    assert_eq!(found[0].processes[0].pid, left.0.id());
    // Nobody had written its tree down: the history knows whose it was.
    assert_eq!((found[0].server.as_deref(), found[0].client.as_deref()), (Some("files"), Some("claude-ai")));
    let words = place.desk.left_words().unwrap();
    assert!(words.starts_with("1 process of a session of files that ended is left: "), "{words}");
    let menu = crate::tray::with_left(crate::tray::Menu { items: Vec::new() }, &words);
    assert!(matches!(&menu.items[0], crate::tray::MenuItem::Label(text) if *text == words), "{menu:?}");
    assert!(found[0].memory_bytes > 0 && found[0].browsers == 0);

    let swept = place.desk.sweep().unwrap();
    assert_eq!(swept.words, "1 process of dead sessions ended.");
    assert_eq!((swept.ended[0].pid, swept.ended[0].gone), (left.0.id(), true));
    assert!(left.0.try_wait().unwrap().is_some());
    assert_eq!(place.desk.left_words(), None);
    for mut other in [kept, stranger] {
        assert_eq!(other.0.try_wait().unwrap(), None, "not ours to end");
    }
    let events = History::open_reader(&place.home).unwrap().events(None, 10).unwrap();
    let told = events.iter().find(|event| event.kind == EventKind::Swept && event.text == swept.words);
    assert_eq!(told.unwrap().server.as_deref(), Some("files"), "that of the session, not of who swept");
    assert_eq!(place.desk.sweep().unwrap().words, "No process of dead sessions was left.");
}

#[test]
fn a_tree_is_told_process_by_process_with_secrets_masked() {
    let place = Place::new();
    let files = place.session("files");
    // The test itself stands in for the shim: what it starts is in the session's tree.
    let child = Command::new("sh").args(["-c", "sleep 600; :", "--token", "hunter2hunter2"]).spawn().unwrap();
    let child = Stray(child);
    let lease = running(&place.home).pop().unwrap();
    assert_eq!(lease.session, files.info.id);
    let mut sampler = place.desk.sampler().unwrap();
    let tree = loop {
        sampler.sample(std::slice::from_ref(&lease), 7);
        let tree = place.desk.trees(&sampler, std::slice::from_ref(&lease)).pop().unwrap();
        let shell = tree.processes.iter().position(|one| one.pid == child.0.id());
        let next = shell.and_then(|at| tree.processes.get(at + 1));
        if next.is_some_and(|one| one.what == "sleep") {
            break tree;
        }
    };
    let shell = tree.processes.iter().find(|one| one.pid == child.0.id()).unwrap();
    assert_eq!((shell.what.as_str(), shell.depth), ("shell", 1));
    assert!(!shell.command.contains("hunter2"), "{}", shell.command);
    assert_eq!((tree.processes[0].pid, tree.processes[0].depth), (std::process::id(), 0));
    assert_eq!(tree.memory_bytes, tree.processes.iter().map(|one| one.memory_bytes).sum::<u64>());
    place.desk.note_tree(&lease);
    let record = callgate_trees::records(&place.home).pop().unwrap();
    assert!(record.members.iter().any(|member| member.pid == child.0.id()), "{record:?}");
    assert!(record.members.iter().all(|member| !member.command.contains("hunter2")), "{record:?}");
}

#[test]
fn a_session_that_nobody_saw_end_was_last_seen_and_did_not_end_then() {
    for (end, noted, wanted) in [
        (Some((7, EndReason::ClientClosed)), Some(5), (Some(7), None)),
        (Some((7, EndReason::ServerEnded)), None, (Some(7), None)),
        (Some((7, EndReason::Lost)), Some(9), (None, Some(9))),
        (Some((7, EndReason::Lost)), Some(5), (None, Some(7))),
        (Some((7, EndReason::Lost)), None, (None, Some(7))),
        (None, Some(5), (None, Some(5))),
        (None, None, (None, None)),
    ] {
        assert_eq!(ended_or_seen(end, noted), wanted, "{end:?} {noted:?}");
    }
}

#[test]
fn a_session_that_is_over_has_no_tree_to_end() {
    let place = Place::new();
    for session in ["k3v9qa", "", "../x"] {
        let refused = place.desk.end_tree(session);
        assert!(matches!(refused, Err(DeskError::NotFound(_))), "{session}");
    }
    assert!(matches!(place.desk.end_suspects(&["x".to_owned()]), Err(DeskError::BadInput(_))));
    // A number alone is not enough, and somebody else's process is never a suspect.
    let own = callgate_supervise::identify(std::process::id()).unwrap();
    assert_eq!(place.desk.end_suspects(&[named(own)]).unwrap().ended, []);
}

#[test]
fn what_happened_to_a_server_is_told_newest_first() {
    let place = Place::new();
    let first = place.session("files");
    first.calls("read", 1);
    place.clock.advance(Duration::from_secs(60));
    first
        .journal
        .event(callgate_journal::Event { kind: EventKind::KeeperLost, text: "the keeper was killed" });
    first.filed();
    place.clock.advance(Duration::from_secs(1));
    first.journal.end(callgate_journal::EndReason::ServerEnded);
    let other = place.session("mail");
    other.calls("send", 1);
    let told = place.desk.happened("files").unwrap();
    let kinds: Vec<&str> = told.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["server_ended", "keeper_lost", "started"]);
    assert_eq!(told[2].text, "started by claude-ai");
}

#[test]
fn a_start_by_test_now_is_not_told_as_a_clients() {
    for (client, told) in [
        ("claude-desktop", "started by Claude Desktop"),
        (callgate_clients::trial::CLIENT, "started by Callgate (Test now)"),
        ("some-agent", "started by some-agent"),
    ] {
        let place = Place::new();
        let session = place.session_of("files", client);
        place.clock.advance(Duration::from_secs(1));
        session.journal.end(callgate_journal::EndReason::ClientClosed);
        let happened = place.desk.happened("files").unwrap();
        assert_eq!(happened.last().map(|one| one.text.as_str()), Some(told));
    }
}

#[test]
fn one_failed_start_is_not_two_rows_of_what_happened() {
    let place = Place::new();
    let files = place.session("files");
    files.journal.event(callgate_journal::Event { kind: EventKind::StartFailed, text: "CG-117: not found" });
    files.filed();
    files.journal.end(callgate_journal::EndReason::FailedToStart);
    let told = place.desk.happened("files").unwrap();
    let mut kinds: Vec<&str> = told.iter().map(|one| one.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["start_failed", "started"]);
}

/// A tree that stands in for that of a gate: a shell, and below it `sleep` under a name of its own.
fn gate_with(name: &str) -> Stray {
    let script = format!("bash -c 'exec -a {name} sleep 600' & wait");
    let gate = Stray(Command::new("sh").args(["-c", &script]).spawn().unwrap());
    while !below(&gate).iter().any(|one| arguments(one.pid).first().is_some_and(|program| program == name)) {
        std::thread::yield_now();
    }
    gate
}

fn below(gate: &Stray) -> Vec<ProcessId> {
    tree_of(gate.0.id()).into_iter().map(|one| one.id).collect()
}

/// Makes this process the one that holds a session's lease.
fn held_by(place: &Place, session: SessionId, gate: &Stray, change: impl FnOnce(&mut Lease)) -> Lease {
    let mut lease = running(&place.home).into_iter().find(|lease| lease.session == session).unwrap();
    let id = callgate_supervise::identify(gate.0.id()).unwrap();
    (lease.pid, lease.process_start) = (id.pid, Some(id.start));
    change(&mut lease);
    std::fs::write(place.home.lease(session), serde_json::to_string(&lease).unwrap()).unwrap();
    lease
}

#[test]
fn a_session_of_a_container_that_shares_the_home_costs_no_process_of_ours_its_life() {
    let place = Place::new();
    let session = place.session("files");
    let gate = gate_with("bystander");
    let id = session.info.id;
    let foreign = held_by(&place, id, &gate, |lease| lease.pid_namespace = Some("pid:[1]".to_owned()));

    place.desk.note_tree(&foreign);
    assert_eq!(callgate_trees::records(&place.home), [], "our processes are not written down as theirs");
    // What the gate in the container wrote stays what it is.
    let theirs = format!(
        r#"{{"session":"{id}","server":"files","boot":"boot-1","pid_namespace":"pid:[1]","began_ms":1,
            "members":[{{"pid":1200,"start":7,"command":"node"}}]}}"#
    );
    std::fs::write(place.home.tree(id), &theirs).unwrap();
    place.desk.note_tree(&foreign);
    let ours = held_by(&place, id, &gate, |_| ());
    place.desk.note_tree(&ours);
    assert_eq!(std::fs::read_to_string(place.home.tree(id)).unwrap(), theirs);

    held_by(&place, id, &gate, |lease| lease.pid_namespace = Some("pid:[1]".to_owned()));
    let refused = place.desk.end_tree(&id.to_string());
    assert!(
        matches!(&refused, Err(DeskError::Conflict(words)) if words.contains("container")),
        "{refused:?}"
    );
    held_by(&place, id, &gate, |lease| lease.process_start = Some(1));
    assert!(place.desk.end_tree(&id.to_string()).is_err(), "another process has the number");
    assert!(below(&gate).into_iter().all(lives) && !below(&gate).is_empty());
}

#[test]
fn a_server_program_called_gate_or_keeper_is_ended_with_its_tree() {
    for name in ["gate", "keeper", "callgate-keeper"] {
        let place = Place::new();
        let session = place.session("files");
        let gate = gate_with(name);
        held_by(&place, session.info.id, &gate, |_| ());
        let before = below(&gate);
        let ended = place.desk.end_tree(&session.info.id.to_string()).unwrap();
        assert!(ended.ended.iter().all(|one| one.gone) && ended.ended.len() == before.len(), "{ended:?}");
        assert!(!before.into_iter().any(lives), "{name}");
    }
}

#[test]
fn the_keeper_on_record_is_left_to_end_its_tree_itself() {
    let place = Place::new();
    let session = place.session("files");
    let gate = gate_with("kept");
    let lease = held_by(&place, session.info.id, &gate, |_| ());
    let keeper = below(&gate)[0];
    let about = About { keeper: Some(keeper.pid), ..About::of(&lease, &place.desk.here()).unwrap() };
    callgate_trees::note(&place.home, &place.desk.here(), &about, None).unwrap();
    let ended = place.desk.end_tree(&session.info.id.to_string()).unwrap();
    assert!(ended.ended.iter().all(|one| one.pid != keeper.pid), "{ended:?}");
    assert!(lives(keeper));
}

#[test]
fn a_secret_that_only_the_gate_knows_is_in_no_record_and_no_view() {
    const SECRET: &str = "plain words 7";
    let place = Place::new();
    let session = place.session("files");
    let script = format!("sh -c 'sleep 600; :' server '{SECRET}' & wait");
    let gate = Stray(Command::new("sh").args(["-c", &script]).spawn().unwrap());
    let server = loop {
        let found = below(&gate).into_iter().find(|one| arguments(one.pid).iter().any(|word| word == SECRET));
        if let Some(found) = found {
            break found;
        }
    };
    let lease = held_by(&place, session.info.id, &gate, |_| ());
    let mut sampler = place.desk.sampler().unwrap();
    let mut told = || {
        sampler.sample(std::slice::from_ref(&lease), 0);
        let tree = place.desk.trees(&sampler, std::slice::from_ref(&lease)).pop().unwrap();
        let shown = tree.processes.into_iter().find(|one| one.pid == server.pid).unwrap().command;
        place.desk.note_tree(&lease);
        let record = callgate_trees::records(&place.home).pop().unwrap();
        let kept = record.members.into_iter().find(|one| one.id() == server).unwrap().command;
        (shown, kept)
    };
    let brief = "sh …".to_owned();
    assert_eq!(told(), (brief.clone(), brief), "nobody who knows the secret has looked yet");
    let about = About::of(&lease, &place.desk.here()).unwrap();
    let masker = Masker::new(&[callgate_redaction::Secret::new(SECRET.to_owned())]);
    callgate_trees::note(&place.home, &place.desk.here(), &about, Some(&masker)).unwrap();
    let (shown, kept) = told();
    assert_eq!(shown, kept);
    assert!(kept.contains("sleep 600") && kept.contains("[masked") && !kept.contains(SECRET), "{kept}");
    let ended = place.desk.end_tree(&session.info.id.to_string()).unwrap();
    assert!(ended.ended.iter().any(|one| one.command == kept), "{ended:?}");
}

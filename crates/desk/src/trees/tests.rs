#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::process::{Child, Command};
use std::time::Duration;

use callgate_store::clock::Clock;

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
    let mut sampler = Sampler::new().unwrap();
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
    assert!(found[0].memory_bytes > 0 && found[0].browsers == 0);

    let swept = place.desk.sweep().unwrap();
    assert_eq!(swept.words, "1 process of dead sessions ended.");
    assert_eq!((swept.ended[0].pid, swept.ended[0].gone), (left.0.id(), true));
    assert!(left.0.try_wait().unwrap().is_some());
    for mut other in [kept, stranger] {
        assert_eq!(other.0.try_wait().unwrap(), None, "not ours to end");
    }
    let events = History::open_reader(&place.home).unwrap().events(None, 10).unwrap();
    assert!(events.iter().any(|event| event.kind == EventKind::Swept && event.text == swept.words));
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
    let mut sampler = Sampler::new().unwrap();
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
fn a_session_that_is_over_has_no_tree_to_end() {
    let place = Place::new();
    let mut sampler = Sampler::new().unwrap();
    for session in ["k3v9qa", "", "../x"] {
        let refused = place.desk.end_tree(&mut sampler, session);
        assert!(matches!(refused, Err(DeskError::NotFound(_))), "{session}");
    }
    assert!(matches!(place.desk.end_suspects(&["x".to_owned()]), Err(DeskError::BadInput(_))));
    // A number alone is not enough, and somebody else's process is never a suspect.
    let own = identify(std::process::id()).unwrap();
    assert_eq!(place.desk.end_suspects(&[named(own)]).unwrap().ended, []);
}

#[test]
fn what_happened_to_a_server_is_told_newest_first() {
    let place = Place::new();
    let first = place.session("files");
    first.calls("read", 1);
    place.clock.advance(Duration::from_secs(60));
    first.journal.event(callgate_store::Event { kind: EventKind::KeeperLost, text: "the keeper was killed" });
    first.filed();
    place.clock.advance(Duration::from_secs(1));
    first.journal.end(callgate_store::EndReason::ServerEnded);
    let other = place.session("mail");
    other.calls("send", 1);
    let told = place.desk.happened("files").unwrap();
    let kinds: Vec<&str> = told.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["server_ended", "keeper_lost", "started"]);
    assert_eq!(told[2].text, "started by claude-ai");
}

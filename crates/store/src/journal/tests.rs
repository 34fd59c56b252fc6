#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::mpsc;

use super::*;
use crate::catch_up::tests::{home, info};
use crate::clock::ManualClock;

#[test]
fn the_drain_does_not_wait_for_the_room_that_it_makes() {
    let (_folder, home) = home();
    let who = info("s");
    let opened = Opened {
        session: who.id.to_string(),
        server: "s".to_owned(),
        client: None,
        command: "[]".to_owned(),
        started_ms: 1,
        demo: false,
        pid: 1,
    };
    let spool = Spool::create(&home.spool(who.id), &opened).unwrap();
    // Nobody drains this one.
    let shared = Arc::new(Shared::new(&home, &who, Arc::new(ManualClock::new()), spool));
    let large = "x".repeat(usize::try_from(SPOOL_WAIT).unwrap());
    let note = |text: &str, append: fn(&Shared, &Record<'_>)| {
        append(&shared, &Record::Event { at_ms: 1, kind: EventKind::Note, origin: None, text });
    };
    note(&large, Shared::append_one);
    // A gap to be told must not make it wait either.
    shared.lost.store(1, Ordering::Relaxed);
    let before = lock(&shared.spool).len();
    let (done, told) = mpsc::channel();
    let drain = shared.clone();
    std::thread::spawn(move || {
        drain.append_one_now(&Record::Event { at_ms: 1, kind: EventKind::Note, origin: None, text: "x" });
        done.send(()).unwrap();
    });
    told.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(lock(&shared.spool).len() > before);
    assert_eq!(shared.lost.load(Ordering::Relaxed), 0);
}

#[test]
fn a_session_ends_though_its_spool_is_damaged() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    assert!(journal.drained(Duration::from_secs(10)));
    let (done, ended) = mpsc::channel();
    {
        let mut spool = lock(&journal.shared.spool);
        let mut group = Group::new();
        group.push(&Record::Ended { at_ms: 1, reason: EndReason::Signal });
        // Not sealed: its checksum is wrong.
        spool.append(&mut group).unwrap();
    }
    std::thread::spawn(move || {
        journal.end(EndReason::ClientClosed);
        done.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(20)).unwrap();
}

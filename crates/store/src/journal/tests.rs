#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::mpsc;

use super::*;
use crate::catch_up::tests::{call, home, info};
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
    let shared =
        Arc::new(Shared::new(&home, &who, &Settings::default(), Arc::new(ManualClock::new()), spool));
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

/// Every byte of the home, whatever the file.
fn everything(home: &Home) -> Vec<u8> {
    let mut folders = vec![home.path().to_owned()];
    let mut bytes = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => bytes.extend(std::fs::read(entry.path()).unwrap_or_default()),
            }
        }
    }
    bytes
}

#[test]
fn what_the_settings_keep_out_is_nowhere_in_the_home() {
    let held = |home: &Home, text: &str| {
        everything(home).windows(text.len()).any(|window| window == text.as_bytes())
    };
    let cases = [
        // Settings, whether a plain value is kept, whether a value under the person's own name is, whether names are.
        ("{}", true, true, true),
        (r#"{"record":{"mask":["caseNumber"]}}"#, true, false, true),
        (r#"{"record":{"keep":"keys"}}"#, false, false, true),
        (r#"{"record":{"keep":"nothing"}}"#, false, false, false),
        (r#"{"record":{"keep":"#, false, false, false),
    ];
    for (settings, plain, own, names) in cases {
        let (_folder, home) = home();
        std::fs::write(home.settings(), settings).unwrap();
        let who =
            SessionInfo { command: vec!["x".into(), "--case-number".into(), "zebra-4".into()], ..info("s") };
        let journal = Journal::open(&home, &who, Arc::new(ManualClock::new())).unwrap();
        let args = r#"{"topicword":"quokka-1","case_number":"zebra-2"}"#;
        let one = call(&journal, "t", args);
        let mut settlement = journal.settle();
        let result = Raw::parse(r#"{"caseNumber":"zebra-3","other":"quokka-2"}"#).unwrap();
        settlement.add(&one, Outcome::Ok, Duration::from_millis(1), Some(result));
        settlement.commit();
        let mut batch = journal.batch();
        batch.refuse(crate::Refused {
            decision: crate::Decision::Denied,
            method: "tools/call",
            tool: "t",
            args: Some(Raw::parse(args).unwrap()),
            reason: "\"zebra-2\" is not one of them",
            ..crate::Refused::default()
        });
        batch.commit();
        for when in ["in the spool", "in the history"] {
            assert_eq!(held(&home, "quokka-1"), plain, "{when}: {settings}");
            assert_eq!(held(&home, "quokka-2"), plain, "{when}: {settings}");
            assert_eq!(held(&home, "zebra-2"), own, "{when}: {settings}");
            assert_eq!(held(&home, "zebra-3"), own, "{when}: {settings}");
            assert_eq!(held(&home, "topicword"), names, "{when}: {settings}");
            if settings.contains("mask") {
                assert!(!held(&home, "zebra-4"), "{when}: a command line is masked too");
            }
            assert!(journal.drained(Duration::from_secs(10)));
        }
        journal.end(EndReason::ClientClosed);
    }
}

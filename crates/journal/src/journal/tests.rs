#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::mpsc;

use callgate_controls::{prepare_home, sqlite};
use callgate_home::clock::ManualClock;
use callgate_home::running;

use super::*;
use crate::filing_turn::FilingTurn;
use crate::spool::writer::Group;
use crate::testing::{self, call, home, info};
use crate::{CallEntry, Decision};

#[test]
fn the_drain_does_not_wait_for_the_room_that_it_makes() {
    let (_folder, home) = home();
    let who = info("s");
    // Nobody drains this one.
    let shared = Arc::new(Shared::new(&home, &who, Arc::new(ManualClock::new()), StoreError::Ended));
    shared.begin(&mut lock(&shared.spool)).unwrap();
    let large = "x".repeat(usize::try_from(shared.spool_wait).unwrap());
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
        batch.refuse(CallEntry {
            decision: Decision::Denied,
            method: "tools/call",
            tool: "t",
            args: Some(Raw::parse(args).unwrap()),
            reason: "\"zebra-2\" is not one of them",
            ..CallEntry::default()
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

fn refused(journal: &Journal) -> Vec<String> {
    let mut batch = journal.batch();
    let intent = testing::intent("a", "{}");
    batch.admit(intent, &[], b"line").unwrap();
    batch.commit().unrecorded.into_iter().map(|(_, error)| error.to_string()).collect()
}

fn recorded(home: &Home) -> usize {
    testing::tools(home).len()
}

fn events(home: &Home) -> Vec<String> {
    testing::events(home).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_session_begun_on_a_disk_without_room_recovers_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    // Stands for a disk that nothing can be made on: a file where the home should be.
    std::fs::write(home.path(), "").unwrap();
    let cause = prepare_home(&home).unwrap_err().to_string();
    let journal = Journal::without_home(&home, &info("s"), Arc::new(ManualClock::new()), cause.clone());
    assert_eq!(refused(&journal), [cause]);
    std::fs::remove_file(home.path()).unwrap();
    call(&journal, "b", "{}");
    assert_eq!(running(&home).len(), 1, "others see that it lives");
    journal.end(EndReason::ClientClosed);
    assert_eq!(recorded(&home), 1);
    assert!(events(&home).iter().any(|text| text.starts_with("1 records could not be written")));
    assert!(lease::sessions(&home).is_empty());
}

#[cfg(unix)]
#[test]
fn calls_after_the_home_was_removed_are_refused() {
    let (folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    call(&journal, "a", "{}");
    // The drain may make a file while they are removed.
    let until = Instant::now() + Duration::from_secs(20);
    while std::fs::remove_dir_all(folder.path()).is_err() {
        assert!(Instant::now() < until);
    }
    let words = refused(&journal);
    assert!(words[0].contains("was removed while this session ran"), "{words:?}");
    assert!(!home.path().exists(), "a session does not make up new rules");
}

#[cfg(unix)]
#[test]
fn a_removed_spool_is_begun_anew_and_told() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    call(&journal, "a", "{}");
    for folder in [home.spool_dir(), home.leases_dir()] {
        std::fs::remove_dir_all(folder).unwrap();
    }
    call(&journal, "b", "{}");
    assert_eq!(running(&home).len(), 1, "others see that it lives");
    journal.end(EndReason::ClientClosed);
    assert_eq!(recorded(&home), 2, "also what was in the spool when it was removed");
    assert!(
        events(&home).iter().any(|text| text.contains("were removed while it ran")),
        "{:?}",
        events(&home)
    );
}

#[test]
fn a_removed_log_of_the_history_loses_no_call_and_is_told() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    for _ in 0..60 {
        call(&journal, "a", "{}");
    }
    assert!(journal.drained(Duration::from_secs(10)));
    for suffix in ["-wal", "-shm"] {
        let mut path = home.history_db().into_os_string();
        path.push(suffix);
        // Not possible on Windows, where it is open.
        if std::fs::remove_file(path).is_err() {
            return;
        }
    }
    for _ in 0..60 {
        call(&journal, "b", "{}");
    }
    journal.end(EndReason::ClientClosed);
    assert_eq!(recorded(&home), 120);
    assert!(events(&home).iter().any(|text| text.contains("log was removed")), "{:?}", events(&home));
}

#[test]
fn what_could_not_be_recorded_is_told_though_the_session_ends_with_a_full_spool() {
    let (_folder, home) = home();
    let who = info("s");
    let shared = Shared::new(&home, &who, Arc::new(ManualClock::new()), StoreError::Ended);
    let shared = Arc::new(Shared { spool_wait: 0, spool_full: 0, ..shared });
    shared.begin(&mut lock(&shared.spool)).unwrap();
    // Nobody drains it: the history is out of reach.
    *lock(&shared.stuck) = Some("the history is busy".to_owned());
    let journal = Journal { shared, drain: Mutex::default() };
    assert_eq!(refused(&journal).len(), 1);
    journal.end(EndReason::ClientClosed);
    drop(journal);
    crate::catch_up(&home, &ManualClock::new()).unwrap();
    assert!(events(&home).iter().any(|text| text.starts_with("1 records could not")), "{:?}", events(&home));
}

#[cfg(unix)]
#[test]
fn a_session_whose_lease_alone_was_removed_does_not_count_as_dead() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    call(&journal, "a", "{}");
    std::fs::remove_dir_all(home.leases_dir()).unwrap();
    std::fs::create_dir(home.leases_dir()).unwrap();
    call(&journal, "b", "{}");
    assert_eq!(running(&home).len(), 1);
    journal.end(EndReason::ClientClosed);
    assert_eq!(recorded(&home), 2);
    assert!(
        events(&home).iter().any(|text| text.contains("were removed while it ran")),
        "{:?}",
        events(&home)
    );
}

#[cfg(unix)]
#[test]
fn a_log_removed_under_two_sessions_spoils_nothing_and_loses_no_later_call() {
    let (_folder, home) = home();
    let open = || Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let both = [open(), open()];
    let calls = |tool: &str| {
        for journal in &both {
            call(journal, tool, "{}");
        }
    };
    for _ in 0..40 {
        calls("before");
    }
    assert!(both.iter().all(|journal| journal.drained(Duration::from_secs(10))));
    for suffix in ["-wal", "-shm"] {
        let mut path = home.history_db().into_os_string();
        path.push(suffix);
        std::fs::remove_file(path).unwrap();
    }
    for _ in 0..40 {
        calls("after");
    }
    both.iter().for_each(|journal| journal.end(EndReason::ClientClosed));
    let after = testing::tools(&home).iter().filter(|tool| *tool == "after").count();
    assert_eq!(after, 80);
    let connection = sqlite::open_reader(&home.history_db()).unwrap();
    let sound: String = connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    assert!(events(&home).iter().any(|text| text.contains("log was removed")), "{:?}", events(&home));
}

#[test]
fn a_session_that_others_let_wait_for_its_turn_has_no_trouble_and_loses_nothing() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    assert!(journal.drained(Duration::from_secs(10)));
    let turn = FilingTurn::take(&home.history_db(), Duration::from_secs(10)).unwrap();
    for _ in 0..20 {
        call(&journal, "a", "{}");
    }
    // Long enough for a wait to run out.
    assert!(!journal.drained(Duration::from_millis(700)));
    assert_eq!(journal.trouble(), None);
    drop(turn);
    assert!(journal.drained(Duration::from_secs(10)));
    assert_eq!(recorded(&home), 20);
}

use super::*;

fn settle(journal: &Journal, call: &CallRef, result: &str) {
    let mut settlement = journal.settle();
    settlement.add(call, Outcome::Ok, Duration::from_millis(3), Some(Raw::parse(result).unwrap()));
    settlement.commit();
}

fn calls(home: &Home) -> Vec<CallRow> {
    History::open_reader(home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap()
}

/// Leaves the files as a killed process would: the lease's lock is free, nothing was drained or closed.
fn killed(home: &Home, clock: &Arc<ManualClock>, work: impl FnOnce(&Journal)) -> SessionId {
    let other = Home::at(home.path().join("elsewhere"));
    prepare_home(&other).unwrap();
    // Recorded elsewhere so that its own drain cannot file it; the spool is copied before that truncates it.
    let journal = Journal::open(&other, &info("s"), clock.clone()).unwrap();
    let session = journal.session();
    work(&journal);
    fs::copy(other.spool(session), home.spool(session)).unwrap();
    fs::write(home.lease_lock(session), "").unwrap();
    journal.end(EndReason::ClientClosed);
    session
}

#[test]
fn a_session_is_in_the_history_with_everything() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let first = call(&journal, "fill", r##"{"selector":"#password","value":"hunter2"}"##);
    settle(&journal, &first, r#"{"content":[]}"#);
    let mut batch = journal.batch();
    batch.pass(b"other");
    let refused = batch.refuse(CallEntry {
        decision: Decision::Denied,
        tool: "delete",
        rule: "/tools/delete",
        reason: "not from an agent",
        ..CallEntry::default()
    });
    assert_eq!(batch.commit().admitted.lines(), b"other\n");
    clock.advance(Duration::from_secs(301));
    let later = call(&journal, "get", "{}");
    assert_eq!(running(&home)[0].command, ["npx", "--token", "[masked, 3 characters]"]);
    journal.end(EndReason::ClientClosed);

    let rows = calls(&home);
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [first.id(), refused.id(), later.id()]);
    let row = &rows[0];
    assert_eq!(
        (row.tool.as_deref(), row.decision, row.outcome),
        (Some("fill"), Decision::Allowed, Some(Outcome::Ok))
    );
    assert_eq!(row.duration, Some(Duration::from_millis(3)));
    assert_eq!((row.rule.as_deref(), row.policy.as_deref()), (Some("/default"), Some("v1")));
    let args = row.args.as_ref().unwrap();
    assert!(args.masked && !args.text.contains("hunter2") && args.bytes == 42, "{args:?}");
    assert_eq!(row.result.as_ref().unwrap().text, r#"{"content":[]}"#);
    assert_eq!((rows[1].decision, rows[1].outcome), (Decision::Denied, Some(Outcome::NotSent)));
    assert_eq!(rows[1].reason.as_deref(), Some("not from an agent"));
    assert_eq!(rows[2].outcome, Some(Outcome::Unknown), "it ended without an answer");
    assert_eq!(rows.iter().map(|row| row.run).collect::<Vec<_>>(), [1, 1, 2], "silence starts a new run");
    assert!(running(&home).is_empty() && lease::sessions(&home).is_empty(), "nothing is left behind");
    let session = &History::open_reader(&home).unwrap().sessions(9).unwrap()[0];
    assert_eq!(session.end.unwrap().1, EndReason::ClientClosed);
}

#[test]
fn what_a_killed_session_left_is_filed_once_and_closed() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let session = killed(&home, &clock, |journal| {
        let answered = call(journal, "a", "{}");
        call(journal, "b", "{}");
        settle(journal, &answered, "{}");
    });
    assert_eq!(catch_up(&home, clock.as_ref()).unwrap(), CaughtUp { live: 0, closed: 1, failed: 0 });
    let outcomes = |rows: &[CallRow]| rows.iter().map(|row| row.outcome).collect::<Vec<_>>();
    let rows = calls(&home);
    assert_eq!(outcomes(&rows), [Some(Outcome::Ok), Some(Outcome::Unknown)]);
    assert!(!home.spool(session).exists() && !home.lease_lock(session).exists());
    assert_eq!(catch_up(&home, clock.as_ref()).unwrap(), CaughtUp::default());
    assert_eq!(calls(&home), rows);
}

#[test]
fn a_spool_replayed_again_after_a_crash_before_truncation_adds_nothing() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let spool = home.path().join("kept");
    let session = killed(&home, &clock, |journal| {
        for _ in 0..5 {
            call(journal, "a", "{}");
        }
        journal.event(Event { kind: EventKind::Noise, text: "x" });
        journal.policy_seen("v1", "{}", Origin::File);
    });
    fs::copy(home.spool(session), &spool).unwrap();
    catch_up(&home, clock.as_ref()).unwrap();
    let before = calls(&home);
    // The history has it, the spool is still there: as if the machine stopped in between.
    for _ in 0..2 {
        fs::copy(&spool, home.spool(session)).unwrap();
        catch_up(&home, clock.as_ref()).unwrap();
    }
    assert_eq!(calls(&home), before);
    let history = History::open_reader(&home).unwrap();
    assert_eq!(history.events(None, 99).unwrap().len(), 1);
    assert_eq!(history.policy_text("v1", "s").unwrap().unwrap().text, "{}");
}

#[test]
fn catching_up_beside_a_live_session_loses_and_doubles_nothing() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let caught = catch_up(&home, clock.as_ref()).unwrap();
                assert_eq!((caught.closed, caught.failed), (0, 0));
            }
        });
        for _ in 0..2_000 {
            let one = call(&journal, "a", "{}");
            settle(&journal, &one, "{}");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(running(&home).len(), 1);
    journal.end(EndReason::ClientClosed);
    let rows = calls(&home);
    assert_eq!(rows.len(), 2_000);
    assert!(rows.iter().all(|row| row.outcome == Some(Outcome::Ok)));
    let seqs: std::collections::BTreeSet<u64> = rows.iter().map(|row| row.id.seq).collect();
    assert_eq!(seqs.len(), 2_000);
}

#[test]
fn what_is_forgotten_does_not_come_back_from_a_spool() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let secret = call(&journal, "a", r#"{"q":"xyzzy-plugh"}"#);
    let other = call(&journal, "b", "{}");
    let too_early = forget(&home, &Forget::Call(secret.id()), BY, clock.as_ref()).unwrap();
    assert_eq!(too_early.calls, 0, "it is still running");
    settle(&journal, &secret, r#"{"r":"xyzzy-plugh"}"#);
    let forgotten = forget(&home, &Forget::Call(secret.id()), BY, clock.as_ref()).unwrap();
    assert_eq!(forgotten.calls, 1);
    settle(&journal, &other, "{}");
    journal.end(EndReason::ClientClosed);
    assert_eq!(calls(&home).iter().map(|row| row.id).collect::<Vec<_>>(), [other.id()]);
    for entry in fs::read_dir(home.path()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = fs::read(entry.path()).unwrap();
        let found = bytes.windows(11).any(|window| window == b"xyzzy-plugh");
        assert!(!found, "{}", entry.path().display());
    }
}

#[test]
fn a_foreign_spool_and_a_lone_lease_do_no_harm() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let (foreign, lone) = (SessionId::random(), SessionId::random());
    fs::write(home.spool(foreign), b"CGSPOOL9 something newer").unwrap();
    fs::write(home.lease_lock(lone), b"").unwrap();
    fs::write(home.spool_dir().join("README"), b"").unwrap();
    let caught = catch_up(&home, clock.as_ref()).unwrap();
    assert_eq!(caught.failed, 0);
    assert!(home.spool(foreign).exists() && !home.lease_lock(lone).exists());
}

#[test]
fn a_damaged_history_is_put_aside_and_recording_goes_on() {
    for garbage in [vec![9u8; 9000], b"SQLite format 3\0".to_vec()] {
        let (_folder, home) = home();
        let clock = Arc::new(ManualClock::new());
        fs::write(home.history_db(), garbage).unwrap();
        let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
        let one = call(&journal, "a", "{}");
        settle(&journal, &one, "{}");
        journal.end(EndReason::ClientClosed);
        assert_eq!(calls(&home).len(), 1);
        let events = History::open_reader(&home).unwrap().events(None, 9).unwrap();
        assert_eq!(events[0].kind, EventKind::DatabaseMovedAside);
    }
}

#[test]
fn a_history_deleted_under_a_session_is_started_anew_and_the_gap_told() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock).unwrap();
    call(&journal, "a", "{}");
    assert!(journal.drained(Duration::from_secs(10)));
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        let _gone = fs::remove_file(home.path().join(name));
    }
    call(&journal, "b", "{}");
    journal.end(EndReason::ClientClosed);
    assert_eq!(calls(&home).len(), 1);
    let events = History::open_reader(&home).unwrap().events(None, 9).unwrap();
    assert_eq!(events[0].kind, EventKind::Gap);
}

#[test]
fn lost_counters_are_told() {
    let (_folder, home) = home();
    for name in ["limits.db", "limits.db-wal", "limits.db-shm"] {
        let _gone = fs::remove_file(home.path().join(name));
    }
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    journal.end(EndReason::ClientClosed);
    let events = History::open_reader(&home).unwrap().events(None, 9).unwrap();
    assert!(events.iter().any(|event| event.text.starts_with("the counters were lost")), "{events:?}");
}

#[test]
fn a_session_without_a_home_admits_nothing_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    // A file where the home should be.
    fs::write(home.path(), "").unwrap();
    let cause = prepare_home(&home).unwrap_err().to_string();
    let journal = Journal::without_home(&home, &info("s"), Arc::new(ManualClock::new()), cause.clone());
    let mut batch = journal.batch();
    batch.pass(b"ping");
    let call = batch.admit(intent("a", "{}"), &[], b"call").unwrap();
    let commit = batch.commit();
    assert_eq!(commit.admitted.lines(), b"ping\n");
    let (refused, refusal) = &commit.unrecorded[0];
    assert_eq!(refused.id(), call.id());
    assert_eq!(refusal.to_string(), cause);
    journal.end(EndReason::ClientClosed);
    assert!(lease::sessions(&home).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_refuses_the_call_and_the_session_lives_on() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // The limit is the process's own, and exceeding it is an error only while the signal is ignored: in a child.
    let (_folder, home) = home();
    if std::env::var_os("CALLGATE_TEST_CHILD").is_none() {
        let test = "catch_up::tests::a_full_disk_refuses_the_call_and_the_session_lives_on";
        let status = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; exec \"$0\" --exact \"$1\" --nocapture"])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .env("CALLGATE_TEST_CHILD", "1")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock).unwrap();
    call(&journal, "a", "{}");
    assert!(journal.drained(Duration::from_secs(10)));
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(200), maximum: before.maximum }).unwrap();
    let mut batch = journal.batch();
    batch.pass(b"ping");
    let intent = Intent {
        method: "tools/call",
        tool: "b",
        rpc_id: "8",
        args: None,
        client: "client",
        rule: "/default",
        policy: "v1",
        keep: Keep::Full,
        observing: false,
        would: None,
        spend: None,
        reason: "",
        asked: None,
    };
    let refused = batch.admit(intent, &[], &[b'x'; 300]).unwrap();
    let long = format!("\"{}\"", "y".repeat(400));
    batch.admit(Intent { args: Some(Raw::parse(&long).unwrap()), ..intent }, &[], b"second").unwrap();
    let commit = batch.commit();
    setrlimit(Resource::Fsize, before).unwrap();
    assert_eq!(commit.admitted.lines(), b"ping\n", "what is no call still passes");
    assert_eq!(commit.unrecorded.len(), 2);
    assert_eq!(commit.unrecorded[0].0.id(), refused.id());
    call(&journal, "c", "{}");
    journal.end(EndReason::ClientClosed);
    let tools: Vec<_> = calls(&home).into_iter().filter_map(|row| row.tool).collect();
    assert_eq!(tools, ["a", "c"]);
    let events = History::open_reader(&home).unwrap().events(None, 9).unwrap();
    assert!(
        events.iter().any(|event| event.text.starts_with("2 records could not be written")),
        "{events:?}"
    );
}

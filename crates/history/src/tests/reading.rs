use super::*;
use crate::Toward;

#[test]
fn filters_find_what_they_say_newest_last() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    for server in ["one", "two"] {
        let journal = Journal::open(&home, &info(server), clock.clone()).unwrap();
        for tool in ["alpha", "beta_1", "alpha"] {
            call(&journal, tool, &format!(r#"{{"note":"100% {server} Nadel"}}"#));
            clock.advance(Duration::from_secs(10));
        }
        let mut batch = journal.batch();
        batch.refuse(CallEntry {
            decision: Decision::Capped,
            tool: "alpha",
            reason: "too fast",
            ..CallEntry::default()
        });
        batch.commit();
        journal.end(EndReason::ClientClosed);
    }
    let history = History::open_reader(&home).unwrap();
    let found = |filter: CallFilter| history.calls(&filter, usize::MAX).unwrap().len();
    let text = |grep: &str| CallFilter { grep: Some(grep.to_owned()), ..CallFilter::default() };
    assert_eq!(found(CallFilter::default()), 8);
    assert_eq!(found(CallFilter { server: Some("one".into()), ..CallFilter::default() }), 4);
    assert_eq!(found(CallFilter { tool: Some("alpha".into()), ..CallFilter::default() }), 6);
    assert_eq!(found(CallFilter { decisions: vec![Decision::Capped.into()], ..CallFilter::default() }), 2);
    assert_eq!(found(CallFilter { client: Some("client".into()), ..CallFilter::default() }), 6);
    assert_eq!(found(CallFilter { text: Some("nadel".into()), ..CallFilter::default() }), 6);
    assert_eq!(found(text("nadel")), 6);
    assert_eq!(found(text("too fast")), 2);
    assert_eq!(
        (found(text("0% one")), found(text("beta_")), found(text("alph_"))),
        (3, 2, 0),
        "signs stand for themselves"
    );

    let page = history.calls(&CallFilter::default(), 3).unwrap();
    assert_eq!(page.len(), 3);
    assert!(page.windows(2).all(|two| two[0].rev < two[1].rev));
    let query = history.query(&CallFilter::default()).unwrap();
    let before = query.page(page[0].rev, Toward::Older, 3, None).unwrap();
    assert!(before.rows[0].rev < page[0].rev && before.rows.len() == 3);
    let since = CallFilter { since_ms: Some(page[2].at_ms), ..CallFilter::default() };
    let until = CallFilter { until_ms: Some(page[2].at_ms), ..CallFilter::default() };
    assert!(found(since.clone()) >= 1 && found(since) + found(until) == 8);
    let session = CallFilter { session: Some(page[0].session.to_string()), ..CallFilter::default() };
    assert_eq!(found(session), 4);
    assert_eq!(history.call(&page[1].id).unwrap().as_ref(), Some(&page[1]));
    let counts = history.counts(None).unwrap();
    assert_eq!(counts, Counts { calls: 8, refused: 2, open: 0, sessions: 2 });
}

#[test]
fn a_follower_sees_each_call_come_and_change() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock).unwrap();
    let one = call(&journal, "a", "{}");
    assert!(journal.drained(Duration::from_secs(10)));
    let history = History::open_reader(&home).unwrap();
    let all = CallFilter::default();
    let at = history.latest_rev().unwrap();
    let came = |from: i64, to: i64| {
        let (mut rows, told) = history.lines_changed(&all, (from + 1, to), from + 1, 100).unwrap();
        assert_eq!(told, to);
        rows.extend(history.lines_between(&all, from + 1, to).unwrap());
        rows.iter().map(|row| (row.id, row.outcome)).collect::<Vec<_>>()
    };
    assert_eq!(came(0, at), [(one.id(), None)]);
    let two = call(&journal, "b", "{}");
    journal.settle_one(&one, Outcome::Cancelled);
    journal.settle_one(&one, Outcome::Ok);
    assert!(journal.drained(Duration::from_secs(10)));
    let latest = history.latest_rev().unwrap();
    let seen = came(at, latest);
    assert_eq!(seen, [(one.id(), Some(Outcome::Cancelled)), (two.id(), None)], "the first outcome stays");
    // Also in small bites.
    let rows: usize = (0..latest).map(|at| came(at, at + 1).len()).sum();
    assert_eq!(rows, 3);
    journal.end(EndReason::Signal);
}

#[test]
fn forgetting_by_server_time_and_demo() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut times = Vec::new();
    for (server, demo) in [("one", false), ("two", false), (DEMO_SERVER, true)] {
        let journal = Journal::open(&home, &SessionInfo { demo, ..info(server) }, clock.clone()).unwrap();
        call(&journal, "a", "{}");
        journal.event(Event { kind: EventKind::Noise, text: "x" });
        journal.end(EndReason::ClientClosed);
        times.push(clock.now().wall_ms);
        clock.advance(Duration::from_secs(60));
    }
    let left =
        || History::open_reader(&home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap().len();
    assert_eq!(forget(&home, &Forget::Demo, BY, clock.as_ref()).unwrap().calls, 1);
    assert_eq!(left(), 2);
    let server = forget(&home, &Forget::Server("two".to_owned()), BY, clock.as_ref()).unwrap();
    assert_eq!((server.calls, server.events, server.sessions, server.log_emptied), (1, 1, 1, true));
    assert_eq!(forget(&home, &Forget::Before(times[0]), BY, clock.as_ref()).unwrap().calls, 0);
    assert_eq!(forget(&home, &Forget::Before(times[0] + 1), BY, clock.as_ref()).unwrap().calls, 1);
    assert_eq!(left(), 0);
}

#[test]
fn a_real_server_s_calls_that_were_marked_as_a_demonstration_do_not_go_with_it() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    for server in ["files", DEMO_SERVER] {
        let session = SessionInfo { demo: true, ..info(server) };
        let journal = Journal::open(&home, &session, clock.clone()).unwrap();
        call(&journal, "a", "{}");
        journal.event(Event { kind: EventKind::Noise, text: "x" });
        journal.end(EndReason::ClientClosed);
    }
    let gone = forget(&home, &Forget::Demo, BY, clock.as_ref()).unwrap();
    assert_eq!((gone.calls, gone.events, gone.sessions), (1, 1, 1));
    let left = History::open_reader(&home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap();
    assert_eq!(left.iter().map(|row| row.server.as_str()).collect::<Vec<_>>(), ["files"]);
}

#[test]
fn what_was_forgotten_is_a_row_that_says_who_what_and_how_much_of_each_server() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    for (server, calls) in [("one", 1), ("two", 1_200)] {
        let journal = Journal::open(&home, &info(server), clock.clone()).unwrap();
        for _ in 0..calls {
            call(&journal, "a", "{}");
        }
        journal.event(Event { kind: EventKind::Noise, text: "x" });
        journal.event(Event { kind: EventKind::Loosened, text: "x is allowed" });
        journal.end(EndReason::ClientClosed);
        clock.advance(Duration::from_secs(60));
    }
    let before = Forget::Before(clock.now().wall_ms);
    let history = || History::open_reader(&home).unwrap();
    let counts = |removed: &Removed| (removed.server.clone(), removed.calls, removed.events);
    let going: Vec<_> = history().forgettable(&before).unwrap().iter().map(counts).collect();
    assert_eq!(going, [("one".to_owned(), 1, 1), ("two".to_owned(), 1_200, 1)]);
    forget(&home, &before, BY, clock.as_ref()).unwrap();
    let rows = history().events(None, 99).unwrap();
    let kinds: Vec<EventKind> = rows.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [EventKind::Loosened, EventKind::Loosened, EventKind::Forgotten], "{rows:?}");
    assert_eq!(rows[2].origin, Some(Origin::Cli));
    let said = &rows[2].text;
    assert!(said.starts_with("ada at a terminal: 1200 calls and 1 event of two ("), "{said}");
    assert!(said.contains("; 1 call and 1 event of one ("), "{said}");
    // And once more: nothing that may go is left.
    assert_eq!(history().forgettable(&Forget::All).unwrap(), []);
    assert_eq!(forget(&home, &Forget::All, BY, clock.as_ref()).unwrap().events, 0);
    assert_eq!(history().events(None, 99).unwrap(), rows);
}

#[test]
fn a_forgetting_that_stops_halfway_has_said_what_is_gone() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    for _ in 0..1_100 {
        call(&journal, "a", "{}");
    }
    journal.end(EndReason::ClientClosed);
    let trap = "CREATE TRIGGER trap BEFORE DELETE ON calls
        WHEN (SELECT count(*) FROM calls) = 300 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    open_writer(&home, 1).unwrap().connection.execute_batch(trap).unwrap();
    forget(&home, &Forget::All, BY, clock.as_ref()).unwrap_err();
    let history = History::open_reader(&home).unwrap();
    assert_eq!(history.calls(&CallFilter::default(), usize::MAX).unwrap().len(), 600);
    let rows = history.events(None, 9).unwrap();
    assert!(rows.iter().any(|row| row.text.contains("500 calls of s (")), "{rows:?}");
}

#[test]
fn additions_of_a_newer_callgate_are_read_and_breaking_changes_refused() {
    let (_folder, home) = home();
    drop(open_writer(&home, 1).unwrap());
    let database = Connection::open(home.history_db()).unwrap();
    database.execute_batch("ALTER TABLE calls ADD COLUMN extra TEXT; PRAGMA user_version=1007").unwrap();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    call(&journal, "a", "{}");
    journal.end(EndReason::ClientClosed);
    assert_eq!(
        History::open_reader(&home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap().len(),
        1
    );
    database.execute_batch("PRAGMA user_version=2000").unwrap();
    assert!(matches!(History::open_reader(&home), Err(StoreError::Newer { .. })));
    // And a shim goes on recording: its spool is the record.
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    call(&journal, "a", "{}");
    assert!(!journal.drained(Duration::from_millis(200)));
    assert!(journal.trouble().unwrap().contains("newer Callgate"));
}

#[test]
fn the_history_gives_space_back() {
    let (_folder, home) = home();
    drop(open_writer(&home, 1).unwrap());
    let mode: i64 = Connection::open(home.history_db())
        .unwrap()
        .query_row("PRAGMA auto_vacuum", (), |row| row.get(0))
        .unwrap();
    assert_eq!(mode, 2, "incremental from the start");
}

fn tools(home: &Home) -> Vec<String> {
    let calls = History::open_reader(home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap();
    calls.into_iter().filter_map(|row| row.tool).collect()
}

#[test]
fn calls_after_a_forget_keep_their_own_tool() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let one = call(&journal, "a", "{}");
    journal.settle_one(&one, Outcome::Ok);
    assert!(journal.drained(Duration::from_secs(10)));
    forget(&home, &Forget::Call(one.id()), BY, clock.as_ref()).unwrap();
    // Somebody else takes the next id, which must not be the one that our session remembers for `a`.
    let other = Journal::open(&home, &info("s"), clock).unwrap();
    call(&other, "b", "{}");
    assert!(other.drained(Duration::from_secs(10)));
    call(&journal, "a", "{}");
    assert!(journal.drained(Duration::from_secs(10)));
    assert_eq!(tools(&home), ["b", "a"]);
    other.end(EndReason::ClientClosed);
    journal.end(EndReason::ClientClosed);
}

#[test]
fn a_name_drawn_again_is_another_session() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let who = info("s");
    let mut ids = Vec::new();
    for tool in ["old", "new"] {
        let journal = Journal::open(&home, &who, clock.clone()).unwrap();
        ids.push(call(&journal, tool, "{}").id());
        journal.end(EndReason::ClientClosed);
        clock.advance(Duration::from_secs(60));
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(tools(&home), ["old", "new"]);
    let shown = || History::open_reader(&home).unwrap().call(&ids[0]).unwrap();
    assert_eq!(shown().unwrap().tool.as_deref(), Some("new"));
    assert_eq!(History::open_reader(&home).unwrap().session_counts(who.id).unwrap(), (1, 0));
    assert_eq!(forget(&home, &Forget::Call(ids[0]), BY, clock.as_ref()).unwrap().calls, 1);
    assert_eq!((tools(&home), shown()), (vec!["old".to_owned()], None), "what is shown is what is forgotten");
}

#[test]
fn a_uri_with_a_password_is_masked_in_place_of_a_tool() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let mut batch = journal.batch();
    let uri = format!("postgres://app:s3cr3tpw@db/x?password=hunter2&{}", "y".repeat(2_000));
    batch.refuse(CallEntry { tool: &uri, rpc_id: "\"token=abcdef123\"", ..CallEntry::default() });
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let row = &History::open_reader(&home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap()[0];
    let (tool, id) = (row.tool.as_deref().unwrap(), row.rpc_id.as_deref().unwrap());
    assert!(tool.starts_with("postgres://app:[masked") && tool.len() <= 1024, "{tool}");
    assert!(
        !tool.contains("s3cr3tpw") && !tool.contains("hunter2") && !id.contains("abcdef123"),
        "{tool} {id}"
    );
}

#[test]
fn a_loosening_from_the_command_line_is_told_once() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journals = [(); 2].map(|()| Journal::open(&home, &info("s"), clock.clone()).unwrap());
    let see = |version: &str, loosened: &[&str]| {
        clock.advance(Duration::from_secs(600));
        for journal in &journals {
            journal.policy_seen(version, "{}", Origin::File);
            for text in loosened {
                journal.event_from(Event { kind: EventKind::Loosened, text }, Some(Origin::File));
            }
            assert!(journal.drained(Duration::from_secs(10)));
        }
    };
    let told = || {
        let events = History::open_reader(&home).unwrap().events(None, 99).unwrap();
        let loosened = events.into_iter().filter(|event| event.kind == EventKind::Loosened);
        loosened.map(|event| (event.text, event.origin.unwrap())).collect::<Vec<_>>()
    };
    let edit = |version| {
        clock.advance(Duration::from_secs(1));
        let loosened = ["x is allowed".to_owned()];
        let edit = PolicyEdit {
            before: None,
            version,
            server: "s",
            followers: &[],
            text: "{}",
            origin: Origin::Cli,
            summary: "x",
            loosened: &loosened,
        };
        note_edit(&home, clock.now().wall_ms, &edit).unwrap().book();
    };
    let x = |origin| ("x is allowed".to_owned(), origin);
    see("v1", &[]);
    edit("v2");
    see("v2", &["x is allowed"]);
    assert_eq!(told(), [x(Origin::Cli)], "however late a session sees it");
    see("v1", &[]);
    see("v2", &["x is allowed"]);
    assert_eq!(told(), [x(Origin::Cli), x(Origin::File), x(Origin::File)], "an old text put back is an edit");
    edit("v1");
    see("v1", &["x is allowed", "and y"]);
    let rest = told().split_off(3);
    let y = ("and y".to_owned(), Origin::File);
    assert_eq!(rest, [x(Origin::Cli), y.clone(), y], "what the command line did not do is told");
    for journal in journals {
        journal.end(EndReason::ClientClosed);
    }
}

#[test]
fn a_loosening_of_the_default_policy_is_told_once_and_never_hides_that_of_a_file() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    // One follows the default policy; the other has its own, which somebody replaces by the same text.
    let journals =
        ["follows", "own"].map(|server| Journal::open(&home, &info(server), clock.clone()).unwrap());
    let see = |version: &str, loosened: &[&str]| {
        clock.advance(Duration::from_secs(1));
        for journal in &journals {
            journal.policy_seen(version, "{}", Origin::File);
            for text in loosened {
                journal.event_from(Event { kind: EventKind::Loosened, text }, Some(Origin::File));
            }
            assert!(journal.drained(Duration::from_secs(10)));
        }
    };
    see("v1", &[]);
    clock.advance(Duration::from_secs(1));
    let edit = PolicyEdit {
        before: Some(("v1", "{}")),
        version: "v2",
        server: callgate_home::DEFAULT_SERVER,
        followers: &["follows".to_owned()],
        text: "{}",
        origin: Origin::Window,
        summary: "x is allowed",
        loosened: &["x is allowed".to_owned()],
    };
    note_edit(&home, clock.now().wall_ms, &edit).unwrap().book();
    see("v2", &["x is allowed"]);
    let history = History::open_reader(&home).unwrap();
    let events = history.events(None, 99).unwrap();
    let told: Vec<_> = events
        .iter()
        .filter(|event| event.kind == EventKind::Loosened)
        .map(|event| (event.server.as_deref().unwrap_or_default(), event.origin))
        .collect();
    assert_eq!(told, [("_default", Some(Origin::Window)), ("own", Some(Origin::File))]);
    let origin = |server: &str| history.timeline(server).unwrap().pop().map(|change| change.origin);
    assert_eq!((origin("follows"), origin("own")), (Some(Origin::Window), Some(Origin::File)));
    for journal in journals {
        journal.end(EndReason::ClientClosed);
    }
}

#[test]
fn a_call_that_is_only_observed_counts_as_made() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let mut batch = journal.batch();
    let intent = Intent {
        method: "tools/call",
        tool: "delete",
        rpc_id: "1",
        args: None,
        client: "c",
        rule: "/default",
        policy: "v1",
        keep: Keep::Full,
        observing: true,
        would: Some(("/tools/delete", "not from an agent")),
        spend: None,
        reason: "",
        asked: None,
    };
    let observed = batch.admit(intent, &[], b"x").unwrap();
    assert_eq!(batch.commit().admitted.lines(), b"x\n");
    assert!(journal.drained(Duration::from_secs(10)));
    let history = History::open_reader(&home).unwrap();
    let row = history.call(&observed.id()).unwrap().unwrap();
    assert_eq!((row.decision, row.outcome), (Decision::WouldDeny, None), "it runs");
    assert_eq!(
        (row.rule.as_deref(), row.reason.as_deref()),
        (Some("/tools/delete"), Some("not from an agent"))
    );
    assert_eq!(history.counts(None).unwrap(), Counts { calls: 1, refused: 0, open: 1, sessions: 1 });
    assert_eq!(history.session_counts(journal.session()).unwrap(), (1, 0));
    journal.end(EndReason::ClientClosed);
}

#[test]
fn a_history_of_an_older_callgate_is_read_and_written_on() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    call(&journal, "old", "{}");
    journal.end(EndReason::ClientClosed);
    let older = || {
        let database = Connection::open(home.history_db()).unwrap();
        database
            .execute_batch(
                "ALTER TABLE calls DROP COLUMN digest; ALTER TABLE sessions DROP COLUMN policy;
                 DROP TABLE policy_changes; DROP INDEX events_rev; ALTER TABLE events DROP COLUMN rev;
                 PRAGMA user_version=1000",
            )
            .unwrap();
    };
    older();
    assert_eq!(tools(&home), ["old"], "a reader brings it up to date");
    older();
    let journal = Journal::open(&home, &info("s"), clock).unwrap();
    call(&journal, "new", "{}");
    journal.end(EndReason::ClientClosed);
    assert_eq!(tools(&home), ["old", "new"]);
}

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use crate::tests::{BY, call, home, info};
use callgate_home::Home;
use callgate_home::clock::{Clock, ManualClock};
use callgate_journal::database::open_writer;
use callgate_journal::{CallEntry, EndReason, Journal};
use rusqlite::Connection;

use super::*;
use crate::{Counts, Forget, forget};

/// Fills the history with calls a second apart, of two tools; every tenth is denied.
fn fill(home: &Home, calls: i64, first_ms: i64) -> Connection {
    let connection = open_writer(home, 0).unwrap().connection;
    connection
        .execute_batch(
            "INSERT INTO sessions(id, name, server, command, started_ms, demo) VALUES (1, 'aaaaaaaa', 's', '[]', 0, 0);
             INSERT INTO contexts(id, client, policy, method, tool, decision, rule) VALUES
               (1, 'c', 'p', 'tools/call', 'one', 'allowed', '/default'),
               (2, 'c', 'p', 'tools/call', 'two', 'denied', '/tools/two');",
        )
        .unwrap();
    connection
        .execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO calls(rev, session, seq, context, run, at_ms, outcome, flags)
             SELECT i * 2, 1, i, iif(i % 10 = 0, 2, 1), 1, ?2 + i * 1000, 'ok', 0 FROM n",
            (calls, first_ms),
        )
        .unwrap();
    connection.execute("UPDATE meta SET value = ?1 WHERE key = 'rev'", [calls * 2]).unwrap();
    connection
}

#[test]
fn the_calls_since_a_time_are_found_without_a_scan() {
    let (_folder, home) = home();
    fill(&home, 50_000, 1_000_000);
    let history = History::open_reader(&home).unwrap();
    for wanted in [1, 2, 7, 1_999, 25_000, 49_999, 50_000] {
        let since = 1_000_000 + wanted * 1000;
        let rev = history.rev_before(since).unwrap();
        assert!(rev < wanted * 2 && rev >= wanted * 2 - UNEVEN - 3, "{wanted}: {rev}");
        let tallied = history.tally(rev + 1..i64::MAX, since).unwrap();
        let counts = history.counts(Some(since)).unwrap();
        let sum = |refused: Option<bool>| -> u64 {
            let of = tallied.iter().filter(|one| refused.is_none_or(|refused| one.refused == refused));
            of.map(|one| one.calls).sum()
        };
        assert_eq!((sum(None), sum(Some(true))), (counts.calls, counts.refused), "{wanted}");
    }
    assert!(history.tally(0..i64::MAX, 99_000_000).unwrap().is_empty());
    let mut plan = history
        .connection
        .prepare("EXPLAIN QUERY PLAN SELECT session FROM calls WHERE rev >= 5 AND rev < 9 AND at_ms >= 3")
        .unwrap();
    let plan: Vec<String> = plan.query_map((), |row| row.get(3)).unwrap().map(Result::unwrap).collect();
    assert!(plan.iter().any(|step| step.contains("INTEGER PRIMARY KEY")), "{plan:?}");
}

#[test]
fn an_empty_history_counts_nothing() {
    let (_folder, home) = home();
    let history = History::open_reader(&home).unwrap();
    assert_eq!(history.rev_before(5).unwrap(), 0);
    assert!(history.tally(1..i64::MAX, 0).unwrap().is_empty());
    assert!(history.lines_after(0, 5).unwrap().is_empty());
    assert_eq!(history.extent().unwrap(), (0, None));
    assert_eq!(history.counts(None).unwrap(), Counts::default());
}

#[test]
fn calls_are_tallied_by_minute_and_by_whom() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    clock.set_wall(MINUTE_MS * 1_000);
    let who = info("files");
    let journal = Journal::open(&home, &who, clock.clone()).unwrap();
    let first = call(&journal, "read", r#"{"path":"/a"}"#);
    call(&journal, "read", "{}");
    clock.advance(Duration::from_secs(61));
    call(&journal, "write", "{}");
    let mut batch = journal.batch();
    let refused =
        CallEntry { decision: Decision::Denied, tool: "write", reason: "no", ..CallEntry::default() };
    batch.refuse(CallEntry { digest: Some([1; 32]), ..refused });
    batch.commit();
    journal.settle_one(&first, Outcome::ToolError);
    assert!(journal.drained(Duration::from_secs(10)));

    let history = History::open_reader(&home).unwrap();
    let mut tallied: Vec<_> = history
        .tally(0..i64::MAX, 0)
        .unwrap()
        .into_iter()
        .map(|one| (one.server, one.tool, one.refused, one.minute_ms / MINUTE_MS, one.calls))
        .collect();
    tallied.sort();
    let expect =
        |tool: &str, refused, minute, calls| ("files".to_owned(), tool.to_owned(), refused, minute, calls);
    assert_eq!(
        tallied,
        [expect("read", false, 1_000, 2), expect("write", false, 1_001, 1), expect("write", true, 1_001, 1)]
    );

    let lines = history.lines_after(0, 10).unwrap();
    assert_eq!(lines.len(), 4);
    assert!(lines[3].has_digest && lines[3].reason.as_deref() == Some("no"));
    assert_eq!(lines[0].args.as_deref(), Some(r#"{"path":"/a"}"#));
    let again = history.lines_after(lines[1].rev, 1).unwrap();
    assert_eq!(again.iter().map(|one| one.rev).collect::<Vec<_>>(), [lines[2].rev]);

    let failures = history.failures(100).unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].tool.as_deref(), failures[0].outcome), (Some("read"), Outcome::ToolError));

    let started_ms = MINUTE_MS * 1_000;
    let numbers = |after| {
        let numbers = history.session_numbers(who.id, started_ms, after).unwrap();
        (numbers.calls, numbers.refused, numbers.last_seq)
    };
    assert_eq!((numbers(0), numbers(3), numbers(4)), ((4, 1, 4), (1, 1, 4), (0, 0, 0)));
    assert_eq!(history.last_call_of(who.id, started_ms).unwrap(), Some(clock.now().wall_ms));
    assert_eq!(history.sessions_since(started_ms + 1, 10).unwrap().len(), 1, "it still runs");
    journal.end(EndReason::ClientClosed);
    assert_eq!(history.sessions_since(started_ms + 1, 10).unwrap().len(), 0);

    callgate_journal::record_event(&home, 7, callgate_journal::EventKind::Note, None, None, "one").unwrap();
    let (events, newest) = history.events_after(0, 10).unwrap();
    assert!(!events.is_empty() && events.last().unwrap().id == newest);
    assert!(history.events_after(newest, 10).unwrap().0.is_empty());
    forget(&home, &Forget::Before(clock.now().wall_ms + 1), BY, clock.as_ref()).unwrap();
    assert_eq!(history.extent().unwrap(), (0, None));
}

/// Run by hand: `cargo test -p callgate-history -- --ignored million --nocapture`.
#[test]
#[ignore = "takes a while; for measuring"]
fn a_million_calls_are_counted_in_a_moment() {
    let (_folder, home) = home();
    fill(&home, 1_000_000, 0);
    let history = History::open_reader(&home).unwrap();
    let began = std::time::Instant::now();
    let rev = history.rev_before(999_000_000).unwrap();
    let tallied = history.tally(rev + 1..i64::MAX, 999_000_000).unwrap();
    let took = began.elapsed();
    assert_eq!(tallied.iter().map(|one| one.calls).sum::<u64>(), 1_001);
    assert!(took < Duration::from_millis(5), "{took:?}");
}

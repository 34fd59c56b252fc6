#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_home::Home;

use crate::tests::home;

use super::*;

const LONG: Duration = Duration::from_secs(600);

/// So many calls in turns: of another server, allowed, capped, of another method.
fn filled(home: &Home, calls: i64) -> History {
    let writer = callgate_journal::database::open_writer(home, 0).unwrap().connection;
    let sql = "INSERT INTO sessions(id, name, server, client, command, started_ms, demo)
                 VALUES (1, 'aaaaaa', 's', 'idle', '[]', 0, 0), (2, 'bbbbbb', 'other', 'x', '[]', 0, 0);
               INSERT INTO contexts VALUES (1, 'c', 'v', 'tools/call', 't', 'allowed', '/default'),
                 (2, 'd', 'v', 'tools/call', 't', 'capped', '/x'), (3, 'e', 'v', 'resources/read', 'r', 'denied', '/y');";
    writer.execute_batch(sql).unwrap();
    writer
        .execute(
            "INSERT INTO calls(rev, session, seq, context, run, at_ms, flags)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             SELECT i, CASE i % 4 WHEN 0 THEN 2 ELSE 1 END, i, max(i % 4, 1), 1, i * 10, 0 FROM n",
            [calls],
        )
        .unwrap();
    drop(writer);
    History::open_reader(home).unwrap()
}

#[test]
fn all_calls_of_a_server_are_counted_by_tool() {
    let (_folder, home) = home();
    let seen = filled(&home, 50_000).tools_seen("s", LONG).unwrap();
    let hits =
        ToolHits { calls: 25_000, refused: 12_500, last_ms: Some(499_980), last_refused_ms: Some(499_980) };
    assert_eq!(seen.tools, BTreeMap::from([("t".to_owned(), hits)]));
    assert_eq!((seen.clients, seen.since_ms), (["c", "d", "idle"].map(str::to_owned).to_vec(), None));
}

#[test]
fn without_time_the_newest_calls_are_counted_and_it_is_told_since_when() {
    let (_folder, home) = home();
    let seen = filled(&home, 50_000).tools_seen("s", Duration::ZERO).unwrap();
    assert_eq!(seen.since_ms, Some(300_010));
    assert_eq!(seen.tools["t"].calls, 10_000);
    assert_eq!(seen.tools["t"].last_ms, Some(499_980));
}

#[test]
fn a_history_without_calls_has_seen_nothing() {
    let (_folder, home) = home();
    let history = History::open_reader(&home).unwrap();
    assert_eq!(history.tools_seen("s", LONG).unwrap(), ToolsSeen::default());
}

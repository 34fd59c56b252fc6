#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use crate::tests::{call, home, info};
use callgate_home::Home;
use callgate_home::clock::ManualClock;
use callgate_journal::{CallEntry, EndReason, Journal};
use proptest::prelude::*;

use super::*;

const EVER: Replay<'_> = Replay { server: "s", since_ms: i64::MIN, until_ms: i64::MAX, args: true };

fn revs(history: &History, which: &Replay<'_>) -> Vec<(i64, i64)> {
    let mut seen = Vec::new();
    let each = |call: Replayed<'_>| {
        seen.push((call.at_ms, call.rev));
        ControlFlow::Continue(())
    };
    history.replay(which, each).unwrap();
    seen
}

/// A history whose rows were filed in this order, whatever their times.
fn filed(home: &Home, times: &[i64]) -> History {
    let writer = callgate_journal::database::open_writer(home, 0).unwrap().connection;
    let sql = "INSERT INTO sessions(id, name, server, command, started_ms, demo) VALUES (1, 'aaaaaa', 's', '[]', 0, 0),
                 (2, 'bbbbbb', 'other', '[]', 0, 0);
               INSERT INTO contexts VALUES (1, 'c', 'v', 'tools/call', 't', 'allowed', '/default');";
    writer.execute_batch(sql).unwrap();
    for (index, at_ms) in times.iter().enumerate() {
        let rev = i64::try_from(index).unwrap() + 1;
        writer
            .execute(
                "INSERT INTO calls(rev, session, seq, context, run, at_ms, flags) VALUES (?1, 1, ?1, 1, 1, ?2, 0)",
                (rev, at_ms),
            )
            .unwrap();
    }
    drop(writer);
    History::open_reader(home).unwrap()
}

#[test]
fn a_call_comes_back_as_it_was_recorded() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock).unwrap();
    let passed = call(&journal, "read", r#"{"path":"/a"}"#);
    journal.settle_one(&passed, Outcome::Ok);
    let secret = format!(r#"{{"password":"{}"}}"#, "hunter2hunter2");
    call(&journal, "login", &secret);
    let mut batch = journal.batch();
    batch.refuse(CallEntry { decision: Decision::Capped, tool: "read", rule: "/x", ..CallEntry::default() });
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let history = History::open_reader(&home).unwrap();
    let mut seen = Vec::new();
    history
        .replay(&EVER, |call| {
            let args = match call.args {
                ReplayedArguments::Whole(text) => text.to_owned(),
                ReplayedArguments::Lacking { lack, .. } => format!("{lack:?}"),
                other => format!("{other:?}"),
            };
            assert_eq!(call.session_end_ms, Some(call.at_ms), "the clock stands still");
            seen.push((call.id().unwrap().seq, call.tool.to_owned(), call.decision, call.outcome, args));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(
        seen,
        [
            (1, "read".to_owned(), Decision::Allowed, Some(Outcome::Ok), r#"{"path":"/a"}"#.to_owned()),
            (2, "login".to_owned(), Decision::Allowed, Some(Outcome::Unknown), "Masked".to_owned()),
            (3, "read".to_owned(), Decision::Capped, Some(Outcome::NotSent), "Absent".to_owned()),
        ]
    );
    let mut unread = 0;
    let without = Replay { args: false, ..EVER };
    history
        .replay(&without, |call| {
            unread += usize::from(call.args == ReplayedArguments::Unread);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(unread, 3);
}

#[test]
fn arguments_that_were_withheld_are_never_whole() {
    assert_eq!(arguments(None, 0), ReplayedArguments::Absent);
    assert_eq!(arguments(Some("{}"), 4 | 8), ReplayedArguments::Whole("{}"), "flags of the result");
    let withheld = ReplayedArguments::Lacking { kept: "", lack: Lack::Withheld };
    assert_eq!(arguments(None, ARGS_WITHHELD | ARGS_MASKED), withheld);
    let cut = ReplayedArguments::Lacking { kept: "{", lack: Lack::Cut };
    assert_eq!(arguments(Some("{"), ARGS_CUT | ARGS_MASKED), cut);
}

#[test]
fn a_replay_stops_when_it_is_told_to() {
    let (_folder, home) = home();
    let history = filed(&home, &[1, 2, 3]);
    let mut seen = 0;
    let each = |_: Replayed<'_>| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    history.replay(&EVER, each).unwrap();
    assert_eq!(seen, 2);
    assert_eq!(revs(&history, &Replay { since_ms: 2, until_ms: 3, ..EVER }), [(2, 2)]);
    assert_eq!(revs(&history, &Replay { server: "other", ..EVER }), []);
}

#[test]
fn tools_are_counted_by_client() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    call(&journal, "old", "{}");
    clock.advance(Duration::from_secs(60));
    let since = 1_800_000_000_000 + 60_000;
    for tool in ["b", "a", "b"] {
        call(&journal, tool, "{}");
    }
    let mut batch = journal.batch();
    let denied = CallEntry {
        decision: Decision::Denied,
        method: "tools/call",
        tool: "b",
        client: "client",
        ..CallEntry::default()
    };
    batch.refuse(denied);
    batch.refuse(CallEntry { method: "resources/read", tool: "x://y", ..denied });
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let history = History::open_reader(&home).unwrap();
    let used = |tool: &str, calls, let_through| ToolUse {
        tool: tool.to_owned(),
        client: "client".to_owned(),
        calls,
        let_through,
    };
    assert_eq!(history.tool_use("s", since).unwrap(), [used("a", 1, 1), used("b", 3, 2)]);
    assert_eq!(history.tool_use("other", since).unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Whatever the order of filing was: time first, then the order of filing.
    #[test]
    fn rows_come_in_the_order_of_time(times in prop::collection::vec(0i64..12, 0..60), since in 0i64..12) {
        let (_folder, home) = home();
        let history = filed(&home, &times);
        let mut expected: Vec<(i64, i64)> =
            times.iter().enumerate().map(|(index, at)| (*at, index as i64 + 1)).collect();
        expected.sort_unstable();
        prop_assert_eq!(revs(&history, &EVER), expected.clone());
        expected.retain(|(at, _)| *at >= since);
        prop_assert_eq!(revs(&history, &Replay { since_ms: since, ..EVER }), expected);
    }
}

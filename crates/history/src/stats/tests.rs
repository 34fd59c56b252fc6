#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use crate::tests::{call, home, info};
use callgate_home::clock::ManualClock;
use callgate_journal::{CallEntry, EndReason, Journal};
use proptest::prelude::*;

use super::*;

#[test]
fn calls_refusals_and_failures_are_counted_by_server_and_tool() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    for server in ["one", "two"] {
        let journal = Journal::open(&home, &info(server), clock.clone()).unwrap();
        for (tool, outcome) in [("a", Outcome::Ok), ("a", Outcome::ToolError), ("b", Outcome::Ok)] {
            let made = call(&journal, tool, r#"{"x":1}"#);
            clock.advance(Duration::from_millis(10));
            journal.settle_one(&made, outcome);
        }
        let mut batch = journal.batch();
        batch.refuse(CallEntry {
            decision: Decision::Denied,
            method: "tools/call",
            tool: "a",
            ..CallEntry::default()
        });
        batch.commit();
        journal.end(EndReason::ClientClosed);
    }
    let history = History::open_reader(&home).unwrap();
    let which = CallFilter { server: Some("two".to_owned()), ..CallFilter::default() };
    let stats = history.stats(&which).unwrap();
    let told: Vec<_> =
        stats.iter().map(|one| (one.tool.as_str(), one.calls, one.refused, one.failed)).collect();
    assert_eq!(told, [("a", 3, 1, 1), ("b", 1, 0, 0)]);
    assert!(stats[0].bytes >= 14 && stats[0].first_ms <= stats[0].last_ms && stats[0].p95.is_some());
    assert_eq!(history.stats(&CallFilter::default()).unwrap().len(), 4);
}

#[test]
fn statistics_of_a_search_count_only_what_it_finds() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    for word in ["hay", "needle", "hay"] {
        call(&journal, "a", &format!(r#"{{"x":"{word}"}}"#));
    }
    journal.end(EndReason::ClientClosed);
    let history = History::open_reader(&home).unwrap();
    let of = |text: &str| {
        let found = history.stats(&CallFilter { text: Some(text.to_owned()), ..CallFilter::default() });
        found.unwrap().iter().map(|one| one.calls).collect::<Vec<_>>()
    };
    assert_eq!((of("needle"), of("hay"), of("straw")), (vec![1], vec![2], vec![]));
}

proptest! {
    #[test]
    fn a_percentile_is_within_two_of_a_hundred_of_the_true_one(
        mut all in prop::collection::vec(0_u64..10_000_000_000, 1..200), percent in 1_u64..=100,
    ) {
        let mut times = Times::default();
        all.iter().for_each(|micros| times.add(*micros));
        all.sort_unstable();
        let place = (all.len() as u64 * percent).div_ceil(100) as usize;
        let (told, truth) = (times.below(percent).unwrap().as_micros() as f64, all[place - 1] as f64);
        prop_assert!((told - truth).abs() <= truth * 0.02 + 0.5, "{told} {truth}");
    }
}

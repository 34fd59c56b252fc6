//! Runs: where they end, and which of them a filter shows.

use std::time::Duration;

use super::super::runs::{Effort, matching_within};
use super::*;

#[test]
fn runs_end_with_a_pause_and_come_newest_first() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let minute = 60_000;
    let one = session(&mut seeder, "aaaaaa", "one", 0);
    let two = session(&mut seeder, "bbbbbb", "two", 0);
    // (session, minute, tool, decision)
    let calls = [
        (one, 0, "a", Decision::Allowed),
        (one, 5, "b", Decision::Denied),
        (two, 6, "x", Decision::Allowed),
        (one, 14, "b", Decision::Allowed),
        (one, 25, "a", Decision::Allowed),
        (two, 26, "x", Decision::Allowed),
    ];
    for (seq, (session, at, tool, decision)) in calls.into_iter().enumerate() {
        let call = SeedCall {
            session,
            seq: seq as u64,
            tool,
            decision,
            client: "c",
            at_ms: at * minute,
            ..SeedCall::default()
        };
        seeder.call(&call).unwrap();
    }
    seeder.keep().unwrap();
    let told = |runs: Vec<crate::view::Run>| -> Vec<_> {
        runs.into_iter()
            .map(|run| (run.server, run.started_ms / minute, run.ended_ms / minute, run.calls, run.refused))
            .collect()
    };
    let runs = fixture.desk.runs(None, 10).unwrap();
    assert_eq!(runs[3].tools, ["b", "a"], "the most used first");
    assert_eq!(
        told(runs),
        [
            ("two".to_owned(), 26, 26, 1, 0),
            ("one".to_owned(), 25, 25, 1, 0),
            ("two".to_owned(), 6, 6, 1, 0),
            ("one".to_owned(), 0, 14, 3, 1),
        ]
    );
    let before = fixture.desk.runs(Some(25 * minute), 1).unwrap();
    assert_eq!(told(before), [("two".to_owned(), 6, 6, 1, 0)]);
}

#[test]
fn a_run_that_is_longer_than_what_is_looked_at_is_shown_once() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    for seq in 1..=200 {
        // A pause, and another run.
        let at_ms = seq as i64 * 1_000 + if seq > 150 { 3_600_000 } else { 0 };
        let call = SeedCall { session: key, seq, tool: "t", client: "c", at_ms, ..SeedCall::default() };
        seeder.call(&call).unwrap();
    }
    seeder.keep().unwrap();
    let history = History::open_reader(&fixture.home).unwrap();
    let filter = CallFilter { tool: Some("t".to_owned()), ..CallFilter::default() };
    for around in [5, 40, 1_000] {
        let (mut runs, mut before) = (Vec::new(), None);
        loop {
            // As long as it takes: where a page ends is not to hang on how busy the machine is.
            let effort = Effort { around, patience: Duration::from_secs(3_600) };
            let page = matching_within(&history, &filter, before, 10, effort).unwrap();
            runs.extend(page.runs.iter().map(|run| (run.started_ms, run.ended_ms)));
            before = page.older;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(runs, [(3_751_000, 3_800_000), (1_000, 150_000)], "{around} around each");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_run_is_shown_if_and_only_if_a_call_in_it_matches(
        calls in prop::collection::vec((0..3_usize, 0..2_usize, 0..4_usize, 0..9_i64, prop::bool::ANY), 1..60),
        count in 1..4_u32,
        index in prop::bool::ANY,
        (tool, since) in (0..4_usize, prop::option::of(0..120_i64)),
    ) {
        let fixture = fixture();
        let mut seeder = Seeder::open(&fixture.home).unwrap();
        let keys = ["aaaaaa", "bbbbbb", "cccccc"].map(|name| session(&mut seeder, name, name, 0));
        let (clients, tools, mut now) = (["c", "d"], ["t", "u", "v", "w"], 0);
        for (seq, (of, client, tool, minutes, refused)) in calls.iter().enumerate() {
            now += minutes * 60_000 * 2;
            let decision = if *refused { Decision::Denied } else { Decision::Allowed };
            let (session, client, tool) = (keys[*of], clients[*client], tools[*tool]);
            let call = SeedCall { session, seq: seq as u64, tool, client, decision, at_ms: now, ..SeedCall::default() };
            seeder.call(&call).unwrap();
        }
        seeder.keep().unwrap();
        if index {
            while fixture.desk.index_step().unwrap() {}
        }
        let filter = CallFilter {
            tool: Some(tools[tool].to_owned()),
            decisions: vec![crate::view::Decision::Denied],
            since_ms: since.map(|minutes| minutes * 60_000),
            ..CallFilter::default()
        };
        let hits: Vec<CallLine> = all_pages(&fixture.desk, &filter, &PageFrom::Newest, 1_000, true)
            .into_iter()
            .filter_map(|entry| match entry {
                LogEntry::Call(line) => Some(line),
                _ => None,
            })
            .collect();
        let matches = |run: &crate::view::Run| {
            let history = History::open_reader(&fixture.home).unwrap();
            hits.iter().any(|hit| {
                // A line may stand for several.
                let lines = history.lines_between(&CallFilter::default(), hit.first_rev, hit.rev);
                lines.unwrap().iter().any(|line| {
                    line.tool == hit.tool
                        && line.decision.is_refused()
                        && since.is_none_or(|since| line.at_ms >= since * 60_000)
                        && line.id.session.to_string() == run.session
                        && line.client == run.client
                        && (run.started_ms..=run.ended_ms).contains(&line.at_ms)
                })
            })
        };
        let sorted = |mut runs: Vec<crate::view::Run>| {
            runs.sort_by_key(|run| (run.session.clone(), run.client.clone(), run.started_ms));
            runs
        };
        let all = fixture.desk.runs(None, 200).unwrap();
        let expected = sorted(all.into_iter().filter(|run| matches(run)).collect());
        let (mut shown, mut before) = (Vec::new(), None);
        loop {
            let page = fixture.desk.runs_matching(&filter, before, count).unwrap();
            prop_assert!(page.runs.len() <= count as usize);
            shown.extend(page.runs);
            before = page.older;
            if before.is_none() {
                break;
            }
        }
        prop_assert_eq!(sorted(shown), expected);
    }
}

#[test]
fn a_run_says_how_many_tools_it_used_and_what_failed_in_it() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let session = session(&mut seeder, "aaaaaa", "s", 0);
    for (seq, outcome) in Outcome::ALL.iter().enumerate() {
        let tool = ["a", "b", "c", "d", "e"][seq % 5];
        let call = SeedCall {
            session,
            seq: seq as u64,
            tool,
            client: "c",
            at_ms: seq as i64,
            outcome: Some(*outcome),
            ..SeedCall::default()
        };
        seeder.call(&call).unwrap();
    }
    seeder.keep().unwrap();
    let failed = CallFilter { failed: true, ..CallFilter::default() };
    for indexed in [false, true] {
        while indexed && fixture.desk.index_step().unwrap() {}
        let runs = fixture.desk.runs_matching(&failed, None, 10).unwrap().runs;
        assert_eq!((runs.len(), runs[0].tools.len(), runs[0].tool_count), (1, 3, 5));
        // Neither what was refused nor what the client or a person gave up.
        assert_eq!(runs[0].failed, Outcome::ALL.len() as u64 - 4);
        let page = fixture.desk.log_page(&failed, &PageFrom::Newest, 100).unwrap();
        assert_eq!(page.entries.len() as u64, runs[0].failed);
    }
}

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod access;
mod follow;
mod indexed;
mod lines;
mod runs;

use std::collections::BTreeMap;
use std::sync::Arc;

use callgate_history::{CallRow, Forget, History, Words, forget};
use callgate_home::clock::{Clock, ManualClock};
use callgate_home::{Home, SessionId};
use callgate_journal::{Decision, EndReason, EventKind, Origin, Outcome};
use callgate_seed::{SeedCall, SeedSession, Seeder};
use proptest::prelude::*;

use crate::Desk;
use crate::testing::BY;
use crate::view::{CallFilter, CallLine, LogEntry, Only, PageFrom};

pub(super) struct Fixture {
    pub(super) folder: tempfile::TempDir,
    pub(super) home: Home,
    pub(super) desk: Desk,
    pub(super) clock: Arc<ManualClock>,
}

pub(super) fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    callgate_controls::prepare_home(&home).unwrap();
    let clock = Arc::new(ManualClock::new());
    let desk = Desk::new(home.clone(), clock.clone(), Origin::Window);
    Fixture { folder, home, desk, clock }
}

pub(super) fn session(seeder: &mut Seeder, name: &str, server: &str, at_ms: i64) -> i64 {
    let name: SessionId = name.parse().unwrap();
    let end = Some((at_ms + 1, EndReason::ClientClosed));
    let made = SeedSession { name, server, client: None, command: "[]", started_ms: at_ms, end, demo: false };
    seeder.session(&made).unwrap()
}

/// Something that a made-up history holds.
#[derive(Clone, Debug)]
enum Step {
    Call {
        session: usize,
        client: usize,
        tool: usize,
        decision: usize,
        words: Vec<usize>,
        running: bool,
        late: bool,
    },
    Settle {
        which: usize,
        words: Vec<usize>,
    },
    Event {
        kind: usize,
        server: usize,
    },
    Change {
        server: usize,
    },
    /// Numbers that are left out: over spans and shards.
    Skip(i64),
}

const NAMES: [&str; 3] = ["aaaaaa", "bbbbbb", "cccccc"];
const SERVERS: [&str; 3] = ["one", "two", "one"];
const CLIENTS: [&str; 2] = ["c", "d"];
const TOOLS: [&str; 4] = ["open_page", "getUserName", "delete", "x\"y*"];
const DECISIONS: [Decision; 4] = [Decision::Allowed, Decision::Denied, Decision::Capped, Decision::WouldDeny];
const WORDS: [&str; 6] = ["Nadel", "heu", "heuhaufen", "https://example.com/a", "größe", "日本"];

fn step() -> impl Strategy<Value = Step> {
    let words = || prop::collection::vec(0..WORDS.len(), 0..3);
    prop_oneof![
        12 => (0..3_usize, 0..2_usize, 0..4_usize, 0..4_usize, words(), prop::bool::weighted(0.1), prop::bool::weighted(0.1))
            .prop_map(|(session, client, tool, decision, words, running, late)| Step::Call {
                session, client, tool, decision, words, running, late
            }),
        3 => (1..9_usize).prop_map(|_| Step::Call {
            session: 0, client: 0, tool: 2, decision: 2, words: vec![], running: false, late: false
        }),
        2 => (0..50_usize, words()).prop_map(|(which, words)| Step::Settle { which, words }),
        1 => (0..3_usize, 0..2_usize).prop_map(|(kind, server)| Step::Event { kind, server }),
        1 => (0..2_usize).prop_map(|server| Step::Change { server }),
        1 => prop_oneof![Just(1_i64), Just(700), Just(40_000), Just(70_000)].prop_map(Step::Skip),
    ]
}

struct Story {
    sessions: Vec<i64>,
    seqs: [u64; 3],
    open: Vec<i64>,
    at_ms: i64,
}

impl Story {
    fn new(seeder: &mut Seeder) -> Story {
        let sessions =
            NAMES.iter().zip(SERVERS).map(|(name, server)| session(seeder, name, server, 1_000)).collect();
        Story { sessions, seqs: [0; 3], open: Vec::new(), at_ms: 1_000 }
    }

    fn tell(&mut self, seeder: &mut Seeder, step: &Step) {
        self.at_ms += 1_000;
        let text = |words: &[usize]| words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" / ");
        match step {
            Step::Call { session, client, tool, decision, words, running, late } => {
                self.seqs[*session] += 1;
                let decision = DECISIONS[*decision];
                let refused = decision.is_refused();
                let outcome = match (refused, running) {
                    (true, _) => Some(Outcome::NotSent),
                    (false, true) => None,
                    // Some of every kind, by what there is to choose by.
                    (false, false) => Some(Outcome::ALL[words.iter().sum::<usize>() % Outcome::ALL.len()]),
                };
                let args = format!(r#"{{"q":"{}"}}"#, text(words));
                let call = SeedCall {
                    session: self.sessions[*session],
                    seq: self.seqs[*session],
                    at_ms: if *late { self.at_ms - 5_500 } else { self.at_ms },
                    client: CLIENTS[*client],
                    tool: TOOLS[*tool],
                    decision,
                    rule: "/x",
                    reason: if refused { "too much of it" } else { "" },
                    outcome,
                    args: Some(&args),
                    ..SeedCall::default()
                };
                let rev = seeder.call(&call).unwrap();
                if outcome.is_none() {
                    self.open.push(rev);
                }
            }
            Step::Settle { which, words } => {
                if !self.open.is_empty() {
                    let rev = self.open.swap_remove(which % self.open.len());
                    let outcome = [Outcome::Ok, Outcome::ToolError, Outcome::Cancelled][words.len() % 3];
                    seeder.settle(rev, outcome, 5, &format!(r#"{{"r":"{}"}}"#, text(words))).unwrap();
                }
            }
            Step::Event { kind, server } => {
                let kind = [EventKind::Paused, EventKind::Swept, EventKind::Noise][*kind];
                seeder.event(self.at_ms, kind, Some(SERVERS[*server]), None, "heu was swept").unwrap();
            }
            Step::Change { server } => {
                let version = format!("v{}", self.at_ms);
                let text = (version.as_str(), "{}");
                seeder
                    .change(self.at_ms, SERVERS[*server], text, Some("v0"), Origin::Cli, "delete is capped")
                    .unwrap();
            }
            Step::Skip(revs) => seeder.skip(*revs),
        }
    }
}

fn filter() -> impl Strategy<Value = CallFilter> {
    let of = |from: &'static [&'static str]| prop_oneof![3 => Just(None), 1 => (0..from.len()).prop_map(move |at| Some(from[at].to_owned()))];
    let text = prop_oneof![
        4 => Just(None),
        3 => prop::sample::select(vec!["nadel", "heu", "heuh", "heu ", "example com", "user", "größ", "日", "too muc", "delete heu", "\"x* OR y", "nothing"])
            .prop_map(|text| Some(text.to_owned())),
    ];
    let time = || prop_oneof![3 => Just(None), 1 => (0_i64..60_000).prop_map(Some)];
    let only = prop_oneof![4 => Just(None), 1 => Just(Some(Only::Calls)), 1 => Just(Some(Only::Changes)), 1 => Just(Some(Only::Events))];
    let failed = prop_oneof![4 => Just(false), 1 => Just(true)];
    let decisions = prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec![Decision::Capped.into()]),
        1 => Just(vec![Decision::Denied.into(), Decision::Capped.into()]),
    ];
    (text, of(&SERVERS), of(&CLIENTS), of(&TOOLS), decisions, of(&NAMES), time(), time(), (only, failed))
        .prop_map(|(text, server, client, tool, decisions, session, since_ms, until_ms, (only, failed))| {
            CallFilter {
                text,
                server,
                client,
                tool,
                decisions,
                failed,
                session,
                since_ms,
                until_ms,
                only,
                ..CallFilter::default()
            }
        })
}

/// A call by its number, and which refusals it may be one line with.
type Expected = (i64, Option<String>);

/// The same question, answered by looking at every call.
fn naive(history: &History, filter: &CallFilter) -> Vec<Expected> {
    let words = filter.text.as_deref().and_then(Words::of);
    let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    let matches = |call: &CallRow| {
        let decision: crate::view::Decision = call.decision.into();
        let body = |body: &Option<callgate_history::BodyRow>| body.as_ref().map(|body| body.text.clone());
        let texts = [call.tool.clone(), call.reason.clone(), body(&call.args), body(&call.result)];
        let text = texts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        is(&filter.server, &call.server)
            && is(&filter.client, call.client.as_deref().unwrap_or_default())
            && is(&filter.tool, call.tool.as_deref().unwrap_or_default())
            && is(&filter.session, &call.session.to_string())
            && (filter.decisions.is_empty() || filter.decisions.contains(&decision))
            && (!filter.failed || call.outcome.is_some_and(Outcome::is_failed))
            && filter.since_ms.is_none_or(|since| call.at_ms >= since)
            && filter.until_ms.is_none_or(|until| call.at_ms < until)
            && words.as_ref().is_none_or(|words| words.are_in_text(&text))
            && filter.only.is_none_or(|only| only == Only::Calls)
    };
    history
        .calls(&CallFilter::default(), usize::MAX)
        .unwrap()
        .iter()
        .filter(|call| matches(call))
        .map(|call| {
            let key = super::fold::fold_key(
                call.session,
                call.decision,
                call.rule.as_deref(),
                call.reason.as_deref(),
            );
            (call.rev, key)
        })
        .collect()
}

/// Each line, and how many calls it stands for.
fn spans(entries: &[LogEntry]) -> Vec<(i64, i64, u32)> {
    let span = |line: &CallLine| (line.first_rev, line.rev, line.times);
    entries
        .iter()
        .filter_map(|entry| if let LogEntry::Call(line) = entry { Some(span(line)) } else { None })
        .collect()
}

fn beside(entries: &[LogEntry]) -> Vec<i64> {
    let rev = |entry: &LogEntry| match entry {
        LogEntry::Call(_) => None,
        other => Some(super::line::rev(other)),
    };
    entries.iter().filter_map(rev).collect()
}

/// Does every call stand in exactly one line, and lines in the order in which they began?
fn covers(entries: &[LogEntry], expected: &[Expected]) {
    let mut left: BTreeMap<i64, &Option<String>> = expected.iter().map(|(rev, key)| (*rev, key)).collect();
    for entry in entries {
        let LogEntry::Call(line) = entry else { continue };
        let span = line.first_rev..=line.rev;
        let mine: Vec<i64> =
            left.range(span).filter(|(_, key)| ***key == line.fold_key).map(|(rev, _)| *rev).collect();
        assert_eq!(mine.len(), line.times as usize, "line {line:?} of {:?}", spans(entries));
        assert_eq!((mine.first(), mine.last()), (Some(&line.first_rev), Some(&line.rev)));
        left.retain(|rev, _| !mine.contains(rev));
    }
    assert!(left.is_empty(), "left out: {left:?}; lines {:?}", spans(entries));
    assert!(entries.is_sorted_by_key(super::line::first));
}

fn all_pages(desk: &Desk, filter: &CallFilter, first: &PageFrom, count: u32, older: bool) -> Vec<LogEntry> {
    let mut entries: Vec<LogEntry> = Vec::new();
    let mut from = first.clone();
    for _ in 0..10_000 {
        let page = desk.log_page(filter, &from, count).unwrap();
        let next = if older { page.older } else { page.newer };
        if older {
            entries.splice(0..0, page.entries);
        } else {
            entries.extend(page.entries);
        }
        from = match next {
            None => return entries,
            Some(rev) if older => PageFrom::Before { rev },
            Some(rev) => PageFrom::After { rev },
        };
    }
    panic!("pages never end: {filter:?}");
}

fn index_some(desk: &Desk, steps: u32) {
    for _ in 0..steps {
        if !desk.index_step().unwrap() {
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_in_any_direction_hold_exactly_what_matches_once_and_in_order(
        before in prop::collection::vec(step(), 0..40),
        after in prop::collection::vec(step(), 0..30),
        indexed in 0..4_u32,
        filters in prop::collection::vec(filter(), 4),
        count in 1..7_u32,
        near in 0..200_000_i64,
    ) {
        let fixture = fixture();
        let mut seeder = Seeder::open(&fixture.home).unwrap();
        let mut story = Story::new(&mut seeder);
        before.iter().for_each(|step| story.tell(&mut seeder, step));
        seeder.keep().unwrap();
        // As far as it gets: none, some or all of the first half.
        index_some(&fixture.desk, indexed * indexed);
        after.iter().for_each(|step| story.tell(&mut seeder, step));
        seeder.keep().unwrap();
        for filter in filters {
            let history = History::open_reader(&fixture.home).unwrap();
            let expected = naive(&history, &filter);
            let older = all_pages(&fixture.desk, &filter, &PageFrom::Newest, count, true);
            covers(&older, &expected);
            let newer = all_pages(&fixture.desk, &filter, &PageFrom::After { rev: -1 }, count, false);
            covers(&newer, &expected);
            prop_assert_eq!(beside(&older), beside(&newer));
            // A jump, and from there to both ends.
            let page = fixture.desk.log_page(&filter, &PageFrom::Near { rev: near }, count).unwrap();
            let mut around = page.entries.clone();
            if let Some(rev) = page.older {
                around.splice(0..0, all_pages(&fixture.desk, &filter, &PageFrom::Before { rev }, count, true));
            }
            if let Some(rev) = page.newer {
                around.extend(all_pages(&fixture.desk, &filter, &PageFrom::After { rev }, count, false));
            }
            covers(&around, &expected);
            prop_assert_eq!(beside(&around), beside(&older));
            // And so many are counted.
            let mut told = Vec::new();
            fixture.desk.log_count(&filter, &|| false, &mut |count| told.push(count)).unwrap();
            let last = told.last().unwrap();
            prop_assert!(last.done);
            prop_assert_eq!(last.calls, expected.len() as u64);
            prop_assert_eq!((last.oldest_rev, last.newest_rev), (expected.first().map(|call| call.0), expected.last().map(|call| call.0)));
            let bars: u64 = last.bars.iter().map(|bar| u64::from(bar.passed + bar.refused + bar.capped)).sum();
            prop_assert_eq!(bars, last.calls);
        }
    }

    #[test]
    fn a_page_and_what_follows_it_lose_nothing_and_show_nothing_twice(
        before in prop::collection::vec(step(), 0..30),
        batches in prop::collection::vec(prop::collection::vec(step(), 0..12), 1..5),
        filter in filter(),
    ) {
        let fixture = fixture();
        let mut seeder = Seeder::open(&fixture.home).unwrap();
        let mut story = Story::new(&mut seeder);
        // A step over more numbers than are followed one by one is told as skipped; not here.
        let small = |step: &&Step| !matches!(step, Step::Skip(revs) if *revs > 1_000);
        before.iter().for_each(|step| story.tell(&mut seeder, step));
        seeder.keep().unwrap();
        let page = fixture.desk.log_page(&filter, &PageFrom::Newest, 1_000).unwrap();
        prop_assert_eq!(page.older, None);
        let mut follower = fixture.desk.follow(&filter, page.rev).unwrap();
        // What a window would show, by the first number of each line.
        let mut shown: BTreeMap<i64, LogEntry> = BTreeMap::new();
        let mut show = |entries: Vec<LogEntry>| {
            for entry in entries {
                if let LogEntry::Call(line) = &entry {
                    let same = |known: &LogEntry| matches!(known, LogEntry::Call(known) if known.session == line.session);
                    let known = shown.range(line.first_rev..=line.rev).filter(|(_, known)| same(known));
                    let given_way: Vec<i64> = known.map(|(rev, _)| *rev).collect();
                    given_way.iter().for_each(|rev| drop(shown.remove(rev)));
                    shown.insert(line.first_rev, entry);
                } else {
                    assert!(shown.insert(super::line::rev(&entry), entry).is_none(), "shown twice");
                }
            }
        };
        show(page.entries);
        for batch in &batches {
            batch.iter().filter(small).for_each(|step| story.tell(&mut seeder, step));
            seeder.keep().unwrap();
            while let Some(batch) = follower.next().unwrap() {
                prop_assert_eq!(batch.skipped, 0);
                show(batch.entries);
            }
        }
        // Words of a result that came later: whoever was not shown as running is found now, and nobody disappears.
        let history = History::open_reader(&fixture.home).unwrap();
        let expected = naive(&history, &filter);
        let entries: Vec<LogEntry> = shown.into_values().collect();
        covers(&entries, &expected);
        let all = all_pages(&fixture.desk, &filter, &PageFrom::Newest, 50, true);
        prop_assert_eq!(beside(&entries), beside(&all));
        let outcomes = |entries: &[LogEntry]| -> Vec<_> {
            entries.iter().filter_map(|entry| match entry {
                // What was refused ends in one way; which of it is one line depends on where one comes from.
                LogEntry::Call(line) if !line.refused => Some((line.rev, line.outcome)),
                _ => None,
            }).collect()
        };
        prop_assert_eq!(outcomes(&entries), outcomes(&all), "each as it is now");
    }
}

//! How long judging and reviewing take, as lines of `what<TAB>unit<TAB>figure`; the bench shows them in its tables.
//!
//! ```text
//! review_time judge                 nanoseconds a call, by the size of the policy
//! review_time fill FOLDER CALLS     makes a home with a history of so many calls, through the real writer
//! review_time simulate FOLDER       replays it: seconds, rows a second, peak memory of this process
//! review_time suggest FOLDER        drafts a policy from it
//! ```
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a measuring program")]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_history::History;
use callgate_home::clock::{Clock, ManualClock};
use callgate_home::{Home, SessionId};
use callgate_journal::{EndReason, Intent, Journal, Outcome, SessionInfo};
use callgate_policy::{
    AsWritten, Call, Circumstances, Judgement, NoRecordings, Policy, Unused, Waived, decide,
};
use callgate_protocol::json::Raw;
use callgate_review::{MARGIN, SuggestionRequest, simulate, suggest};

const SERVER: &str = "shop";
const TOOLS: usize = 91;
const CLIENTS: [&str; 4] = ["claude", "cursor", "zed", "codex"];
const GROUP: usize = 16;
const WEEK_MS: u64 = 7 * 86_400_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["judge"] => judge(),
        ["fill", folder, calls] => fill(Path::new(folder), calls.parse().expect("a number of calls")),
        ["simulate", folder] => replay(Path::new(folder)),
        ["suggest", folder] => draft(Path::new(folder)),
        _ => println!("usage: review_time judge | fill FOLDER CALLS | simulate FOLDER | suggest FOLDER"),
    }
}

fn line(what: &str, unit: &str, figure: f64) {
    println!("{what}\t{unit}\t{figure:.3}");
}

/// A third of the tools plain, a third limited, a third with a condition; every call is limited with all others.
fn policy(tools: usize) -> Policy {
    let rules: Vec<String> = (0..tools)
        .map(|i| match i % 3 {
            0 => format!(r#""shop_tool_{i}": {{}}"#),
            1 => format!(
                r#""shop_tool_{i}": {{"limits": [{{"counter": "c{i}", "window": "minute", "max": 300, "scope": "grant"}}]}}"#
            ),
            _ => format!(
                r#""shop_tool_{i}": {{"deny_if": [{{"path": "args.url", "op": "regex", "value": "^file:"}}]}}"#
            ),
        })
        .collect();
    let text = format!(
        r#"{{"version": "1", "default": "deny", "hide": ["h"],
            "all_tools": {{"limits": [{{"counter": "all", "window": "hour", "max": 100000, "scope": "session"}}]}},
            "tools": {{{}}}}}"#,
        rules.join(",")
    );
    let mut policy = Policy::parse(&text).expect("a good policy");
    policy.guard_home("/home/someone/.callgate", None);
    policy
}

fn judge() {
    let args =
        Raw::parse(r##"{"url":"https://example.com/a/b?c=d","selector":"#main > div.item"}"##).expect("JSON");
    for tools in [10, 100, 10_000] {
        let policy = policy(tools);
        let call = Call::tool("claude", "shop_tool_2", Some(args));
        let circumstances = Circumstances {
            now_ms: 0,
            files: &AsWritten,
            recordings: &NoRecordings,
            waived: Waived::Nothing,
        };
        let judged = best(|| matches!(policy.judge(black_box(&call), &circumstances), Judgement::Pass(_)));
        line(&format!("judge a call, policy of {tools} tools"), "ns", judged);
        let decided = best(|| decide(&policy, black_box(&call), &circumstances, &Unused).decision.allows());
        line(&format!("decide with its why, policy of {tools} tools"), "ns", decided);
    }
}

/// Nanoseconds of the fastest of many short runs: what it costs when nothing else wants the processor.
fn best(mut once: impl FnMut() -> bool) -> f64 {
    let rounds = 5_000u32;
    let run = |once: &mut dyn FnMut() -> bool| {
        let start = Instant::now();
        for _ in 0..rounds {
            assert!(once(), "an ordinary call passes");
        }
        start.elapsed().as_nanos() as f64 / f64::from(rounds)
    };
    (0..60).map(|_| run(&mut once)).fold(f64::INFINITY, f64::min)
}

/// Four clients take turns over a week, each with its own session and its own way into the history.
fn fill(folder: &Path, calls: usize) {
    let home = Home::at(folder);
    callgate_controls::prepare_home(&home).expect("a home");
    let clock = Arc::new(ManualClock::new());
    let journals: Vec<Journal> = CLIENTS
        .iter()
        .map(|client| {
            let who = SessionInfo {
                id: SessionId::random(),
                server: SERVER.to_owned(),
                client: Some((*client).to_owned()),
                command: vec!["server".to_owned()],
                policy_version: None,
                watch_only: false,
                demo: false,
                secrets: Vec::new(),
            };
            Journal::open(&home, &who, clock.clone()).expect("a session")
        })
        .collect();
    let groups = calls.div_ceil(GROUP);
    let pause = Duration::from_millis(WEEK_MS / groups.max(1) as u64);
    let result =
        Raw::parse(r#"{"content":[{"type":"text","text":"done: 3 items, nothing left to do for now"}]}"#)
            .expect("JSON");
    for group in 0..groups {
        let (journal, client) = (&journals[group % CLIENTS.len()], CLIENTS[group % CLIENTS.len()]);
        let mut batch = journal.batch();
        let mut open = Vec::with_capacity(GROUP);
        for number in group * GROUP..calls.min((group + 1) * GROUP) {
            let args = format!(
                r#"{{"url":"https://shop.example/items/{number}","selector":"item-{}","path":"/home/me/work/{}.txt"}}"#,
                number % 977,
                number % 31
            );
            let intent = Intent {
                method: "tools/call",
                tool: &format!("shop_tool_{}", number % TOOLS),
                rpc_id: &number.to_string(),
                args: Some(Raw::parse(&args).expect("JSON")),
                client,
                rule: "/default",
                policy: "0123456789ab",
                keep: callgate_policy::Keep::Full,
                observing: false,
                would: None,
                spend: None,
                reason: "",
                asked: None,
            };
            open.push(batch.admit(intent, &[], b"x").expect("no limits"));
        }
        assert!(batch.commit().unrecorded.is_empty(), "everything is on record");
        let mut settlement = journal.settle();
        for call in &open {
            settlement.add(call, Outcome::Ok, Duration::from_millis(12), Some(result));
        }
        settlement.commit();
        clock.advance(pause);
    }
    for journal in &journals {
        assert!(journal.drained(Duration::from_secs(600)), "everything is in the history");
        journal.end(EndReason::ClientClosed);
    }
    let counts = History::open_reader(&home).and_then(|history| history.counts(None)).expect("a history");
    assert_eq!(counts.calls, calls as u64, "every call is in the history");
}

fn replay(folder: &Path) {
    let history = History::open_reader(&Home::at(folder)).expect("a history");
    let policy = policy(TOOLS);
    let start = Instant::now();
    let simulation =
        simulate(&history, &policy, SERVER, 0, &AsWritten, |_| ControlFlow::Continue(())).expect("a result");
    let seconds = start.elapsed().as_secs_f64();
    let calls = simulation.calls;
    assert!(calls > 0 && simulation.untold == 0, "every call was judged");
    line(&format!("simulate {calls} calls"), "s", seconds);
    line("simulate, calls a second", "/s", calls as f64 / seconds);
    line("simulate, peak memory", "MB", peak_megabytes());
}

fn draft(folder: &Path) {
    let history = History::open_reader(&Home::at(folder)).expect("a history");
    let now_ms = ManualClock::new().now().wall_ms + WEEK_MS.cast_signed();
    let wish = SuggestionRequest {
        server: SERVER,
        since_ms: now_ms - WEEK_MS.cast_signed(),
        now_ms,
        margin: MARGIN,
        catalogue: None,
        asks: &std::collections::BTreeMap::new(),
        files: &AsWritten,
    };
    let start = Instant::now();
    let suggestion = suggest(&history, &wish).expect("a draft");
    assert!(Policy::parse(&suggestion.text).is_ok(), "a draft is a policy");
    line("suggest a policy from that history", "s", start.elapsed().as_secs_f64());
    line("suggest, peak memory", "MB", peak_megabytes());
}

/// The most that this process ever held.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

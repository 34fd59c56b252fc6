//! How long one judgement takes: `cargo run -p callgate-policy --example judge_time --release`.
#![expect(clippy::print_stdout, reason = "a measuring program")]
#![expect(clippy::expect_used, reason = "a measuring program")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use callgate_policy::{Call, Circumstances, Judgement, Policy};
use callgate_protocol::json::Raw;

fn main() {
    for tools in [10, 100, 10_000] {
        let rules: Vec<String> = (0..tools)
            .map(|i| match i % 3 {
                0 => format!("\"playwright_tool_{i}\": {{}}"),
                1 => format!(
                    "\"playwright_tool_{i}\": {{\"limits\": [{{\"counter\": \"c{i}\", \"window\": \"minute\", \"max\": 30}}]}}"
                ),
                _ => format!(
                    "\"playwright_tool_{i}\": {{\"deny_if\": [{{\"path\": \"args.url\", \"op\": \"regex\", \"value\": \"^file:\"}}]}}"
                ),
            })
            .collect();
        let rules = rules.join(",");
        let plain = policy(&rules, "");
        for (what, tool) in [("plain", 0), ("limited", 1), ("condition", 2)] {
            report(tools, what, &plain, &format!("playwright_tool_{tool}"));
        }
        let globs: Vec<String> = (0..tools).map(|i| format!("\"other_{i}_*\": {{}}")).collect();
        let globs = policy(&format!("{rules},\"playwright_*\": {{}},{}", globs.join(",")), "");
        report(tools, "beside patterns", &globs, "playwright_tool_0");
        report(tools, "by pattern", &globs, "playwright_new");
        report(tools, "by last pattern", &globs, "other_0_x");
        let clients =
            ",\"clients\": {\"claude\": {\"tools\": {\"*\": {}}}, \"cursor\": {\"default\": \"deny\"}}";
        report(tools, "with an overlay", &policy(&rules, clients), "playwright_tool_0");
    }
}

fn policy(rules: &str, more: &str) -> Policy {
    let text = format!(
        "{{\"version\": \"1\", \"default\": \"deny\", \"hide\": [\"h\"], \"all_tools\": {{\"limits\": [{{\"counter\": \"all\", \"window\": \"minute\", \"max\": 300}}]}}, \"tools\": {{{rules}}}{more}}}"
    );
    let mut policy = Policy::parse(&text).expect("a good policy");
    policy.guard_home("/home/someone/.callgate", None);
    policy
}

fn report(tools: usize, what: &str, policy: &Policy, tool: &str) {
    let args =
        Raw::parse(r##"{"url":"https://example.com/a/b?c=d","selector":"#main > div.item"}"##).expect("JSON");
    // The fastest of many short runs: what it costs when nothing else wants the processor.
    let rounds = 1_000u32;
    let run = || {
        let start = Instant::now();
        for _ in 0..rounds {
            let call = Call::tool("claude", tool, Some(args));
            let judged = policy.judge(black_box(&call), &Circumstances::timeless());
            assert!(matches!(judged, Judgement::Pass(_)), "an ordinary call passes");
        }
        start.elapsed() / rounds
    };
    let started = Instant::now();
    let mut best = Duration::MAX;
    while started.elapsed() < Duration::from_secs(1) {
        best = best.min(run());
    }
    println!("{tools:>6} tools, {what:<15} {best:?}");
}

//! How long one judgement takes: `cargo run -p callgate-policy --example judge_time --release`.
#![expect(clippy::print_stdout, reason = "a measuring program")]
#![expect(clippy::expect_used, reason = "a measuring program")]

use std::hint::black_box;
use std::time::Instant;

use callgate_policy::{Call, Judgement, Policy};
use callgate_protocol::json::Raw;

fn main() {
    for tools in [10, 91, 1_000, 10_000] {
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
        let text = format!(
            "{{\"version\": \"1\", \"default\": \"deny\", \"hide\": [\"h\"], \"all_tools\": {{\"limits\": [{{\"counter\": \"all\", \"window\": \"minute\", \"max\": 300}}]}}, \"tools\": {{{}}}}}",
            rules.join(",")
        );
        let mut policy = Policy::parse(&text).expect("a good policy");
        policy.guard_home("/home/someone/.callgate");
        let args = Raw::parse(r##"{"url":"https://example.com/a/b?c=d","selector":"#main > div.item"}"##)
            .expect("JSON");
        for (what, tool) in [("plain", 0), ("limited", 1), ("condition", 2)] {
            let name = format!("playwright_tool_{tool}");
            // The fastest of many short runs: what it costs when nothing else wants the processor.
            let rounds = 10_000u32;
            let best = (0..200).map(|_| {
                let start = Instant::now();
                for _ in 0..rounds {
                    let judged = policy.judge(black_box(&Call::tool("claude", &name, Some(args))));
                    assert!(matches!(judged, Judgement::Pass(_)), "an ordinary call passes");
                }
                start.elapsed() / rounds
            });
            let best = best.min().unwrap_or_default();
            println!("{tools:>6} tools, {what:<9} {best:?}");
        }
    }
}

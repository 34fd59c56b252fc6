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
            let rounds = 1_000_000u32;
            let start = Instant::now();
            let mut passed = 0u32;
            for _ in 0..rounds {
                let judged = policy.judge(black_box(&Call::tool("claude", &name, Some(args))));
                passed += u32::from(matches!(judged, Judgement::Pass(_)));
            }
            let each = start.elapsed() / rounds;
            println!("{tools:>6} tools, {what:<9} {each:?} ({passed} passed)");
        }
    }
}

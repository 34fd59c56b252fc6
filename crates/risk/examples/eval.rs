//! Accuracy, macro-F1 and dangerous under-calls on labelled tools: `cargo xtask eval-risk`.

#![expect(clippy::print_stdout, reason = "a program for people that speaks no protocol")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use callgate_risk::{RiskClass, ToolDefinition, classify};
use serde::Deserialize;

#[derive(Deserialize)]
struct Labelled {
    server: String,
    tool: String,
    description: String,
    label: Option<RiskClass>,
    reviewed: Option<RiskClass>,
}

impl Labelled {
    /// Server, tool, class and description, with tabs between.
    fn from_row(row: &str) -> Result<Self, String> {
        let mut fields = row.split('\t').map(str::to_owned);
        let mut next = || fields.next().ok_or_else(|| format!("too few fields: {row}"));
        let (server, tool, class) = (next()?, next()?, next()?);
        let description = next().unwrap_or_default();
        let label = Some(RiskClass::from_name(&class).ok_or_else(|| format!("no such class: {class}"))?);
        Ok(Self { server, tool, description, label, reviewed: None })
    }

    fn class(&self) -> Option<RiskClass> {
        self.reviewed.or(self.label)
    }
}

#[derive(Default)]
struct Score {
    /// By the true class, then by the one that was said.
    said: BTreeMap<(RiskClass, RiskClass), usize>,
}

impl Score {
    fn count(&self, fits: impl Fn(RiskClass, RiskClass) -> bool) -> usize {
        self.said.iter().filter(|((truth, said), _)| fits(*truth, *said)).map(|(_, number)| number).sum()
    }

    #[expect(clippy::cast_precision_loss, reason = "some hundred tools")]
    fn print(&self, caption: &str) {
        let all = self.count(|_, _| true);
        if all == 0 {
            return;
        }
        let right = self.count(|truth, said| truth == said);
        let f1 = RiskClass::ALL.into_iter().filter(|class| self.count(|truth, _| truth == *class) > 0).map(
            |class| {
                let hit = self.count(|truth, said| truth == class && said == class) as f64;
                let either = self.count(|truth, said| truth == class || said == class) as f64;
                2.0 * hit / (either + hit)
            },
        );
        let f1: Vec<f64> = f1.collect();
        let dangerous = self.count(|truth, _| truth >= RiskClass::Execute);
        let under = self.count(|truth, said| truth >= RiskClass::Execute && said == RiskClass::Read);
        println!(
            "{caption:<28} {all:>5} tools   accuracy {:.3}   macro-F1 {:.3}   dangerous called Read {under} of {dangerous}",
            right as f64 / all as f64,
            f1.iter().sum::<f64>() / f1.len() as f64,
        );
    }
}

/// A third of the servers, by a hash of their names: nobody tunes on them.
fn is_held_out(server: &str) -> bool {
    let hash = server
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 32) % 3 == 2
}

fn main() -> ExitCode {
    let mut shows_errors = false;
    let mut shows_held_out = false;
    let mut files = Vec::new();
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--errors" => shows_errors = true,
            "--held-out" => shows_held_out = true,
            _ => files.push(word),
        }
    }
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            println!("{file} is not there: nothing to measure");
            continue;
        };
        let (mut all, mut tuned, mut held_out) = (Score::default(), Score::default(), Score::default());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let read = if file.ends_with(".tsv") {
                Labelled::from_row(line)
            } else {
                serde_json::from_str(line).map_err(|error| error.to_string())
            };
            let tool = match read {
                Ok(tool) => tool,
                Err(error) => {
                    println!("{file}: {error}");
                    return ExitCode::FAILURE;
                }
            };
            let Some(truth) = tool.class() else { continue };
            let definition = ToolDefinition {
                server: &tool.server,
                name: &tool.tool,
                description: &tool.description,
                ..ToolDefinition::default()
            };
            let said = classify(&definition);
            let is_held_out = is_held_out(&tool.server);
            let part = if is_held_out { &mut held_out } else { &mut tuned };
            for score in [&mut all, part] {
                *score.said.entry((truth, said.class)).or_default() += 1;
            }
            if shows_errors && truth != said.class && is_held_out == shows_held_out {
                println!(
                    "{} {} | {} | is {}, said {}: {}",
                    tool.server,
                    tool.tool,
                    tool.description,
                    truth.name(),
                    said.class.name(),
                    said.reason
                );
            }
        }
        println!("{file}");
        all.print("  all");
        tuned.print("  servers tuned on");
        held_out.print("  servers held out");
    }
    ExitCode::SUCCESS
}

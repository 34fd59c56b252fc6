//! Accuracy, macro-F1 and dangerous under-calls on labelled tools, and what the scan says of poisoned and of ordinary ones:
//! `cargo xtask eval-risk`.

#![expect(clippy::print_stdout, reason = "a program for people that speaks no protocol")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use callgate_risk::{
    KnownServer, RiskClass, ScanContext, ScanFinding, ToolDefinition, ToolNames, classify, scan,
};
use serde::Deserialize;
use serde_json::{Value, json};

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
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else {
            println!("{file} is not there: nothing to measure");
            continue;
        };
        let measured = match &*file_kind(file) {
            "tsv" => classified(file, &text, shows_errors, shows_held_out),
            "jsonl" if text.starts_with("{\"id\"") => poisoned(file, &text, shows_errors),
            "jsonl" => classified(file, &text, shows_errors, shows_held_out),
            "txt" => harmless(file, &text, shows_errors),
            _ => whole(file, &text, shows_errors),
        };
        if let Err(error) = measured {
            println!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn file_kind(file: &str) -> String {
    file.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Labelled tools: how many get their class, and how many the scan flags although they are ordinary ones.
fn classified(file: &str, text: &str, shows_errors: bool, shows_held_out: bool) -> Result<(), String> {
    let (mut all, mut tuned, mut held_out) = (Score::default(), Score::default(), Score::default());
    let mut flagged = Flagged::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let tool = match file_kind(file).as_str() {
            "tsv" => Labelled::from_row(line)?,
            _ => serde_json::from_str(line).map_err(|error| error.to_string())?,
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
        flagged.count(&tool.tool, &json!({ "description": tool.description }), false, shows_errors);
        if shows_errors && truth != said.class && (is_held_out == shows_held_out || file.contains("held-out"))
        {
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
    if !file.contains("held-out") {
        tuned.print("  servers tuned on");
        held_out.print("  servers held out");
    }
    flagged.print("  flagged by the scan");
    Ok(())
}

/// Entries with something in them, one JSON object a line: `{id, kind, entry, others?}`.
fn poisoned(file: &str, text: &str, shows_errors: bool) -> Result<(), String> {
    let mut flagged = Flagged::default();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let name = row["entry"]["name"].as_str().unwrap_or_default();
        let mut names = ToolNames::default();
        for other in row["others"].as_array().into_iter().flatten() {
            let (server, tool) = (other["server"].as_str(), other["name"].as_str());
            names.add(server.unwrap_or_default(), tool.unwrap_or_default(), true);
        }
        let context = ScanContext { server: "one", is_known: false, names: Some(&names) };
        let found = scan(name, &row["entry"], &context);
        flagged.add(&row.to_string(), &found, found.is_empty() && shows_errors);
    }
    println!("{file}");
    flagged.print("  poisoned that the scan found");
    Ok(())
}

/// Descriptions that sound bad and are not, one a line.
fn harmless(file: &str, text: &str, shows_errors: bool) -> Result<(), String> {
    let mut flagged = Flagged::default();
    for line in text.lines() {
        flagged.count("tool", &json!({ "description": line }), false, shows_errors);
    }
    println!("{file}");
    flagged.print("  flagged by the scan");
    Ok(())
}

/// A list of tools as its server gave it, of a server of the catalogue; or descriptions with `label` and `category`.
fn whole(file: &str, text: &str, shows_errors: bool) -> Result<(), String> {
    let read: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    println!("{file}");
    if let Some(entries) = read["entries"].as_array() {
        let (mut bad, mut good) = (Flagged::default(), Flagged::default());
        for entry in entries {
            let is_bad = entry["label"] == "malicious";
            let part = if is_bad { &mut bad } else { &mut good };
            part.count("tool", &json!({ "description": entry["description"] }), is_bad, shows_errors);
        }
        bad.print("  poisoned that the scan found");
        good.print("  flagged by the scan");
        return Ok(());
    }
    let stem = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
    let known = KnownServer::by_name(stem).ok_or("no server of the catalogue")?;
    let (mut score, mut flagged) = (Score::default(), Flagged::default());
    for entry in read.as_array().into_iter().flatten() {
        let name = entry["name"].as_str().unwrap_or_default();
        let definition = ToolDefinition {
            server: stem,
            name,
            description: entry["description"].as_str().unwrap_or_default(),
            input_schema: entry.get("inputSchema"),
            annotations: entry.get("annotations"),
            ..ToolDefinition::default()
        };
        if let Some(class) = known.class(name) {
            *score.said.entry((class, classify(&definition).class)).or_default() += 1;
        }
        flagged.count(name, entry, false, shows_errors);
    }
    score.print("  the catalogue's tools");
    flagged.print("  flagged by the scan");
    Ok(())
}

/// How many the scan says something of.
#[derive(Default)]
struct Flagged {
    all: usize,
    flagged: usize,
}

impl Flagged {
    fn count(&mut self, name: &str, entry: &Value, is_wanted: bool, shows_errors: bool) {
        let found = scan(name, entry, &ScanContext::default());
        self.add(&entry.to_string(), &found, shows_errors && found.is_empty() == is_wanted);
    }

    fn add(&mut self, shown: &str, found: &[ScanFinding], is_shown: bool) {
        self.all += 1;
        self.flagged += usize::from(!found.is_empty());
        if is_shown {
            let codes: Vec<_> = found.iter().map(|one| format!("{} “{}”", one.code, one.quote)).collect();
            println!("scan: {codes:?} | {shown}");
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "some hundred tools")]
    fn print(&self, caption: &str) {
        if self.all > 0 {
            let share = 100.0 * self.flagged as f64 / self.all as f64;
            println!("{caption:<28} {:>5} of {} ({share:.1} %)", self.flagged, self.all);
        }
    }
}

//! Whole policies for a server to begin with: four, each with a caption that tells all that it refuses.

use std::fmt::Write as _;

use callgate_policy::DEFAULT_POLICY;
use callgate_risk::{Confidence, RiskClass};
use serde_json::Value;

use crate::rule::{Act, Facts, Recommendation, recommend};
use crate::text;

/// The same as in the policy that servers begin with: to go on to one of these loses nothing.
const SAFETY_NET: &str = r#"  // All tools together
  "all_tools": {
    "limits": [{ "counter": "safety_net", "window": "minute", "max": 300, "scope": "session", "on_deny": "more than 300 calls in a minute: this looks like a loop" }]
  },
"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    WatchOnly,
    Recommended,
    ReadOnly,
    Locked,
}

impl Start {
    pub const ALL: [Start; 4] = [Start::WatchOnly, Start::Recommended, Start::ReadOnly, Start::Locked];

    pub fn id(self) -> &'static str {
        match self {
            Start::WatchOnly => "watch-only",
            Start::Recommended => "recommended",
            Start::ReadOnly => "read-only",
            Start::Locked => "locked",
        }
    }

    pub fn from_id(id: &str) -> Option<Start> {
        Start::ALL.into_iter().find(|start| start.id() == id)
    }

    pub fn title(self) -> &'static str {
        match self {
            Start::WatchOnly => "Watch only",
            Start::Recommended => "Recommended",
            Start::ReadOnly => "Read-only",
            Start::Locked => "Locked",
        }
    }

    /// All that it refuses; nothing else is.
    pub fn caption(self) -> &'static str {
        match self {
            Start::WatchOnly => {
                "Every call passes and is on record; at most 300 a minute in a session, so that a loop ends."
            }
            Start::Recommended => {
                "Tools that read pass. Those that write pass 30 times a minute for each client, those that execute 10 times, with arguments that fit their schema and open no local files. You are asked about those that destroy or pay, or whose definition looks wrong; one that only discards recordings is hidden. You are asked about every tool that the server adds later. At most 300 calls a minute in a session, so that a loop ends."
            }
            Start::ReadOnly => {
                "Tools that read pass, at most 300 times a minute in a session. Every other tool is hidden and refused."
            }
            Start::Locked => "Every tool is refused, until you allow it.",
        }
    }
}

/// The policy as a file, with comments, its tools by class.
pub fn starting_policy(start: Start, server: &str, tools: &[Facts<'_>]) -> String {
    if start == Start::WatchOnly {
        return DEFAULT_POLICY.to_owned();
    }
    let mut all: Vec<(&Facts<'_>, Recommendation)> =
        tools.iter().map(|tool| (tool, recommend(tool))).collect();
    all.sort_by(|one, other| one.0.name.cmp(other.0.name));
    all.dedup_by(|one, other| one.0.name == other.0.name);
    let mut file = format!(
        "// {} for {}: {}.\n",
        start.title(),
        callgate_text::name(server),
        callgate_text::count(all.len() as u64, "tool")
    );
    for sentence in start.caption().split_inclusive(". ") {
        let _ = writeln!(file, "// {}", sentence.trim_end());
    }
    let left_out = all.iter().filter(|(_, rule)| rule.act == Act::Nothing).count();
    if left_out > 0 && start != Start::Locked {
        let _ = writeln!(
            file,
            "// Left out, and so as tools that are not named: {}, whose names a policy cannot mean by themselves.",
            callgate_text::count(left_out as u64, "tool")
        );
    }
    file.push_str("{\n  \"version\": \"1\",\n");
    file.push_str(match start {
        Start::ReadOnly => "  \"default\": \"deny\",\n  \"unlisted\": \"hide\",\n",
        Start::Locked => "  \"default\": \"deny\",\n",
        Start::WatchOnly | Start::Recommended => "  // Tools that are not named below: also those that the server adds later.\n  \"default\": \"ask\",\n",
    });
    if start == Start::Recommended {
        write_hidden(&mut file, &all);
    }
    if start != Start::Locked {
        file.push_str(SAFETY_NET);
    }
    file.push_str("  \"tools\": {");
    let written = match start {
        Start::Recommended => write_groups(&mut file, &all, |_| true),
        Start::ReadOnly => write_groups(&mut file, &all, |rule| rule.act == Act::Keep),
        Start::Locked | Start::WatchOnly => 0,
    };
    file.push_str(if written == 0 { "}\n}\n" } else { "\n  }\n}\n" });
    file
}

fn write_hidden(file: &mut String, all: &[(&Facts<'_>, Recommendation)]) {
    let hidden: Vec<String> = all
        .iter()
        .filter(|(_, rule)| rule.act == Act::Hide)
        .map(|(tool, _)| format!("    {}", text::string(tool.name)))
        .collect();
    if !hidden.is_empty() {
        let _ = write!(
            file,
            "  // Destructive (critical): what it discards does not come back\n  \"hide\": [\n{}\n  ],\n",
            hidden.join(",\n")
        );
    }
}

/// One group a class, from the least to the most; says how many tools were written.
fn write_groups(
    file: &mut String,
    all: &[(&Facts<'_>, Recommendation)],
    is_meant: impl Fn(&Recommendation) -> bool,
) -> usize {
    let mut rows: Vec<(&Facts<'_>, &Value)> = all
        .iter()
        .filter(|(_, rule)| is_meant(rule))
        .filter_map(|(tool, rule)| Some((*tool, rule.rule()?)))
        .collect();
    rows.sort_by_key(|(tool, _)| tool.assessment.class);
    let mut class: Option<RiskClass> = None;
    for (nth, (tool, rule)) in rows.iter().enumerate() {
        let its = tool.assessment.class;
        if class.replace(its) != Some(its) {
            let severity = its.severity().name().to_lowercase();
            let _ = write!(file, "\n    // {} ({severity}): {}", its.name(), words(its));
        }
        let comma = if nth + 1 < rows.len() { "," } else { "" };
        let _ = write!(file, "\n    {}: {}{comma}", text::string(tool.name), text::line(rule));
        if tool.has_findings {
            file.push_str(" // asked about: its definition holds what should not be in one");
        } else if tool.assessment.confidence == Confidence::Low {
            file.push_str(" // a guess: its definition says little");
        }
    }
    rows.len()
}

fn words(class: RiskClass) -> &'static str {
    match class {
        RiskClass::Read => "allowed",
        RiskClass::Write => "at most 30 calls a minute for each client",
        RiskClass::Execute => "at most 10 calls a minute for each client, arguments checked",
        RiskClass::Destructive => "you are asked",
        RiskClass::Financial => "you are asked: money does not come back",
    }
}

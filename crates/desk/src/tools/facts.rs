//! What one server's tools can do: what it listed last, the catalogue where the server is a known one, and what a person corrected.

use std::collections::BTreeMap;

use callgate_controls::catalogue::KnownTool;
use callgate_controls::classes::{self, Correction};
use callgate_recommend::{Act, Facts, Recommendation, recommend};
use callgate_review::AskRule;
use callgate_risk::{Assessment, KnownServer, RiskClass, ScanContext, ScanFinding, ToolNames, scan};
use serde_json::{Map, Value};

use crate::rules::ready;
use crate::view::ClassBadge;

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) definition: Value,
    pub(super) assessment: Assessment,
    pub(super) findings: Vec<ScanFinding>,
    /// What was told before a person said otherwise.
    pub(super) told: Option<RiskClass>,
    guards: Map<String, Value>,
}

/// What a known server has, for one that was never listed here: names alone, without definitions.
pub(super) fn of_catalogue(known: &KnownServer) -> Vec<KnownTool> {
    let named = |name: &str| KnownTool {
        name: name.to_owned(),
        definition: serde_json::json!({ "name": name }).to_string(),
    };
    known.tool_names().into_iter().map(named).collect()
}

/// Every tool of one list, in its order.
pub(super) fn read(
    server: &str,
    known: Option<&'static KnownServer>,
    listed: &[KnownTool],
    names: &ToolNames,
    corrected: Option<&BTreeMap<String, Correction>>,
) -> Vec<Tool> {
    let context = ScanContext { server, is_known: known.is_some(), names: Some(names) };
    let read = |tool: &KnownTool| one(&context, known, tool, corrected.and_then(|all| all.get(&tool.name)));
    let mut tools: Vec<Tool> = listed.iter().map(read).collect();
    let arguments: Vec<ready::Listed> = listed.iter().map(ready::Listed::from).collect();
    for tool in &mut tools {
        tool.guards = ready::guards(&arguments, &tool.name);
    }
    tools
}

/// Only what a badge says of each, by their names.
pub(super) fn badges(
    server: &str,
    known: Option<&'static KnownServer>,
    listed: &[KnownTool],
    corrected: Option<&BTreeMap<String, Correction>>,
) -> BTreeMap<String, ClassBadge> {
    let badge = |listed: &KnownTool| {
        let definition: Value = serde_json::from_str(&listed.definition).unwrap_or_default();
        let said = corrected.and_then(|all| all.get(&listed.name));
        let (assessment, told) = assessed(server, known, listed, &definition, said);
        let Assessment { class, severity, confidence, .. } = assessment;
        (listed.name.clone(), ClassBadge { class, severity, confidence, corrected: told.is_some() })
    };
    listed.iter().map(badge).collect()
}

/// What it can do, and what was told before a person said otherwise.
fn assessed(
    server: &str,
    known: Option<&'static KnownServer>,
    listed: &KnownTool,
    definition: &Value,
    corrected: Option<&Correction>,
) -> (Assessment, Option<RiskClass>) {
    let mut assessment = classes::assess(server, known, &listed.name, definition);
    let seen = || classes::digest(&listed.definition);
    let class = corrected.and_then(|said| said.applies(assessment.class, seen()));
    let told = class.map(|class| {
        assessment.severity = class.severity();
        std::mem::replace(&mut assessment.class, class)
    });
    (assessment, told)
}

fn one(
    context: &ScanContext<'_>,
    known: Option<&'static KnownServer>,
    listed: &KnownTool,
    corrected: Option<&Correction>,
) -> Tool {
    // One that is nested too deep is judged by its name.
    let definition: Value = serde_json::from_str(&listed.definition).unwrap_or_default();
    let (assessment, told) = assessed(context.server, known, listed, &definition, corrected);
    let findings = scan(&listed.name, &definition, context);
    Tool { name: listed.name.clone(), definition, assessment, findings, told, guards: Map::new() }
}

impl Tool {
    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.name,
            assessment: &self.assessment,
            has_findings: !self.findings.is_empty(),
            guards: Some(&self.guards),
        }
    }

    pub(super) fn recommended(&self) -> Recommendation {
        recommend(&self.facts())
    }

    /// How it is to be asked about, if it is. One that was used is not hidden for being destructive.
    pub(super) fn ask(&self) -> Option<AskRule> {
        let found = self.recommended();
        let class = self.assessment.class.name();
        let rule = match found.act {
            Act::Ask => found.part.get("tools")?.as_object()?.values().next()?.get("ask_if"),
            Act::Hide => None,
            Act::Keep | Act::Limit | Act::Nothing => return None,
        };
        let (json, words) = match rule {
            Some(conditions) => (format!("\"ask_if\": {conditions}"), found.words),
            None => ("\"action\": \"ask\"".to_owned(), "asked about".to_owned()),
        };
        let reason = match found.act {
            Act::Hide => "a person looks at each call",
            _ => found.reason,
        };
        Some(AskRule { json, words, why: format!("{class}: {reason}") })
    }

    pub(super) fn text(&self, key: &str) -> &str {
        self.definition.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

//! What one server's tools can do: what it listed last, the catalogue where the server is a known one, and what a person corrected.

use std::collections::BTreeMap;

use callgate_controls::catalogue::KnownTool;
use callgate_recommend::{Act, Facts, Recommendation, recommend};
use callgate_review::AskRule;
use callgate_risk::{
    Assessment, KnownServer, RiskClass, ScanContext, ScanFinding, ToolDefinition, ToolNames, classify, scan,
};
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
    corrected: Option<&BTreeMap<String, String>>,
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
    corrected: Option<&BTreeMap<String, String>>,
) -> BTreeMap<String, ClassBadge> {
    let badge = |listed: &KnownTool| {
        let definition: Value = serde_json::from_str(&listed.definition).unwrap_or_default();
        let said = corrected.and_then(|all| all.get(&listed.name));
        let (assessment, told) = assessed(known, &described(server, listed, &definition), said);
        let Assessment { class, severity, confidence, .. } = assessment;
        (listed.name.clone(), ClassBadge { class, severity, confidence, corrected: told.is_some() })
    };
    listed.iter().map(badge).collect()
}

/// The definition as it is judged.
fn described<'t>(server: &'t str, listed: &'t KnownTool, definition: &'t Value) -> ToolDefinition<'t> {
    let text = |key: &str| definition.get(key).and_then(Value::as_str).unwrap_or_default();
    ToolDefinition {
        server,
        name: &listed.name,
        title: text("title"),
        description: text("description"),
        input_schema: definition.get("inputSchema"),
        annotations: definition.get("annotations"),
    }
}

/// What it can do, and what was told before a person said otherwise.
fn assessed(
    known: Option<&'static KnownServer>,
    tool: &ToolDefinition<'_>,
    corrected: Option<&String>,
) -> (Assessment, Option<RiskClass>) {
    let mut assessment = known.and_then(|known| known.assess(tool)).unwrap_or_else(|| classify(tool));
    let class = corrected.and_then(|class| RiskClass::from_name(class));
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
    corrected: Option<&String>,
) -> Tool {
    // One that is nested too deep is judged by its name.
    let definition: Value = serde_json::from_str(&listed.definition).unwrap_or_default();
    let tool = described(context.server, listed, &definition);
    let (assessment, told) = assessed(known, &tool, corrected);
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

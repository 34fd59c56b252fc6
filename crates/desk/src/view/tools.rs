//! Tools: what each can do, what the rules make of it, and the rule that is recommended.

use serde::{Deserialize, Serialize};

pub use callgate_risk::{Confidence, RiskClass, RiskSeverity};

use super::rules::ToolState;

/// What a tool can do, in two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClassBadge {
    pub class: RiskClass,
    pub severity: RiskSeverity,
    pub confidence: Confidence,
    /// The class is what a person said.
    pub corrected: bool,
}

impl ClassBadge {
    /// "Destructive, critical"
    pub fn words(self) -> String {
        format!("{}, {}", self.class.name(), self.severity.name().to_lowercase())
    }
}

/// All tools of all servers, as they were listed last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolsView {
    pub servers: Vec<ToolServer>,
    pub tools: Vec<ToolRow>,
    /// What a person said of classes cannot be read, and why: they are as the definitions have them.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolServer {
    pub name: String,
    /// As the catalogue calls it, by what was installed: "Playwright MCP".
    pub known: Option<String>,
    pub from: ToolsFrom,
    /// When this list was seen for the first time; none if it never listed any.
    pub listed_ms: Option<i64>,
    pub tools: u32,
    pub critical: u32,
    /// Its list was too long to be kept.
    pub cut: bool,
    /// Its policy cannot be used: nothing can be said of states.
    pub problem: Option<String>,
}

/// Where it is known from which tools a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ToolsFrom {
    /// It listed them here.
    Listed,
    /// It never listed any here; by what is installed it is one that the catalogue has.
    Catalogue,
    /// Nowhere.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolRow {
    pub server: String,
    pub name: String,
    /// How its description begins.
    pub about: String,
    pub class: RiskClass,
    pub severity: RiskSeverity,
    pub confidence: Confidence,
    /// The class is what a person said.
    pub corrected: bool,
    /// Things that should not be in its definition.
    pub findings: u32,
    /// None, if the policy cannot be used.
    pub state: Option<ToolState>,
    /// Its rule in words.
    pub words: String,
    pub calls: u64,
    pub refused: u64,
    pub last_call_ms: Option<i64>,
}

/// All that is told of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolPage {
    pub row: ToolRow,
    pub title: Option<String>,
    pub description: String,
    /// Which server, and by what it is known.
    pub provider: String,
    /// What the definition or the catalogue says, where a person says otherwise.
    pub told: Option<RiskClass>,
    pub reason: String,
    pub evidence: Vec<ToolEvidence>,
    pub uncertain: Vec<String>,
    /// "reads private data".
    pub flags: Vec<String>,
    pub operations: Vec<ToolOperation>,
    pub findings: Vec<ToolFinding>,
    /// How far a call reaches, and whether it can be taken back.
    pub undo: String,
    pub recommended: RecommendedRule,
    /// Which part of the policy decides: "the default".
    pub from: String,
    /// Its own rule as it is written; none if it has none.
    pub current: Option<String>,
    pub arguments: Vec<ToolArgument>,
    /// Tools of the same thing: start, get, end, clear.
    pub related: Vec<RelatedTool>,
    pub attacks: Vec<AttackPattern>,
    pub questions: Vec<ToolQuestion>,
    /// Calls before this time are not counted; none if all are.
    pub counted_since_ms: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolEvidence {
    /// "name", "description", "schema", "annotations", "catalogue".
    pub place: String,
    pub quote: String,
    pub suggests: RiskClass,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolOperation {
    pub argument: String,
    pub value: String,
    pub class: RiskClass,
}

/// Something that should not be in a definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolFinding {
    pub code: String,
    pub place: String,
    pub quote: String,
    pub explanation: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum RuleAct {
    Keep,
    Limit,
    Ask,
    Hide,
    /// There is no rule for it.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RecommendedRule {
    pub act: RuleAct,
    /// For the button: "Limit".
    pub label: String,
    pub words: String,
    pub reason: String,
    /// A part of a policy, as text.
    pub text: String,
    /// The rules say so already, or refuse more.
    pub in_force: bool,
    /// What has to be known besides, a sentence each.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolArgument {
    /// As conditions name it: "options.outputPath".
    pub name: String,
    /// "text", "one of 3", "list of text".
    pub kind: String,
    pub required: bool,
    pub about: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RelatedTool {
    pub name: String,
    pub class: RiskClass,
}

/// What was done elsewhere with tools of this kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct AttackPattern {
    pub title: String,
    pub words: String,
    /// Where it is on public record.
    pub source: String,
    /// What the gate does about it.
    pub gate: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolQuestion {
    pub question: String,
    pub answer: String,
}

/// A whole policy for a server to begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct StartingPoint {
    /// "watch-only", "recommended", "read-only", "locked".
    pub id: String,
    pub title: String,
    /// All that it refuses.
    pub caption: String,
    pub text: String,
    /// "6 tools change state; 2 of them were used in the last 7 days."
    pub words: String,
    /// The tools that change, those in use first: a line each, at most 60.
    pub changes: Vec<String>,
    /// What it newly allows; empty if it opens nothing.
    pub loosened: Vec<String>,
    /// The rules are these already.
    pub in_force: bool,
}

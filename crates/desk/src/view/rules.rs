//! The rules of one server: as a table, as a form, as text.

use serde::{Deserialize, Serialize};

use super::acts::{Done, Question};
use super::log::CallLine;
use super::servers::{Protection, ServerState};
use super::{ClassBadge, Decision};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RulesView {
    pub server: String,
    /// This is the default policy itself, for all servers without one of their own.
    pub is_default: bool,
    /// It has a policy of its own; otherwise the default one counts, and the first change copies it.
    pub own: bool,
    pub path: String,
    pub text: String,
    /// None if the text is broken.
    pub version: Option<String>,
    /// What comes of it that the text is broken; none if it is not.
    pub broken: Option<BrokenPolicy>,
    pub diagnostics: Vec<Diagnostic>,
    /// What becomes of tools that no rule names; "hide" if they are denied and not listed either.
    pub default_action: Action,
    /// Rules are only observed.
    pub observing: bool,
    /// What counts for every tool besides its own rule; none if the text is broken.
    pub for_all: Option<RuleForAll>,
    /// What its rules say of tools by what they can do; empty where they say nothing of it.
    pub classes: Vec<ClassRule>,
    /// Those that the server listed, those that the policy names, those that were called; patterns first.
    pub tools: Vec<ToolRule>,
    /// Calls before this time are too many to be counted here; none if all are.
    pub counted_since_ms: Option<i64>,
    /// Clients that have rules of their own, or were seen with this server.
    pub clients: Vec<String>,
    /// Rules that fit this server's tools, to be put in by one click.
    pub ready: Vec<ReadyRule>,
}

/// A class of tools, and what the rules make of those that they do not name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClassRule {
    /// "Destructive".
    pub name: String,
    /// None: no rule is about it.
    pub state: Option<ToolState>,
    pub words: String,
    /// Tools of the server that are of it,
    pub tools: u32,
    /// and those of them that this rule decides about.
    pub ruled: u32,
}

/// A policy that cannot be used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct BrokenPolicy {
    /// What becomes of calls meanwhile.
    pub words: String,
    /// Since when the newest version on record was in force; none if there is none.
    pub last_good_ms: Option<i64>,
}

/// One server in the overview of all rules, or the default policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RulesSummary {
    /// For the rules: a server's name, or that of the default policy.
    pub server: String,
    pub is_default: bool,
    /// It has a policy of its own.
    pub own: bool,
    /// Servers that the default policy counts for; 0 for a server.
    pub followers: u32,
    pub state: ServerState,
    pub protection: Protection,
    /// What is wrong with its policy.
    pub problem: Option<String>,
    /// Tools that it listed, or that its policy names.
    pub tools: u32,
    pub denied: u32,
    /// Tools whose every call a person decides.
    pub asked: u32,
    pub hidden: u32,
    pub capped: u32,
    /// Tools that pass under conditions.
    pub custom: u32,
    pub calls_today: u64,
    pub refused_today: u64,
    pub last_call_ms: Option<i64>,
    pub last_change_ms: Option<i64>,
}

/// A rule that somebody else thought out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ReadyRule {
    pub id: String,
    pub title: String,
    /// What it does, and why.
    pub words: String,
    /// It takes a folder.
    pub folder: bool,
    pub state: ReadyState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ReadyState {
    Offered,
    InForce,
    /// What it is about is refused already.
    NotNeeded,
}

/// The rule for all tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RuleForAll {
    /// The policy has such a rule for everyone.
    pub said: bool,
    pub state: ToolState,
    pub words: String,
    /// The form's content; none if the rule says more than the form can.
    pub draft: Option<RuleDraft>,
    /// Clients for which more is said about all tools.
    pub clients: Vec<ClientRule>,
}

/// What the rules add for one client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClientRule {
    /// A client's name, or a pattern of names.
    pub client: String,
    pub state: ToolState,
    pub words: String,
    pub draft: Option<RuleDraft>,
}

/// Which part of the policy decides about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum RuleSource {
    /// A rule by its own name.
    Own,
    /// A pattern that it matches.
    Pattern,
    /// What it can do.
    Class,
    /// The rule for all tools.
    AllTools,
    Default,
}

/// A tool, or a pattern of tools, and what the rules make of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolRule {
    pub name: String,
    pub pattern: bool,
    /// The server listed it last time.
    pub listed: bool,
    pub description: Option<String>,
    /// What it can do, if the server listed it last.
    pub class: Option<ClassBadge>,
    pub state: ToolState,
    /// The whole rule in words.
    pub words: String,
    pub source: RuleSource,
    /// "its own rule", "the pattern get_*", "the default".
    pub from: String,
    /// The form's content; none if the rule says more than the form can.
    pub draft: Option<RuleDraft>,
    /// Clients for which more is said about it.
    pub clients: Vec<ClientRule>,
    pub calls: u64,
    /// Calls that were refused.
    pub hits: u64,
    pub last_hit_ms: Option<i64>,
    pub last_call_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    Allow,
    Deny,
    Hide,
    Ask,
    Cap,
    Custom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Action {
    Allow,
    Deny,
    Hide,
    Ask,
}

/// What the visual builder edits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RuleDraft {
    pub action: Action,
    /// For the agent, when it is refused; for the person, when they are asked.
    pub reason: Option<String>,
    pub limits: Vec<LimitDraft>,
    /// All of these have to hold.
    pub require: Vec<Condition>,
    /// Refused when all conditions of one of these hold.
    pub deny_if: Vec<Case>,
    /// Asked about when all conditions of one of these hold.
    pub ask_if: Vec<Case>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LimitDraft {
    /// None: the gate makes up a name for it.
    pub counter: Option<String>,
    pub limit: LimitKind,
    pub max: u32,
    /// For calls: "minute", "hour", "day", "90s".
    pub window: Option<String>,
    /// "session", "grant", "client", "server", "all".
    pub scope: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum LimitKind {
    Calls,
    Concurrent,
    Total,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// "args.url".
    pub path: String,
    /// One of the policy language's operators: "eq", "regex", "inside".
    pub op: String,
    /// JSON text; none for operators without a value.
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Case {
    pub conditions: Vec<Condition>,
    pub reason: Option<String>,
}

/// A new text, not saved yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    pub text: String,
    /// As a unified diff.
    pub diff: String,
    pub summary: Vec<String>,
    pub loosened: Vec<String>,
}

/// One problem of a policy text, at its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// UTF-16 offsets into the text, as editors count.
    pub from: u32,
    pub to: u32,
    pub line: u32,
    pub severity: Severity,
    pub message: String,
    pub pointer: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    pub label: String,
    pub detail: Option<String>,
    /// Replaces the text from this UTF-16 offset to the cursor.
    pub from: u32,
    pub apply: String,
}

/// What a policy would make of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    pub decision: Decision,
    pub passes: bool,
    pub words: String,
    pub rule: Option<String>,
    pub excerpt: Option<String>,
    /// Limits that it would count against: "10 calls a minute per client".
    pub limits: Vec<String>,
}

/// What a text would have decided otherwise than the rules in force, over the calls of the last days.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    pub days: u32,
    pub calls: u64,
    /// Refused or asked about by the text and not by the rules in force.
    pub more: u64,
    /// The other way round.
    pub fewer: u64,
    /// "Refuses 12 calls more than today's rules, 0 fewer."
    pub words: String,
    /// The totals, and what cannot be told: a sentence each, for small print.
    pub details: Vec<String>,
    /// The tools with calls that differ, those with most first, at most 20.
    pub tools: Vec<ToolDifference>,
    /// Of those refused more: at most 50, the newest first, as they went then.
    pub more_calls: Vec<CallLine>,
    /// Likewise of those refused no longer.
    pub fewer_calls: Vec<CallLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolDifference {
    pub tool: String,
    pub more: u64,
    pub fewer: u64,
}

/// Rules drawn from what was used, on top of those in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RuleSuggestion {
    /// Calls that it was drawn from; 0: there is nothing to go on, and nothing proposed.
    pub calls: u64,
    /// Were there enough of them, on enough days?
    pub enough: bool,
    /// What it was drawn from, and whether that was too little: a sentence each.
    pub words: Vec<String>,
    /// What a person should know about it.
    pub notes: Vec<String>,
    pub rules: Vec<SuggestedRule>,
    /// The rules in force with these in them.
    pub proposal: Option<Proposal>,
    pub effect: Option<Effect>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SuggestedRule {
    /// None: what counts for all other tools and requests.
    pub tool: Option<String>,
    /// "allowed", "hidden", "at most 10 a minute", "args.path only inside /home/me/shots".
    pub words: String,
    /// The count behind it.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SaveAnswer {
    Done(Done),
    Ask(Question),
    /// The file is not what was edited: here is what it says now.
    Conflict {
        theirs: String,
        version: Option<String>,
        diff: String,
    },
    Broken {
        diagnostics: Vec<Diagnostic>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PolicyVersionView {
    /// Of the change.
    pub id: i64,
    pub at_ms: i64,
    pub origin: String,
    pub summary: String,
    pub version: String,
    pub previous: Option<String>,
    pub current: bool,
    pub loosened: bool,
    /// Undone or reverted since: the rules went back to what they were before it.
    pub taken_back: bool,
}

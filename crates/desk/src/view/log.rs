//! The log: calls, changes of rules and events in one order.

use serde::{Deserialize, Serialize};

use super::{ClassBadge, Decision, Outcome};

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PageFrom {
    /// The newest entries.
    Newest,
    /// Those before this `rev`.
    Before { rev: i64 },
    /// Those after this `rev`.
    After { rev: i64 },
    /// Those around the first `rev` not before this one: a jump.
    Near { rev: i64 },
}

/// Entries, oldest first. There may be few or none and still somewhere to go on: when much was looked through for little.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LogPage {
    pub entries: Vec<LogEntry>,
    /// Ask `Before` this for older ones; none if there are none.
    pub older: Option<i64>,
    /// Ask `After` this for newer ones; none if this page ends with the newest.
    pub newer: Option<i64>,
    /// The newest `rev` of all when this was read: where to follow from.
    pub rev: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LogEntry {
    Call(CallLine),
    Change(ChangeLine),
    Event(EventLine),
}

/// One call, or the newest of several refusals of one session by one rule. It stands where the first of them stands; calls of
/// other sessions may lie between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CallLine {
    pub rev: i64,
    pub id: String,
    pub at_ms: i64,
    pub server: String,
    pub client: Option<String>,
    pub session: String,
    pub tool: Option<String>,
    pub method: Option<String>,
    /// What the tool can do, if its server listed it last.
    pub class: Option<ClassBadge>,
    /// The arguments in one short line.
    pub gist: String,
    pub decision: Decision,
    /// Did it not get to its server?
    pub refused: bool,
    pub rule: Option<String>,
    pub reason: Option<String>,
    /// None while it runs.
    pub outcome: Option<Outcome>,
    pub duration_us: Option<u64>,
    /// Of arguments and result together, as they came.
    pub bytes: u64,
    pub demo: bool,
    /// So many refusals, this one the newest.
    pub times: u32,
    /// Of the oldest of them.
    pub first_rev: i64,
    pub first_ms: i64,
    /// The names that were called, oldest first, at most 20; empty if there was only one.
    pub tools: Vec<String>,
    /// Refusals that have the same are one line, unless their session did something else in between; none of a call that was let through.
    pub fold_key: Option<String>,
    /// The next identical call can be allowed.
    pub repeatable: bool,
}

/// A change of a server's rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ChangeLine {
    /// Its place among the calls.
    pub rev: i64,
    pub id: i64,
    pub at_ms: i64,
    pub server: String,
    /// "window", "cli", "file", "approval".
    pub origin: String,
    pub summary: String,
    pub loosened: bool,
    pub version: String,
    pub previous: Option<String>,
    pub revertable: bool,
}

/// Something else worth a row: paused, resumed, a broken policy, processes ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EventLine {
    /// Its place among the calls.
    pub rev: i64,
    pub id: i64,
    pub at_ms: i64,
    /// One of the record's words, such as "paused".
    pub event: String,
    pub server: Option<String>,
    pub session: Option<String>,
    pub text: String,
}

/// How many match, so far. Comes several times; `done` with the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LogCount {
    pub calls: u64,
    pub refused: u64,
    /// `rev` of the oldest and the newest that match: the two ends of the scroll bar.
    pub oldest_rev: Option<i64>,
    pub newest_rev: Option<i64>,
    /// Length of a bar.
    pub bar_ms: i64,
    /// In order of time, empty ones left out.
    pub bars: Vec<Bar>,
    pub done: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Bar {
    pub from_ms: i64,
    pub passed: u32,
    /// Capped calls are not in here.
    pub refused: u32,
    pub capped: u32,
}

/// What came or changed, at most once a frame. A call that changed comes again as it is now, with the same `rev`. A line
/// for several calls stands for every one from its `first_rev` to its `rev`: lines that are there already give way to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LogBatch {
    pub entries: Vec<LogEntry>,
    pub rev: i64,
    /// Calls that came too fast to be shown one by one; the log has them.
    pub skipped: u64,
    /// What is shown may be out of date, because so much was missed, or is of a history that is gone: read it anew.
    pub reset: bool,
    /// Why nothing comes at present, and what to do. The next batch without one says that it is over.
    pub problem: Option<String>,
}

/// Everything there is to choose from in the filters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Choices {
    pub servers: Vec<String>,
    pub clients: Vec<String>,
    pub tools: Vec<ToolChoice>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolChoice {
    pub server: String,
    pub tool: String,
}

/// What one client did with one server until it paused for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub server: String,
    pub client: Option<String>,
    pub session: String,
    pub started_ms: i64,
    pub ended_ms: i64,
    pub calls: u64,
    pub refused: u64,
    pub failed: u64,
    /// The most used ones, most used first, at most three.
    pub tools: Vec<String>,
    /// How many were used in all.
    pub tool_count: u32,
    pub running: bool,
}

/// Runs in which something matches. There may be few or none and still more to ask for: when much was looked through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    pub runs: Vec<Run>,
    /// Ask before this `rev` for more; none if there are no more.
    pub older: Option<i64>,
}

/// Since the window was last in front of somebody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SinceLastLook {
    pub since_ms: i64,
    pub calls: u64,
    pub refused: u64,
    pub changes: u64,
    /// Processes that were ended or swept.
    pub ended: u64,
    /// Loops that were stopped: refusals by caps that came again and again.
    pub loops: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ExportFormat {
    Jsonl,
    Csv,
    Html,
    Markdown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    pub path: String,
    pub calls: u64,
}

//! Surface: everything that agents can call on this machine, and what of it is behind the gate.

use callgate_wiring::view::{EntryKey, EntryState};
use serde::{Deserialize, Serialize};

use super::tools::{RiskClass, RiskSeverity, StartingPoint, ToolsFrom};

/// Each client's servers, with what their tools can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SurfaceView {
    pub clients: Vec<SurfaceClient>,
    /// "137 tools of 9 servers, 9 of them critical."
    pub words: String,
    /// A server that several clients have under one name counts once.
    pub total: ClassCounts,
    pub servers: u32,
    /// Entries that could be behind the gate, and are not.
    pub open: u32,
    /// Servers of whose tools nothing is known.
    pub unknown: u32,
    /// Files that could not be read, and why: their servers are not in here.
    pub unread: Vec<String>,
    /// What to do next; none if nothing is left to do.
    pub next: Option<SurfaceStep>,
    /// What a person said of classes cannot be read, and why.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SurfaceClient {
    /// `claude-desktop`; as a session says it where no file names it.
    pub id: String,
    pub name: String,
    pub servers: Vec<SurfaceServer>,
}

/// A server as one client starts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SurfaceServer {
    /// As its client calls it.
    pub name: String,
    /// Its name at the gate, or the one that it would get.
    pub server: String,
    /// None for one that runs behind the gate and stands in no file that is known here.
    pub entry: Option<EntryKey>,
    /// The file, as people write it.
    pub shown: Option<String>,
    pub state: EntryState,
    /// Why nobody can put a gate in front of it.
    pub why: Option<String>,
    /// What it starts, secrets masked.
    pub command: String,
    /// As the catalogue calls it, by what is installed.
    pub known: Option<String>,
    pub from: ToolsFrom,
    /// When its list was seen for the first time.
    pub listed_ms: Option<i64>,
    pub classes: ClassCounts,
    /// Things that should not be in definitions.
    pub findings: u32,
    /// It is behind the gate, and nothing of it is refused.
    pub watch_only: bool,
}

/// How many tools of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClassCounts {
    pub tools: u32,
    pub read: u32,
    pub write: u32,
    pub execute: u32,
    pub destructive: u32,
    pub financial: u32,
    /// Destructive and financial ones.
    pub critical: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SurfaceStep {
    pub kind: StepKind,
    pub words: String,
    /// Which entries it is about.
    pub entries: Vec<EntryKey>,
    /// The server that it is about, where it is one.
    pub server: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    /// Nothing is configured here: add a server.
    Add,
    /// Put the gate in front of these.
    Protect,
    /// Start it once and ask it for its tools.
    Scan,
    /// It is only watched: choose rules for it.
    Rules,
}

/// What a server can begin with when it is put behind the gate, or added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerStart {
    pub entry: Option<EntryKey>,
    /// Its name at the gate.
    pub server: String,
    pub known: Option<String>,
    pub from: ToolsFrom,
    pub classes: ClassCounts,
    /// It has rules that a person wrote: they stay.
    pub has_rules: bool,
    /// Those whose captions are true of what is known: of a server that nobody knows, only the first and the last.
    pub points: Vec<StartingPoint>,
}

/// One server of the catalogue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CatalogueServer {
    pub server: String,
    pub about: String,
    /// As npm, PyPI or its repository has it.
    pub package: String,
    /// The version that was read.
    pub version: String,
    pub classes: ClassCounts,
    /// Its tools with their classes, the gravest first.
    pub tools: Vec<CatalogueTool>,
    /// What to call it.
    pub name: String,
    /// The command line that starts that version; none for one that is on no registry.
    pub command: Option<String>,
    /// Variables that it wants.
    pub variables: Vec<String>,
    /// What has to be added to the command, in words.
    pub asks: Vec<String>,
    /// Where it is here already: "fetch in Cursor".
    pub here: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CatalogueTool {
    pub name: String,
    pub class: RiskClass,
    pub severity: RiskSeverity,
}

/// What the tools of one server cost, in tokens: estimates, bytes of UTF-8 divided by four.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerCost {
    pub server: String,
    /// Of the definitions of tools that are not hidden: what a client puts before the model at every start.
    pub definitions: u64,
    /// In the last 7 days, let through.
    pub calls: u64,
    /// Of what they answered.
    pub results: u64,
    /// The same by client, as people know it, the most first.
    pub clients: Vec<(String, u64)>,
    /// The dearest first.
    pub tools: Vec<ToolCost>,
    pub unused: Option<UnusedTools>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolCost {
    pub name: String,
    pub definition: u64,
    /// It is not on the agents' list.
    pub hidden: bool,
    /// In the last 7 days.
    pub calls: u64,
    pub results: u64,
}

/// Tools on the agents' list that nobody calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct UnusedTools {
    /// "41 tools that no agent used in 30 days cost about 11,200 tokens at every start".
    pub words: String,
    /// So far back it is known, at most 30.
    pub days: u32,
    pub definitions: u64,
    pub names: Vec<String>,
}

/// All that is told of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerPage {
    pub server: String,
    /// As the catalogue calls it, by what is installed.
    pub known: Option<String>,
    /// What it is for, as the catalogue has it.
    pub about: Option<String>,
    /// Its package, and the version that the catalogue was made with.
    pub package: Option<String>,
    pub read_version: Option<String>,
    pub from: ToolsFrom,
    pub classes: ClassCounts,
    /// Which clients start it, and how, secrets masked.
    pub starts: Vec<ServerLaunch>,
    /// Definitions that differ from what was accepted, or were never.
    pub waiting: u32,
    /// None where it never listed its tools.
    pub cost: Option<ServerCost>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerLaunch {
    pub client: String,
    pub command: String,
}

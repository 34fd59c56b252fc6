//! Process trees: of running sessions, of dead ones, and of nobody.

use serde::{Deserialize, Serialize};

/// The process tree of one running session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TreeView {
    pub session: String,
    pub server: String,
    pub client: Option<String>,
    pub started_ms: i64,
    pub at_ms: i64,
    /// Why its processes can be neither seen nor ended from here, where they cannot.
    pub elsewhere: Option<String>,
    /// Of one core.
    pub cpu_percent: f32,
    pub memory_bytes: u64,
    /// Each parent before its children.
    pub processes: Vec<ProcessView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ProcessView {
    pub pid: u32,
    /// How many are above it in this tree.
    pub depth: u32,
    /// "browser", "renderer", "npx" and so on.
    pub what: String,
    /// Secrets masked.
    pub command: String,
    pub cpu_percent: f32,
    pub memory_bytes: u64,
    pub started_ms: i64,
}

/// What a dead session left running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LeftoverView {
    pub session: String,
    pub server: Option<String>,
    pub client: Option<String>,
    /// When it ended, if it came to an end in order.
    pub ended_ms: Option<i64>,
    /// Else when it was last seen: nobody saw it end.
    pub seen_ms: Option<i64>,
    pub memory_bytes: u64,
    /// How many of them belong to a browser.
    pub browsers: u32,
    pub processes: Vec<ProcessView>,
}

/// A dead session of another boot, or in another pid namespace: nothing of it can be seen or ended from here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ElsewhereView {
    pub session: String,
    pub server: String,
    pub client: Option<String>,
    pub noted_ms: Option<i64>,
    pub other_boot: bool,
    /// How many were on its record.
    pub processes: u32,
}

/// An automation browser on a temporary profile that nobody owns any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SuspectView {
    /// Names this very process, also when its number is used again.
    pub id: String,
    pub pid: u32,
    /// Secrets masked.
    pub command: String,
    pub profile: String,
    /// With all that is below it.
    pub processes: u32,
    pub memory_bytes: u64,
    pub started_ms: i64,
}

/// What is there to clean up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Strays {
    pub leftovers: Vec<LeftoverView>,
    pub elsewhere: Vec<ElsewhereView>,
    pub suspects: Vec<SuspectView>,
}

/// What a sweep ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SweepView {
    /// What was done, in a sentence.
    pub words: String,
    pub ended: Vec<EndedView>,
    /// Temporary profiles that were removed.
    pub profiles: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EndedView {
    pub pid: u32,
    pub what: String,
    /// Secrets masked.
    pub command: String,
    /// None for a suspect, which belonged to nobody.
    pub session: Option<String>,
    /// That of its session, if it is on record.
    pub server: Option<String>,
    /// False for one that even SIGKILL did not end in time.
    pub gone: bool,
}

/// Something that happened to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct HappenedView {
    pub at_ms: i64,
    /// The word on record: "started", "keeper_lost", "server_ended" and so on.
    pub kind: String,
    pub text: String,
    pub session: Option<String>,
}

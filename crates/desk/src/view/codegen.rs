//! Codegen sessions of browser servers.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CodegenView {
    /// The id of the call that started it.
    pub id: String,
    /// As the server calls it, if that is on record.
    pub session: Option<String>,
    pub server: String,
    pub client: String,
    pub state: CodegenState,
    pub started_ms: i64,
    /// When it was ended, cleared or lost.
    pub ended_ms: Option<i64>,
    /// Where the server was asked to write the test.
    pub output: Option<String>,
    /// The test that the server says it wrote.
    pub file: Option<String>,
    /// Recorded actions.
    pub actions: u64,
    /// The server has none of them any more, and wrote no test.
    pub thrown_away: bool,
    /// What the rules say now to a clear of it, while there is something to lose.
    pub clearing: Option<Clearing>,
}

/// What would become of a clear of an open session by its own client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Clearing {
    /// It passes.
    Passes {
        /// `Restriction::KeepRecordings` would refuse it; not where rules are only observed.
        can_be_kept: bool,
    },
    /// Refused until the session has ended, because recordings are kept.
    Kept,
    /// Refused by another rule, or by a pause.
    Refused { reason: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum CodegenState {
    Open,
    Ended,
    Cleared,
    /// Its server went away.
    Lost,
}

impl CodegenState {
    pub fn word(self) -> &'static str {
        match self {
            CodegenState::Open => "open",
            CodegenState::Ended => "ended",
            CodegenState::Cleared => "cleared",
            CodegenState::Lost => "lost",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CodegenDetail {
    pub session: CodegenView,
    /// The first of them, in the order in which they were recorded.
    pub actions: Vec<CodegenAction>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CodegenAction {
    /// The call's id.
    pub call: String,
    pub at_ms: i64,
    pub tool: String,
    pub gist: String,
    /// The server said no.
    pub failed: bool,
}

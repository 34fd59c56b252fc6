//! Pinned definitions of tools as people see them.

use serde::{Deserialize, Serialize};

/// What is pinned of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PinsView {
    pub server: String,
    /// Tools whose definitions are accepted.
    pub tools: u32,
    /// What is done with a definition that is not: "enforce", "report", "off".
    pub pin: String,
    /// Why the file cannot be read.
    pub problem: Option<String>,
    /// A person gave up what was accepted: what the server lists next is.
    pub open: bool,
    /// What waits for a person, tool by tool.
    pub waiting: Vec<PinView>,
}

/// A definition that nobody has accepted, or a tool that came later than the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PinView {
    pub tool: String,
    /// What is accepted when this is: exactly what is shown.
    pub digest: String,
    /// It is listed and may be called, and nobody has looked at it.
    pub is_new: bool,
    pub seen_ms: i64,
    /// From what was accepted to what the server says now, words at a time. Of a definition that is too long to be kept, nothing.
    pub diff: Vec<DiffPart>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DiffPart {
    pub kind: DiffKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    Same,
    Gone,
    Added,
}

/// A definition that a person was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ShownDefinition {
    pub tool: String,
    pub digest: String,
}

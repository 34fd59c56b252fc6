//! Pinned definitions as people see them: of tools and prompts, and what else a server says of itself.

use callgate_controls::pin::PinKind;
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
    /// What is pinned and was not in the server's last list.
    pub gone: Vec<GoneView>,
    /// What the server says beside the protocol, as far as its clients do not get it or a person lets it through.
    pub members: Vec<MemberView>,
}

/// What a definition is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum PinnedThing {
    #[default]
    Tool,
    Prompt,
    /// The server's words for the model.
    Instructions,
    Capability,
    /// What runs under the server's name.
    Program,
}

impl From<PinKind> for PinnedThing {
    fn from(kind: PinKind) -> PinnedThing {
        match kind {
            PinKind::Tool => PinnedThing::Tool,
            PinKind::Prompt => PinnedThing::Prompt,
            PinKind::Instructions => PinnedThing::Instructions,
            PinKind::Capability => PinnedThing::Capability,
            PinKind::Program => PinnedThing::Program,
        }
    }
}

impl From<PinnedThing> for PinKind {
    fn from(thing: PinnedThing) -> PinKind {
        match thing {
            PinnedThing::Tool => PinKind::Tool,
            PinnedThing::Prompt => PinKind::Prompt,
            PinnedThing::Instructions => PinKind::Instructions,
            PinnedThing::Capability => PinKind::Capability,
            PinnedThing::Program => PinKind::Program,
        }
    }
}

/// A tool or a prompt that the server does not list any more. Its pin stays until a person removes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct GoneView {
    pub thing: PinnedThing,
    pub tool: String,
    pub since_ms: i64,
}

/// A capability or a key of `_meta` beside the protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    pub key: String,
    pub is_capability: bool,
    /// A person lets it through.
    pub passes: bool,
    /// When it was taken out first; none of one that has passed from the start.
    pub since_ms: Option<i64>,
    /// What a client does for it, to go on with "it …", and where that is written; where that is known.
    pub what: Option<String>,
    pub source: Option<String>,
}

/// A definition that nobody has accepted, or a tool that came later than the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PinView {
    pub thing: PinnedThing,
    /// The name of the tool or prompt, the key of the capability; else the word for the one thing that it is.
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
    #[serde(default)]
    pub thing: PinnedThing,
    pub tool: String,
    pub digest: String,
}

/// Something pinned that is not listed any more, as a person was shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ShownGone {
    #[serde(default)]
    pub thing: PinnedThing,
    pub tool: String,
}

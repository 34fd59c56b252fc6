//! One call in full.

use serde::{Deserialize, Serialize};

use super::acts::Target;
use super::log::CallLine;
use super::servers::SessionView;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CallDetail {
    pub line: CallLine,
    /// Counts from 1 within the session.
    pub run: u32,
    pub args: Option<Body>,
    pub result: Option<Body>,
    pub why: Why,
    /// What a person decided about it, while that is kept.
    pub decided: Option<DecidedCall>,
    /// How its tool stands for its client now.
    pub access: ToolAccess,
    pub session: Option<SessionView>,
    /// Calls of the same session just before and after it, oldest first, itself included.
    pub siblings: Vec<CallLine>,
    /// The whole call as one JSON object, as `callgate show --json` prints it.
    pub json: String,
}

/// A decision of a person, as a call that it was about shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DecidedCall {
    /// The approval's id.
    pub id: String,
    /// "Approved in the window, 12 s after it was asked".
    pub words: String,
    pub at_ms: i64,
    /// The other calls of this decision, oldest first: the one that asked, and those that it let through later.
    pub others: Vec<CallLine>,
}

/// One tool for one client, and the rule that refused a call of it, if one did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct AccessQuery {
    pub server: String,
    pub client: Option<String>,
    pub tool: Option<String>,
    pub rule: Option<String>,
}

/// How a tool stands for a client at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolAccess {
    /// Nothing that is known would refuse such a call.
    Open,
    /// The rule that refused the call still stands; it looks at arguments, or counts.
    Ruled,
    /// Every call is refused, whatever it is called with.
    Blocked(Blocked),
    /// Every call of its server is refused until a person resumes it.
    Paused,
    /// There is no usable policy.
    Unknown,
}

/// What refuses every call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// "Blocked now: not from an agent".
    pub words: String,
    /// What to allow, to take it back.
    pub target: Target,
}

/// Arguments or a result as they were kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Body {
    /// JSON, unless it was cut.
    pub text: String,
    pub bytes: u64,
    pub cut: bool,
    pub masked: bool,
    pub withheld: bool,
}

/// Why it was decided so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// In words: "Denied: not from an agent".
    pub words: String,
    /// JSON pointer into the policy.
    pub rule: Option<String>,
    /// The rule as it was.
    pub excerpt: Option<String>,
    pub policy: Option<String>,
    /// For capped calls: how the counter stands now.
    pub counter: Option<Counter>,
    /// The rule is not in today's policy any more, or says something else.
    pub changed_since: bool,
}

/// "7 of 10 this minute, next call passes in 41 s".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Counter {
    pub used: u64,
    pub max: u64,
    /// "minute", "90s", "session".
    pub window: String,
    /// When the next call passes; none if one would pass now, or never by itself.
    pub frees_ms: Option<i64>,
    /// "7 of 10 this minute".
    pub words: String,
    /// "the next call passes in 41 s": true at this moment; who shows it for longer counts down to `frees_ms` instead.
    pub next: String,
}

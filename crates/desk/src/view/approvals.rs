//! Approvals as people see them: what waits, what was decided, what is let through for a while.

use serde::{Deserialize, Serialize};

use super::{ClassBadge, Done};

/// Everything about approvals at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalsView {
    /// What waits, the oldest first.
    pub open: Vec<ApprovalView>,
    /// What was decided or missed lately, the newest first.
    pub ended: Vec<ApprovalView>,
    pub grants: Vec<GrantView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    pub id: String,
    /// The call that asked first.
    pub call: String,
    pub server: String,
    pub client: String,
    pub tool: String,
    /// What the tool can do, if its server listed it last.
    pub class: Option<ClassBadge>,
    pub rule: String,
    pub reason: String,
    /// Why it is asked about again.
    pub difference: Option<String>,
    /// JSON, masked; none once it is decided, or where there are none.
    pub arguments: Option<String>,
    pub arguments_bytes: u64,
    /// All of the arguments are there. If not, nobody can say yes.
    pub complete: bool,
    /// How many of their values are hidden by masking: whoever says yes says it to what they cannot read.
    pub masked: u32,
    /// What is different from the call that was approved last; none of one that does not wait.
    pub compared: Option<ComparisonView>,
    pub opened_ms: i64,
    pub expires_ms: i64,
    /// Until when its client waits; none if it does not.
    pub held_until_ms: Option<i64>,
    /// Its client waits, and has gone on with other things meanwhile.
    pub in_background: bool,
    /// How many equal calls asked.
    pub asked: u32,
    /// How often calls of this tool were approved lately, and this very call denied, of this client.
    pub approved_lately: u32,
    pub denied_lately: u32,
    pub state: ApprovalState,
    pub decided_ms: Option<i64>,
    /// "in the window", "at the command line"
    pub decided_by: Option<String>,
    /// What was said with a no.
    pub words: Option<String>,
    /// Its client says which conversation the call belongs to: a yes can be for that.
    pub in_conversation: bool,
}

/// The arguments of a call that waits, held against those of the call of the same tool by the same client that was approved last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ComparisonView {
    pub words: String,
    /// The call that was approved; none if there is nothing to compare with.
    pub call: Option<String>,
    /// JSON pointers to values that are others than there, or new.
    pub changed: Vec<String>,
    /// And to those that were there and are not here.
    pub gone: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Open,
    Approved,
    Denied,
    Missed,
    Withdrawn,
}

/// What a yes lets through for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    pub id: String,
    pub server: String,
    pub client: String,
    pub tool: String,
    /// Other tools of the server that it reaches.
    pub also: Vec<String>,
    /// "until it was idle for a minute, 19 calls at most"
    pub words: String,
    pub ends_ms: i64,
    pub calls_left: u32,
}

/// What a person decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ApprovalVerdict {
    Once,
    /// The same tool, until nothing comes for a minute.
    Burst {
        /// These of the same server as well.
        #[serde(default)]
        tools: Vec<String>,
    },
    /// The same tool, for the rest of a conversation that the client tells.
    Conversation,
    /// The same tool, until the client restarts.
    UntilRestart,
    Deny {
        reason: Option<String>,
        /// By a rule from now on.
        block: bool,
    },
}

/// What came of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DecidedView {
    pub done: Done,
    /// What to tell a client that has stopped waiting; none if it waits, or was told no.
    pub tell: Option<String>,
}

//! Servers and their sessions.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    pub name: String,
    pub state: ServerState,
    pub protection: Protection,
    /// What is wrong, and what to do.
    pub problem: Option<String>,
    /// Secrets masked.
    pub command: Vec<String>,
    /// Running ones first, then the newest, at most ten.
    pub sessions: Vec<SessionView>,
    pub calls_today: u64,
    pub refused_today: u64,
    pub calls_last_hour: u64,
    pub last_call_ms: Option<i64>,
    pub last_error: Option<String>,
    pub last_error_ms: Option<i64>,
    pub tools: u32,
    /// It has codegen sessions.
    pub codegen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    Running,
    Stopped,
    /// In `servers.json` and never started.
    NeverStarted,
}

/// How well its calls are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Protection {
    Enforcing,
    /// Nothing is denied, only recorded (and perhaps capped).
    WatchOnly,
    /// Its rules are set aside for a while.
    Observed,
    Paused,
    /// The policy cannot be used: everything is refused.
    Broken,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub session: String,
    pub server: String,
    pub client: Option<String>,
    pub pid: Option<u32>,
    pub started_ms: i64,
    pub ended_ms: Option<i64>,
    /// "client_closed" and so on, when it ended.
    pub end: Option<String>,
    pub policy: Option<String>,
    pub calls: u64,
    pub refused: u64,
    pub demo: bool,
}

/// What the whole process tree of a running session takes at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub session: String,
    pub server: String,
    pub at_ms: i64,
    /// Of one core.
    pub cpu_percent: f32,
    pub memory_bytes: u64,
    pub processes: u32,
}

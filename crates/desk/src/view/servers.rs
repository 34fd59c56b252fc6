//! Servers and their sessions.

use callgate_home::Stand;
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
    /// It is on Callgate's own list.
    pub added: bool,
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
    /// "client_closed" and so on, when it ended; "crashed" where an event says so.
    pub end: Option<String>,
    pub policy: Option<String>,
    pub calls: u64,
    pub refused: u64,
    pub demo: bool,
    /// How its server stands, while it runs.
    pub stand: StandView,
    /// Why the server does not run, where no person stopped it, or which limit it is beyond: text of a server may be in it.
    pub stand_words: Option<String>,
    /// How often the server was started again in this session, and when last.
    pub restarts: u32,
    pub restarted_ms: Option<i64>,
}

/// How the server of a running session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum StandView {
    #[default]
    Running,
    /// By a person, or with words by its limits.
    Stopped,
    /// It is being started again.
    Starting,
    /// It crashed too often, or could not be started again.
    Down,
}

impl StandView {
    /// Only a person brings it back.
    pub fn is_still(self) -> bool {
        matches!(self, StandView::Stopped | StandView::Down)
    }
}

impl From<Stand> for StandView {
    fn from(stand: Stand) -> StandView {
        match stand {
            Stand::Running => StandView::Running,
            Stand::Stopped => StandView::Stopped,
            Stand::Starting => StandView::Starting,
            Stand::Down => StandView::Down,
        }
    }
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

//! How things stand, for the tray and the head of the window.

use serde::{Deserialize, Serialize};

use super::acts::AllowanceView;
use super::log::CallLine;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    pub icon: IconState,
    /// What needs a person, worst first.
    pub needs: Vec<Need>,
    /// "3 servers, 214 calls today, 2 refused".
    pub status: String,
    /// The icon in words, with its cause: "Paused: every call is refused".
    pub headline: String,
    /// Servers of clients that no gate stands in front of and that nobody has decided about.
    pub unprotected: u32,
    pub servers_running: u32,
    pub sessions_running: u32,
    pub calls_today: u64,
    pub refused_today: u64,
    pub paused_all: bool,
    pub paused_servers: Vec<String>,
    pub allowances: Vec<AllowanceView>,
    /// The last five calls, newest first.
    pub recent: Vec<CallLine>,
    pub alarms: Vec<Alarm>,
    /// No call was ever recorded here.
    pub first_run: bool,
    pub demo_running: bool,
    /// Start at login was never asked about.
    pub ask_login: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum IconState {
    Quiet,
    /// Something was refused in the last ten minutes.
    BlockedLately,
    NeedsYou,
    /// A person has paused all, or a part: those calls are refused.
    Paused,
    /// Calls pass that nobody judges.
    NotProtecting,
}

/// One thing that needs a person, and what mends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Need {
    pub words: String,
    pub fix: Option<Fix>,
    pub server: Option<String>,
    /// Calls are not protected, or all refused, while this lasts.
    pub serious: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fix {
    Resume {
        server: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    },
    /// Open the rules of this server.
    OpenRules {
        server: String,
    },
    OpenSettings,
    OpenApprovals,
    OpenClients,
    /// Look at the definitions of tools that this server changed.
    OpenDefinitions {
        server: String,
    },
    EndAllowance {
        id: String,
    },
    PauseServer {
        server: String,
    },
    /// Put the default policy back: `Loosening::RestoreDefault`.
    RestoreDefault,
}

/// More calls than this person's own history makes likely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Alarm {
    pub server: String,
    pub client: Option<String>,
    pub tool: Option<String>,
    pub per_minute: u32,
    pub usual_per_minute: u32,
    pub since_ms: i64,
    pub words: String,
}

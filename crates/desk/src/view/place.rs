//! Somewhere in the window: where the tray and notifications lead.

use serde::{Deserialize, Serialize};

use super::CallFilter;
use super::acts::{Loosening, Target};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Place {
    /// The window as it was left.
    Window,
    /// One call, with its *why*.
    Call {
        id: String,
    },
    /// The log with this filter.
    Log {
        filter: CallFilter,
    },
    /// Caps to choose from.
    Caps {
        target: Target,
    },
    Servers,
    /// This server among them.
    Server {
        server: String,
    },
    /// The rules of this server.
    Rules {
        server: String,
    },
    Settings,
    Approvals,
    Clients,
    /// The second step of a loosening: the window asks, as if it had been chosen there.
    Question {
        loosening: Loosening,
    },
}

//! What a click in the tray or on a notification means.
//!
//! An act travels as the id of its menu entry and comes back as the same act. Restricting acts are done at once;
//! whatever loosens only leads to the window's question, but a yes to one call that its notification showed whole.

use callgate_controls::control::ServerCommand;
use callgate_wiring::client_name;
use serde::{Deserialize, Serialize};

use crate::view::{CallFilter, Fix, Loosening, Place, Restriction, Target};

/// One entry's act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum TrayAct {
    Open,
    Log,
    Settings,
    Approvals,
    Clients,
    Servers,
    Quit,
    /// Refuse a call that waits for a decision.
    Deny {
        id: String,
    },
    /// Let it through, as the notification with this key offered.
    Approve {
        id: String,
        key: String,
    },
    /// End what a yes lets through.
    Revoke {
        id: String,
    },
    Why {
        call: String,
    },
    Block {
        target: Target,
    },
    /// Asks in the window.
    Allow {
        target: Target,
    },
    Cap {
        target: Target,
        /// Calls a minute; none: what this person's own use advises when it is clicked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
    },
    /// None: every server.
    Pause {
        server: Option<String>,
    },
    /// Neither: every pause.
    Resume {
        server: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    },
    Stop {
        server: String,
    },
    Start {
        server: String,
    },
    Restart {
        server: String,
    },
    Rules {
        server: String,
    },
    /// What this server says of its tools otherwise than was accepted.
    Definitions {
        server: String,
    },
    EndAllowance {
        id: String,
    },
    RestoreDefault,
    /// Pause all, and end every server.
    StopEverything,
}

/// What the shell has to do for an act.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// At once, with [`crate::Desk::restrict`].
    Restrict(Restriction),
    /// At once, with [`crate::Desk::cap_as_advised`].
    Cap(Target),
    /// Bring the window to the front and show this.
    Show(Place),
    Quit,
    /// At once, with [`crate::Desk::ask_server`].
    Server {
        server: String,
        wish: ServerCommand,
    },
    /// At once, with [`crate::Desk::deny`].
    Deny(String),
    /// At once, with [`crate::Desk::approve_as_offered`].
    Approve {
        id: String,
        key: String,
    },
    /// At once, with [`crate::Desk::revoke_grant`].
    Revoke(String),
    /// At once, with [`crate::Desk::stop_everything`].
    StopEverything,
}

impl TrayAct {
    /// The id of the entry.
    pub fn id(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The act of an entry; none if the id is not one of ours.
    pub fn parse(id: &str) -> Option<TrayAct> {
        serde_json::from_str(id).ok()
    }

    pub fn step(&self) -> Step {
        match self.clone() {
            TrayAct::Open => Step::Show(Place::Window),
            TrayAct::Log => Step::Show(Place::Log { filter: CallFilter::default() }),
            TrayAct::Settings => Step::Show(Place::Settings),
            TrayAct::Approvals => Step::Show(Place::Approvals),
            TrayAct::Clients => Step::Show(Place::Clients),
            TrayAct::Servers => Step::Show(Place::Servers),
            TrayAct::Quit => Step::Quit,
            TrayAct::Deny { id } => Step::Deny(id),
            TrayAct::Approve { id, key } => Step::Approve { id, key },
            TrayAct::Revoke { id } => Step::Revoke(id),
            TrayAct::Why { call } => Step::Show(Place::Call { id: call }),
            TrayAct::Block { target } => Step::Restrict(Restriction::Block { target, reason: None }),
            TrayAct::Allow { target } => {
                Step::Show(Place::Question { loosening: Loosening::Allow { target } })
            }
            TrayAct::Cap { target, max: None } => Step::Cap(target),
            TrayAct::Cap { target, max: Some(max) } => {
                Step::Restrict(Restriction::Cap { target, max, window: "minute".to_owned() })
            }
            TrayAct::Pause { server } => {
                Step::Restrict(Restriction::Pause { server, client: None, reason: None })
            }
            TrayAct::Resume { server, client } => {
                Step::Show(Place::Question { loosening: Loosening::Resume { server, client } })
            }
            TrayAct::RestoreDefault => Step::Show(Place::Question { loosening: Loosening::RestoreDefault }),
            TrayAct::Rules { server } => Step::Show(Place::Rules { server }),
            TrayAct::Definitions { server } => Step::Show(Place::Server { server }),
            TrayAct::EndAllowance { id } => Step::Restrict(Restriction::EndAllowance { id }),
            TrayAct::Stop { server } => Step::Server { server, wish: ServerCommand::Stop },
            TrayAct::Start { server } => Step::Server { server, wish: ServerCommand::Start },
            TrayAct::Restart { server } => Step::Server { server, wish: ServerCommand::Restart },
            TrayAct::StopEverything => Step::StopEverything,
        }
    }

    /// The act that mends something, and what its entry says.
    pub(super) fn mends(fix: &Fix) -> (TrayAct, String) {
        let name = |server: &str| super::shown(server, super::NAME);
        match fix.clone() {
            Fix::Resume { server, client } => {
                let text = match (&server, &client) {
                    (None, None) => "Resume all…".to_owned(),
                    (Some(server), None) => format!("Resume {}…", name(server)),
                    (_, Some(client)) => format!("Resume {}…", client_name(client)),
                };
                (TrayAct::Resume { server, client }, text)
            }
            Fix::OpenRules { server } => {
                let text = format!("Open the rules of {}", name(&server));
                (TrayAct::Rules { server }, text)
            }
            Fix::OpenSettings => (TrayAct::Settings, "Open the settings".to_owned()),
            Fix::OpenApprovals => (TrayAct::Approvals, "Decide…".to_owned()),
            Fix::OpenDefinitions { server } => {
                let text = format!("Look at what {} changed…", name(&server));
                (TrayAct::Definitions { server }, text)
            }
            Fix::OpenClients => (TrayAct::Clients, "Look at the clients".to_owned()),
            Fix::RestoreDefault => (TrayAct::RestoreDefault, "Put the default policy back…".to_owned()),
            Fix::EndAllowance { id } => (TrayAct::EndAllowance { id }, "End it now".to_owned()),
            Fix::PauseServer { server } => {
                let text = format!("Pause {}", name(&server));
                (TrayAct::Pause { server: Some(server) }, text)
            }
        }
    }
}

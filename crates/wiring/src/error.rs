//! What can go wrong with clients' files, by cause.

use std::io;

use callgate_clients::Client;
use callgate_clients::change::ChangeError;
use callgate_clients::ledger::LedgerError;
use callgate_clients::own::{AddError, OwnError};
use callgate_clients::queue::QueueError;
use callgate_clients::reopen::ReopenError;
use callgate_clients::secrets::moving::MoveError;
use callgate_home::HomeError;
use callgate_secrets::KeychainError;

#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error("{what}")]
    Disk {
        what: String,
        #[source]
        error: io::Error,
    },
    #[error(transparent)]
    ClientFile(#[from] ChangeError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Adding(#[from] AddError),
    #[error(transparent)]
    Own(#[from] OwnError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Reopen(#[from] ReopenError),
    #[error(transparent)]
    Secrets(#[from] MoveError),
    #[error("{0}. Nothing was changed.")]
    Keychain(KeychainError),
    #[error("{} runs and would write its own copy over it; nothing was changed. {}", .0.name, .0.reload)]
    ClientRuns(&'static Client),
    #[error("{0}")]
    Conflict(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    BadInput(String),
}

impl WiringError {
    pub(crate) fn disk(what: impl Into<String>, error: io::Error) -> WiringError {
        WiringError::Disk { what: what.into(), error }
    }
}

//! Windows: the Credential Manager. It never asks, and takes 2560 bytes.

use std::error::Error as StdError;
use std::fs::OpenOptions;
use std::sync::Arc;

use callgate_secrets::{KeychainError, Reference};
use keyring_core::{CredentialStore, Error};
use zeroize::Zeroizing;

#[path = "by_store.rs"]
mod by_store;

pub(crate) fn open() -> Result<Arc<CredentialStore>, Error> {
    let store = windows_native_keyring_store::Store::new()?;
    Ok(store)
}

/// The same store: it never asks.
pub(crate) struct Quiet(Arc<CredentialStore>);

impl Quiet {
    pub(crate) fn open() -> Result<Quiet, KeychainError> {
        open().map(Quiet).map_err(|error| KeychainError::Absent(error.to_string()))
    }

    pub(crate) fn read(&self, reference: &Reference) -> Result<Zeroizing<Vec<u8>>, KeychainError> {
        by_store::read(&self.0, reference)
    }
}

pub(crate) fn reachable() -> Result<(), String> {
    Ok(())
}

pub(crate) fn may_ask() -> bool {
    false
}

pub(crate) fn labelled(_label: &str) -> Option<(&'static str, &str)> {
    None
}

pub(crate) fn no_access(_why: &(dyn StdError + Send + Sync)) -> KeychainError {
    KeychainError::Locked
}

/// The folder of a person is for that person.
pub(crate) fn private(_options: &mut OpenOptions) {}

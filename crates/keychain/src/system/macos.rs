//! macOS: the login keychain. Its list of trusted programs goes by the program's signature, so a build that is signed anew
//! asks again.

use std::error::Error as StdError;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use callgate_secrets::{KeychainError, Reference};
use keyring_core::{CredentialStore, Error};
use security_framework::os::macos::keychain::{KeychainUserInteractionLock, SecKeychain};
use zeroize::Zeroizing;

#[path = "by_store.rs"]
mod by_store;

pub(crate) fn open() -> Result<Arc<CredentialStore>, Error> {
    let store = apple_native_keyring_store::keychain::Store::new()?;
    Ok(store)
}

/// The keychain, told not to ask for as long as this lives.
pub(crate) struct Quiet {
    store: Arc<CredentialStore>,
    _silent: KeychainUserInteractionLock,
}

impl Quiet {
    pub(crate) fn open() -> Result<Quiet, KeychainError> {
        let failed = |error: String| KeychainError::Failed(error);
        let silent = SecKeychain::disable_user_interaction().map_err(|error| failed(error.to_string()))?;
        let store = open().map_err(|error| KeychainError::Absent(error.to_string()))?;
        Ok(Quiet { store, _silent: silent })
    }

    pub(crate) fn read(&self, reference: &Reference) -> Result<Zeroizing<Vec<u8>>, KeychainError> {
        by_store::read(&self.store, reference).map_err(|error| match error {
            // Nobody was asked, so nobody turned it down.
            KeychainError::Denied => KeychainError::Locked,
            other => other,
        })
    }
}

pub(crate) fn reachable() -> Result<(), String> {
    Ok(())
}

pub(crate) fn may_ask() -> bool {
    true
}

pub(crate) fn labelled(_label: &str) -> Option<(&'static str, &str)> {
    None
}

pub(crate) fn no_access(_why: &(dyn StdError + Send + Sync)) -> KeychainError {
    KeychainError::Denied
}

pub(crate) fn private(options: &mut OpenOptions) {
    options.mode(0o600);
}

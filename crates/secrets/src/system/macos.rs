//! macOS: the login keychain. Its list of trusted programs goes by the program's signature, so a build that is signed anew
//! asks again.

use std::error::Error as StdError;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use keyring_core::{CredentialStore, Error};

use crate::KeychainError;

pub(crate) const START_ONE: &str = "Log in to this Mac's desktop, then try again";
pub(crate) const UNLOCK: &str = "Unlock the login keychain (Keychain Access), then try again";

pub(crate) fn open() -> Result<Arc<CredentialStore>, Error> {
    let store = apple_native_keyring_store::keychain::Store::new()?;
    Ok(store)
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

//! The keychain, opened only when a secret is to be had from it: it may have to ask the person.

use std::cell::OnceCell;
use std::path::Path;

use callgate_keychain::SystemKeychain;
use callgate_secrets::{Keychain, KeychainError};

#[derive(Debug)]
pub struct Lazily<'h> {
    home: &'h Path,
    keychain: OnceCell<Result<SystemKeychain, KeychainError>>,
}

impl<'h> Lazily<'h> {
    /// `home`: Callgate's own.
    pub fn at(home: &'h Path) -> Lazily<'h> {
        Lazily { home, keychain: OnceCell::new() }
    }

    /// Asks once; the answer stays.
    pub fn open(&self) -> Result<&dyn Keychain, KeychainError> {
        match self.keychain.get_or_init(|| SystemKeychain::open(self.home)) {
            Ok(keychain) => Ok(keychain),
            Err(error) => Err(error.clone()),
        }
    }
}

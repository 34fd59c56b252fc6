//! What a keychain does, whoever's it is.

use crate::{Item, KeychainError, Reference};

/// Items by reference.
pub trait Keychain {
    fn read(&self, reference: &Reference) -> Result<Item, KeychainError>;
    /// Writes it anew, or in place of what is there.
    fn write(&self, reference: &Reference, item: &Item) -> Result<(), KeychainError>;
    fn remove(&self, reference: &Reference) -> Result<(), KeychainError>;
}

//! A keychain that forgets everything with its process: for tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Item, Keychain, KeychainError, Reference};

#[derive(Debug, Default)]
pub struct MemoryKeychain {
    items: Mutex<BTreeMap<String, Item>>,
}

impl MemoryKeychain {
    fn items(&self) -> MutexGuard<'_, BTreeMap<String, Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn len(&self) -> usize {
        self.items().len()
    }

    pub fn is_empty(&self) -> bool {
        self.items().is_empty()
    }
}

impl Keychain for MemoryKeychain {
    fn read(&self, reference: &Reference) -> Result<Item, KeychainError> {
        let account = reference.account();
        self.items().get(&account).cloned().ok_or(KeychainError::NotFound { account })
    }

    fn write(&self, reference: &Reference, item: &Item) -> Result<(), KeychainError> {
        self.items().insert(reference.account(), item.clone());
        Ok(())
    }

    fn remove(&self, reference: &Reference) -> Result<(), KeychainError> {
        let account = reference.account();
        self.items().remove(&account).map(drop).ok_or(KeychainError::NotFound { account })
    }
}

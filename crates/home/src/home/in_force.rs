//! What others are to heed at once: in force before the disk has it, and what is to be told if the disk never says that it has.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::Home;
use crate::atomic;

/// What is in force here and was not confirmed by the disk, until a person is told. All that share a [`Home`] share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unconfirmed(Arc<Mutex<Option<io::Error>>>);

/// Two homes are the same by their path.
impl PartialEq for Unconfirmed {
    fn eq(&self, _: &Unconfirmed) -> bool {
        true
    }
}

impl Eq for Unconfirmed {}

impl Home {
    /// Replaces one of its files so that it is in force whatever the disk says after that; what the disk does say is kept for
    /// [`Home::take_unconfirmed`]. An error is that it is not in force.
    pub fn put_in_force(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = atomic::replace_at_once(path, bytes)? {
            self.note_unconfirmed(error);
        }
        Ok(())
    }

    /// For tests of those who tell it: no disk fails on demand.
    pub fn note_unconfirmed(&self, error: io::Error) {
        *self.unconfirmed.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// What the disk said when it last did not confirm what is in force here; told once.
    pub fn take_unconfirmed(&self) -> Option<io::Error> {
        self.unconfirmed.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

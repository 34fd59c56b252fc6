//! Secrets back into the file before a gate is taken away: without its gate, a server would get references in their place.

use std::path::Path;

use super::lazy_keychain::Lazily;
use super::moving::{Moved, put_back, refers};
use crate::survey::{Entry, Surveyed};

#[derive(Debug)]
pub struct Returning<'h> {
    home: &'h Path,
    keychain: Lazily<'h>,
}

/// What became of the secrets of one entry. An error: the entry has to stay behind the gate.
#[derive(Debug)]
pub struct Returned<'e> {
    pub entry: &'e Entry,
    pub moved: Result<Moved, String>,
}

impl<'h> Returning<'h> {
    pub fn to(home: &'h Path) -> Returning<'h> {
        Returning { home, keychain: Lazily::at(home) }
    }

    /// Puts back what the chosen entries of a file refer to.
    pub fn put_back<'f>(
        &self,
        file: &'f Surveyed,
        chosen: &dyn Fn(&Entry) -> bool,
        now_ms: i64,
    ) -> Vec<Returned<'f>> {
        let referring = file.entries().iter().filter(|entry| chosen(entry) && refers(entry));
        referring.map(|entry| Returned { entry, moved: self.one(file, entry, now_ms) }).collect()
    }

    fn one(&self, file: &Surveyed, entry: &Entry, now_ms: i64) -> Result<Moved, String> {
        match self.keychain.open() {
            Ok(keychain) => put_back(self.home, &file.found, &entry.key, keychain, now_ms)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

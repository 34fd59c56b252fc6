//! The secrets of a file's entries as far as they may be told: what they are called and where they are, never what they say.

use std::cell::LazyCell;

use super::find::{self, Finding, Slot, Why};
use crate::entry;
use crate::survey::{Entry, Surveyed};
use callgate_document::Document;

/// One secret of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSecret {
    pub slot: Slot,
    pub name: String,
    pub stands: Stands,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// In the file, for everybody to read: so many characters, and what gave it away.
    InFile {
        length: usize,
        why: Why,
    },
    InKeychain,
}

/// Those of every entry of a file, in its order.
pub fn listed(file: &Surveyed) -> impl Iterator<Item = (&Entry, Vec<ListedSecret>)> {
    let document = LazyCell::new(|| {
        let (contents, place) = (file.read.as_ref().ok()?, file.found.places.first()?);
        Document::parse(place.syntax, &contents.snapshot.bytes).ok()
    });
    file.entries().iter().map(move |entry| {
        let secrets = match entry.local() {
            Some(local) => {
                let moved = find::references(local).into_iter();
                let moved = moved.map(|(slot, name)| ListedSecret { slot, name, stands: Stands::InKeychain });
                find::secrets(local).into_iter().map(in_file).chain(moved).collect()
            }
            // Reached over the network: its headers.
            None => document.as_ref().map_or_else(Vec::new, |document| {
                find::in_headers(&entry::headers(document, &entry.server)).into_iter().map(in_file).collect()
            }),
        };
        (entry, secrets)
    })
}

fn in_file(finding: Finding) -> ListedSecret {
    let stands = Stands::InFile { length: finding.length(), why: finding.why };
    ListedSecret { slot: finding.slot, name: finding.name, stands }
}

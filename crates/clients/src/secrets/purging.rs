//! Values out of the copies of clients' files, once they are in the keychain: a copy keeps everything else, and gets the
//! reference in the value's place.
//!
//! A copy is rewritten only where we know what we do: the entry of the same name in a copy of the same file. Whatever else of a
//! copy holds the value (a comment, another server) is told, and the copy stays as it is.

use std::path::{Path, PathBuf};

use callgate_secrets::{Keychain, Reference, Secret, referring};

use super::open::texts;
use crate::backup::{Backup, Backups};
use crate::discover::known;
use crate::entry::{Server, servers};
use crate::ledger::{LedgerError, LedgerKey, hold};
use crate::survey::{Surveyed, entries};
use crate::table;
use callgate_document::Document;

/// A secret that is in the keychain, and the entry that refers to it.
struct StoredSecret {
    key: LedgerKey,
    reference: Reference,
    value: Secret,
    literal: Secret,
}

#[derive(Debug, Default)]
pub struct Purged {
    /// The copies, by what they are called now.
    pub rewritten: Vec<String>,
    /// Copies that hold a value still, and why.
    pub stuck: Vec<(String, String)>,
    /// References of which nobody knows what they stand for, and why.
    pub unread: Vec<(String, String)>,
}

/// Takes the values of what these files refer to out of the copies of the same files.
pub fn purge(home: &Path, surveyed: &[Surveyed], keychain: &dyn Keychain) -> Result<Purged, LedgerError> {
    let mut purged = Purged::default();
    // May ask a person: before others have to wait for us.
    let kept = kept(surveyed, keychain, &mut purged);
    let _held = hold(home)?;
    let backups = Backups::of(home);
    let copies = match backups.list() {
        Ok(copies) => copies,
        Err(error) => {
            purged.stuck.push(("backups".to_owned(), error.to_string()));
            return Ok(purged);
        }
    };
    for copy in copies {
        let of_file = |kept: &&StoredSecret| kept.key.client == copy.client && kept.key.path == copy.path;
        let mine: Vec<&StoredSecret> = kept.iter().filter(of_file).collect();
        match without(&copy, &mine) {
            Ok(None) => {}
            Ok(Some(bytes)) => match backups.exchange(&copy, &bytes) {
                Ok(now) => purged.rewritten.push(now.id()),
                Err(error) => purged.stuck.push((copy.id(), error.to_string())),
            },
            Err(why) => purged.stuck.push((copy.id(), why)),
        }
    }
    Ok(purged)
}

fn kept(surveyed: &[Surveyed], keychain: &dyn Keychain, purged: &mut Purged) -> Vec<StoredSecret> {
    let mut all = Vec::new();
    for entry in entries(surveyed) {
        let found = entry.local().into_iter().flat_map(texts).filter_map(|text| referring(&text.value));
        for reference in found.flatten().map(|found| found.reference) {
            match keychain.read(&reference) {
                Ok(item) if item.value.expose().is_empty() => {}
                Ok(item) => {
                    let key = entry.key.clone();
                    all.push(StoredSecret { key, reference, value: item.value, literal: item.literal });
                }
                Err(error) => purged.unread.push((reference.name().to_owned(), error.to_string())),
            }
        }
    }
    all
}

/// What a copy says with references in place of these values; nothing, if it holds none.
fn without(copy: &Backup, kept: &[&StoredSecret]) -> Result<Option<Vec<u8>>, String> {
    if kept.is_empty() {
        return Ok(None);
    }
    let before = copy.read().map_err(|error| error.to_string())?;
    let mut bytes = before.clone();
    // One after the other: each moves what comes behind it.
    for one in kept {
        for place in places(copy) {
            while let Some(next) = exchanged(&bytes, place, one)? {
                bytes = next;
            }
        }
    }
    let holds =
        |text: &str| !text.is_empty() && bytes.windows(text.len()).any(|part| part == text.as_bytes());
    match kept.iter().find(|one| holds(one.value.expose()) || holds(one.literal.expose())) {
        Some(one) => Err(format!(
            "it holds {} in another place as well, such as a comment or another server; remove the copy, or take it out there",
            one.reference.name()
        )),
        None => Ok((bytes != before).then_some(bytes)),
    }
}

fn places(copy: &Backup) -> Vec<&'static table::ConfigLocation> {
    table::client(&copy.client)
        .map_or_else(Vec::new, |client| known(client, PathBuf::from(&copy.path)).places)
}

/// With one of its texts exchanged, if there is one to be.
fn exchanged(
    bytes: &[u8],
    place: &table::ConfigLocation,
    kept: &StoredSecret,
) -> Result<Option<Vec<u8>>, String> {
    let Ok(document) = Document::parse(place.syntax, bytes) else { return Ok(None) };
    let listing = servers(&document, &place.shape);
    let same = |server: &&Server| server.id.name == kept.key.name && server.id.within == kept.key.project;
    let texts = listing.servers.iter().filter(same).filter_map(Server::local).flat_map(texts);
    let mut texts = texts.filter(|text| referring(&text.value).is_none());
    let held = texts.find_map(|text| Some((text, text.value.strip_suffix(kept.value.expose())?)));
    let Some((text, before)) = held else { return Ok(None) };
    let splice = document.replace(&text.span, &format!("{before}{}", kept.reference));
    let splice = splice.map_err(|odd| odd.to_string())?;
    let after = document.spliced(&[splice]).map_err(|error| error.to_string())?;
    Ok(Some(after.text.into_bytes()))
}

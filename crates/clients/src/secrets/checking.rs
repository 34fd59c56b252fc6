//! Do references lead to what they should? Asked of the keychain without asking the person, and without a value coming out of
//! here.

use callgate_keychain::glance;
use callgate_secrets::{Item, KeychainError, Reference, referring};

use super::find::{Slot, slots};
use super::moving::{refers, start_of};
use crate::survey::Entry;

/// One reference of an entry.
#[derive(Debug)]
pub struct Checked<'e> {
    pub entry: &'e Entry,
    pub slot: Slot,
    /// What it is called; nothing, if it is no reference that we write.
    pub name: Option<String>,
    pub found: Result<(), Astray>,
}

/// Why a server would not get its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Astray {
    /// It begins like a reference and is none.
    Bad,
    /// It was stored for another server or another command than the entry has now.
    Foreign,
    /// The entry is not behind the gate, so its server gets the reference itself.
    NoGate,
    Keychain(KeychainError),
}

/// Every reference of these entries. The keychain is looked at once; the error is why it cannot be at all.
pub fn check<'e>(
    entries: impl IntoIterator<Item = &'e Entry>,
) -> (Vec<Checked<'e>>, Result<(), KeychainError>) {
    let mut wanted: Vec<(&Entry, Slot, Option<Reference>)> = Vec::new();
    for entry in entries {
        let Some(local) = entry.local() else { continue };
        for (slot, text) in slots(local) {
            if let Some(found) = referring(&text.value) {
                wanted.push((entry, slot, found.ok().map(|found| found.reference)));
            }
        }
    }
    let references = wanted.iter().filter_map(|(.., reference)| reference.clone()).collect();
    let (mut items, state) = match glance(references) {
        Ok(items) => (items.into_iter(), Ok(())),
        Err(error) => (Vec::new().into_iter(), Err(error)),
    };
    let checked = wanted.into_iter().map(|(entry, slot, reference)| {
        let found = match (&reference, &state) {
            (None, _) => Err(Astray::Bad),
            (Some(_), Err(error)) => Err(Astray::Keychain(error.clone())),
            // One answer for each question, in their order.
            (Some(_), Ok(())) => items.next().map_or(Ok(()), |item| judge(entry, item)),
        };
        Checked { entry, slot, name: reference.map(|reference| reference.name().to_owned()), found }
    });
    (checked.collect(), state)
}

fn judge(entry: &Entry, item: Result<Item, KeychainError>) -> Result<(), Astray> {
    let item = item.map_err(Astray::Keychain)?;
    match start_of(entry) {
        None => Err(Astray::NoGate),
        Some(start) if item.start != start => Err(Astray::Foreign),
        Some(_) if entry.local().is_some_and(|local| !item.surroundings.covers(&local.surroundings())) => {
            Err(Astray::Foreign)
        }
        Some(_) => Ok(()),
    }
}

/// The references of these entries that lead to nothing: their items are gone from the keychain, or are none of ours. The error
/// is why nobody can tell. Without any reference, the keychain is not asked at all.
pub fn dead<'e>(
    entries: impl IntoIterator<Item = &'e Entry>,
) -> (Vec<Checked<'e>>, Result<(), KeychainError>) {
    let referring: Vec<_> = entries.into_iter().filter(|entry| refers(entry)).collect();
    if referring.is_empty() {
        return (Vec::new(), Ok(()));
    }
    let (mut checked, state) = check(referring);
    checked.retain(|one| matches!(&one.found, Err(Astray::Keychain(error)) if error.is_about_the_item()));
    (checked, state)
}

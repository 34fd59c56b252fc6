//! Secrets out of an entry into the keychain, and back: each a change of one entry, whole or not at all.
//!
//! The order is what keeps a secret from being lost. Moving: store, read back, then write the file; if the file cannot be
//! written, what was stored is removed again. Putting back: read, write the file, then remove.

use std::ffi::OsStr;
use std::path::Path;

use callgate_secrets::{
    BadReference, Identity, Item, Keychain, KeychainError, Reference, SCHEME, Secret, Surroundings, referring,
};

use super::classification::is_filled_in;
use super::find::{Finding, secrets};
use super::open::{OpenEntry, Swap, swapped, texts};
use crate::backup::Backups;
use crate::discover::Found;
use crate::entry::Local;
use crate::file::{self, FileError};
use crate::ledger::{LedgerError, LedgerKey, hold};
use crate::running;
use crate::survey::{Entry, Refusal};
use crate::table::Client;
use callgate_document::{Odd, Unreadable};

/// In place of a number that nobody knows yet.
const UNKNOWN: &str = "…";

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}; nothing was changed")]
    Ledger(#[from] LedgerError),
    #[error("it was written, but that could not be noted: {0}")]
    Unrecorded(LedgerError),
    #[error("the entry is not there any more")]
    Gone,
    #[error(
        "it is not behind the gate, which is what would put the values back in place when the server starts. Protect it first"
    )]
    NotProtected,
    #[error(
        "its gate names no server or no client, so it cannot be told from others. Unprotect it and protect it again first"
    )]
    Unnamed,
    #[error(
        "its {0} is filled in by the client when it starts the server, so the gate could not tell whether it is still the same command. Write what it stands for in its place first"
    )]
    FilledIn(String),
    #[error("{name}: {error}; nothing was changed")]
    Keychain { name: String, error: KeychainError },
    #[error("{name} did not come back from the keychain as it was stored; nothing was changed")]
    NotKept { name: String },
    #[error("{0}")]
    Bad(#[from] BadReference),
    #[error(
        "{name} was stored for another entry; nothing was changed. If you renamed this entry or moved its file, store its secrets \
         anew for it first (`callgate secrets move` with the client and this entry, at a terminal); else somebody copied the reference"
    )]
    Foreign { name: String },
    #[error(
        "{name} was stored for another command than the entry has now, or with other variables that decide what it runs; nothing was changed"
    )]
    Edited { name: String },
    #[error("it cannot be edited: {0}; nothing was changed")]
    Odd(#[from] Odd),
    #[error("the edit would have changed more than it should ({0}); nothing was changed")]
    Check(String),
    #[error("no random number is to be had for a reference: {0}; nothing was changed")]
    Random(String),
}

impl MoveError {
    /// Did it fail when the file may have been written already?
    fn may_be_written(&self) -> bool {
        match self {
            MoveError::Unrecorded(_) => true,
            MoveError::File(error) => error.may_be_written(),
            _ => false,
        }
    }
}

/// What was done to an entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The names of what was moved, or put back.
    pub names: Vec<String>,
    /// What was put back and is still in the keychain: it could not be removed, or the client may write the reference again.
    pub left: Vec<String>,
}

/// What becomes of references that were stored for another command than the entry has now, or for the same command under
/// another name or in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// Nothing, and neither of the rest.
    Refuse,
    /// They are stored anew for it: a person changed the entry, renamed it or moved its file, and says so. What is foreign
    /// in both ways stays so: nothing speaks for it but that word.
    Accept,
}

/// Which of the secrets that were found are meant: not everything that looks like one is.
pub type Meant<'a> = &'a dyn Fn(&Finding) -> bool;

/// Moves the secrets of an entry.
pub fn move_in(
    home: &Path,
    found: &Found,
    key: &LedgerKey,
    edited: Edited,
    meant: Meant<'_>,
    keychain: &dyn Keychain,
    now_ms: i64,
) -> Result<Moved, MoveError> {
    let held = hold(home)?;
    let open = OpenEntry::of(found, key)?;
    let Leaving { swaps, fresh, start, before } = Leaving::of(&open, meant)?;
    let surroundings = open.local.surroundings();
    let place = place_of(key);

    let mut stored = Stored::new(keychain);
    let references = open.references()?;
    let accepted = edited == Edited::Accept && !references.is_empty();
    for reference in references {
        let name = reference.name();
        let old = read(keychain, &reference)?;
        // New references among the arguments change what is started, by our own hand.
        let same_start = old.start == start || old.start == before;
        if old.place != place && !(same_start && edited == Edited::Accept) {
            return Err(MoveError::Foreign { name: name.to_owned() });
        }
        if !(same_start && old.surroundings.covers(&surroundings)) && edited == Edited::Refuse {
            return Err(MoveError::Edited { name: name.to_owned() });
        }
        let (start, place, surroundings) = (start.clone(), place.clone(), surroundings.clone());
        let anew = Item { start, place, surroundings, ..old.clone() };
        if anew != old {
            stored.put(reference, &anew, Some(old))?;
        }
    }
    let names = fresh.iter().map(|(reference, ..)| reference.name().to_owned()).collect();
    for (reference, value, literal) in fresh {
        let (start, place, surroundings) = (start.clone(), place.clone(), surroundings.clone());
        let item = Item { start, place, surroundings, value, literal };
        stored.put(reference, &item, None)?;
    }
    let written = match swaps.is_empty() {
        false => open.write(home, held, &swaps, now_ms),
        true if accepted => open.adopt(held, now_ms),
        true => Ok(()),
    };
    // If it failed late, the file may hold the references already: what they lead to must stay.
    if written.as_ref().err().is_none_or(MoveError::may_be_written) {
        stored.keep();
    }
    written.map(|()| Moved { names, left: Vec::new() })
}

/// What a file says now and what it would say, for a person to look at once it is masked. The keychain is not asked for it.
pub struct Preview {
    pub before: String,
    pub after: String,
}

impl std::fmt::Debug for Preview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Preview(…)")
    }
}

/// What moving the secrets of an entry would write. The references that are written get numbers of their own.
pub fn preview_move(found: &Found, key: &LedgerKey, meant: Meant<'_>) -> Result<Preview, MoveError> {
    let open = OpenEntry::of(found, key)?;
    let Leaving { swaps, fresh, .. } = Leaving::of(&open, meant)?;
    let (mut after, _) = open.exchanged(&swaps)?;
    for (reference, ..) in fresh {
        after = after.replace(&reference.to_string(), &format!("{SCHEME}{UNKNOWN}/{}", reference.name()));
    }
    Ok(Preview { before: open.document.text, after })
}

/// What putting them back would write, the values left out.
pub fn preview_return(found: &Found, key: &LedgerKey) -> Result<Preview, MoveError> {
    let open = OpenEntry::of(found, key)?;
    let mut swaps = Vec::new();
    for text in open.texts() {
        let Some(found) = referring(&text.value) else { continue };
        let value = format!("{}[masked]", found?.before);
        swaps.push(Swap { span: text.span.clone(), text: value, literal: None });
    }
    let (after, _) = open.exchanged(&swaps)?;
    Ok(Preview { before: open.document.text, after })
}

/// What leaves an entry, and what comes in its place.
struct Leaving {
    swaps: Vec<Swap>,
    /// With the value, and the text that it was written as.
    fresh: Vec<(Reference, Secret, Secret)>,
    /// What is started then.
    start: Identity,
    /// What is started now.
    before: Identity,
}

impl Leaving {
    fn of(open: &OpenEntry<'_>, meant: Meant<'_>) -> Result<Leaving, MoveError> {
        let gate = open.entry.server.gated.as_ref().ok_or(MoveError::NotProtected)?;
        let (Some(server), Some(client)) = (&gate.server, &gate.client) else {
            return Err(MoveError::Unnamed);
        };
        if let Some(which) = filled_in(&open.local) {
            return Err(MoveError::FilledIn(which));
        }
        let (mut swaps, mut fresh) = (Vec::new(), Vec::new());
        for finding in secrets(&open.local).into_iter().filter(|finding| meant(finding)) {
            let reference =
                Reference::fresh(&finding.name).map_err(|error| MoveError::Random(error.to_string()))?;
            let before = finding.text.get(..finding.before).unwrap_or_default();
            let literal = open.document.source(&finding.span).to_owned();
            let text = format!("{before}{reference}");
            swaps.push(Swap { span: finding.span.clone(), text, literal: None });
            fresh.push((reference, Secret::new(finding.value().to_owned()), Secret::new(literal)));
        }
        let args: Vec<String> = open.local.args.iter().map(|arg| swapped(&swaps, arg).to_owned()).collect();
        let program = OsStr::new(&open.local.program.value);
        let start = Identity::of(server, Some(client), program, args.iter().map(OsStr::new));
        Ok(Leaving { swaps, fresh, start, before: open.start(server, client) })
    }
}

/// The word of a command that its client fills in, by its place: what it says may be a password.
pub(crate) fn filled_in(local: &Local) -> Option<String> {
    let is_filled = |word: &str| is_filled_in(word) || word.contains('$');
    if let Some(at) = local.words().position(is_filled) {
        return Some(if at == 0 { "program".to_owned() } else { format!("argument {at}") });
    }
    let (name, _) =
        local.env.iter().find(|(name, text)| Surroundings::is_about(name) && is_filled(&text.value))?;
    Some(format!("variable {name}"))
}

/// Puts the values back in place of the references of an entry, byte for byte as they were.
pub fn put_back(
    home: &Path,
    found: &Found,
    key: &LedgerKey,
    keychain: &dyn Keychain,
    now_ms: i64,
) -> Result<Moved, MoveError> {
    let held = hold(home)?;
    let open = OpenEntry::of(found, key)?;
    let place = place_of(key);
    let (mut swaps, mut taken) = (Vec::new(), Vec::new());
    for text in open.texts() {
        let Some(found) = referring(&text.value) else { continue };
        let found = found?;
        let item = read(keychain, &found.reference)?;
        if item.place != place {
            return Err(MoveError::Foreign { name: found.reference.name().to_owned() });
        }
        swaps.push(Swap {
            span: text.span.clone(),
            text: format!("{}{}", found.before, item.value.expose()),
            literal: Some(item.literal),
        });
        taken.push(found.reference);
    }
    let mut moved = Moved::default();
    if swaps.is_empty() {
        return Ok(moved);
    }
    // A client that runs may write the references back from its memory; then they still have to lead somewhere.
    let may_return = may_return(found.client);
    open.write(home, held, &swaps, now_ms)?;
    // The copy from before has references, which soon lead nowhere: it must not be the newest.
    if let Ok(now) = file::read(&found.path) {
        let _kept = Backups::of(home).keep(found.client.id, &found.path, &now.bytes, now_ms);
    }
    for reference in taken {
        if may_return || keychain.remove(&reference).is_err() {
            moved.left.push(reference.account());
        }
        moved.names.push(reference.name().to_owned());
    }
    Ok(moved)
}

/// Whether what is taken out of its file now may be there again when it quits.
pub(crate) fn may_return(client: &Client) -> bool {
    let seen = || std::env::home_dir().and_then(|person| running::processes(client, &person));
    client.caches && seen().is_none_or(|processes| !processes.is_empty())
}

/// Whether an entry holds references, be they good or not.
pub fn refers(entry: &Entry) -> bool {
    entry.local().is_some_and(|local| texts(local).any(|text| referring(&text.value).is_some()))
}

/// What the entry starts as the gate sees it; nothing, if it has none.
pub(super) fn start_of(entry: &Entry) -> Option<Identity> {
    let (gate, local) = (entry.server.gated.as_ref()?, entry.local()?);
    Some(started(gate.server.as_deref()?, gate.client.as_deref(), local))
}

fn started(server: &str, client: Option<&str>, local: &Local) -> Identity {
    let args = local.args.iter().map(|arg| OsStr::new(&arg.value));
    Identity::of(server, client, OsStr::new(&local.program.value), args)
}

fn read(keychain: &dyn Keychain, reference: &Reference) -> Result<Item, MoveError> {
    let name = || reference.name().to_owned();
    keychain.read(reference).map_err(|error| MoveError::Keychain { name: name(), error })
}

pub(crate) fn place_of(key: &LedgerKey) -> Identity {
    let project = key.project.as_deref().unwrap_or_default();
    let parts = [key.client.as_ref(), key.path.as_os_str(), project.as_ref(), key.name.as_ref()];
    Identity::of_place(parts)
}

/// What was stored for a change that is not made yet; undone, unless the change is made.
pub(crate) struct Stored<'a> {
    keychain: &'a dyn Keychain,
    /// With what was there before.
    done: Vec<(Reference, Option<Item>)>,
}

impl<'a> Stored<'a> {
    pub(crate) fn new(keychain: &'a dyn Keychain) -> Stored<'a> {
        Stored { keychain, done: Vec::new() }
    }

    pub(crate) fn put(
        &mut self,
        reference: Reference,
        item: &Item,
        before: Option<Item>,
    ) -> Result<(), MoveError> {
        let name = reference.name().to_owned();
        let kept = self.keychain.write(&reference, item).and_then(|()| self.keychain.read(&reference));
        self.done.push((reference, before));
        match kept {
            Ok(kept) if kept == *item => Ok(()),
            Ok(_) => Err(MoveError::NotKept { name }),
            Err(error) => Err(MoveError::Keychain { name, error }),
        }
    }

    pub(crate) fn keep(mut self) {
        self.done.clear();
    }
}

impl Drop for Stored<'_> {
    fn drop(&mut self) {
        for (reference, before) in self.done.drain(..) {
            // A keychain that fails now leaves an item that nobody refers to.
            let _undone = match before {
                Some(before) => self.keychain.write(&reference, &before),
                None => self.keychain.remove(&reference),
            };
        }
    }
}

impl From<Unreadable> for MoveError {
    fn from(unreadable: Unreadable) -> MoveError {
        MoveError::Refused(unreadable.into())
    }
}

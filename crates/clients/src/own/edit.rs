//! `servers.json` edited: one server more or less, and every other byte as it was.

use std::ffi::OsStr;
use std::path::Path;

use callgate_secrets::{
    Identity, Item, Keychain, KeychainError, Reference, SCHEME, Secret, Surroundings, referring,
};

use super::name::{problem_with, problem_with_variable};
use super::{OpenList, OwnError, Why, id, key};
use crate::entry::{self, How, NewServer, differ_by, is_callgate};
use crate::file::{self, FileError, replace};
use crate::names::identity;
use crate::secrets::moving::{MoveError, Stored, filled_in, place_of};
use crate::table::USUAL;

/// A server that a person wants to add.
#[derive(Debug)]
pub struct Wanted {
    /// Without its secrets.
    pub server: NewServer,
    /// Variables whose values go into the keychain.
    pub secrets: Vec<(String, Secret)>,
}

/// What of it is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnField {
    Name,
    Command,
    Variables,
}

#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("{why}; nothing was added")]
    Bad { part: OwnField, why: String },
    #[error("{} has another server called {name}. Choose another name, or take that one out: callgate remove {name}", path.display())]
    Taken { path: std::path::PathBuf, name: String },
    #[error(transparent)]
    Own(#[from] OwnError),
    #[error(transparent)]
    Secret(#[from] MoveError),
}

/// Whether it can be added, be the values of its secrets known or not. `true`: it is there already, just so.
pub fn check(home: &Path, wanted: &Wanted) -> Result<bool, AddError> {
    let NewServer { name, program, args, env } = &wanted.server;
    let bad = |part, why: &str| Err(AddError::Bad { part, why: why.to_owned() });
    if let Some(why) = problem_with(name) {
        return bad(OwnField::Name, &why);
    }
    if program.trim().is_empty() {
        return bad(OwnField::Command, "there is no program to start");
    }
    if is_callgate(program) && args.first().is_some_and(|word| word == "run") {
        return bad(OwnField::Command, "give the server's own command: Callgate puts itself in front of it");
    }
    if std::iter::once(program).chain(args).any(|word| word.contains('\0')) {
        return bad(OwnField::Command, "no program can be given a text with a zero byte in it");
    }
    if env.iter().any(|(_, value)| value.contains('\0')) {
        return bad(OwnField::Variables, "no variable can hold a text with a zero byte in it");
    }
    let secrets = wanted.secrets.iter().map(|(name, _)| name);
    let names: Vec<_> = env.iter().map(|(name, _)| name).chain(secrets).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(why) = problem_with_variable(name) {
            return bad(OwnField::Variables, &why);
        }
        if names[..at].contains(name) {
            return bad(OwnField::Variables, &format!("{name} is given twice"));
        }
    }
    if !wanted.secrets.is_empty()
        && let Some(which) = filled_in(&wanted.server.local())
    {
        return Err(MoveError::FilledIn(which).into());
    }
    let open = OpenList::of(home)?;
    match open.listing.find(&id(name)) {
        None => Ok(false),
        Some(there) if wanted.is(there) => Ok(true),
        Some(_) => Err(AddError::Taken { path: open.path, name: name.clone() }),
    }
}

impl Wanted {
    /// Whether an entry says just this, as far as it can be seen.
    fn is(&self, there: &entry::Server) -> bool {
        let How::Local(there) = &there.how else { return false };
        let same = |(name, text): &(String, entry::SpannedText)| {
            let plain = self.server.env.iter().any(|(n, value)| n == name && *value == text.value);
            let secret = self.secrets.iter().any(|(n, _)| n == name);
            plain || secret && referring(&text.value).is_some()
        };
        identity(there) == identity(&self.whole().local()) && there.env.iter().all(same)
    }

    /// With something in place of its secrets, for a person to look at.
    pub fn whole(&self) -> NewServer {
        let mut server = self.server.clone();
        server.env.extend(self.secrets.iter().map(|(name, _)| (name.clone(), format!("{SCHEME}…/{name}"))));
        server
    }
}

/// Adds it. Its secrets are in the keychain before the file says so; `keychain` may be left out if there are none.
pub fn add(home: &Path, wanted: &Wanted, keychain: Option<&dyn Keychain>) -> Result<(), AddError> {
    let locked = file::lock(home, "servers.lock");
    let _lock = locked.map_err(|error| failed_at(home, FileError::Write(error)))?;
    if check(home, wanted)? {
        return Ok(());
    }
    if let Some((name, _)) = wanted.secrets.iter().find(|(_, value)| value.expose().is_empty()) {
        return Err(AddError::Bad { part: OwnField::Variables, why: format!("{name} has no value") });
    }
    let mut server = wanted.server.clone();
    let mut stored = keychain.map(Stored::new);
    for (name, value) in &wanted.secrets {
        let reference = Reference::fresh(name).map_err(|error| MoveError::Random(error.to_string()))?;
        let args = server.args.iter().map(OsStr::new);
        let item = Item {
            // Started by hand, for no client.
            start: Identity::of(&server.name, None, OsStr::new(&server.program), args),
            place: place_of(&key(home, &server.name)),
            surroundings: Surroundings::of(server.env.iter().map(|(name, value)| (&**name, &**value))),
            value: value.clone(),
            literal: Secret::new(callgate_document::quote(value.expose())),
        };
        let nowhere = || MoveError::Keychain { name: name.clone(), error: KeychainError::Locked };
        let kept = stored.as_mut().ok_or_else(nowhere)?;
        server.env.push((name.clone(), reference.to_string()));
        kept.put(reference, &item, None)?;
    }
    let open = OpenList::of(home)?;
    let written = open.with(&server).and_then(|text| open.write(&text));
    match written {
        Ok(()) => {}
        // It may say the references by now: what they lead to must stay.
        Err(OwnError { why: Why::File(FileError::Overwritten | FileError::Read(_)), .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if let Some(stored) = stored {
        stored.keep();
    }
    Ok(written?)
}

/// The file before and after it is added, for a person to look at.
pub fn preview(home: &Path, wanted: &Wanted) -> Result<(String, String), AddError> {
    let there = check(home, wanted)?;
    let open = OpenList::of(home)?;
    let before = String::from_utf8_lossy(&open.snapshot.bytes).into_owned();
    let after = if there { before.clone() } else { open.with(&wanted.whole())? };
    Ok((before, after))
}

/// Takes the server out of the file. Returns what it was; nothing, if it was not there.
pub fn forget(home: &Path, name: &str) -> Result<Option<entry::Server>, OwnError> {
    let locked = file::lock(home, "servers.lock");
    let _lock = locked.map_err(|error| failed_at(home, FileError::Write(error)))?;
    let open = OpenList::of(home)?;
    let Some(server) = open.listing.find(&id(name)) else { return Ok(None) };
    open.write(&open.without(server)?)?;
    Ok(Some(server.clone()))
}

/// The file before and after it is taken out, for a person to look at.
pub fn preview_forget(home: &Path, name: &str) -> Result<(String, String), OwnError> {
    let open = OpenList::of(home)?;
    let after = open.listing.find(&id(name)).map(|server| open.without(server)).transpose()?;
    let before = open.document.text;
    Ok((before.clone(), after.unwrap_or(before)))
}

fn failed_at(home: &Path, error: FileError) -> OwnError {
    OwnError { path: super::path(home), why: error.into() }
}

impl OpenList {
    /// The text with one server more.
    fn with(&self, server: &NewServer) -> Result<String, OwnError> {
        let splices = entry::place(&self.document, &USUAL, server, None).map_err(|odd| self.failed(odd))?;
        let after = self.spliced(&splices)?;
        differ_by(&self.document, &after, &USUAL, &[id(&server.name)])
            .map_err(|broken| self.failed(Why::Check(broken.to_string())))?;
        Ok(after.text)
    }

    /// The text with one server less.
    fn without(&self, server: &entry::Server) -> Result<String, OwnError> {
        let splices = entry::cut(&self.document, server).map_err(|odd| self.failed(odd))?;
        let after = self.spliced(&splices)?;
        differ_by(&after, &self.document, &USUAL, std::slice::from_ref(&server.id))
            .map_err(|broken| self.failed(Why::Check(broken.to_string())))?;
        Ok(after.text)
    }

    fn spliced(&self, splices: &[callgate_document::Splice]) -> Result<crate::Document, OwnError> {
        self.document.spliced(splices).map_err(|error| self.failed(Why::Check(error.to_string())))
    }

    fn write(&self, text: &str) -> Result<(), OwnError> {
        replace(&self.snapshot, text.as_bytes()).map_err(|error| self.failed(error))
    }
}

//! Servers of `servers.json` written into clients' files, and taken out of them again.

use std::ffi::OsStr;
use std::path::Path;

use callgate_secrets::{Identity, Item, Keychain, KeychainError, Reference, Secret, referring};

use super::{OwnError, find, key};
use crate::change::{ChangeError, carry_out};
use crate::discover::Found;
use crate::entry::{Local, NewServer};
use crate::ledger::{Ledger, LedgerError, LedgerKey, hold};
use crate::names::NameRegistry;
use crate::plan::{Plan, PlanError, PlannedAct, plan};
use crate::secrets::moving::{MoveError, Stored, may_return, place_of};
use crate::survey::Entry;
use callgate_document::quote;

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(transparent)]
    Own(#[from] OwnError),
    #[error("servers.json has no server of this name that starts a program")]
    Unknown,
    #[error("an argument of it refers to the keychain; only variables of a server can, when it is placed")]
    InArgument,
    #[error("{0}")]
    Keychain(#[from] KeychainError),
    #[error(transparent)]
    Secret(#[from] MoveError),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// The keychain, opened only if a secret is to be had from it.
pub type Opening<'a> = &'a dyn Fn() -> Result<&'a dyn Keychain, KeychainError>;

/// The file with the server in it, for a person to look at: nothing is written.
pub fn preview(
    found: &Found,
    binary: &str,
    server: &NewServer,
    names: &mut NameRegistry,
    ledger: &Ledger,
) -> Result<Plan, PlanError> {
    plan(found, PlannedAct::Place { binary, server }, &|_| false, names, ledger)
}

/// Writes a server of `servers.json` into a client's file, behind the gate, with references of its own to its secrets.
pub fn place(
    home: &Path,
    found: &Found,
    name: &str,
    binary: &str,
    names: &mut NameRegistry,
    opening: Opening<'_>,
    now_ms: i64,
) -> Result<Plan, PlaceError> {
    let local = find(home, name)?.ok_or(PlaceError::Unknown)?;
    if local.args.iter().any(|arg| referring(&arg.value).is_some()) {
        return Err(PlaceError::InArgument);
    }
    let mut server = NewServer::of(name, &local);
    // Before the keychain is asked for anything.
    let ledger = crate::ledger::read(home).map_err(ChangeError::from)?;
    let planned = preview(found, binary, &server, names, &ledger).map_err(ChangeError::from)?;
    if planned.changes_nothing() {
        return Ok(planned);
    }
    let mut stored = None;
    for (variable, value) in &mut server.env {
        let Some(refers) = referring(value) else { continue };
        let refers = refers.map_err(MoveError::from)?;
        let keychain = opening()?;
        let held = keychain.read(&refers.reference);
        let held = held.map_err(|error| MoveError::Keychain { name: variable.clone(), error })?;
        if held.place != place_of(&key(home, name)) {
            return Err(MoveError::Foreign { name: variable.clone() }.into());
        }
        let fresh = Reference::fresh(variable).map_err(|error| MoveError::Random(error.to_string()))?;
        let text = format!("{}{}", refers.before, held.value.expose());
        let item = Item {
            start: start(name, found, &local),
            place: place_of(&found.key(None, name)),
            surroundings: local.surroundings(),
            value: held.value,
            literal: Secret::new(quote(&text)),
        };
        *value = format!("{}{fresh}", refers.before);
        stored.get_or_insert_with(|| Stored::new(keychain)).put(fresh, &item, None)?;
    }
    let act = PlannedAct::Place { binary, server: &server };
    let written = carry_out(home, found, act, &|_| false, names, now_ms);
    if let Some(stored) = stored
        && written.as_ref().map_or_else(ChangeError::may_be_written, |plan| !plan.edits.is_empty())
    {
        stored.keep();
    }
    Ok(written?)
}

/// What the gate will see itself started with.
fn start(name: &str, found: &Found, local: &Local) -> Identity {
    let args = local.args.iter().map(|arg| OsStr::new(&arg.value));
    Identity::of(name, Some(found.client.id), OsStr::new(&local.program.value), args)
}

/// What was taken out of a file.
#[derive(Debug)]
pub struct TakenOut {
    pub plan: Plan,
    /// What is still in the keychain, by its name there.
    pub left: Vec<String>,
}

/// Takes these entries out of a client's file, and their secrets out of the keychain.
pub fn take_out(
    home: &Path,
    found: &Found,
    keys: &[LedgerKey],
    names: &mut NameRegistry,
    opening: Opening<'_>,
    now_ms: i64,
) -> Result<TakenOut, ChangeError> {
    let chosen = |entry: &Entry| keys.contains(&entry.key);
    // A client that runs may write the entry back from its memory; then its references still have to lead somewhere.
    let may_return = may_return(found.client);
    let plan = carry_out(home, found, PlannedAct::Remove, &chosen, names, now_ms)?;
    let mut left = Vec::new();
    for edit in &plan.edits {
        let entry = plan.contents.entries.iter().find(|entry| entry.key == edit.key);
        if let Some(local) = entry.and_then(Entry::local) {
            left.extend(forget_secrets(local, &edit.key, may_return, opening));
        }
    }
    Ok(TakenOut { plan, left })
}

/// Nothing is remembered of these, which somebody else took out of their files.
pub fn forget_gone(home: &Path, keys: &[LedgerKey]) -> Result<(), LedgerError> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut held = hold(home)?;
    keys.iter().for_each(|key| held.ledger.forget(key));
    held.save()
}

/// Takes what `servers.json` itself referred to out of the keychain. Returns what is still there.
pub fn forget_own_secrets(home: &Path, name: &str, local: &Local, opening: Opening<'_>) -> Vec<String> {
    forget_secrets(local, &key(home, name), false, opening)
}

/// Removes what an entry referred to, if it was stored for that entry. Returns what is still there.
fn forget_secrets(local: &Local, key: &LedgerKey, keep: bool, opening: Opening<'_>) -> Vec<String> {
    let texts = local.env.iter().map(|(_, text)| text).chain(&local.args);
    let references = texts.filter_map(|text| Some(referring(&text.value)?.ok()?.reference));
    let gone = |reference: &Reference| {
        let Ok(keychain) = opening() else { return false };
        match keychain.read(reference) {
            Ok(item) => item.place != place_of(key) || keychain.remove(reference).is_ok(),
            Err(error) => matches!(error, KeychainError::NotFound { .. }),
        }
    };
    references.filter(|reference| keep || !gone(reference)).map(|reference| reference.account()).collect()
}

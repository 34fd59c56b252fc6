//! A look into the keychain that asks nobody: what is locked stays locked, and is told as locked. Nothing is written, not even
//! to the home: whoever only looks takes no turn.

use std::sync::mpsc;
use std::thread;

use callgate_secrets::{Item, KeychainError, Reference};

use crate::{ALONE, system};

/// What the keychain has under these references, one answer each; or why nobody can tell. With no references, whether it
/// could be used at all. Bounded, as where no person can be asked.
pub fn glance(references: Vec<Reference>) -> Result<Vec<Result<Item, KeychainError>>, KeychainError> {
    system::reachable().map_err(KeychainError::Absent)?;
    let (seen, answers) = mpsc::channel();
    // A keychain that does not answer keeps this thread, and nobody else.
    thread::Builder::new()
        .name("keychain".to_owned())
        .spawn(move || drop(seen.send(look(&references))))
        .map_err(|error| KeychainError::Failed(error.to_string()))?;
    answers.recv_timeout(ALONE).map_err(|_| KeychainError::Slow(ALONE))?
}

fn look(references: &[Reference]) -> Result<Vec<Result<Item, KeychainError>>, KeychainError> {
    let quiet = system::Quiet::open()?;
    let item = |reference: &Reference| {
        let bytes = quiet.read(reference)?;
        Item::unpacked(&bytes).ok_or(KeychainError::Strange { account: reference.account() })
    };
    Ok(references.iter().map(item).collect())
}

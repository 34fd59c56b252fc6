//! The keychain, and whether references to it lead to what they should. Nobody is asked for a password.

use callgate_clients::secrets::checking::{Astray, Checked, check as look};
use callgate_clients::secrets::find::Slot;
use callgate_clients::survey::entries;
use callgate_secrets::KeychainError;

use super::entries::whose;
use super::entries::{PROTECT, on_entries};
use super::{Area, Code, Finding, Gravity, Visit};
use crate::text::name;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let (checked, state) = look(entries(&visit.clients.surveyed));
    let led: Vec<_> = checked.iter().filter_map(|one| astray(visit, one)).collect();
    let mut found = vec![match state {
        Ok(()) => Finding::new(Area::Keychain, Code::KeychainOk, Gravity::Ok, "", "The keychain can be used"),
        Err(error) => closed(&error, checked.iter().filter(|one| one.name.is_some()).count()),
    }];
    found.extend(led);
    found
}

/// Without references, nothing depends on it.
fn closed(error: &KeychainError, references: usize) -> Finding {
    let code = match error {
        KeychainError::Absent(_) => Code::KeychainAbsent,
        KeychainError::Locked | KeychainError::Denied => Code::KeychainLocked,
        _ => Code::KeychainSilent,
    };
    let (gravity, so) = match references {
        0 => (Gravity::Note, "Secrets cannot be moved out of clients' files"),
        _ => (Gravity::Problem, "Servers whose secrets are in the keychain do not start"),
    };
    let words = error.to_string();
    let remedy = error.remedy().unwrap_or("Mend that, then try again");
    let what = format!("{so}: {}", words.trim_end_matches(remedy).trim_end());
    Finding::new(Area::Keychain, code, gravity, "", &what).by(&format!("{remedy}."))
}

fn astray(visit: &Visit<'_>, one: &Checked<'_>) -> Option<Finding> {
    let (entry, key) = (one.entry, &one.entry.key);
    let place = match &one.slot {
        Slot::Variable(variable) => format!("the variable {}", name(variable)),
        Slot::Argument(at) => format!("argument {}", at + 1),
        Slot::Header(header) => format!("the header {}", name(header)),
    };
    let told = |code, words: &str| {
        let about = visit.checkup.shown(&key.path);
        let what = format!("{}: {place} {words}", whose(entry));
        let finding = Finding::new(Area::Keychain, code, Gravity::Problem, &about, &what);
        finding.on_entries(&key.client, vec![key.name.clone()])
    };
    let names = std::slice::from_ref(&key.name);
    let again = |act| on_entries(act, &key.client, names);
    match one.found.as_ref().err()? {
        Astray::Bad => {
            let what =
                "names the keychain in a way that Callgate does not write, so the server does not start";
            Some(told(Code::ReferenceBad, what).by("Write the value back in its place."))
        }
        Astray::Foreign => {
            let what = "names a secret that was stored for another server or another command, so the server does not start";
            let words = "If you changed the entry yourself, store it anew; else somebody else wrote it: remove the entry";
            Some(told(Code::ReferenceForeign, what).command(words, &again(["secrets", "move"])))
        }
        Astray::NoGate => {
            let what =
                "is a reference to the keychain, but without the gate the server gets the reference itself";
            Some(told(Code::ReferenceUngated, what).command("Put the gate back", &again(PROTECT)))
        }
        // Said once, for all of them.
        Astray::Keychain(
            KeychainError::Absent(_) | KeychainError::Locked | KeychainError::Denied | KeychainError::Slow(_),
        ) => None,
        Astray::Keychain(error) => {
            let what = format!("leads to nothing usable: {}", error.cause());
            Some(told(Code::ReferenceMissing, &what).by(
                "Write the value in its place again (a copy of the file may hold it: `callgate clients backups`), then move it \
                 anew: `callgate secrets move`.",
            ))
        }
    }
}

//! What happened to clients' files since we wrote them: told apart, because each asks for something else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::ledger::{Ledger, LedgerKey, LedgerRow};
use crate::names::identity;
use crate::queue::{Queued, Todo};
use crate::survey::{Entry, State, Surveyed, entries};
use crate::tampering::{Tampering, tampering};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// Every server of a file is gone, those with a gate or about to get one among them: Claude Desktop does this when it cannot
    /// read its file.
    Wiped { client: String, path: PathBuf, lost: Vec<LedgerKey> },
    /// An entry starts the program again that it had when it was put behind the gate, without it.
    LostGate { key: LedgerKey },
    /// An entry is behind the gate and starts another program than it did: somebody edited it, which is theirs to do.
    Edited { key: LedgerKey },
    /// An entry that nobody has decided about, in a file where others are behind the gate or were; or one that starts another
    /// program now, without a gate: what was decided about it was about the old one.
    New { key: LedgerKey },
    /// An entry is gone. Clients and people remove entries; it is not brought back.
    Removed { key: LedgerKey },
    /// An entry is behind the gate again that a person took it away from: a client that ran then wrote its own copy over that.
    CameBack { key: LedgerKey },
    /// An entry names our program where it no longer is.
    Moved { key: LedgerKey, binary: String },
    /// An entry has its gate, which is not as it was protected.
    Tampered { key: LedgerKey, how: Vec<Tampering> },
    /// Entries are behind the gate in a file that the client does not read.
    Shadowed { path: PathBuf, by: PathBuf },
    /// A file with gated entries cannot be understood any more.
    Unreadable { client: String, path: PathBuf, why: String },
}

/// All of it, in the order of files. `waiting`: what is to be done once clients have quit. `binary`: where our program is.
pub fn drift(surveyed: &[Surveyed], ledger: &Ledger, waiting: &[Queued], binary: &str) -> Vec<Drift> {
    let mut found = Vec::new();
    let rows = ledger.rows.iter().map(|row| &row.key);
    let to_be = waiting.iter().filter(|queued| queued.todo == Todo::Protect).map(|queued| &queued.key);
    let mut files: BTreeMap<_, BTreeSet<&LedgerKey>> = BTreeMap::new();
    for key in rows.chain(to_be) {
        files.entry((&key.client, &key.path)).or_default().insert(key);
    }
    for ((client, path), keys) in files {
        let file = surveyed.iter().find(|file| file.found.client.id == client && file.found.path == *path);
        of_file((client, path), &keys, ledger, file, &mut found);
    }
    for file in surveyed {
        if let Ok(contents) = &file.read {
            let gated = contents.entries.iter().any(|entry| matches!(entry.state, State::Protected { .. }));
            let ours =
                |row: &LedgerRow| row.key.client == file.found.client.id && row.key.path == file.found.path;
            if gated || ledger.rows.iter().any(ours) {
                found.extend(contents.entries.iter().filter_map(|entry| moved_or_new(entry, ledger, binary)));
            }
            if gated && let Some(by) = &file.found.shadowed_by {
                found.push(Drift::Shadowed { path: file.found.path.clone(), by: by.clone() });
            }
        }
    }
    let tampered: BTreeSet<LedgerKey> = found
        .iter()
        .filter_map(|drift| match drift {
            Drift::Tampered { key, .. } => Some(key.clone()),
            _ => None,
        })
        .collect();
    // An edit is a person's right; this one is not told as if it were no more than that.
    found.retain(|drift| !matches!(drift, Drift::Edited { key } if tampered.contains(key)));
    found
}

/// `keys`: those with a row, and those that are about to get one.
fn of_file(
    (client, path): (&str, &Path),
    keys: &BTreeSet<&LedgerKey>,
    ledger: &Ledger,
    file: Option<&Surveyed>,
    found: &mut Vec<Drift>,
) {
    let rows: Vec<_> = keys.iter().filter_map(|key| ledger.row(key)).collect();
    let entries = match file.map(|file| &file.read) {
        // A project that nobody looked into.
        None if path.symlink_metadata().is_ok() => return,
        None => &[][..],
        Some(Ok(contents)) => &contents.entries,
        Some(Err(_)) if rows.is_empty() => return,
        Some(Err(why)) => {
            let (client, path) = (client.to_owned(), path.to_owned());
            found.push(Drift::Unreadable { client, path, why: why.to_string() });
            return;
        }
    };
    if entries.is_empty() {
        let lost = keys.iter().map(|key| (*key).clone()).collect();
        found.push(Drift::Wiped { client: client.to_owned(), path: path.to_owned(), lost });
        return;
    }
    for row in rows {
        let key = row.key.clone();
        let Some(entry) = entries.iter().find(|entry| entry.key == key) else {
            found.push(Drift::Removed { key });
            continue;
        };
        match entry.state {
            State::Protected { .. } if is_unedited(entry, row) => {}
            State::Protected { .. } => found.push(Drift::Edited { key }),
            State::Open if is_unedited(entry, row) => found.push(Drift::LostGate { key }),
            State::Open => found.push(Drift::New { key }),
            // It became something that no gate can stand in front of, by somebody's hand.
            State::NotCoverable(_) => found.push(Drift::Edited { key }),
        }
    }
}

/// What somebody else did to an entry, their edit or their removal, is known from now on and no drift any more; a gate that came
/// back stays; servers that a file lost all at once are gone on purpose.
pub fn take_note(drift: &Drift, surveyed: &[Surveyed], ledger: &mut Ledger) {
    match drift {
        Drift::Edited { key } => match entries(surveyed).find(|entry| entry.key == *key).map(Entry::local) {
            Some(Some(local)) => {
                if let Some(row) = ledger.rows.iter_mut().find(|row| row.key == *key) {
                    row.original = identity(local);
                }
            }
            // No gate can stand in front of it any more.
            Some(None) => ledger.drop(key),
            None => {}
        },
        Drift::CameBack { key } => {
            if let Some(local) = entries(surveyed).find(|entry| entry.key == *key).and_then(Entry::local) {
                ledger.keep(key, &identity(local));
            }
        }
        Drift::Removed { key } => ledger.drop(key),
        Drift::Wiped { lost, .. } => lost.iter().for_each(|key| ledger.forget(key)),
        _ => {}
    }
}

/// Does it start what it did when it was put behind the gate?
pub fn is_unedited(entry: &Entry, row: &LedgerRow) -> bool {
    entry.local().is_some_and(|local| identity(local) == row.original)
}

fn moved_or_new(entry: &Entry, ledger: &Ledger, binary: &str) -> Option<Drift> {
    let key = entry.key.clone();
    match (&entry.server.gated, &entry.state) {
        (Some(gated), _) if gated.binary != binary => {
            Some(Drift::Moved { key, binary: gated.binary.clone() })
        }
        (Some(_), State::Protected { .. }) if !tampering(entry, ledger.row(&key), binary).is_empty() => {
            Some(Drift::Tampered { how: tampering(entry, ledger.row(&key), binary), key })
        }
        (Some(_), State::Protected { .. })
            if ledger.row(&key).is_none() && ledger.left_open.contains(&key) =>
        {
            Some(Drift::CameBack { key })
        }
        (None, State::Open) if ledger.row(&key).is_none() && !ledger.left_open.contains(&key) => {
            Some(Drift::New { key })
        }
        _ => None,
    }
}

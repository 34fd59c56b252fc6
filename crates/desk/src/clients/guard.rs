//! The guard over clients' files: what happened to them since they were edited, and what that asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use callgate_clients::change::keep_servers;
use callgate_clients::discover;
use callgate_clients::drift::Drift;
use callgate_clients::file::{Hash, hash};
use callgate_clients::ledger::Key;
use callgate_clients::queue::{self, Todo};
use callgate_clients::repair::Rests;
use callgate_clients::secrets::moving::refers;
use callgate_clients::survey::entries;

use super::repair::contested;
use super::{Look, client_name, entry_key, shown};
use crate::notices::Notice;
use crate::text::{clip, harmless, name};
use crate::view::{ClientAct, ClientChange, DriftFix, DriftView, Fix, Need};
use crate::{Desk, DeskError};

/// Sentences at most: more would hide the rest of what needs a person.
const NEEDS: usize = 8;

/// What the last look found.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    needs: Vec<Need>,
    /// What waited for a client to quit and could not be done then; until the next change.
    not_done: Vec<Need>,
    /// Lost gates that could not be put back by itself.
    not_repaired: Vec<Need>,
    /// What was done by itself and nobody was told of yet.
    untold: Vec<Notice>,
    /// Protected files as they were when it was last looked whether to keep a copy.
    looked: BTreeMap<PathBuf, Hash>,
}

impl Desk {
    /// Looks at every client's file; what is wrong there needs a person from now on.
    pub fn guard(&self) -> Result<(), DeskError> {
        let mut needs = match self.look_at_clients() {
            Ok(look) => {
                self.keep_copies(&look);
                look.needs()
            }
            Err(error) => vec![need(&format!("Clients' files are not guarded: {error}"), true)],
        };
        if let Err(error) = queue::read(self.home.path()) {
            needs.push(need(&error.to_string(), false));
        }
        self.held().needs = needs;
        Ok(())
    }

    /// The folders in which clients' files are or may come to be.
    pub fn client_folders(&self) -> Vec<PathBuf> {
        let mut folders = discover::folders(&self.machine);
        if let Ok(look) = self.look_at_clients() {
            for file in &look.surveyed {
                // A link's folder sees the link replaced; its target's folder sees the text replaced.
                let target = std::fs::canonicalize(&file.found.path).ok();
                let paths = [Some(file.found.path.clone()), target];
                folders
                    .extend(paths.into_iter().flatten().filter_map(|path| path.parent().map(Path::to_owned)));
            }
        }
        folders.retain(|folder| folder.is_dir());
        folders.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(crate) fn guarded(&self) -> Vec<Need> {
        let held = self.held();
        held.not_done.iter().chain(&held.not_repaired).chain(&held.needs).cloned().collect()
    }

    /// What the guard did and nobody was told of yet.
    pub(crate) fn guard_news(&self) -> Vec<Notice> {
        std::mem::take(&mut self.held().untold)
    }

    pub(super) fn untold(&self, notice: Notice) {
        self.held().untold.push(notice);
    }

    pub(super) fn not_done(&self, change: &ClientChange) {
        self.held().not_done.extend(refusals(change));
    }

    /// What is told until the next try.
    pub(super) fn not_repaired(&self, change: Option<&ClientChange>) {
        self.held().not_repaired = change.into_iter().flat_map(refusals).collect();
    }

    pub(super) fn forget_not_done(&self) {
        self.held().not_done.clear();
    }

    /// Files whose servers changed are kept as they are now. A copy that cannot be kept keeps nobody from being told what is wrong.
    fn keep_copies(&self, look: &Look<'_>) {
        let now_ms = self.clock.now().wall_ms;
        for file in &look.surveyed {
            let (client, path) = (file.found.client.id, &file.found.path);
            let of_file = |key: &Key| key.client == client && key.path == *path;
            let newest = look.copies.iter().filter(|copy| copy.client == client && copy.path == *path);
            let (Ok(contents), Some(newest)) = (&file.read, newest.max_by_key(|copy| copy.at_ms)) else {
                continue;
            };
            // Each look is at every file, and few of them have changed.
            let bytes = hash(&contents.snapshot.bytes);
            let known = self.held().looked.insert(path.clone(), bytes) == Some(bytes);
            if !known && look.ledger.rows.iter().any(|row| of_file(&row.key)) {
                let _kept = keep_servers(self.home.path(), file, newest, now_ms);
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Guard> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look<'_> {
    fn needs(&self) -> Vec<Need> {
        let drifts = self.drift();
        let told = drifts.iter().map(|drift| self.told(drift)).filter(|told| told.asks);
        told.take(NEEDS).map(|told| need(&told.view.words, told.view.serious)).collect()
    }

    /// What one drift says, and what mends it.
    pub(crate) fn words_of(&self, drift: &Drift) -> DriftView {
        self.told(drift).view
    }

    /// What one drift says and asks for.
    fn told(&self, drift: &Drift) -> Told {
        let of = |key: &Key| format!("{}: {}", client_name(&key.client), name(&key.name));
        let protect = |key: &Key| Some(DriftFix::Protect { entries: vec![entry_key(key)] });
        let note = self.to_be_noted(drift).map(|key| DriftFix::TakeNote { entries: vec![entry_key(key)] });
        let path_of = |path: &Path| shown::path(&self.machine.home, path);
        let (words, serious, asks, fix) = match drift {
            Drift::Wiped { client, path, lost } => (
                format!(
                    "{} has lost all its servers, {} of them behind the gate ({})",
                    client_name(client),
                    lost.len(),
                    path_of(path)
                ),
                true,
                true,
                self.newest_copy_with_servers(client, path).map(|backup| DriftFix::Restore { backup }),
            ),
            Drift::LostGate { key } | Drift::Moved { key, .. } if self.is_contested(key) => {
                (contested(&client_name(&key.client), &name(&key.name)), true, true, protect(key))
            }
            Drift::LostGate { key } => (
                format!("{} has lost its gate and runs unwatched{}", of(key), self.waits(key)),
                true,
                true,
                protect(key),
            ),
            Drift::Moved { key, binary } => (
                format!(
                    "{} starts {}, which is not the gate of this home",
                    of(key),
                    clip(&harmless(binary), 120)
                ),
                true,
                true,
                protect(key),
            ),
            Drift::New { key } => {
                (format!("{} is new and not protected", of(key)), false, true, protect(key))
            }
            Drift::Shadowed { path, by } => (
                format!("{} is behind the gate, but {} is read in its stead", path_of(path), path_of(by)),
                true,
                true,
                None,
            ),
            Drift::Unreadable { path, why, .. } => (
                format!("{} cannot be understood any more: {}", path_of(path), harmless(why)),
                true,
                true,
                None,
            ),
            // Theirs to do; told beside the file, and no more.
            Drift::Edited { key } => {
                (format!("{} was edited; it is behind the gate", of(key)), false, false, note)
            }
            Drift::Removed { key } => (format!("{} was removed from the file", of(key)), false, false, note),
        };
        let (client, path) = place_of(drift);
        Told { client, path: path.to_owned(), asks, view: DriftView { words, serious, fix } }
    }

    /// An entry that somebody else changed in a way that is theirs. One with secrets in the keychain does not start as it is now:
    /// that is not to be forgotten.
    pub(super) fn to_be_noted<'d>(&self, drift: &'d Drift) -> Option<&'d Key> {
        let refers = |key: &Key| entries(&self.surveyed).any(|entry| entry.key == *key && refers(entry));
        match drift {
            Drift::Edited { key } if !refers(key) => Some(key),
            Drift::Removed { key } => Some(key),
            _ => None,
        }
    }

    fn is_contested(&self, key: &Key) -> bool {
        self.ledger.mended(key).is_some_and(|mended| mended.rests == Some(Rests::Contested))
    }

    /// "; it is put back when Claude Desktop has quit", if it is.
    fn waits(&self, key: &Key) -> String {
        let queued = |queued: &&queue::Queued| queued.key == *key && queued.todo != Todo::Unprotect;
        let waits = self.queue.iter().find(queued);
        let words = |_| format!("; it is put back when {} has quit", client_name(&key.client));
        waits.map(words).unwrap_or_default()
    }

    /// The newest copy in which there are servers.
    fn newest_copy_with_servers(&self, client: &str, path: &Path) -> Option<String> {
        let of_file = self.copies.iter().filter(|copy| copy.client == client && copy.path == path);
        let with_servers =
            of_file.filter(|copy| !callgate_clients::change::entries_in(copy, &copy.copy).is_empty());
        with_servers.max_by_key(|copy| copy.at_ms).map(callgate_clients::backup::Backup::id)
    }
}

struct Told {
    client: Option<String>,
    path: PathBuf,
    /// A person has to decide.
    asks: bool,
    view: DriftView,
}

fn place_of(drift: &Drift) -> (Option<String>, &Path) {
    match drift {
        Drift::Wiped { client, path, .. } | Drift::Unreadable { client, path, .. } => {
            (Some(client.clone()), path)
        }
        Drift::Shadowed { path, .. } => (None, path),
        Drift::LostGate { key }
        | Drift::Edited { key }
        | Drift::New { key }
        | Drift::Removed { key }
        | Drift::Moved { key, .. } => (Some(key.client.clone()), &key.path),
    }
}

/// What happened to one file.
pub(super) fn of_file(look: &Look<'_>, drifts: &[Drift], client: &str, path: &Path) -> Vec<DriftView> {
    let here = |told: &Told| told.path == path && told.client.as_deref().is_none_or(|it| it == client);
    drifts.iter().map(|drift| look.told(drift)).filter(here).map(|told| told.view).collect()
}

fn refusals(change: &ClientChange) -> impl Iterator<Item = Need> {
    change.refused.iter().map(|refused| {
        let which = refused.name.as_deref().unwrap_or("its file");
        let done = match change.act {
            ClientAct::Protect => "protected",
            ClientAct::Unprotect => "unprotected",
            ClientAct::Place => "placed",
        };
        need(&format!("{}: {which} was not {done}: {}", refused.client_name, refused.why), true)
    })
}

fn need(words: &str, serious: bool) -> Need {
    Need { words: words.to_owned(), fix: Some(Fix::OpenClients), server: None, serious }
}

//! Drift of clients' files in words, with what mends it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use callgate_clients::drift::Drift;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::queue::Todo;
use callgate_clients::repair::Rests;
use callgate_clients::secrets::moving::refers;
use callgate_clients::survey::entries;
use callgate_clients::table;
use callgate_text::{clip, harmless, name};

use crate::display::client_name;
use crate::repair::contested;
use crate::view::{DriftFix, DriftKind, DriftView};
use crate::{Look, display, entry_key};

/// The longest list of names in a sentence, in characters.
const NAMES: usize = 160;

impl Look<'_> {
    /// What happened, in words; several of one kind in one file are one thing to know.
    pub fn drift_groups(&self) -> Vec<DriftGroup> {
        let mut alike: Vec<Vec<(Drift, DriftText)>> = Vec::new();
        for drift in self.drift() {
            let text = self.drift_text(&drift);
            let same = |group: &&mut Vec<(Drift, DriftText)>| group.iter().any(|(_, one)| one.is_like(&text));
            match alike.iter_mut().find(same) {
                Some(group) => group.push((drift, text)),
                None => alike.push(vec![(drift, text)]),
            }
        }
        alike.into_iter().filter_map(|group| self.drift_group(group)).collect()
    }

    fn drift_group(&self, group: Vec<(Drift, DriftText)>) -> Option<DriftGroup> {
        let (_, first) = group.first()?;
        let keys: Vec<&LedgerKey> = group.iter().filter_map(|(_, text)| text.entry.as_ref()).collect();
        let words = match group.len() {
            1 => first.view.words.clone(),
            _ => self.words_together(first, &keys),
        };
        let names = keys.iter().map(|key| key.name.clone()).collect();
        let (drift, DriftText { client, path, view, .. }) = group.into_iter().next()?;
        Some(DriftGroup { drift, client, path, names, words, fix: view.fix })
    }

    /// The same sentence as for one, with the names of all.
    fn words_together(&self, first: &DriftText, keys: &[&LedgerKey]) -> String {
        let names: Vec<_> = keys.iter().map(|key| name(&key.name)).collect();
        let names = clip(&names.join(", "), NAMES);
        let client = client_name(first.client.as_deref().unwrap_or_default());
        match first.view.kind {
            DriftKind::LostGate => {
                let waits: BTreeSet<_> =
                    keys.iter().map(|key| self.waits(key, "they are put back", is_put_back)).collect();
                // All of them, or it is not said.
                let waits = waits.first().cloned().unwrap_or_default();
                let runs = first.client.as_deref().and_then(|client| self.runs(client));
                // The names come last: a tray has room for the first words only.
                format!("{} servers of {client} {}{waits}: {names}", keys.len(), unwatched(keys.len(), runs))
            }
            DriftKind::OtherGate => {
                format!("{} servers of {client} start a gate that is not of this home: {names}", keys.len())
            }
            DriftKind::CameBack => came_back(first.client.as_deref().unwrap_or_default(), &names, keys.len()),
            DriftKind::New | DriftKind::Other => {
                format!("{} servers of {client} are new and not protected: {names}", keys.len())
            }
        }
    }

    /// What one drift says, and what mends it.
    pub(crate) fn drift_text(&self, drift: &Drift) -> DriftText {
        let of = |key: &LedgerKey| format!("{}: {}", client_name(&key.client), name(&key.name));
        let protect = |key: &LedgerKey| Some(DriftFix::Protect { entries: vec![entry_key(key)] });
        let noted: Vec<_> = self.to_be_noted(drift).iter().map(entry_key).collect();
        let note = Some(DriftFix::TakeNote { entries: noted.clone() }).filter(|_| !noted.is_empty());
        let path_of = |path: &Path| display::path(&self.machine.home, path);
        let (kind, words, serious, fix) = match drift {
            Drift::Wiped { client, path, lost } => (
                DriftKind::Other,
                format!(
                    "{} has lost all its servers, {} of them behind the gate ({}){}",
                    client_name(client),
                    lost.len(),
                    path_of(path),
                    self.waits(&LedgerKey::of_file(client, path), "it is put back", |todo| matches!(
                        todo,
                        Todo::Restore { .. }
                    ))
                ),
                true,
                match self.newest_copy_with_servers(client, path) {
                    Some(backup) => Some(DriftFix::Restore { backup, lost: noted }),
                    None => note,
                },
            ),
            Drift::LostGate { key } | Drift::Moved { key, .. } if self.is_contested(key) => {
                let words = contested(&client_name(&key.client), &name(&key.name));
                (DriftKind::Other, words, true, protect(key))
            }
            Drift::LostGate { key } => (
                DriftKind::LostGate,
                format!(
                    "{} {}{}",
                    of(key),
                    unwatched(1, self.runs(&key.client)),
                    self.waits(key, "it is put back", is_put_back)
                ),
                true,
                protect(key),
            ),
            Drift::Moved { key, binary } => (
                DriftKind::OtherGate,
                format!(
                    "{} starts {}, which is not the gate of this home",
                    of(key),
                    clip(&harmless(binary), 120)
                ),
                true,
                protect(key),
            ),
            Drift::Tampered { key, how } => {
                let how: Vec<_> = how.iter().map(|one| one.words(|text| clip(&harmless(text), 60))).collect();
                let words = format!(
                    "{} is not as it was protected: {}. Protect it again to put that right",
                    of(key),
                    how.join("; ")
                );
                (DriftKind::Other, words, true, protect(key))
            }
            Drift::New { key } => {
                let words = format!("{} is new and not protected", of(key));
                (DriftKind::New, words, false, protect(key))
            }
            Drift::CameBack { key } => (
                DriftKind::CameBack,
                format!(
                    "{}{}",
                    came_back(&key.client, &name(&key.name), 1),
                    self.waits(key, "it is taken away", |todo| *todo == Todo::Unprotect)
                ),
                false,
                Some(DriftFix::Unprotect { entries: noted }),
            ),
            Drift::Shadowed { path, by } => (
                DriftKind::Other,
                format!("{} is behind the gate, but {} is read in its stead", path_of(path), path_of(by)),
                true,
                None,
            ),
            Drift::Unreadable { path, why, .. } => (
                DriftKind::Other,
                format!("{} cannot be understood any more: {}", path_of(path), harmless(why)),
                true,
                None,
            ),
            // Theirs to do; told beside the file, and no more.
            Drift::Edited { key } => {
                let words = format!("{} was edited; it is behind the gate", of(key));
                (DriftKind::Other, words, false, note)
            }
            Drift::Removed { key } => {
                (DriftKind::Other, format!("{} was removed from the file", of(key)), false, note)
            }
        };
        let (client, path) = place_of(drift);
        let entry = entry_of(drift).cloned();
        DriftText { client, path: path.to_owned(), entry, view: DriftView { kind, words, serious, fix } }
    }

    /// Entries that somebody else changed in a way that is theirs, or may be. One with secrets in the keychain does not start as it
    /// is now: that is not to be forgotten.
    pub(crate) fn to_be_noted<'d>(&self, drift: &'d Drift) -> &'d [LedgerKey] {
        let refers =
            |key: &LedgerKey| entries(&self.surveyed).any(|entry| entry.key == *key && refers(entry));
        match drift {
            Drift::Edited { key } if !refers(key) => std::slice::from_ref(key),
            Drift::Removed { key } | Drift::CameBack { key } => std::slice::from_ref(key),
            Drift::Wiped { lost, .. } => lost,
            _ => &[],
        }
    }

    fn is_contested(&self, key: &LedgerKey) -> bool {
        self.ledger.mended(key).is_some_and(|mended| mended.rests == Some(Rests::Contested))
    }

    /// "; it is put back when Claude Desktop has quit", if that waits.
    fn waits(&self, key: &LedgerKey, done: &str, is: fn(&Todo) -> bool) -> String {
        match self.queue.iter().any(|queued| queued.key == *key && is(&queued.todo)) {
            true => format!("; {done} when {} has quit", client_name(&key.client)),
            false => String::new(),
        }
    }

    /// Nothing, if that cannot be told of this client.
    pub(crate) fn runs(&self, client: &str) -> Option<bool> {
        self.mains(table::client(client)?).map(|mains| !mains.is_empty())
    }

    /// The newest copy in which there are servers.
    fn newest_copy_with_servers(&self, client: &str, path: &Path) -> Option<String> {
        let of_file = self.copies.iter().filter(|copy| copy.client == client && copy.path == path);
        let with_servers =
            of_file.filter(|copy| !callgate_clients::change::entries_in(copy, &copy.copy).is_empty());
        with_servers.max_by_key(|copy| copy.at_ms).map(callgate_clients::backup::Backup::id)
    }
}

/// What happened to one file or to some of its entries, in words.
#[derive(Clone, Debug)]
pub struct DriftGroup {
    /// The first of them.
    pub drift: Drift,
    pub client: Option<String>,
    pub path: PathBuf,
    /// The entries that it is about, by name.
    pub names: Vec<String>,
    pub words: String,
    pub fix: Option<DriftFix>,
}

/// One drift in words.
pub(crate) struct DriftText {
    client: Option<String>,
    path: PathBuf,
    /// Which, if it is about one.
    entry: Option<LedgerKey>,
    pub(crate) view: DriftView,
}

impl DriftText {
    fn is_like(&self, other: &DriftText) -> bool {
        self.view.kind != DriftKind::Other
            && self.view.kind == other.view.kind
            && self.client == other.client
            && self.path == other.path
    }
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
        | Drift::CameBack { key }
        | Drift::Removed { key }
        | Drift::Tampered { key, .. }
        | Drift::Moved { key, .. } => (Some(key.client.clone()), &key.path),
    }
}

pub(crate) fn entry_of(drift: &Drift) -> Option<&LedgerKey> {
    match drift {
        Drift::LostGate { key }
        | Drift::Edited { key }
        | Drift::New { key }
        | Drift::CameBack { key }
        | Drift::Removed { key }
        | Drift::Tampered { key, .. }
        | Drift::Moved { key, .. } => Some(key),
        Drift::Wiped { .. } | Drift::Unreadable { .. } | Drift::Shadowed { .. } => None,
    }
}

/// What happened to one file.
pub(crate) fn of_file(look: &Look<'_>, drifts: &[Drift], client: &str, path: &Path) -> Vec<DriftView> {
    let here = |drift: &&Drift| {
        let (of, at) = place_of(drift);
        at == path && of.is_none_or(|of| of == client)
    };
    drifts.iter().filter(here).map(|drift| look.drift_text(drift).view).collect()
}

/// What so many servers are that lost their gate. A client that does not run does not run them either.
pub(crate) fn unwatched(servers: usize, runs: Option<bool>) -> &'static str {
    match (servers, runs) {
        (1, Some(false)) => "has lost its gate and would run unwatched",
        (1, _) => "has lost its gate and runs unwatched",
        (_, Some(false)) => "have lost their gates and would run unwatched",
        (_, _) => "have lost their gates and run unwatched",
    }
}

/// A client that writes its file back from memory did it; of another nobody knows who. `names`: of so many servers.
pub fn came_back(client: &str, names: &str, servers: usize) -> String {
    let is = if servers == 1 { "is" } else { "are" };
    match table::client(client) {
        Some(client) if client.caches => format!(
            "{} put the gate back in front of {names}: it ran when you took it away, and wrote its own copy over that",
            client.name
        ),
        _ => format!("{}: {names} {is} behind the gate again, though you took it away", client_name(client)),
    }
}

fn is_put_back(todo: &Todo) -> bool {
    matches!(todo, Todo::Protect | Todo::Repair)
}

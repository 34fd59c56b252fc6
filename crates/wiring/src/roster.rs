//! Roster: what each entry of clients' files starts, and under which name it is at the gate, or would be.

use std::collections::BTreeMap;
use std::path::Path;

use callgate_clients::survey::{Entry, State, Surveyed, entries};
use callgate_text::harmless;

use crate::change::{as_act, is_meant};
use crate::view::{ClientAct, EntryKey, EntryState};
use crate::{Look, Wiring, WiringError, display, entry_key};

/// A server as one client starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub key: EntryKey,
    pub client_name: String,
    /// The file, as people write it.
    pub shown: String,
    pub state: EntryState,
    /// Why nobody can put a gate in front of it.
    pub why: Option<String>,
    /// Its name at the gate, or the one that it would get by itself.
    pub server: String,
    /// Another program, of another entry or one that was here before, goes by that name, too: what is known of the name may be
    /// the other's.
    pub is_shared: bool,
    /// Program and arguments, secrets and all; empty for a server that is no program on this machine.
    pub words: Vec<String>,
    /// The same in one line, secrets masked.
    pub command: String,
}

impl Look<'_> {
    /// Every entry of every client, in the order of the files.
    pub fn launches(&self) -> Vec<Launch> {
        let names = self.names();
        let tampered = self.tampered();
        let launch = |entry: &Entry| {
            let local = entry.local();
            let (state, why) = match &entry.state {
                State::Protected { .. } if tampered.contains(&entry_key(&entry.key)) => {
                    (EntryState::Tampered, None)
                }
                State::Protected { .. } => (EntryState::Protected, None),
                State::Open => (EntryState::Open, None),
                State::NotCoverable(why) => (EntryState::NotCoverable, Some(harmless(why))),
            };
            let server = match (&entry.state, local) {
                (State::Protected { server }, _) => server.clone(),
                (State::Open, Some(local)) => names.would_give(&entry.key, local, &self.ledger),
                _ => entry.key.name.clone(),
            };
            Launch {
                key: entry_key(&entry.key),
                client_name: display::client_name(&entry.key.client),
                shown: display::path(&self.machine.home, Path::new(&entry.key.path)),
                state,
                why,
                server,
                is_shared: false,
                words: local.map(|local| local.words().map(str::to_owned).collect()).unwrap_or_default(),
                command: display::command(entry),
            }
        };
        let mut all: Vec<Launch> = entries(&self.surveyed).map(launch).collect();
        mark_shared(&mut all);
        all
    }

    /// Files that could not be read, and why.
    pub fn unread(&self) -> Vec<String> {
        let file = |file: &Surveyed| {
            let why = file.read.as_ref().err()?;
            let path = display::path(&self.machine.home, &file.found.path);
            Some(harmless(&format!("{}: {path}: {why}", file.found.client.name)))
        };
        self.surveyed.iter().filter_map(file).collect()
    }

    fn tampered(&self) -> Vec<EntryKey> {
        let of = |drift| match drift {
            callgate_clients::drift::Drift::Tampered { key, .. } => Some(entry_key(&key)),
            _ => None,
        };
        self.drift().into_iter().filter_map(of).collect()
    }
}

/// Entries that are not behind the gate yet may want one name for several programs.
fn mark_shared(all: &mut [Launch]) {
    let mut programs: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
    for one in all.iter() {
        let known = programs.entry(&one.server).or_default();
        if !known.contains(&one.words.as_slice()) {
            known.push(&one.words);
        }
    }
    let shared: Vec<String> = programs
        .into_iter()
        .filter(|(_, programs)| programs.len() > 1)
        .map(|(name, _)| name.to_owned())
        .collect();
    for one in all {
        one.is_shared = one.state != EntryState::Protected && shared.contains(&one.server);
    }
}

impl Wiring {
    /// What each of these entries is called at the gate, or would be if all of them were put behind it now.
    pub fn names_at_gate(&self, keys: &[EntryKey]) -> Result<Vec<(EntryKey, String)>, WiringError> {
        let look = self.look_at_clients()?;
        let mut named: Vec<(EntryKey, String)> = Vec::new();
        for entry in look.picked(keys) {
            if let State::Protected { server } = &entry.state {
                named.push((entry_key(&entry.key), server.clone()));
            }
        }
        // The name does not depend on whether the program is there yet.
        let binary = callgate_programs::place(self.home.path()).to_string_lossy().into_owned();
        let chosen = |one: &Entry| is_meant(one, ClientAct::Protect, keys);
        let mut planned = self.entry_change(&look, as_act(ClientAct::Protect, &binary), &chosen);
        for file in look.concerned(ClientAct::Protect, keys) {
            // One that cannot be written is refused when it is asked for, with why.
            let Ok(plan) = planned.preview(file) else { continue };
            for edit in plan.edits {
                let key = entry_key(&edit.key);
                if !named.iter().any(|(other, _)| *other == key) {
                    named.push((key, edit.server));
                }
            }
        }
        Ok(named)
    }
}

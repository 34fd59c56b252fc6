//! A server of one's own out of the clients and out of `servers.json`. For a moment there is a way back, unless secrets of it
//! were in the keychain: those are gone.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::PoisonError;

use callgate_clients::entry::{Local, NewServer};
use callgate_clients::ledger::LedgerKey;
use callgate_clients::own::{self, OwnError, Wanted, placing};
use callgate_clients::plan::{PlannedAct, plan};
use callgate_clients::secrets::find;
use callgate_clients::secrets::lazy_keychain::Lazily;
use callgate_clients::survey::{Entry, Surveyed};
use callgate_clients::{Client, System};
use callgate_text::{harmless, name};

use crate::change::would_write_over;
use crate::own::{refused, whole_file};
use crate::view::{ClientChange, ClientPreview, EntryKey, RefusedEntry, Removal, RemovalPreview};
use crate::{Look, Wiring, WiringError, entry_key};

/// So long the way back is kept.
const UNDO_MS: i64 = 10_000;
/// A press at the last moment arrives a little later.
const LATE_MS: i64 = 2_000;

/// A server that was removed a moment ago, with where it was.
#[derive(Debug)]
pub(crate) struct Removed {
    server: NewServer,
    places: Vec<EntryKey>,
    until_ms: i64,
}

impl Wiring {
    /// What removing would write, and what of it stays.
    pub fn preview_removal(&self, server: &str) -> Result<RemovalPreview, WiringError> {
        let look = self.look_at_clients()?;
        let meant = self.removal_plan(&look, server)?;
        let mut edits = ClientPreview::default();
        let mut names = look.names();
        for (file, keys) in &meant.files {
            let chosen = |entry: &Entry| keys.contains(&entry.key);
            match plan(&file.found, PlannedAct::Remove, &chosen, &mut names, &look.ledger) {
                Ok(plan) => {
                    edits.files.extend(look.diff(&plan));
                    edits.refused.extend(refused(&plan));
                }
                Err(error) => edits.refused.push(whole_file(&look, &file.found, &error.to_string())),
            }
        }
        if let Some(local) = &meant.local {
            let (before, after) = own::preview_forget(self.home.path(), server)?;
            edits.files.push(look.own_diff((&before, &after), &NewServer::of(server, local)));
        }
        let running = meant.running(&self.machine).map(|file| file.found.client.name.to_owned()).collect();
        Ok(RemovalPreview {
            edits,
            secrets: meant.secrets(),
            stays: meant.stays.iter().map(|client| client.name.to_owned()).collect(),
            running,
        })
    }

    /// Does it. `now`: also in clients that run and may write it back.
    pub fn remove_server(&self, server: &str, now: bool) -> Result<Removal, WiringError> {
        let look = self.look_at_clients()?;
        let meant = self.removal_plan(&look, server)?;
        if let Some(file) = meant.running(&self.machine).next().filter(|_| !now) {
            let client = file.found.client;
            return Err(WiringError::Conflict(format!(
                "{} runs and would write it back; nothing was removed. {}",
                client.name, client.reload
            )));
        }
        let now_ms = self.clock.now().wall_ms;
        let mut names = look.names();
        let keychain = Lazily::at(self.home.path());
        let open = || keychain.open();
        let mut removal = Removal::default();
        let mut places = Vec::new();
        for (file, keys) in &meant.files {
            let client = file.found.client;
            match placing::take_out(self.home.path(), &file.found, keys, &mut names, &open, now_ms) {
                Ok(taken) => {
                    removal.refused.extend(refused(&taken.plan));
                    removal.left.extend(taken.left);
                    if !taken.plan.edits.is_empty() {
                        removal.from.push(client.name.to_owned());
                        removal.next.push(client.reload.to_owned());
                        places.extend(taken.plan.edits.iter().map(|edit| entry_key(&edit.key)));
                    }
                }
                Err(error) => removal.refused.push(RefusedEntry {
                    client_name: client.name.to_owned(),
                    name: Some(name(server)),
                    why: harmless(&error.to_string()),
                }),
            }
        }
        placing::forget_gone(self.home.path(), &meant.gone)?;
        // Where it still is, nobody could remove it later if the list did not know it any more.
        if removal.refused.is_empty() && own::forget(self.home.path(), server)?.is_some() {
            removal.from.push("Callgate's own list".to_owned());
            if let Some(local) = &meant.local {
                removal.left.extend(placing::forget_own_secrets(self.home.path(), server, local, &open));
                self.keep_removed(&mut removal, &meant, local, places, now_ms);
            }
        }
        self.guard()?;
        Ok(removal)
    }

    fn removal_plan<'l>(&self, look: &'l Look<'_>, server: &str) -> Result<RemovalPlan<'l>, WiringError> {
        let plan = RemovalPlan::find(self.home.path(), look, server, &BTreeSet::new())?;
        if plan.local.is_none() && plan.files.is_empty() && plan.gone.is_empty() {
            let shown = name(server);
            return Err(WiringError::NotFound(format!("no server {shown} was added to Callgate here")));
        }
        Ok(plan)
    }

    fn keep_removed(
        &self,
        removal: &mut Removal,
        meant: &RemovalPlan<'_>,
        local: &Local,
        places: Vec<EntryKey>,
        now_ms: i64,
    ) {
        if meant.secrets().is_empty() {
            let (server, until_ms) = (NewServer::of(&meant.name, local), now_ms + UNDO_MS);
            removal.undo_until_ms = Some(until_ms);
            let mut removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
            *removed = Some(Removed { server, places, until_ms });
        }
    }

    /// Adds the server again that was removed last, in the same places.
    pub fn restore_server(&self, server: &str) -> Result<ClientChange, WiringError> {
        let now_ms = self.clock.now().wall_ms;
        let meant = |one: &mut Removed| one.server.name == server && now_ms <= one.until_ms + LATE_MS;
        let mut removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(removed) = removed.take_if(meant) else {
            let shown = name(server);
            return Err(WiringError::NotFound(format!(
                "{shown} was removed too long ago to be put back from here: add it again, or restore a backup of its client's file"
            )));
        };
        own::add(self.home.path(), &Wanted { server: removed.server, secrets: Vec::new() }, None)?;
        self.place_servers(&removed.places, true)
    }
}

/// What removing a server is about.
#[derive(Debug)]
pub struct RemovalPlan<'l> {
    name: String,
    /// As the list has it.
    pub local: Option<Local>,
    pub files: Vec<(&'l Surveyed, Vec<LedgerKey>)>,
    /// Clients with the same server, which Callgate did not write there.
    pub stays: Vec<&'static Client>,
    /// Where it was placed and is not any more, in files that could be read.
    pub gone: Vec<LedgerKey>,
}

impl<'l> RemovalPlan<'l> {
    /// `clients`: out of these alone, and then what Callgate did not write there, too. None are named: out of all.
    pub fn find(
        home: &Path,
        look: &'l Look<'_>,
        server: &str,
        clients: &BTreeSet<&str>,
    ) -> Result<RemovalPlan<'l>, OwnError> {
        let is_meant = |key: &LedgerKey| clients.is_empty() || clients.contains(key.client.as_str());
        let (name, local) = (server.to_owned(), own::find(home, server)?);
        let mut plan = RemovalPlan { name, local, files: Vec::new(), stays: Vec::new(), gone: Vec::new() };
        for (file, entry) in own::entries_of(&look.surveyed, &look.ledger, server, plan.local.as_ref()) {
            if !is_meant(&entry.key) {
                continue;
            }
            if look.ledger.placed(&entry.key).is_none() && clients.is_empty() {
                plan.stays.push(file.found.client);
                continue;
            }
            match plan.files.last_mut() {
                Some((last, keys)) if std::ptr::eq(*last, file) => keys.push(entry.key.clone()),
                _ => plan.files.push((file, vec![entry.key.clone()])),
            }
        }
        let there = |key: &LedgerKey| {
            look.surveyed.iter().any(|file| match &file.read {
                Ok(contents) => contents.entries.iter().any(|entry| entry.key == *key),
                Err(_) => file.found.path == key.path,
            })
        };
        let placed = look.ledger.placed.iter().map(|placed| &placed.key);
        let placed = placed.filter(|key| key.name == server && is_meant(key));
        plan.gone = placed.filter(|key| !there(key)).cloned().collect();
        Ok(plan)
    }

    fn running<'p>(&'p self, machine: &'p System) -> impl Iterator<Item = &'l Surveyed> + 'p {
        let files = self.files.iter().map(|(file, _)| *file);
        files.filter(|file| would_write_over(file.found.client, &machine.home))
    }

    /// By name: what leaves the keychain with it.
    fn secrets(&self) -> Vec<String> {
        let keys = |entry: &&Entry| self.files.iter().any(|(_, keys)| keys.contains(&entry.key));
        let entries = self.files.iter().flat_map(|(file, _)| file.entries()).filter(keys);
        let locals = entries.filter_map(Entry::local).chain(&self.local);
        let names: BTreeSet<String> = locals.flat_map(find::references).map(|(_, one)| name(&one)).collect();
        names.into_iter().collect()
    }
}

//! The gate in the files of AI clients: put in front of servers or taken away, guarded, mended; with the secrets, the copies
//! and the servers of one's own that belong to it. The window and the command line both do it by this crate.
//!
//! Owns: which change may be written now and which has to wait, and what a file that drifted asks for. How files are read
//! and written is `callgate-clients`' business. It must not know of windows, terminals or policies.

#![forbid(unsafe_code)]

mod backups;
mod byte_order_mark;
mod change;
mod command_line;
mod diff;
pub mod display;
mod drift_text;
mod error;
mod file_change;
mod guard;
mod launch;
mod long_lines;
mod own;
mod removal;
mod repair;
mod roster;
mod secrets;
pub mod view;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_clients::backup::{Backup, Backups};
use callgate_clients::byte_order_mark::is_repairable;
use callgate_clients::drift::{Drift, drift, take_note};
use callgate_clients::ledger::{self, Ledger, LedgerKey};
use callgate_clients::queue::{self, Queued, Todo};
use callgate_clients::repair::Rests;
use callgate_clients::secrets::listing::{ListedSecret, listed};
use callgate_clients::survey::{Entry, State, Surveyed, entries, everything};
use callgate_clients::trial::{Tried, try_out};
use callgate_clients::{Client, System, reopen, running, table};
use callgate_programs::{Pair, place};

use callgate_home::Home;
use callgate_home::clock::Clock;
use callgate_text::{harmless, name};

use crate::view::{
    ClientEntry, ClientFile, ClientView, EntryKey, EntryState, QueuedChange, QueuedRestore, ServerTest,
};

pub use backups::References;
pub use diff::{DiffSpan, by_words, unified};
pub use display::{client_name, diff_lines, masker, masker_of};
pub use drift_text::{DriftGroup, came_back};
pub use error::WiringError;
pub use file_change::{EntryChange, FileChange, Timing, Written};
pub use guard::{GuardNews, GuardReport, Undone};
pub use launch::{launch_notes, launch_notes_of};
pub use removal::RemovalPlan;
pub use roster::Launch;
pub use secrets::SecretsEdit;

/// One person's clients, with the home that their gate belongs to.
#[derive(Debug)]
pub struct Wiring {
    home: Home,
    clock: Arc<dyn Clock>,
    /// Where clients keep their files.
    machine: System,
    guard: Mutex<guard::Guard>,
    /// The server that was removed last, to be put back.
    removed: Mutex<Option<removal::Removed>>,
}

/// All files of all clients, at one moment.
#[derive(Debug)]
pub struct Look<'d> {
    pub machine: &'d System,
    ours: &'d Path,
    pub ledger: Ledger,
    pub surveyed: Vec<Surveyed>,
    queue: Vec<Queued>,
    copies: Vec<Backup>,
    /// Who runs, by the client's id: looking for processes is dear, and asked for with every lost gate.
    running: RefCell<BTreeMap<&'static str, Option<Vec<running::Main>>>>,
}

impl Wiring {
    pub fn new(home: Home, clock: Arc<dyn Clock>, machine: System) -> Wiring {
        Wiring { home, clock, machine, guard: Mutex::default(), removed: Mutex::default() }
    }

    pub fn machine(&self) -> &System {
        &self.machine
    }

    /// Every client that has a file here, with its servers.
    pub fn clients(&self) -> Result<Vec<ClientView>, WiringError> {
        Ok(self.look_at_clients()?.views())
    }

    /// Nobody is to be asked about these again.
    pub fn leave_open(&self, entries: &[EntryKey]) -> Result<(), WiringError> {
        let look = self.look_at_clients()?;
        let mut held = ledger::hold(self.home.path())?;
        look.picked(entries).for_each(|entry| held.ledger.leave_open(&entry.key));
        held.save()?;
        // The guard may have to wait for whoever holds it.
        drop(held);
        self.guard()
    }

    /// What somebody else did to these entries, their edit, their removal or a gate that came back, is known and not told again.
    pub fn take_note(&self, entries: &[EntryKey]) -> Result<(), WiringError> {
        let look = self.look_at_clients()?;
        let mut held = ledger::hold(self.home.path())?;
        let mut gone = Vec::new();
        for drift in look.drift() {
            if look.to_be_noted(&drift).iter().any(|key| entries.contains(&entry_key(key))) {
                take_note(&drift, &look.surveyed, &mut held.ledger);
                if let Drift::Wiped { lost, .. } = drift {
                    gone.extend(lost);
                }
            }
        }
        held.save()?;
        drop(held);
        queue::forget(self.home.path(), &gone)?;
        self.guard()
    }

    /// What waits for this client to quit is not done after all; a gate that was to be put back by itself stays away. No
    /// entries: all that waits for it.
    pub fn drop_queued(&self, client: &str, entries: &[EntryKey]) -> Result<(), WiringError> {
        let meant = |key: &LedgerKey| entries.is_empty() || entries.contains(&entry_key(key));
        let dropped = |queued: &Queued| queued.key.client == client && meant(&queued.key);
        let waiting = queue::read(self.home.path())?;
        let lost = waiting.iter().filter(|queued| dropped(queued) && queued.todo == Todo::Repair);
        self.rest(lost.map(|queued| &queued.key), Rests::Declined)?;
        queue::remove(self.home.path(), dropped)?;
        self.guard()
    }

    /// Quits the client, writes what waited for that, and starts it again.
    pub fn reopen_client(&self, client: &str) -> Result<(), WiringError> {
        let known = table::client(client)
            .ok_or_else(|| WiringError::NotFound(format!("there is no client {}", name(client))))?;
        let gone = reopen::quit(known, &self.machine.home)?;
        let settled = self.settle_queue();
        // It is started whatever came of the change: it was running before.
        gone.start()?;
        settled
    }

    /// Starts the server behind the gate and asks it for its tools, as its client would.
    pub fn test_server(&self, entry: &EntryKey) -> Result<ServerTest, WiringError> {
        let look = self.look_at_clients()?;
        let not_found =
            || WiringError::NotFound(format!("{} is not in the file any more", name(&entry.name)));
        let found = look.picked(std::slice::from_ref(entry)).next().ok_or_else(not_found)?;
        let Some(local) = found.local() else {
            return Err(WiringError::BadInput(format!("{} starts no program", name(&entry.name))));
        };
        let binary = self.gate()?;
        let server = match &found.state {
            State::Protected { server } => server.clone(),
            State::Open | State::NotCoverable(_) => self.name_for(&look, entry)?,
        };
        let trial = try_out(Tried {
            binary: &binary,
            server: &server,
            client: &entry.client,
            local,
            folder: found.key.project.as_deref().map(Path::new),
        });
        let words = |text: String| masker([found]).keep_text(&harmless(&text)).into_owned();
        Ok(ServerTest { says: trial.says.map(words), tools: trial.tools, problem: trial.problem.map(words) })
    }

    /// Our program, at the place that clients' files name.
    fn gate(&self) -> Result<PathBuf, WiringError> {
        let place = place(self.home.path());
        if !place.exists()
            && let Some(brought) = Pair::brought()
        {
            brought.map_err(io::Error::from).and_then(|pair| pair.install(self.home.path())).map_err(
                |error| WiringError::disk(format!("{} cannot be written", place.display()), error),
            )?;
        }
        match place.exists() {
            true => Ok(place),
            false => Err(WiringError::NotFound(format!(
                "{} is not there: start Callgate's app once, or run `callgate clients protect`",
                place.display()
            ))),
        }
    }

    /// All files of all clients, as they are now.
    pub fn look_at_clients(&self) -> Result<Look<'_>, WiringError> {
        Ok(self.look_by(ledger::read(self.home.path())?))
    }

    /// By this ledger.
    pub fn look_by(&self, ledger: Ledger) -> Look<'_> {
        Look {
            machine: &self.machine,
            ours: self.home.path(),
            surveyed: everything(&self.machine, &[], &ledger),
            ledger,
            // What is wrong with it is told by the guard; it keeps nobody from seeing their clients.
            queue: queue::read(self.home.path()).unwrap_or_default(),
            copies: Backups::of(self.home.path()).list().unwrap_or_default(),
            running: RefCell::default(),
        }
    }
}

impl Look<'_> {
    pub fn views(&self) -> Vec<ClientView> {
        let mut views: Vec<ClientView> = Vec::new();
        let drifts = self.drift();
        for file in &self.surveyed {
            let client = file.found.client;
            let shown = self.file(file, &drifts);
            match views.iter_mut().find(|view| view.id == client.id) {
                Some(view) => view.files.push(shown),
                None => views.push(self.view(client, shown)),
            }
        }
        for drift in &drifts {
            let Drift::Wiped { client, path, .. } = drift else { continue };
            let seen = |file: &Surveyed| file.found.client.id == client && file.found.path == *path;
            let Some(client) = table::client(client).filter(|_| !self.surveyed.iter().any(seen)) else {
                continue;
            };
            let gone = self.gone(client, path, &drifts);
            match views.iter_mut().find(|view| view.id == client.id) {
                Some(view) => view.files.push(gone),
                None => views.push(self.view(client, gone)),
            }
        }
        views
    }

    /// A file that is not there any more, and had servers behind the gate.
    fn gone(&self, client: &Client, path: &Path, drifts: &[Drift]) -> ClientFile {
        ClientFile {
            path: path.to_string_lossy().into_owned(),
            shown: display::path(&self.machine.home, path),
            problem: None,
            repairable: false,
            notes: vec!["The file is not there any more.".to_owned()],
            entries: Vec::new(),
            drift: drift_text::of_file(self, drifts, client.id, path),
            backups: self.copies_of(client, path),
        }
    }

    fn copies_of(&self, client: &Client, path: &Path) -> u32 {
        let of_file = |copy: &&Backup| copy.client == client.id && copy.path == path;
        u32::try_from(self.copies.iter().filter(of_file).count()).unwrap_or(u32::MAX)
    }

    fn view(&self, client: &'static Client, file: ClientFile) -> ClientView {
        let mains = self.mains(client);
        let edited = self.ledger.written_ms.get(client.id).copied();
        let since = mains.as_ref().and_then(|mains| mains.iter().map(|main| main.since_ms).min());
        let queued = || self.queue.iter().filter(|queued| queued.key.client == client.id);
        ClientView {
            id: client.id.to_owned(),
            name: client.name.to_owned(),
            running: mains.map(|mains| !mains.is_empty()),
            stale: since.zip(edited).is_some_and(|(since, edited)| is_stale(since, edited)),
            waits: client.caches,
            can_reopen: reopen::can_reopen(client),
            reload: client.reload.to_owned(),
            queued: queued().filter_map(queued_change).collect(),
            restores: queued().filter_map(|queued| self.queued_restore(queued)).collect(),
            files: vec![file],
        }
    }

    /// Those of its processes that a person started; nothing for a client of which that cannot be told.
    fn mains(&self, client: &Client) -> Option<Vec<running::Main>> {
        let look = || running::mains(client, &self.machine.home).filter(|_| !client.processes.is_empty());
        self.running.borrow_mut().entry(client.id).or_insert_with(look).clone()
    }

    fn queued_restore(&self, queued: &Queued) -> Option<QueuedRestore> {
        let Todo::Restore { copy } = &queued.todo else { return None };
        let path = &queued.key.path;
        Some(QueuedRestore {
            backup: copy.clone(),
            path: path.to_string_lossy().into_owned(),
            shown: display::path(&self.machine.home, path),
            since_ms: queued.since_ms,
        })
    }

    fn file(&self, file: &Surveyed, drifts: &[Drift]) -> ClientFile {
        let path = &file.found.path;
        let client = file.found.client;
        let mut notes: Vec<_> =
            file.read.iter().flat_map(|read| &read.left_out).map(|it| harmless(it)).collect();
        notes.extend(file.found.shadowed_by.as_ref().map(|other| {
            format!("{} reads {} in its stead", client.name, display::path(&self.machine.home, other))
        }));
        ClientFile {
            path: path.to_string_lossy().into_owned(),
            shown: display::path(&self.machine.home, path),
            problem: file.read.as_ref().err().map(|why| harmless(&why.to_string())),
            repairable: is_repairable(file),
            notes,
            entries: listed(file).map(|(entry, secrets)| self.entry(entry, &secrets, drifts)).collect(),
            drift: drift_text::of_file(self, drifts, client.id, path),
            backups: self.copies_of(client, path),
        }
    }

    fn entry(&self, entry: &Entry, secrets: &[ListedSecret], drifts: &[Drift]) -> ClientEntry {
        let tampered = |drift: &Drift| matches!(drift, Drift::Tampered { key, .. } if *key == entry.key);
        let (state, server, why) = match &entry.state {
            State::Protected { server } if drifts.iter().any(tampered) => {
                (EntryState::Tampered, Some(server.clone()), None)
            }
            State::Protected { server } => (EntryState::Protected, Some(server.clone()), None),
            State::Open => (EntryState::Open, None, None),
            State::NotCoverable(why) => (EntryState::NotCoverable, None, Some(harmless(why))),
        };
        ClientEntry {
            key: entry_key(&entry.key),
            state,
            server,
            command: display::command(entry),
            why,
            secrets: self.entry_secrets(entry, secrets),
            added: self.ledger.placed(&entry.key).is_some(),
        }
    }

    /// The path as people write it.
    pub fn shown(&self, path: &Path) -> String {
        display::path(&self.machine.home, path)
    }

    pub fn drift(&self) -> Vec<Drift> {
        drift(&self.surveyed, &self.ledger, &self.queue, &place(self.ours).to_string_lossy())
    }

    /// The entries that are meant.
    fn picked<'l>(&'l self, keys: &'l [EntryKey]) -> impl Iterator<Item = &'l Entry> {
        entries(&self.surveyed).filter(|entry| keys.contains(&entry_key(&entry.key)))
    }
}

fn entry_key(key: &LedgerKey) -> EntryKey {
    EntryKey {
        client: key.client.clone(),
        path: key.path.to_string_lossy().into_owned(),
        project: key.project.clone(),
        name: key.name.clone(),
    }
}

fn queued_change(queued: &Queued) -> Option<QueuedChange> {
    let by_itself = queued.todo == Todo::Repair;
    let (act, entry) = (change::act_of(&queued.todo)?, entry_key(&queued.key));
    Some(QueuedChange { act, by_itself, entry, since_ms: queued.since_ms })
}

/// Did it start before its file was edited? Systems tell the start of a process to the second, and count from a start of their
/// own that is rounded too: one that was opened right after the edit must not look as if it had been there before.
fn is_stale(since_ms: i64, edited_ms: i64) -> bool {
    since_ms + 2_000 < edited_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_was_opened_right_after_the_edit_is_not_said_to_run_the_old_configuration() {
        for (since, edited, stale) in
            [(5_000, 5_900, false), (4_000, 5_900, false), (3_000, 5_900, true), (9_000, 5_900, false)]
        {
            assert_eq!(is_stale(since, edited), stale, "{since} {edited}");
        }
    }
}

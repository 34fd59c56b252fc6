//! The guard over clients' files: what happened to them since they were edited, and what that asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

use callgate_clients::change::keep_servers;
use callgate_clients::discover;
use callgate_clients::drift::Drift;
use callgate_clients::file::{Hash, hash};
use callgate_clients::ledger::{self, LedgerError, LedgerKey};
use callgate_clients::queue::{self, QueueError};
use callgate_clients::survey::{State, entries};
use callgate_controls::patience::{self, EntryTimeouts};

use crate::display::client_name;
use crate::drift_text::{DriftGroup, entry_of};
use crate::view::{ClientAct, ClientChange};
use crate::{Look, Wiring, WiringError, display, entry_key};

/// What the last look found.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    report: GuardReport,
    /// Entries without a gate that nobody has decided about, beside those that drifted.
    unprotected: u32,
    /// What waited for a client to quit and could not be done then; until the next change.
    not_done: Vec<Undone>,
    /// Lost gates that could not be put back by itself.
    not_repaired: Vec<Undone>,
    /// What kept the guard from its work, until it does it again.
    failed: Vec<Undone>,
    /// What was done by itself, or is lost, and nobody was told of yet.
    untold: Vec<GuardNews>,
    /// Lost gates and wiped files that a notification was raised for, until they are mended.
    raised: BTreeSet<Lost>,
    /// Protected files as they were when it was last looked whether to keep a copy.
    looked: BTreeMap<PathBuf, Hash>,
}

/// What is wrong with clients' files, and what could not be done about it.
#[derive(Clone, Debug, Default)]
pub struct GuardReport {
    pub drift: Vec<DriftGroup>,
    /// Without it nobody knows what lost its gate.
    pub broken_ledger: Option<Arc<LedgerError>>,
    pub broken_queue: Option<Arc<QueueError>>,
    pub undone: Vec<Undone>,
}

/// Something that was to be written and was not.
#[derive(Clone, Debug)]
pub struct Undone {
    pub client: Option<String>,
    pub words: String,
}

/// What the guard did, or what is lost, for a notification.
#[derive(Clone, Debug)]
pub struct GuardNews {
    pub title: String,
    pub body: String,
}

/// What is worth a notification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lost {
    Gate(LedgerKey),
    /// The gate is there, and not as it was put there.
    Trust(LedgerKey),
    Servers(String, PathBuf),
}

impl Wiring {
    /// All that the guard does: what waited is written, lost gates are put back, and every file is looked at. What kept it from
    /// any of that needs a person.
    pub fn watch_over_clients(&self) -> Result<(), WiringError> {
        let failed = [
            self.settle_queue().err().map(|error| ("What waits for a client to quit was not written", error)),
            self.keep_gates().err().map(|error| ("Lost gates were not put back", error)),
        ];
        let guarded = self.guard();
        let mut held = self.held();
        let known = |error: &WiringError| {
            let report = &held.report;
            let ledger = report.broken_ledger.as_ref().map(ToString::to_string);
            let queue = report.broken_queue.as_ref().map(ToString::to_string);
            [ledger, queue].contains(&Some(error.to_string()))
        };
        let failed = failed.into_iter().flatten().filter(|(_, error)| !known(error));
        let failed = failed.map(|(what, error)| not_written(None, &format!("{what}: {error}"))).collect();
        held.failed = failed;
        guarded
    }

    /// Looks at every client's file; what is wrong there needs a person from now on.
    pub fn guard(&self) -> Result<(), WiringError> {
        let (report, look) = self.report();
        let unprotected = look.as_ref().map_or(0, Look::unprotected);
        let mut kept = Ok(());
        if let Some(look) = &look {
            self.keep_copies(look);
            self.raise_losses(look);
            kept = patience::keep_entry_timeouts(&self.home, &look.entry_timeouts());
        }
        let mut held = self.held();
        (held.report, held.unprotected) = (report, unprotected);
        kept.map_err(|error| {
            WiringError::disk("The time-outs of clients' entries cannot be kept".to_owned(), error)
        })
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

    /// Servers without a gate that nobody has decided about, as of the last look.
    pub fn unprotected(&self) -> u32 {
        self.held().unprotected
    }

    /// What the guard found when it looked last.
    pub fn last_report(&self) -> GuardReport {
        let held = self.held();
        let undone = held.not_done.iter().chain(&held.not_repaired).chain(&held.failed).cloned().collect();
        GuardReport { undone, ..held.report.clone() }
    }

    /// What is wrong now; for a face that does not stay. Looks only.
    pub fn report_now(&self) -> GuardReport {
        self.report().0
    }

    fn report(&self) -> (GuardReport, Option<Look<'_>>) {
        let broken_queue = queue::read(self.home.path()).err().map(Arc::new);
        let report = GuardReport { broken_queue, ..GuardReport::default() };
        match ledger::read(self.home.path()) {
            Ok(ledger) => {
                let look = self.look_by(ledger);
                (GuardReport { drift: look.drift_groups(), ..report }, Some(look))
            }
            Err(error) => (GuardReport { broken_ledger: Some(Arc::new(error)), ..report }, None),
        }
    }

    /// What the guard did and nobody was told of yet.
    pub fn guard_news(&self) -> Vec<GuardNews> {
        std::mem::take(&mut self.held().untold)
    }

    pub(crate) fn untold(&self, news: GuardNews) {
        self.held().untold.push(news);
    }

    pub(crate) fn not_done(&self, change: &ClientChange) {
        self.held().not_done.extend(refusals(change));
    }

    pub(crate) fn not_restored(&self, client: &str, why: &str) {
        self.held().not_done.push(not_written(Some(client), &format!("{client}: {why}")));
    }

    /// What is told until the next try.
    pub(crate) fn not_repaired(&self, change: Option<&ClientChange>) {
        self.held().not_repaired = change.into_iter().flat_map(refusals).collect();
    }

    pub(crate) fn forget_not_done(&self) {
        self.held().not_done.clear();
    }

    /// A notification for what was lost since the last look; a lost gate only if nothing puts it back by itself.
    fn raise_losses(&self, look: &Look<'_>) {
        let gates = !self.repairs_gates();
        let lost = look.lost(gates);
        let news = |lost: &BTreeSet<Lost>| !lost.is_subset(&self.held().raised);
        // Between the row in the ledger and the gate in the file lies a moment in which it looks lost.
        let sure = match news(&lost) {
            false => lost,
            true => match ledger::hold(self.home.path()) {
                Ok(held) => self.look_by(held.ledger).lost(gates),
                Err(_) => lost,
            },
        };
        let new: Vec<Lost> = sure.difference(&self.held().raised).cloned().collect();
        self.held().raised = sure;
        let keys = new.iter().filter_map(|lost| match lost {
            Lost::Gate(key) => Some(entry_key(key)),
            Lost::Trust(_) | Lost::Servers(..) => None,
        });
        self.say_lost(look, &keys.collect::<Vec<_>>());
        for lost in &new {
            match lost {
                Lost::Servers(client, path) => {
                    self.say_wiped(&client_name(client), &display::path(&self.machine.home, path));
                }
                Lost::Trust(key) => self.say_tampered(look, key),
                Lost::Gate(_) => {}
            }
        }
    }

    /// Files whose servers changed are kept as they are now. A copy that cannot be kept keeps nobody from being told what is wrong.
    fn keep_copies(&self, look: &Look<'_>) {
        let now_ms = self.clock.now().wall_ms;
        for file in &look.surveyed {
            let (client, path) = (file.found.client.id, &file.found.path);
            let of_file = |key: &LedgerKey| key.client == client && key.path == *path;
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
    /// Entries that could have a gate, have none, and that nobody has said anything about; not those that drifted, which are
    /// told of one by one.
    fn unprotected(&self) -> u32 {
        let drifted: Vec<LedgerKey> = self.drift().iter().filter_map(entry_of).cloned().collect();
        let decided = |key: &LedgerKey| {
            self.ledger.left_open.contains(key)
                || self.ledger.former(key).is_some()
                || self.queue.iter().any(|queued| queued.key == *key)
                || drifted.contains(key)
        };
        let open = entries(&self.surveyed).filter(|entry| entry.state == State::Open && !decided(&entry.key));
        u32::try_from(open.count()).unwrap_or(u32::MAX)
    }

    /// Of the servers behind the gate. One that stands in several files has the shortest.
    fn entry_timeouts(&self) -> EntryTimeouts {
        let mut timeouts = EntryTimeouts::new();
        for entry in entries(&self.surveyed) {
            let (Some(gated), State::Protected { server }) = (&entry.server.gated, &entry.state) else {
                continue;
            };
            let Some(timeout) = entry.server.call_timeout else { continue };
            let client = gated.client.as_ref().unwrap_or(&entry.key.client);
            let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            let shortest = timeouts.entry(client.clone()).or_default().entry(server.clone()).or_insert(ms);
            *shortest = ms.min(*shortest);
        }
        timeouts
    }

    fn lost(&self, gates: bool) -> BTreeSet<Lost> {
        let lost = |drift| match drift {
            Drift::Wiped { client, path, .. } => Some(Lost::Servers(client, path)),
            Drift::LostGate { key } | Drift::Moved { key, .. } if gates => Some(Lost::Gate(key)),
            Drift::Tampered { key, .. } => Some(Lost::Trust(key)),
            _ => None,
        };
        self.drift().into_iter().filter_map(lost).collect()
    }
}

fn refusals(change: &ClientChange) -> impl Iterator<Item = Undone> {
    change.refused.iter().map(|refused| {
        let which = refused.name.as_deref().unwrap_or("its file");
        let done = match change.act {
            ClientAct::Protect => "protected",
            ClientAct::Unprotect => "unprotected",
            ClientAct::Place => "placed",
        };
        let client = &refused.client_name;
        not_written(Some(client), &format!("{client}: {which} was not {done}: {}", refused.why))
    })
}

fn not_written(client: Option<&str>, words: &str) -> Undone {
    Undone { client: client.map(str::to_owned), words: words.to_owned() }
}

//! Carrying a plan out: with a copy kept, only if nobody wrote meanwhile, and with a row for each entry.

use std::path::Path;

use tracing::{info, warn};

use crate::backup::{Backup, Backups};
use crate::discover::{Found, known};
use crate::entry::Local;
use crate::file::{self, FileError, replace};
use crate::ledger::{Held, Ledger, LedgerError, LedgerKey, LedgerRow, hold};
use crate::names::{NameRegistry, identity};
use crate::placement::Placed;
use crate::plan::{Plan, PlanError, PlannedAct, plan};
use crate::queue::{self, QueueError, Queued, Todo};
use crate::survey::{Entry, State, Surveyed, look};
use crate::table;

/// How often a file may change under our hands before we give up.
const TRIES: u32 = 3;

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}; nothing was changed")]
    Ledger(#[from] LedgerError),
    #[error("it was written, but that could not be noted: {0}")]
    Unrecorded(LedgerError),
    #[error("it was written, but what waited for it before may be written over it: {0}")]
    StillWaits(QueueError),
}

impl ChangeError {
    /// Did it fail when the file may have been written already?
    pub(crate) fn may_be_written(&self) -> bool {
        match self {
            ChangeError::Unrecorded(_) | ChangeError::StillWaits(_) => true,
            ChangeError::File(error) => error.may_be_written(),
            ChangeError::Plan(_) | ChangeError::Ledger(_) => false,
        }
    }
}

/// Makes the plan anew and writes it. What waited for the chosen entries before is no longer wanted: the newest wish counts.
pub fn carry_out(
    home: &Path,
    found: &Found,
    act: PlannedAct<'_>,
    chosen: &dyn Fn(&Entry) -> bool,
    names: &mut NameRegistry,
    now_ms: i64,
) -> Result<Plan, ChangeError> {
    let note = match act {
        PlannedAct::Protect { .. } => Note::Put,
        PlannedAct::Unprotect => Note::LeaveOpen,
        PlannedAct::Place { .. } => Note::PutPlaced,
        PlannedAct::Remove => Note::Forget,
    };
    write(Noted::hold(home, note)?, (home, found), act, chosen, names, now_ms)
}

/// Puts the gate back in front of these entries without a person having asked for it, and counts that. What a person took from
/// behind the gate at this very moment stays where they put it.
pub fn repair(
    home: &Path,
    found: &Found,
    binary: &str,
    keys: &[LedgerKey],
    names: &mut NameRegistry,
    now_ms: i64,
) -> Result<Plan, ChangeError> {
    let noted = Noted::hold(home, Note::PutAgain)?;
    let ours: Vec<_> = keys.iter().filter(|key| noted.ledger().row(key).is_some()).collect();
    let lost = |entry: &Entry| ours.contains(&&entry.key);
    write(noted, (home, found), PlannedAct::Protect { binary }, &lost, names, now_ms)
}

fn write(
    mut noted: Noted,
    (home, found): (&Path, &Found),
    act: PlannedAct<'_>,
    chosen: &dyn Fn(&Entry) -> bool,
    names: &mut NameRegistry,
    now_ms: i64,
) -> Result<Plan, ChangeError> {
    let mut tries = 1;
    loop {
        let plan = plan(found, act, chosen, names, noted.ledger())?;
        noted.keep(&plan, chosen)?;
        if plan.changes_nothing() {
            no_longer_waits(home, &plan, chosen)?;
            return Ok(plan);
        }
        let snapshot = &plan.contents.snapshot;
        if snapshot.exists() {
            Backups::of(home).keep(found.client.id, &found.path, &snapshot.bytes, now_ms)?;
        }
        // What is needed to take a gate away again is on the disk before the gate is.
        noted.before(&plan, now_ms)?;
        let written = match plan.no_file {
            true => file::remove(snapshot),
            false => replace(snapshot, plan.after.as_bytes()),
        };
        let (client, act, path) = (found.client.id, act.word(), found.path.display());
        match noted.close(&plan, written, now_ms) {
            Ok(()) => {
                info!(client, act, %path, entries = plan.edits.len(), "client's file written");
                no_longer_waits(home, &plan, chosen)?;
                return Ok(plan);
            }
            Err(ChangeError::File(FileError::Changed)) if tries < TRIES => tries += 1,
            Err(error) => {
                warn!(client, act, %path, %error, "client's file not written");
                return Err(error);
            }
        }
    }
}

/// Older wishes for what was chosen, and for what was edited. A refused entry keeps what waits for it.
fn no_longer_waits(home: &Path, plan: &Plan, chosen: &dyn Fn(&Entry) -> bool) -> Result<(), ChangeError> {
    let refused = |key: &LedgerKey| plan.refused.iter().any(|refused| refused.key == *key);
    let meant = plan.contents.entries.iter().filter(|entry| chosen(entry)).map(|entry| &entry.key);
    let edited = plan.edits.iter().map(|edit| &edit.key);
    let keys: Vec<&LedgerKey> = meant.filter(|key| !refused(key)).chain(edited).collect();
    // A copy that waits to be put back is a wish for every entry of its file.
    let puts_back = |queued: &Queued| {
        matches!(queued.todo, Todo::Restore { .. }) && keys.iter().any(|key| key.file() == queued.key)
    };
    dequeue(home, |queued| keys.contains(&&queued.key) || puts_back(queued))
}

pub(crate) fn dequeue(home: &Path, of: impl Fn(&Queued) -> bool) -> Result<(), ChangeError> {
    match queue::remove(home, of) {
        // Nothing of a queue that cannot be read is ever written, and the guard tells of it.
        Ok(()) | Err(QueueError::Read { .. } | QueueError::Broken { .. }) => Ok(()),
        Err(error) => Err(ChangeError::StillWaits(error)),
    }
}

/// What the ledger is told of an edited entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    Put,
    /// Without a person.
    PutAgain,
    /// It was not there before.
    PutPlaced,
    LeaveOpen,
    Forget,
}

/// The ledger while a file is written. A gate can be taken away without one: a ledger that cannot be read must not keep a
/// person from that.
struct Noted {
    note: Note,
    held: Option<Held>,
    none: Ledger,
    old: Ledger,
}

impl Noted {
    fn hold(home: &Path, note: Note) -> Result<Noted, LedgerError> {
        let held = match hold(home) {
            Ok(held) => Some(held),
            Err(_) if matches!(note, Note::LeaveOpen | Note::Forget) => None,
            Err(error) => return Err(error),
        };
        let old = held.as_ref().map(|held| held.ledger.clone()).unwrap_or_default();
        Ok(Noted { note, held, none: Ledger::default(), old })
    }

    fn ledger(&self) -> &Ledger {
        self.held.as_ref().map_or(&self.none, |held| &held.ledger)
    }

    /// A person who wants the gate where it is already wants it, whoever put it back.
    fn keep(&mut self, plan: &Plan, chosen: &dyn Fn(&Entry) -> bool) -> Result<(), LedgerError> {
        let Some(held) = self.held.as_mut().filter(|_| self.note == Note::Put) else { return Ok(()) };
        let is_gated = |entry: &&Entry| matches!(entry.state, State::Protected { .. }) && chosen(entry);
        for entry in plan.contents.entries.iter().filter(is_gated) {
            if let Some(local) = entry.local().filter(|_| held.ledger.left_open.contains(&entry.key)) {
                held.ledger.keep(&entry.key, &identity(local));
            }
        }
        if held.ledger == self.old { Ok(()) } else { held.save() }
    }

    fn before(&mut self, plan: &Plan, now_ms: i64) -> Result<(), LedgerError> {
        let Some(held) = &mut self.held else { return Ok(()) };
        for edited in &plan.edits {
            // What a gate may have loaded into it is for a person to accept.
            let known = held.ledger.row(&edited.key).filter(|_| self.note == Note::PutAgain);
            let loads = known.map_or_else(|| Some(edited.loads.clone()), |row| row.loads.clone());
            let row = LedgerRow {
                key: edited.key.clone(),
                server: edited.server.clone(),
                original: edited.original.clone(),
                text: edited.text.clone(),
                loads,
                at_ms: now_ms,
            };
            match self.note {
                Note::Put => held.ledger.put(row),
                Note::PutAgain => held.ledger.put_again(row, now_ms),
                Note::PutPlaced => {
                    let before = plan.contents.snapshot.exists().then(|| plan.before());
                    held.ledger.put(row);
                    held.ledger.put_placed(Placed::new(&edited.key, before, &plan.after));
                }
                // It stays behind the gate until the file is written.
                Note::LeaveOpen | Note::Forget => return Ok(()),
            }
        }
        held.ledger.wrote(plan.found.client.id, now_ms);
        held.save()
    }

    /// Once it was tried to write the file.
    fn close(&mut self, plan: &Plan, written: Result<(), FileError>, now_ms: i64) -> Result<(), ChangeError> {
        match written {
            Ok(()) => self.after(plan, now_ms).map_err(ChangeError::Unrecorded),
            // The gate may be in the file: its row stays, and the next look at the file tells what became of it.
            Err(error) if error.may_be_written() => Err(error.into()),
            Err(error) => {
                self.undo()?;
                Err(error.into())
            }
        }
    }

    fn after(&mut self, plan: &Plan, now_ms: i64) -> Result<(), LedgerError> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let keys = plan.edits.iter().map(|edited| &edited.key);
        match self.note {
            Note::Put | Note::PutAgain | Note::PutPlaced => return Ok(()),
            Note::LeaveOpen => keys.for_each(|key| held.ledger.leave_open(key)),
            Note::Forget => keys.for_each(|key| held.ledger.forget(key)),
        }
        held.ledger.wrote(plan.found.client.id, now_ms);
        held.save()
    }

    fn undo(&mut self) -> Result<(), LedgerError> {
        match &mut self.held {
            Some(held) if held.ledger != self.old => {
                held.ledger = self.old.clone();
                held.save()
            }
            _ => Ok(()),
        }
    }
}

/// What stands in `file`, read as the client's file of this copy is read: that file itself, or the copy. Nothing, if it
/// cannot be understood.
pub fn entries_in(copy: &Backup, file: &Path) -> Vec<Entry> {
    let Some(client) = table::client(&copy.client) else { return Vec::new() };
    let found = Found { path: file.to_owned(), ..known(client, copy.path.clone()) };
    look(&found).map(|contents| contents.entries).unwrap_or_default()
}

/// Keeps a copy of a file as it is, if its servers are others than in the newest copy: should its client lose them, they come
/// back as they were last, not as they were before our last edit. The gate makes no difference: it can be put there again.
pub fn keep_servers(home: &Path, file: &Surveyed, newest: &Backup, now_ms: i64) -> Result<(), FileError> {
    let Ok(contents) = &file.read else { return Ok(()) };
    let kept = entries_in(newest, &newest.copy);
    if contents.entries.is_empty() || started(&contents.entries).eq(started(&kept)) {
        return Ok(());
    }
    Backups::of(home).keep(&newest.client, &newest.path, &contents.snapshot.bytes, now_ms)
}

/// What each entry starts, and with what.
fn started(entries: &[Entry]) -> impl Iterator<Item = (Option<&str>, &str, Vec<&str>)> {
    entries.iter().map(|entry| {
        let local = entry.local();
        let variables = local.into_iter().flat_map(|local| &local.env);
        let variables = variables.flat_map(|(name, value)| [name.as_str(), &value.value]);
        let words = local.into_iter().flat_map(Local::words);
        (entry.key.project.as_deref(), entry.key.name.as_str(), words.chain(variables).collect())
    })
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;

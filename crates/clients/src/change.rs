//! Carrying a plan out: with a copy kept, only if nobody wrote meanwhile, and with a row for each entry.

use std::io;
use std::path::Path;

use crate::backup::{Backup, Backups};
use crate::discover::{Found, known};
use crate::file::{self, FileError, replace};
use crate::ledger::{Held, Key, Ledger, LedgerError, Row, hold};
use crate::names::Names;
use crate::placed::Placed;
use crate::plan::{Act, Plan, PlanError, plan};
use crate::survey::{Entry, State, look};
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
}

/// Makes the plan anew and writes it.
pub fn carry_out(
    home: &Path,
    found: &Found,
    act: Act<'_>,
    chosen: &dyn Fn(&Entry) -> bool,
    names: &mut Names,
    now_ms: i64,
) -> Result<Plan, ChangeError> {
    let mut noted = Noted::hold(home, act)?;
    let mut tries = 1;
    loop {
        let plan = plan(found, act, chosen, names, noted.ledger())?;
        if plan.changes_nothing() {
            return Ok(plan);
        }
        let snapshot = &plan.contents.snapshot;
        if snapshot.exists() {
            Backups::of(home).keep(found.client.id, &found.path, &snapshot.bytes, now_ms)?;
        }
        // What is needed to take a gate away again is on the disk before the gate is.
        noted.before(&plan, act, now_ms)?;
        let written = match plan.no_file {
            true => file::remove(snapshot),
            false => replace(snapshot, plan.after.as_bytes()),
        };
        match written {
            Ok(()) => {
                noted.after(&plan, act).map_err(ChangeError::Unrecorded)?;
                return Ok(plan);
            }
            Err(error) => {
                noted.undo()?;
                if !matches!(error, FileError::Changed) || tries == TRIES {
                    return Err(error.into());
                }
                tries += 1;
            }
        }
    }
}

/// The ledger while a file is written. A gate can be taken away without one: a ledger that cannot be read must not keep a
/// person from that.
struct Noted {
    held: Option<Held>,
    none: Ledger,
    old: Ledger,
}

impl Noted {
    fn hold(home: &Path, act: Act<'_>) -> Result<Noted, LedgerError> {
        let held = match hold(home) {
            Ok(held) => Some(held),
            Err(_) if matches!(act, Act::Unprotect | Act::Remove) => None,
            Err(error) => return Err(error),
        };
        let old = held.as_ref().map(|held| held.ledger.clone()).unwrap_or_default();
        Ok(Noted { held, none: Ledger::default(), old })
    }

    fn ledger(&self) -> &Ledger {
        self.held.as_ref().map_or(&self.none, |held| &held.ledger)
    }

    fn before(&mut self, plan: &Plan, act: Act<'_>, now_ms: i64) -> Result<(), LedgerError> {
        let (Act::Protect { .. } | Act::Place { .. }, Some(held)) = (act, &mut self.held) else {
            return Ok(());
        };
        for edited in &plan.edits {
            held.ledger.put(Row {
                key: edited.key.clone(),
                server: edited.server.clone(),
                original: edited.original.clone(),
                text: edited.text.clone(),
                at_ms: now_ms,
            });
            if matches!(act, Act::Place { .. }) {
                let before = plan.contents.snapshot.exists().then(|| plan.before());
                held.ledger.put_placed(Placed::new(&edited.key, before, &plan.after));
            }
        }
        held.save()
    }

    fn after(&mut self, plan: &Plan, act: Act<'_>) -> Result<(), LedgerError> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let keys = plan.edits.iter().map(|edited| &edited.key);
        match act {
            Act::Protect { .. } | Act::Place { .. } => return Ok(()),
            Act::Unprotect => keys.for_each(|key| held.ledger.leave_open(key)),
            Act::Remove => keys.for_each(|key| held.ledger.forget(key)),
        }
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

/// Puts a file back as a copy has it. What is there now is kept as a copy, too; entries that are not behind the gate
/// afterwards are forgotten, so that nobody puts it back in front of them.
pub fn restore(home: &Path, copy: &Backup, bytes: &[u8], now_ms: i64) -> Result<(), ChangeError> {
    let mut held = hold(home)?;
    match file::read(&copy.path) {
        Ok(now) => {
            Backups::of(home).keep(&copy.client, &copy.path, &now.bytes, now_ms)?;
            replace(&now, bytes)?;
        }
        Err(FileError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
            file::create(&copy.path, bytes)?;
        }
        Err(error) => return Err(error.into()),
    }
    let gated = gated_in(copy);
    held.ledger
        .rows
        .retain(|row| row.key.client != copy.client || row.key.path != copy.path || gated.contains(&row.key));
    held.save().map_err(ChangeError::Unrecorded)
}

/// The entries of a restored file that are behind the gate.
fn gated_in(copy: &Backup) -> Vec<Key> {
    let gated = entries_in(copy, &copy.path).into_iter();
    gated.filter(|entry| matches!(entry.state, State::Protected { .. })).map(|entry| entry.key).collect()
}

/// What stands in `file`, read as the client's file of this copy is read: that file itself, or the copy. Nothing, if it
/// cannot be understood.
pub fn entries_in(copy: &Backup, file: &Path) -> Vec<Entry> {
    let Some(client) = table::client(&copy.client) else { return Vec::new() };
    let found = Found { path: file.to_owned(), ..known(client, copy.path.clone()) };
    look(&found).map(|contents| contents.entries).unwrap_or_default()
}

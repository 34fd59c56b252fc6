//! A client's file put back as a copy has it.
//!
//! Copies are mostly from before a gate was put there. A person who restores one wants what it says, unless the client had lost
//! all its servers: then they want them back as they were, and that was behind the gate.

use std::io;
use std::path::Path;

use crate::backup::{Backup, Backups};
use crate::change::{ChangeError, carry_out, dequeue, entries_in};
use crate::file::{self, FileError, replace};
use crate::ledger::{self, LedgerError, LedgerKey, hold};
use crate::names::NameRegistry;
use crate::plan::{Plan, PlannedAct};
use crate::queue::{self, Queued, Todo};
use crate::survey::{Entry, State};
use crate::{discover, table};

/// A copy that a person wants back.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub copy: &'a Backup,
    /// What it says.
    pub bytes: &'a [u8],
    /// Since when: what was wished for later counts still.
    pub since_ms: i64,
}

/// The entries that had a gate, or were to get one, in a file that has no entries any more.
pub fn lost_in_wipe(home: &Path, copy: &Backup) -> Result<Vec<LedgerKey>, LedgerError> {
    // Neither has one that nobody can read any more.
    if !entries_in(copy, &copy.path).is_empty() {
        return Ok(Vec::new());
    }
    let mut lost: Vec<LedgerKey> = ledger::read(home)?.rows.into_iter().map(|row| row.key).collect();
    let waiting = queue::read(home).unwrap_or_default();
    lost.extend(waiting.into_iter().filter(|queued| queued.todo == Todo::Protect).map(|queued| queued.key));
    lost.retain(|key| is_of(copy, key));
    lost.sort();
    lost.dedup();
    Ok(lost)
}

/// Puts the file back, and the gate in front of what was behind it before the wipe. What comes of the gates is told apart: the
/// file is back in any case, and an entry without its gate counts as one that lost it.
pub fn restore_wiped(
    home: &Path,
    wanted: Wanted<'_>,
    (lost, binary): (&[LedgerKey], &str),
    names: &mut NameRegistry,
    now_ms: i64,
) -> Result<Result<Plan, ChangeError>, ChangeError> {
    put_back(home, wanted, lost, now_ms)?;
    let copy = wanted.copy;
    let Some(client) = table::client(&copy.client) else {
        return Ok(Err(FileError::Read(io::ErrorKind::NotFound.into()).into()));
    };
    let found = discover::known(client, copy.path.clone());
    let again = |entry: &Entry| lost.contains(&entry.key);
    Ok(carry_out(home, &found, PlannedAct::Protect { binary }, &again, names, now_ms))
}

/// Puts a file back as a copy has it. What is there now is kept as a copy, too; entries that are not behind the gate
/// afterwards are forgotten, so that nobody puts it back in front of them.
pub fn restore(home: &Path, wanted: Wanted<'_>, now_ms: i64) -> Result<(), ChangeError> {
    put_back(home, wanted, &[], now_ms)
}

/// `remembered`: entries that are not forgotten, with a gate or without.
fn put_back(
    home: &Path,
    wanted: Wanted<'_>,
    remembered: &[LedgerKey],
    now_ms: i64,
) -> Result<(), ChangeError> {
    let Wanted { copy, bytes, since_ms } = wanted;
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
    tracing::info!(client = copy.client, path = %copy.path.display(), "client's file put back");
    let gated = gated_in(copy);
    let stays = |key: &LedgerKey| gated.contains(key) || remembered.contains(key);
    let rows = held.ledger.rows.iter().map(|row| &row.key);
    let gone: Vec<_> = rows.filter(|key| is_of(copy, key) && !stays(key)).cloned().collect();
    gone.iter().for_each(|key| held.ledger.drop(key));
    // A gate that came back with the copy was wanted back with it.
    held.ledger.left_open.retain(|key| !gated.contains(key));
    held.ledger.wrote(&copy.client, now_ms);
    held.save().map_err(ChangeError::Unrecorded)?;
    // The newest wish counts, and it is about the whole file; a server that is yet to come into it is another matter.
    dequeue(home, |queued: &Queued| {
        is_of(copy, &queued.key) && queued.todo != Todo::Place && queued.since_ms <= since_ms
    })
}

/// The entries of a restored file that are behind the gate.
fn gated_in(copy: &Backup) -> Vec<LedgerKey> {
    let gated = entries_in(copy, &copy.path).into_iter();
    gated.filter(|entry| matches!(entry.state, State::Protected { .. })).map(|entry| entry.key).collect()
}

fn is_of(copy: &Backup, key: &LedgerKey) -> bool {
    key.client == copy.client && key.path == copy.path
}

//! Clients' files as they were before each edit.

use std::path::Path;

use callgate_clients::backup::{Backup, Backups};
use callgate_clients::change::{ChangeError, entries_in};
use callgate_clients::ledger::LedgerKey;
use callgate_clients::plan::Plan;
use callgate_clients::queue::{self, Todo};
use callgate_clients::restore::{Wanted, lost_in_wipe, restore, restore_wiped};
use callgate_clients::secrets::checking::{Checked, dead};
use callgate_clients::survey::Entry;
use callgate_clients::{file, table};
use callgate_text::{clip, harmless, name};

use crate::change::would_write_over;
use crate::display::client_name;
use crate::view::{BackupPreview, BackupView, ClientAct, Restored};
use crate::{Wiring, WiringError};
use crate::{display, masker};

/// Names of secrets in one sentence, in characters.
const NAMES: usize = 300;

impl Wiring {
    /// Every copy, newest first.
    pub fn client_backups(&self) -> Result<Vec<BackupView>, WiringError> {
        let mut copies = self.copies()?;
        copies.sort_by_key(|copy| std::cmp::Reverse(copy.at_ms));
        Ok(copies.iter().map(|copy| self.backup_view(copy)).collect())
    }

    /// What restoring it would change, and what would not work then.
    pub fn preview_backup(&self, id: &str) -> Result<BackupPreview, WiringError> {
        let copy = self.copy(id)?;
        let bytes = read(&copy)?;
        let now = file::read(&copy.path).map(|now| now.bytes).unwrap_or_default();
        let mut entries = entries_in(&copy, &copy.path);
        let copied = entries_in(&copy, &copy.copy);
        let warning = References::check(&copied).words().map(str::to_owned);
        entries.extend(copied);
        let shown = display::path(&self.machine.home, &copy.path);
        let texts = (String::from_utf8_lossy(&now), String::from_utf8_lossy(&bytes));
        let names = (&*format!("{shown} (now)"), &*shown);
        Ok(BackupPreview { diff: display::diff((&texts.0, &texts.1), names, &masker(&entries)), warning })
    }

    /// Puts the file back as the copy has it. If the client had lost all its servers, those that were behind the gate are put
    /// behind it again; else the copy counts as it is. What a running client would write over waits until it has quit, unless
    /// `now`.
    pub fn restore_backup(&self, id: &str, now: bool) -> Result<Restored, WiringError> {
        let copy = self.copy(id)?;
        let bytes = read(&copy)?;
        let now_ms = self.clock.now().wall_ms;
        self.forget_not_done();
        if !now && self.may_be_lost(&copy) {
            // Newer copies must not push it out meanwhile.
            self.keep_copy((&copy.client, &copy.path), &bytes, now_ms)?;
            let key = LedgerKey::of_file(&copy.client, &copy.path);
            queue::add(self.home.path(), &[key], &Todo::Restore { copy: copy.id() }, now_ms)?;
            self.guard()?;
            return Ok(Restored::Waits);
        }
        let gates = self.put_back(Wanted { copy: &copy, bytes: &bytes, since_ms: now_ms })?;
        self.guard()?;
        all_gated(gates).map_err(WiringError::Conflict)?;
        Ok(Restored::Done)
    }

    /// Puts back what waited for clients that have quit meanwhile. What could not be done is told, and not tried again.
    pub(crate) fn settle_restores(&self) -> Result<(), WiringError> {
        for queued in queue::read(self.home.path())? {
            let Todo::Restore { copy } = &queued.todo else { continue };
            let copy = self.copy(copy).and_then(|copy| Ok((read(&copy)?, copy)));
            if copy.as_ref().is_ok_and(|(_, copy)| self.may_be_lost(copy)) {
                continue;
            }
            // Without our program in its place nothing can be put behind the gate; that can be mended, so it waits on.
            if let Ok((_, copy)) = &copy
                && !lost_in_wipe(self.home.path(), copy)?.is_empty()
            {
                self.gate_for(ClientAct::Protect)?;
            }
            let why = match copy {
                Ok((bytes, copy)) => {
                    self.put_back_waiting(Wanted { copy: &copy, bytes: &bytes, since_ms: queued.since_ms })
                }
                Err(error) => Err(format!("its file was not restored: {error}")),
            };
            let why = why.err();
            if let Some(why) = why {
                self.not_restored(&client_name(&queued.key.client), &why);
            }
            queue::remove(self.home.path(), |other| *other == queued)?;
            self.guard()?;
        }
        Ok(())
    }

    /// What came of it in words, if not all that was to.
    fn put_back_waiting(&self, wanted: Wanted<'_>) -> Result<(), String> {
        match self.put_back(wanted) {
            Ok(gates) => all_gated(gates),
            // It may have failed after the file was written.
            Err(error) if file::read(&wanted.copy.path).is_ok_and(|now| now.bytes == wanted.bytes) => {
                Err(format!("its file is restored, but its servers may not be behind the gate: {error}"))
            }
            Err(error) => Err(format!("its file was not restored: {error}")),
        }
    }

    /// Would its client, which runs, write over it?
    fn may_be_lost(&self, copy: &Backup) -> bool {
        table::client(&copy.client).is_some_and(|client| would_write_over(client, &self.machine.home))
    }

    /// What came of the gates that were lost with the file.
    pub fn put_back(&self, wanted: Wanted<'_>) -> Result<Option<Result<Plan, ChangeError>>, WiringError> {
        let (home, now_ms) = (self.home.path(), self.clock.now().wall_ms);
        let lost = lost_in_wipe(home, wanted.copy)?;
        if lost.is_empty() {
            restore(home, wanted, now_ms)?;
            return Ok(None);
        }
        let binary = self.gate_for(ClientAct::Protect)?;
        let mut names = self.look_at_clients()?.names();
        Ok(Some(restore_wiped(home, wanted, (&lost, &binary), &mut names, now_ms)?))
    }

    /// A client that loses what is in its file while a change waits must not take it along.
    pub(crate) fn keep_copy(
        &self,
        (client, path): (&str, &Path),
        bytes: &[u8],
        now_ms: i64,
    ) -> Result<(), WiringError> {
        let kept = Backups::of(self.home.path()).keep(client, path, bytes, now_ms);
        kept.map_err(|error| WiringError::Conflict(format!("no copy of its file can be kept: {error}")))
    }

    fn copies(&self) -> Result<Vec<Backup>, WiringError> {
        let folder = Backups::of(self.home.path());
        folder.list().map_err(|error| WiringError::disk("the backups cannot be read", error))
    }

    fn copy(&self, id: &str) -> Result<Backup, WiringError> {
        let found = Backups::of(self.home.path()).find(id);
        let found = found.map_err(|error| WiringError::disk("the backups cannot be read", error))?;
        found.ok_or_else(|| WiringError::NotFound(format!("there is no backup {}", name(id))))
    }

    fn backup_view(&self, copy: &Backup) -> BackupView {
        let same = |bytes: &Vec<u8>| file::read(&copy.path).is_ok_and(|now| now.bytes == *bytes);
        BackupView {
            id: copy.id(),
            client: copy.client.clone(),
            client_name: client_name(&copy.client),
            shown: display::path(&self.machine.home, &copy.path),
            at_ms: copy.at_ms,
            bytes: copy.bytes,
            current: copy.read().is_ok_and(|bytes| same(&bytes)),
        }
    }
}

/// What there is to say of a copy's references to the keychain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum References {
    /// There are none, or they lead to what is there.
    Good,
    /// The keychain does not answer, so nobody knows.
    Unknown(String),
    /// A restored file would name secrets in vain.
    Dead(String),
}

impl References {
    pub fn words(&self) -> Option<&str> {
        match self {
            References::Good => None,
            References::Unknown(words) | References::Dead(words) => Some(words),
        }
    }

    pub fn check(copied: &[Entry]) -> References {
        let (dead, state) = dead(copied);
        if let Err(error) = state {
            return References::Unknown(harmless(&format!(
                "This copy names secrets in the keychain, and whether they are still there cannot be told: {error}."
            )));
        }
        if dead.is_empty() {
            return References::Good;
        }
        let one = |one: &Checked<'_>| {
            format!("{}: {}", name(&one.entry.key.name), name(one.name.as_deref().unwrap_or_default()))
        };
        let names: Vec<_> = dead.iter().map(one).collect();
        References::Dead(format!(
            "This copy names secrets that the keychain does not have any more ({}). Servers that need them would not start until you \
             write the values in their places.",
            clip(&names.join(", "), NAMES)
        ))
    }
}

/// Restored is not protected: a person must not take one for the other.
fn all_gated(gates: Option<Result<Plan, ChangeError>>) -> Result<(), String> {
    let (which, why) = match gates {
        None => return Ok(()),
        Some(Err(error)) => ("its servers".to_owned(), error.to_string()),
        Some(Ok(plan)) => match plan.refused.into_iter().next() {
            Some(refused) => (name(&refused.key.name), refused.why),
            None => return Ok(()),
        },
    };
    Err(harmless(&format!("the file is restored, but {which} could not be put behind the gate again: {why}")))
}

fn read(copy: &Backup) -> Result<Vec<u8>, WiringError> {
    copy.read().map_err(|error| WiringError::disk(format!("{} cannot be read", copy.copy.display()), error))
}

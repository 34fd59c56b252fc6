//! Clients' files as they were before each edit.

use callgate_clients::backup::{Backup, Backups};
use callgate_clients::change::{entries_in, restore};
use callgate_clients::{file, table};

use super::change::would_write_over;
use super::{client_name, entry_key, masker, shown};
use crate::text::name;
use crate::view::{BackupView, ClientAct, ClientChange, EntryKey};
use crate::{Desk, DeskError};

impl Desk {
    /// Every copy, newest first.
    pub fn client_backups(&self) -> Result<Vec<BackupView>, DeskError> {
        let mut copies = self.copies()?;
        copies.sort_by_key(|copy| std::cmp::Reverse(copy.at_ms));
        Ok(copies.iter().map(|copy| self.backup_view(copy)).collect())
    }

    /// What restoring it would change, as a unified diff.
    pub fn preview_backup(&self, id: &str) -> Result<String, DeskError> {
        let copy = self.copy(id)?;
        let bytes = read(&copy)?;
        let now = file::read(&copy.path).map(|now| now.bytes).unwrap_or_default();
        let mut entries = entries_in(&copy, &copy.path);
        entries.extend(entries_in(&copy, &copy.copy));
        let shown = shown::path(&self.machine.home, &copy.path);
        let texts = (String::from_utf8_lossy(&now), String::from_utf8_lossy(&bytes));
        Ok(shown::diff((&texts.0, &texts.1), (&format!("{shown} (now)"), &shown), &masker(&entries)))
    }

    /// Puts the file back as the copy has it. If the client had lost all its servers, those that were behind the gate are put
    /// behind it again; else the copy counts as it is.
    pub fn restore_backup(&self, id: &str, now: bool) -> Result<(), DeskError> {
        let copy = self.copy(id)?;
        let bytes = read(&copy)?;
        if let Some(client) = table::client(&copy.client)
            && !now
            && would_write_over(client, &self.machine.home)
        {
            return Err(DeskError::Conflict(format!(
                "{} runs and would write its own copy over it. {}",
                client.name, client.reload
            )));
        }
        let wiped = self.gated_before_a_wipe(&copy)?;
        restore(self.home.path(), &copy, &bytes, self.clock.now().wall_ms)?;
        match wiped.is_empty() {
            true => self.guard(),
            false => all_gated(&self.change_clients(ClientAct::Protect, &wiped, true)?),
        }
    }

    /// The entries that had a gate in a file that has no entries any more.
    fn gated_before_a_wipe(&self, copy: &Backup) -> Result<Vec<EntryKey>, DeskError> {
        if !entries_in(copy, &copy.path).is_empty() {
            return Ok(Vec::new());
        }
        let ledger = callgate_clients::ledger::read(self.home.path())?;
        let lost =
            ledger.rows.iter().filter(|row| row.key.client == copy.client && row.key.path == copy.path);
        Ok(lost.map(|row| entry_key(&row.key)).collect())
    }

    fn copies(&self) -> Result<Vec<Backup>, DeskError> {
        let folder = Backups::of(self.home.path());
        folder.list().map_err(|error| DeskError::disk("the backups cannot be read", error))
    }

    fn copy(&self, id: &str) -> Result<Backup, DeskError> {
        let found = self.copies()?.into_iter().find(|copy| copy.id() == id);
        found.ok_or_else(|| DeskError::NotFound(format!("there is no backup {}", name(id))))
    }

    fn backup_view(&self, copy: &Backup) -> BackupView {
        let same = |bytes: &Vec<u8>| file::read(&copy.path).is_ok_and(|now| now.bytes == *bytes);
        BackupView {
            id: copy.id(),
            client: copy.client.clone(),
            client_name: client_name(&copy.client),
            shown: shown::path(&self.machine.home, &copy.path),
            at_ms: copy.at_ms,
            bytes: copy.bytes,
            current: copy.read().is_ok_and(|bytes| same(&bytes)),
        }
    }
}

/// Restored is not protected: a person must not take one for the other.
fn all_gated(change: &ClientChange) -> Result<(), DeskError> {
    let Some(refused) = change.refused.first() else { return Ok(()) };
    let which = refused.name.as_deref().unwrap_or("the file");
    Err(DeskError::Conflict(format!(
        "the file is restored, but {which} could not be put behind the gate again: {}",
        refused.why
    )))
}

fn read(copy: &Backup) -> Result<Vec<u8>, DeskError> {
    copy.read().map_err(|error| DeskError::disk(format!("{} cannot be read", copy.copy.display()), error))
}

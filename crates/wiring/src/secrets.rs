//! The secrets of clients' entries: named, moved into the keychain, and put back. Their values are never shown.

use std::fmt;

use callgate_clients::Client;
use callgate_clients::drift::is_unedited;
use callgate_clients::secrets::find::{Finding, Slot};
use callgate_clients::secrets::listing::{ListedSecret, Stands, listed};
use callgate_clients::secrets::moving::{
    Edited, Meant, MoveError, Moved, move_in, preview_move, preview_return, put_back,
};
use callgate_clients::secrets::purging::purge;
use callgate_clients::survey::{Entry, State, Surveyed};
use callgate_keychain::SystemKeychain;
use callgate_secrets::Keychain;
use callgate_text::{harmless, name};

use crate::change::would_write_over;
use crate::view::{
    EntryKey, EntrySecrets, PurgedCopies, SecretPlace, SecretView, SecretsAct, SecretsChange, SecretsPreview,
};
use crate::{Look, Wiring, WiringError, display, entry_key, masker};

/// What is to become of an entry's secrets.
#[derive(Clone, Copy)]
pub enum SecretsEdit<'m> {
    /// Into the keychain, those that are meant.
    Move(Edited, Meant<'m>),
    /// Into the file.
    PutBack,
}

impl fmt::Debug for SecretsEdit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, SecretsEdit::PutBack) { "PutBack" } else { "Move" })
    }
}

impl Wiring {
    /// What the act is about and what it would write. The keychain is not asked yet.
    /// `only`: of what is to be moved, by the names that are shown; everything, if nothing is said.
    pub fn preview_secrets(
        &self,
        act: SecretsAct,
        entry: &EntryKey,
        only: Option<&[String]>,
    ) -> Result<SecretsPreview, WiringError> {
        let look = self.look_at_clients()?;
        let (file, found, secrets) = look.secrets_of(entry)?;
        let texts = match act {
            SecretsAct::Move => Some(preview_move(&file.found, &found.key, &meant(only))?),
            SecretsAct::PutBack => Some(preview_return(&file.found, &found.key)?),
            // Only the keychain learns of it.
            SecretsAct::Rebind => None,
        };
        let path = display::path(&self.machine.home, &file.found.path);
        let names = (&*format!("{path} (now)"), &*path);
        let masker = masker(file.entries());
        let diff = texts.map(|texts| display::diff((&texts.before, &texts.after), names, &masker));
        let of_act =
            |one: &&ListedSecret| matches!(one.stands, Stands::InFile { .. }) == (act == SecretsAct::Move);
        Ok(SecretsPreview {
            client_name: file.found.client.name.to_owned(),
            secrets: secrets.iter().filter(of_act).map(secret_view).collect(),
            command: display::command(found),
            diff: diff.unwrap_or_default(),
            shown: path,
        })
    }

    /// Does it. May wait for a person who is asked to unlock the keychain, for a bounded time; what fails changes nothing.
    /// `now`: also while a client runs that may write over it.
    pub fn change_secrets(
        &self,
        act: SecretsAct,
        entry: &EntryKey,
        only: Option<&[String]>,
        now: bool,
    ) -> Result<SecretsChange, WiringError> {
        self.change_secrets_in(&|| SystemKeychain::open(self.home.path()), act, entry, only, now)
    }

    /// The same, in this keychain.
    pub fn change_secrets_in<K: Keychain>(
        &self,
        keychain: &dyn Fn() -> Result<K, callgate_secrets::KeychainError>,
        act: SecretsAct,
        entry: &EntryKey,
        only: Option<&[String]>,
        now: bool,
    ) -> Result<SecretsChange, WiringError> {
        let look = self.look_at_clients()?;
        let (file, found, _) = look.secrets_of(entry)?;
        let meant = meant(only);
        let wish = match act {
            SecretsAct::Move => SecretsEdit::Move(Edited::Refuse, &meant),
            // What is in the file stays there.
            SecretsAct::Rebind => SecretsEdit::Move(Edited::Accept, &|_| false),
            SecretsAct::PutBack => SecretsEdit::PutBack,
        };
        self.not_while_it_runs(file.found.client, now)?;
        let keychain = keychain().map_err(WiringError::Keychain)?;
        let Moved { names, left } = self.move_secrets((file, found), wish, &keychain)?;
        self.guard()?;
        let names = names.iter().map(|one| name(one)).collect();
        Ok(SecretsChange { names, left: left.iter().map(|one| name(one)).collect() })
    }

    /// A client that runs may write over what is written into its file, unless a person wants it `now`.
    pub fn not_while_it_runs(&self, client: &'static Client, now: bool) -> Result<(), WiringError> {
        match !now && would_write_over(client, &self.machine.home) {
            true => Err(WiringError::ClientRuns(client)),
            false => Ok(()),
        }
    }

    /// Moves the secrets of one entry, for whoever has asked what speaks against it.
    pub fn move_secrets(
        &self,
        (file, entry): (&Surveyed, &Entry),
        wish: SecretsEdit<'_>,
        keychain: &impl Keychain,
    ) -> Result<Moved, MoveError> {
        let (home, now_ms) = (self.home.path(), self.clock.now().wall_ms);
        match wish {
            SecretsEdit::Move(edited, meant) => {
                move_in(home, &file.found, &entry.key, edited, meant, keychain, now_ms)
            }
            SecretsEdit::PutBack => put_back(home, &file.found, &entry.key, keychain, now_ms),
        }
    }

    /// Puts references in place of the values that are in the keychain by now, in every copy of clients' files. May wait for
    /// a person who is asked to unlock the keychain.
    pub fn purge_copies(&self) -> Result<PurgedCopies, WiringError> {
        self.purge_copies_in(&|| SystemKeychain::open(self.home.path()))
    }

    /// The same, in this keychain.
    pub fn purge_copies_in<K: Keychain>(
        &self,
        keychain: &dyn Fn() -> Result<K, callgate_secrets::KeychainError>,
    ) -> Result<PurgedCopies, WiringError> {
        let look = self.look_at_clients()?;
        let keychain = keychain().map_err(WiringError::Keychain)?;
        let purged = purge(self.home.path(), &look.surveyed, &keychain)?;
        let stuck = purged.stuck.iter().map(|(copy, why)| format!("{copy} stays as it is: {why}"));
        let unread = purged.unread.iter().map(|(name, why)| format!("{name} cannot be looked for: {why}"));
        Ok(PurgedCopies {
            rewritten: u32::try_from(purged.rewritten.len()).unwrap_or(u32::MAX),
            problems: stuck.chain(unread).map(|words| harmless(&words)).collect(),
        })
    }
}

impl Look<'_> {
    fn secrets_of(&self, key: &EntryKey) -> Result<(&Surveyed, &Entry, Vec<ListedSecret>), WiringError> {
        let mut all =
            self.surveyed.iter().flat_map(|file| listed(file).map(move |(entry, all)| (file, entry, all)));
        let found = all.find(|(_, entry, _)| entry_key(&entry.key) == *key);
        found.ok_or_else(|| WiringError::NotFound(format!("{} is not in the file any more", name(&key.name))))
    }

    pub(crate) fn entry_secrets(&self, entry: &Entry, secrets: &[ListedSecret]) -> EntrySecrets {
        let (kept, plain): (Vec<_>, Vec<_>) =
            secrets.iter().partition(|secret| secret.stands == Stands::InKeychain);
        let named =
            |all: Vec<&ListedSecret>| all.into_iter().map(|secret| name(&secret.name)).collect::<Vec<_>>();
        let protected = matches!(entry.state, State::Protected { .. });
        // Behind the gate and on no record: renamed, or its file moved.
        let edited = || self.ledger.row(&entry.key).is_none_or(|row| !is_unedited(entry, row));
        let unbound = protected && !kept.is_empty() && edited();
        EntrySecrets { plain: named(plain), kept: named(kept), unbound }
    }
}

/// By the names that a person saw.
fn meant(only: Option<&[String]>) -> impl Fn(&Finding) -> bool {
    move |finding| only.is_none_or(|only| only.contains(&name(&finding.name)))
}

fn secret_view(secret: &ListedSecret) -> SecretView {
    let length = match secret.stands {
        Stands::InFile { length, .. } => u32::try_from(length).ok(),
        Stands::InKeychain => None,
    };
    let place = match secret.slot {
        Slot::Variable(_) => SecretPlace::Variable,
        Slot::Argument(_) => SecretPlace::Argument,
        Slot::Header(_) => SecretPlace::Header,
    };
    SecretView { name: name(&secret.name), place, length }
}

//! Lost gates that are put back without asking, if a person wants that: done, counted, on record and told.

use std::collections::BTreeMap;

use callgate_clients::drift::Drift;
use callgate_clients::ledger::{self, LedgerKey};
use callgate_clients::queue::Todo;
use callgate_clients::repair::{MOST, Repairs, Rests, repairs};
use callgate_journal::{EventKind, record_event};
use callgate_policy::jsonc::{self, Json};
use callgate_text::{clip, name};

use crate::display::client_name;
use crate::drift_text::unwatched;
use crate::guard::GuardNews;
use crate::view::{ClientChange, EntryKey};
use crate::{Look, Wiring, WiringError, entry_key};

/// The longest list of names in a sentence, in characters.
const NAMES: usize = 160;

impl Wiring {
    /// Puts lost gates back, if that is switched on. What a running client would write over waits until it has quit.
    pub fn keep_gates(&self) -> Result<(), WiringError> {
        let on = self.repairs_gates();
        if !on {
            self.not_repaired(None);
            return Ok(());
        }
        let look = self.look_at_clients()?;
        let now_ms = self.clock.now().wall_ms;
        let Repairs { again, contested } = repairs(&look.drift(), on, &look.ledger, &look.queue, now_ms);
        if !contested.is_empty() {
            self.rest(&contested, Rests::Contested)?;
            self.say_contested(&contested.iter().map(entry_key).collect::<Vec<_>>());
        }
        if again.is_empty() {
            self.not_repaired(None);
            return Ok(());
        }
        let change =
            self.change_entries(&Todo::Repair, &again.iter().map(entry_key).collect::<Vec<_>>(), false)?;
        self.say_repaired(&change);
        self.say_waiting(&change.waiting);
        self.not_repaired(Some(&change));
        Ok(())
    }

    /// Writing without being asked is for those who said so, in a word that cannot be misread.
    pub(crate) fn repairs_gates(&self) -> bool {
        let text = std::fs::read_to_string(self.home.settings()).unwrap_or_default();
        jsonc::read(&text).is_ok_and(|file| file.at(&["clients", "repair"]) == Some(&Json::Bool(true)))
    }

    /// These gates are not put back by itself any more, until a person does it.
    pub(crate) fn rest<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k LedgerKey>,
        why: Rests,
    ) -> Result<(), WiringError> {
        let mut keys = keys.into_iter().peekable();
        if keys.peek().is_none() {
            return Ok(());
        }
        let mut held = ledger::hold(self.home.path())?;
        keys.for_each(|key| held.ledger.rest(key, why));
        Ok(held.save()?)
    }

    pub(crate) fn say_repaired(&self, change: &ClientChange) {
        for File { client, names, keys } in by_file(&change.done) {
            let words = format!("{client}: the gate was put back in front of {names}");
            self.on_record(EventKind::GateRepaired, &keys, &words);
            self.tell("A lost gate was put back", words);
        }
    }

    fn say_contested(&self, keys: &[EntryKey]) {
        for File { client, names, keys } in by_file(keys) {
            let words = contested(&client, &names);
            self.on_record(EventKind::GateContested, &keys, &words);
            self.tell("Another program keeps taking the gate away", words);
        }
    }

    fn say_waiting(&self, keys: &[EntryKey]) {
        for File { client, names, .. } in by_file(keys) {
            let words = format!(
                "{client}: {names} lost the gate. It is put back when {client} has quit; closing its window is not quitting"
            );
            self.tell("A gate is lost", words);
        }
    }

    pub(crate) fn say_lost(&self, look: &Look<'_>, keys: &[EntryKey]) {
        for File { client, names, keys } in by_file(keys) {
            let runs = keys.first().and_then(|key| look.runs(&key.client));
            self.tell("A gate is lost", format!("{client}: {names} {}", unwatched(keys.len(), runs)));
        }
    }

    pub(crate) fn say_wiped(&self, client: &str, path: &str) {
        let words = format!("What was behind the gate is not in {path} any more. A backup can be restored");
        self.tell(&format!("{client} has lost all its servers"), words);
    }

    pub(crate) fn say_tampered(&self, look: &Look<'_>, key: &LedgerKey) {
        let is_it = |drift: &&Drift| matches!(drift, Drift::Tampered { key: other, .. } if other == key);
        if let Some(drift) = look.drift().iter().find(is_it) {
            self.tell("A gate was changed", look.drift_text(drift).view.words);
        }
    }

    /// It is done, recorded or not: a full disk is no reason to leave a gate away.
    fn on_record(&self, kind: EventKind, keys: &[&EntryKey], words: &str) {
        let server = match keys {
            [one] => self.server_of(one),
            _ => None,
        };
        let now_ms = self.clock.now().wall_ms;
        let _noted = record_event(&self.home, now_ms, kind, server.as_deref(), None, words);
    }

    /// Its name at the gate.
    fn server_of(&self, key: &EntryKey) -> Option<String> {
        let ledger = ledger::read(self.home.path()).ok()?;
        ledger.rows.into_iter().find(|row| entry_key(&row.key) == *key).map(|row| row.server)
    }

    fn tell(&self, title: &str, body: String) {
        self.untold(GuardNews { title: title.to_owned(), body });
    }
}

/// The cause comes first: a tray shows no more of it.
pub(crate) fn contested(client: &str, names: &str) -> String {
    format!(
        "Another program keeps taking the gate away from {names} in {client}. It was put back {MOST} times within an hour, \
         and is left open until you protect it"
    )
}

/// Entries of one file: one write, and worth one sentence.
struct File<'k> {
    client: String,
    names: String,
    keys: Vec<&'k EntryKey>,
}

fn by_file(keys: &[EntryKey]) -> Vec<File<'_>> {
    let mut files: BTreeMap<(&str, &str), Vec<&EntryKey>> = BTreeMap::new();
    for key in keys {
        files.entry((&key.client, &key.path)).or_default().push(key);
    }
    let said = |((client, _), keys): ((&str, &str), Vec<_>)| {
        let names: Vec<_> = keys.iter().map(|key: &&EntryKey| name(&key.name)).collect();
        File { client: client_name(client), names: clip(&names.join(", "), NAMES), keys }
    };
    files.into_iter().map(said).collect()
}

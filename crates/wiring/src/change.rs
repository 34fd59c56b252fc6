//! Protect and unprotect: shown first, then written, or left waiting for a client that would write over it.

use std::collections::BTreeSet;
use std::path::Path;

use callgate_clients::drift::Drift;
use callgate_clients::entry::Local;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::names::NameRegistry;
use callgate_clients::plan::{Plan, PlannedAct};
use callgate_clients::queue::{self, Todo};
use callgate_clients::secrets::restoration::Returned;
use callgate_clients::survey::{Entry, State, Surveyed, entries};
use callgate_clients::{Client, running};
use callgate_redaction::Masker;
use callgate_text::{harmless, name};

use crate::display::client_name;
use crate::file_change::{EntryChange, Timing, Written};
use crate::launch::{add_notes, launch_notes_of};
use crate::view::{ClientAct, ClientChange, ClientPreview, EntryKey, FileDiff, RefusedEntry};
use crate::{Look, Wiring, WiringError, display, entry_key, masker, masker_of};

impl Wiring {
    /// What the act would write. No entries: all that it can be done to.
    pub fn preview_clients(
        &self,
        act: ClientAct,
        entries: &[EntryKey],
    ) -> Result<ClientPreview, WiringError> {
        if act == ClientAct::Place {
            return Err(WiringError::BadInput(
                "what placing a server writes is shown when it is added".to_owned(),
            ));
        }
        let look = self.look_at_clients()?;
        let binary = self.gate_for(act)?;
        let chosen = |entry: &Entry| is_meant(entry, act, entries);
        let mut planned = self.entry_change(&look, as_act(act, &binary), &chosen);
        let mut preview = ClientPreview::default();
        for file in look.concerned(act, entries) {
            match planned.preview(file) {
                Ok(plan) => {
                    preview.files.extend(look.diff(&plan));
                    if act == ClientAct::Protect {
                        add_notes(&mut preview.launch, launch_notes_of(&plan));
                    }
                    preview.refused.extend(refused(&plan, entries));
                }
                Err(why) => preview.refused.push(whole_file(&look, file, &why)),
            }
        }
        Ok(preview)
    }

    /// Does it. What a running client would write over waits until it has quit, unless `now`.
    pub fn change_clients(
        &self,
        act: ClientAct,
        entries: &[EntryKey],
        now: bool,
    ) -> Result<ClientChange, WiringError> {
        self.forget_not_done();
        self.change_entries(&as_todo(act), entries, now)
    }

    /// The same, whoever wants it.
    pub fn change_entries(
        &self,
        todo: &Todo,
        entries: &[EntryKey],
        now: bool,
    ) -> Result<ClientChange, WiringError> {
        let Some(act) = act_of(todo) else {
            return Err(WiringError::BadInput("a whole file is put back, not its entries".to_owned()));
        };
        if act == ClientAct::Place {
            return self.place_servers(entries, now);
        }
        let look = self.look_at_clients()?;
        let binary = self.gate_for(act)?;
        let mut change = ClientChange::new(act);
        let chosen = |entry: &Entry| is_meant(entry, act, entries);
        let now_ms = self.clock.now().wall_ms;
        let mut wanted = self.entry_change(&look, as_act(act, &binary), &chosen);
        wanted.lost_gate = (*todo == Todo::Repair).then_some(&*binary);
        for file in look.concerned(act, entries) {
            let client = file.found.client;
            let written = wanted.write(file, || match !now && would_write_over(client, &self.machine.home) {
                true => Timing::Later,
                false => Timing::Now,
            });
            secrets_back(client, written.returned, &mut change);
            match written.written {
                Written::Done(done) => {
                    change.done.extend(done.edits.iter().map(|edit| entry_key(&edit.key)));
                    change.refused.extend(refused(&done, entries));
                }
                Written::Waits(planned) => {
                    let keys: Vec<_> = planned.edits.iter().map(|edit| edit.key.clone()).collect();
                    change.waiting.extend(keys.iter().map(entry_key));
                    change.refused.extend(refused(&planned, entries));
                    let bytes = &planned.contents.snapshot.bytes;
                    self.keep_copy((client.id, &*file.found.path), bytes, now_ms)?;
                    queue::add(self.home.path(), &keys, todo, now_ms)?;
                }
                Written::Refused(why) => change.refused.push(whole_file(&look, file, &why)),
            }
        }
        change.refused.extend(look.not_there(entries));
        self.guard()?;
        Ok(change)
    }

    pub(crate) fn entry_change<'c>(
        &'c self,
        look: &'c Look<'_>,
        act: PlannedAct<'c>,
        chosen: &'c dyn Fn(&Entry) -> bool,
    ) -> EntryChange<'c> {
        let now_ms = self.clock.now().wall_ms;
        EntryChange::new(self.home.path(), act, chosen, (&look.ledger, &look.surveyed), now_ms)
    }

    /// The name that an entry would get at the gate: its own may belong to another program.
    pub(crate) fn name_for(&self, look: &Look<'_>, entry: &EntryKey) -> Result<String, WiringError> {
        let (binary, keys) = (self.gate_for(ClientAct::Protect)?, std::slice::from_ref(entry));
        let chosen = |one: &Entry| is_meant(one, ClientAct::Protect, keys);
        let mut planned = self.entry_change(look, as_act(ClientAct::Protect, &binary), &chosen);
        for file in look.concerned(ClientAct::Protect, keys) {
            if let Some(edit) =
                planned.preview(file).ok().and_then(|planned| planned.edits.into_iter().next())
            {
                return Ok(edit.server);
            }
        }
        Err(WiringError::BadInput(format!("{} cannot be put behind the gate", name(&entry.name))))
    }

    /// Writes what waited for clients that have quit meanwhile.
    pub fn settle_queue(&self) -> Result<(), WiringError> {
        if queue::read(self.home.path())?.is_empty() {
            return Ok(());
        }
        // A file that comes back as it was has other entries, and nothing older waits for them any more.
        self.settle_restores()?;
        let mut waiting = queue::read(self.home.path())?;
        let drifts = self.look_at_clients()?.drift();
        // Servers that their client lost meanwhile wait for a person, who restores the file or lets them go.
        waiting.retain(|queued| {
            queued.todo == Todo::Place || !drifts.iter().any(|drift| is_wiped(drift, &queued.key))
        });
        let clients: BTreeSet<&str> = waiting.iter().map(|queued| queued.key.client.as_str()).collect();
        for id in clients {
            let Some(client) = callgate_clients::table::client(id) else { continue };
            if would_write_over(client, &self.machine.home) {
                continue;
            }
            for todo in [Todo::Place, Todo::Protect, Todo::Repair, Todo::Unprotect] {
                let of_this = |queued: &&queue::Queued| queued.key.client == id && queued.todo == todo;
                let keys: Vec<_> =
                    waiting.iter().filter(of_this).map(|queued| entry_key(&queued.key)).collect();
                if keys.is_empty() {
                    continue;
                }
                let done = self.change_entries(&todo, &keys, true)?;
                if todo == Todo::Repair {
                    self.say_repaired(&done);
                }
                // What could not be done is told, and not tried again every second.
                self.not_done(&done);
                let tried: Vec<_> = keys.iter().filter(|key| !done.waiting.contains(key)).collect();
                queue::remove(self.home.path(), |queued| {
                    queued.todo == todo && tried.contains(&&entry_key(&queued.key))
                })?;
            }
        }
        Ok(())
    }

    /// Does anything wait for a client to quit?
    pub fn has_queued(&self) -> bool {
        queue::read(self.home.path()).is_ok_and(|queue| !queue.is_empty())
    }

    /// A configuration file holds text, so the path has to be some.
    pub(crate) fn gate_for(&self, act: ClientAct) -> Result<String, WiringError> {
        if act == ClientAct::Unprotect {
            return Ok(String::new());
        }
        let binary = self.gate()?;
        binary.into_os_string().into_string().map_err(|path| {
            WiringError::BadInput(format!(
                "{} cannot be written into a client's file: it is not text",
                path.display()
            ))
        })
    }
}

impl Look<'_> {
    /// Who has which name at the gate now.
    pub fn names(&self) -> NameRegistry {
        NameRegistry::of(entries(&self.surveyed), &self.ledger)
    }

    /// The files with entries that are meant; a file that cannot be read, if all are.
    pub(crate) fn concerned<'l>(
        &'l self,
        act: ClientAct,
        keys: &'l [EntryKey],
    ) -> impl Iterator<Item = &'l Surveyed> {
        let has = move |file: &Surveyed| file.entries().iter().any(|entry| is_meant(entry, act, keys));
        self.surveyed.iter().filter(move |file| (keys.is_empty() && file.read.is_err()) || has(file))
    }

    /// What was asked for by name and stands in no file that can be read.
    fn not_there(&self, keys: &[EntryKey]) -> Vec<RefusedEntry> {
        let there: Vec<_> = entries(&self.surveyed).map(|entry| entry_key(&entry.key)).collect();
        let missing = keys.iter().filter(|key| !there.contains(key));
        missing
            .map(|key| {
                let of_key = |file: &&Surveyed| {
                    file.found.client.id == key.client && file.found.path.to_string_lossy() == key.path
                };
                let path = display::path(&self.machine.home, Path::new(&key.path));
                let why = match self.surveyed.iter().find(of_key).map(|file| &file.read) {
                    Some(Ok(_)) => format!("it is not in {path} any more"),
                    Some(Err(why)) => format!("{path}: {why}"),
                    None => format!("{path} is gone"),
                };
                let client_name = client_name(&key.client);
                RefusedEntry { client_name, name: Some(name(&key.name)), why: harmless(&why) }
            })
            .collect()
    }

    pub(crate) fn diff(&self, plan: &Plan) -> Option<FileDiff> {
        self.masked_diff(plan, &masker(&plan.contents.entries))
    }

    /// The same with a server in it that no file has yet.
    pub(crate) fn diff_with(&self, plan: &Plan, new: &Local) -> Option<FileDiff> {
        let locals = plan.contents.entries.iter().filter_map(Entry::local);
        self.masked_diff(plan, &masker_of(locals.chain([new])))
    }

    fn masked_diff(&self, plan: &Plan, masker: &Masker) -> Option<FileDiff> {
        if plan.changes_nothing() {
            return None;
        }
        let client = plan.found.client;
        let shown = display::path(&self.machine.home, &plan.found.path);
        let before = format!("{shown} (now)");
        Some(FileDiff {
            client: client.id.to_owned(),
            client_name: client.name.to_owned(),
            diff: display::diff((plan.before(), &plan.after), (&before, &shown), masker),
            shown,
            entries: plan.edits.iter().map(|edit| edit.key.name.clone()).collect(),
        })
    }
}

/// Is this entry meant? No keys: every entry that the act would change.
pub(crate) fn is_meant(entry: &Entry, act: ClientAct, keys: &[EntryKey]) -> bool {
    match (keys.is_empty(), act) {
        (false, _) => keys.contains(&entry_key(&entry.key)),
        (true, ClientAct::Protect) => entry.state == State::Open,
        (true, ClientAct::Unprotect) => matches!(entry.state, State::Protected { .. }),
        (true, ClientAct::Place) => false,
    }
}

fn is_wiped(drift: &Drift, key: &LedgerKey) -> bool {
    matches!(drift, Drift::Wiped { client, path, .. } if *client == key.client && *path == key.path)
}

/// What is done to entries that are there; placing has its own way.
pub(crate) fn as_act(act: ClientAct, binary: &str) -> PlannedAct<'_> {
    match act {
        ClientAct::Protect | ClientAct::Place => PlannedAct::Protect { binary },
        ClientAct::Unprotect => PlannedAct::Unprotect,
    }
}

fn as_todo(act: ClientAct) -> Todo {
    match act {
        ClientAct::Protect => Todo::Protect,
        ClientAct::Unprotect => Todo::Unprotect,
        ClientAct::Place => Todo::Place,
    }
}

/// What it does to an entry, whoever wants it.
pub(crate) fn act_of(todo: &Todo) -> Option<ClientAct> {
    match todo {
        Todo::Protect | Todo::Repair => Some(ClientAct::Protect),
        Todo::Unprotect => Some(ClientAct::Unprotect),
        Todo::Place => Some(ClientAct::Place),
        Todo::Restore { .. } => None,
    }
}

/// It runs, or that cannot be told, and writes its whole file back from memory.
pub(crate) fn would_write_over(client: &Client, home: &Path) -> bool {
    client.caches && running::processes(client, home).is_none_or(|processes| !processes.is_empty())
}

/// What stays as it is although it was meant; what nobody can cover only if it was asked for by name.
fn refused(plan: &Plan, keys: &[EntryKey]) -> Vec<RefusedEntry> {
    let told = plan.refused.iter().filter(|refused| !refused.not_coverable || !keys.is_empty());
    told.map(|refused| RefusedEntry {
        client_name: plan.found.client.name.to_owned(),
        name: Some(name(&refused.key.name)),
        why: harmless(&refused.why),
    })
    .collect()
}

/// Secrets that stay in the keychain, too, and entries that stay behind the gate because theirs cannot be put back.
fn secrets_back(client: &Client, returned: Vec<Returned<'_>>, change: &mut ClientChange) {
    for one in returned {
        match one.moved {
            Ok(moved) => change.left.extend(moved.left.iter().map(|left| name(left))),
            Err(why) => change.refused.push(RefusedEntry {
                client_name: client.name.to_owned(),
                name: Some(name(&one.entry.key.name)),
                why: harmless(&format!(
                    "it stays behind the gate, because its secrets cannot be put back: {why}"
                )),
            }),
        }
    }
}

fn whole_file(look: &Look<'_>, file: &Surveyed, why: &str) -> RefusedEntry {
    let path = display::path(&look.machine.home, &file.found.path);
    RefusedEntry {
        client_name: file.found.client.name.to_owned(),
        name: None,
        why: harmless(&format!("{path}: {why}")),
    }
}

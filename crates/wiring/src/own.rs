//! Servers of one's own: added here, placed in clients now or when these have quit.

use callgate_clients::discover::{Found, file_for_new};
use callgate_clients::entry::{Local, NewServer, Server};
use callgate_clients::own::{self, AddError, OwnField, Wanted, placing};
use callgate_clients::plan::Plan;
use callgate_clients::queue::{self, Todo};
use callgate_clients::secrets::find::{self, Slot};
use callgate_clients::secrets::lazy_keychain::Lazily;
use callgate_clients::survey::look_for_place;
use callgate_clients::table;
use callgate_secrets::Secret;
use callgate_text::{harmless, name};

use crate::change::would_write_over;
use crate::display::client_name;
use crate::launch::launch_notes;
use crate::view::{
    ClientAct, ClientChange, ClientPreview, DraftPart, DraftPreview, DraftProblem, EntryKey, FileDiff,
    RefusedEntry, ServerDraft, ServerPlace,
};
use crate::{Look, Wiring, WiringError, command_line, display, entry_key, masker_of};

/// Where a preview names a client, for the file that is none's.
const OWN_LIST: &str = "callgate";

impl Wiring {
    /// The clients that a server can be placed in, and where.
    pub fn places_for_server(&self) -> Vec<ServerPlace> {
        let files = table::clients().iter().filter_map(|client| file_for_new(&self.machine, client));
        files
            .map(|found| {
                let read = look_for_place(&found);
                ServerPlace {
                    client: found.client.id.to_owned(),
                    client_name: found.client.name.to_owned(),
                    shown: display::path(&self.machine.home, &found.path),
                    new_file: read.as_ref().is_ok_and(|contents| !contents.snapshot.exists()),
                    problem: read.err().map(|why| harmless(&why.to_string())),
                }
            })
            .collect()
    }

    /// What adding would write, and what is wrong with what was typed.
    pub fn preview_server(&self, draft: &ServerDraft) -> Result<DraftPreview, WiringError> {
        let nothing = ClientPreview::default();
        let wrong = |part, words: &str| {
            let problem = Some(DraftProblem { part, words: harmless(words) });
            Ok(DraftPreview { problem, looks_secret: Vec::new(), edits: nothing.clone() })
        };
        let wanted = match self.wanted(draft) {
            Ok(wanted) => wanted,
            Err(why) => return wrong(DraftPart::Command, why),
        };
        let looks_secret = looks_secret(&wanted.server.local());
        let (before, after) = match own::preview(self.home.path(), &wanted) {
            Ok(texts) => texts,
            Err(error) => {
                let (part, words) = problem(&error);
                return wrong(part, &words);
            }
        };
        let look = self.look_at_clients()?;
        let mut edits = nothing.clone();
        let local = wanted.server.local();
        edits.launch = launch_notes(&wanted.server.name, &local);
        let binary = self.gate_for(ClientAct::Place)?;
        let mut names = look.names();
        for found in self.chosen(draft, &mut edits.refused) {
            match placing::preview(&found, &binary, &wanted.whole(), &mut names, &look.ledger) {
                Ok(plan) => {
                    edits.files.extend(look.diff_with(&plan, &local));
                    edits.refused.extend(refused(&plan));
                }
                Err(error) => edits.refused.push(whole_file(&look, &found, &error.to_string())),
            }
        }
        edits.files.extend((before != after).then(|| look.own_diff((&before, &after), &wanted.server)));
        Ok(DraftPreview { problem: None, looks_secret, edits })
    }

    /// Adds it and places it. What a running client would write over waits until that has quit.
    pub fn add_server(&self, draft: &ServerDraft) -> Result<ClientChange, WiringError> {
        let bad = |why: &str| WiringError::BadInput(why.to_owned());
        let wanted = self.wanted(draft).map_err(bad)?;
        let mut ahead = self.preview_server(draft)?;
        // A server that no client would get is of no use to anybody, and hard to find again.
        let placed = ahead.edits.files.iter().any(|file| file.client != OWN_LIST);
        if !placed && let Some(refused) = ahead.edits.refused.pop() {
            let why = format!("{}: {}. Nothing was added.", refused.client_name, refused.why);
            return Err(WiringError::Conflict(why));
        }
        callgate_controls::prepare_home(&self.home)?;
        let keychain = Lazily::at(self.home.path());
        let opened = (!wanted.secrets.is_empty()).then(|| keychain.open()).transpose();
        let opened = opened.map_err(|error| WiringError::Conflict(format!("{error}. Nothing was added.")))?;
        own::add(self.home.path(), &wanted, opened)?;
        let mut refused = Vec::new();
        let files = self.chosen(draft, &mut refused);
        // The keychain is another's turn: placing asks for it again, if it has to.
        drop(keychain);
        let keys: Vec<_> = files.iter().map(|found| entry_key(&found.key(None, &draft.name))).collect();
        let mut change = self.place_servers(&keys, false)?;
        change.refused.extend(refused);
        Ok(change)
    }

    /// Writes servers of `servers.json` into these files, by their names.
    pub(crate) fn place_servers(&self, keys: &[EntryKey], now: bool) -> Result<ClientChange, WiringError> {
        self.forget_not_done();
        let look = self.look_at_clients()?;
        let binary = self.gate_for(ClientAct::Place)?;
        let now_ms = self.clock.now().wall_ms;
        let mut names = look.names();
        let keychain = Lazily::at(self.home.path());
        let open = || keychain.open();
        let mut change = ClientChange::new(ClientAct::Place);
        for key in keys {
            let refuse = |why: &str| RefusedEntry {
                client_name: client_name(&key.client),
                name: Some(name(&key.name)),
                why: harmless(why),
            };
            let (found, local) = match (self.file_of(key), own::find(self.home.path(), &key.name)?) {
                (Some(found), Some(local)) => (found, local),
                (None, _) => {
                    change.refused.push(refuse("its file is not where it was"));
                    continue;
                }
                (_, None) => {
                    change.refused.push(refuse("it is not in Callgate's own list any more"));
                    continue;
                }
            };
            let server = NewServer::of(&key.name, &local);
            let planned = match placing::preview(&found, &binary, &server, &mut names, &look.ledger) {
                Ok(planned) => planned,
                Err(error) => {
                    change.refused.push(whole_file(&look, &found, &error.to_string()));
                    continue;
                }
            };
            if planned.edits.is_empty() {
                change.refused.extend(refused(&planned));
                change.done.extend(planned.refused.is_empty().then(|| key.clone()));
            } else if !now && would_write_over(found.client, &self.machine.home) {
                queue::add(self.home.path(), &[found.key(None, &key.name)], &Todo::Place, now_ms)?;
                change.waiting.push(key.clone());
            } else {
                match placing::place(self.home.path(), &found, &key.name, &binary, &mut names, &open, now_ms)
                {
                    Ok(done) => {
                        change.done.extend(done.edits.iter().map(|edit| entry_key(&edit.key)));
                        change.refused.extend(refused(&done));
                    }
                    Err(error) => change.refused.push(refuse(&error.to_string())),
                }
            }
        }
        self.guard()?;
        Ok(change)
    }

    /// Program and arguments, as typed; none for what is no command line.
    pub fn words_of(&self, draft: &ServerDraft) -> Option<Vec<String>> {
        command_line::words(&draft.command, self.machine.os).ok()
    }

    /// What was typed, as what it means.
    fn wanted(&self, draft: &ServerDraft) -> Result<Wanted, &'static str> {
        let mut words = command_line::words(&draft.command, self.machine.os)?;
        let program = if words.is_empty() { String::new() } else { words.remove(0) };
        let (secrets, plain): (Vec<_>, Vec<_>) = draft.variables.iter().partition(|one| one.secret);
        let env = plain.into_iter().map(|one| (one.name.clone(), one.value.clone())).collect();
        let secret = |value: &str| Secret::new(value.to_owned());
        Ok(Wanted {
            server: NewServer { name: draft.name.clone(), program, args: words, env },
            secrets: secrets.into_iter().map(|one| (one.name.clone(), secret(&one.value))).collect(),
        })
    }

    /// The files of the clients that were chosen.
    fn chosen(&self, draft: &ServerDraft, refused: &mut Vec<RefusedEntry>) -> Vec<Found> {
        let mut files = Vec::new();
        for id in &draft.clients {
            match table::client(id).and_then(|client| file_for_new(&self.machine, client)) {
                Some(found) => files.push(found),
                None => refused.push(RefusedEntry {
                    client_name: client_name(id),
                    name: None,
                    why: "it has no file here that a server could be added to".to_owned(),
                }),
            }
        }
        files
    }

    fn file_of(&self, key: &EntryKey) -> Option<Found> {
        let found = file_for_new(&self.machine, table::client(&key.client)?)?;
        (found.path.to_string_lossy() == key.path).then_some(found)
    }
}

impl Look<'_> {
    /// The lines around the new server are others' lines: their values are as secret.
    pub(crate) fn own_diff(&self, texts: (&str, &str), server: &NewServer) -> FileDiff {
        let listing = own::read(self.ours).unwrap_or_default();
        let (new, others) = (server.local(), listing.servers.iter().filter_map(Server::local));
        let masker = masker_of(others.chain([&new]));
        let shown = display::path(&self.machine.home, &own::path(self.ours));
        let before = format!("{shown} (now)");
        FileDiff {
            client: OWN_LIST.to_owned(),
            client_name: "Callgate's own list".to_owned(),
            diff: display::diff(texts, (&before, &shown), &masker),
            shown,
            entries: vec![server.name.clone()],
        }
    }
}

pub(crate) fn refused(plan: &Plan) -> impl Iterator<Item = RefusedEntry> {
    plan.refused.iter().map(|refused| RefusedEntry {
        client_name: plan.found.client.name.to_owned(),
        name: Some(name(&refused.key.name)),
        why: harmless(&refused.why),
    })
}

pub(crate) fn whole_file(look: &Look<'_>, found: &Found, why: &str) -> RefusedEntry {
    let path = display::path(&look.machine.home, &found.path);
    RefusedEntry {
        client_name: found.client.name.to_owned(),
        name: None,
        why: harmless(&format!("{path}: {why}")),
    }
}

/// Variables, by name.
fn looks_secret(local: &Local) -> Vec<String> {
    let found = find::secrets(local).into_iter().filter_map(|finding| match finding.slot {
        Slot::Variable(name) => Some(name),
        Slot::Argument(_) | Slot::Header(_) => None,
    });
    found.collect()
}

/// Where in the form it is, and what.
fn problem(error: &AddError) -> (DraftPart, String) {
    let part = match error {
        AddError::Bad { part: OwnField::Name, .. } | AddError::Taken { .. } => DraftPart::Name,
        AddError::Bad { part: OwnField::Command, .. } | AddError::Secret(_) => DraftPart::Command,
        AddError::Bad { part: OwnField::Variables, .. } => DraftPart::Variables,
        AddError::Own(_) => DraftPart::Elsewhere,
    };
    let words = match error {
        AddError::Bad { why, .. } => why.clone(),
        other => other.to_string(),
    };
    (part, words)
}

//! `callgate clients list`: how things stand.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use callgate_clients::drift::{Drift, drift};
use callgate_clients::ledger;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::queue::{self, Queued, Todo};
use callgate_clients::survey::{Entry, State, Surveyed, entries};
use callgate_clients::table::client;
use callgate_home::Home;
use callgate_supervise::find;
use callgate_wiring::came_back;
use serde_json::json;

use super::{display, look, may_run};
use crate::args::ClientsListArgs;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ClientsListArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let home = Home::locate()?;
    let surveyed = look(&home, &args.project)?;
    let tampered = tampered(&home, &surveyed);
    for file in &surveyed {
        if args.json {
            objects(&screen, file, &tampered);
        } else {
            print(&screen, file, &tampered);
        }
    }
    if !args.json {
        summary(&screen, &surveyed, &tampered);
        let waiting = queue::read(home.path());
        changed(&screen, &home, &surveyed, waiting.as_deref().unwrap_or_default());
        match &waiting {
            Ok(waiting) => waits(&screen, waiting),
            Err(error) => screen.line(&screen.paint(screen::WARN, &screen::harmless(&error.to_string()))),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Entries whose gate is not as it was put there.
fn tampered(home: &Home, surveyed: &[Surveyed]) -> BTreeSet<LedgerKey> {
    let ledger = ledger::read(home.path()).unwrap_or_default();
    let binary = callgate_programs::place(home.path());
    let drifts = drift(surveyed, &ledger, &[], &binary.to_string_lossy());
    drifts
        .into_iter()
        .filter_map(|drift| match drift {
            Drift::Tampered { key, .. } => Some(key),
            _ => None,
        })
        .collect()
}

/// The gate that an entry names, if that is a program which cannot be run: then its server does not start.
fn dead_gate(entry: &Entry) -> Option<&str> {
    let gate = entry.server.gated.as_ref()?.binary.as_str();
    find(OsStr::new(gate), OsStr::new(""))
        .is_none()
        .then_some(gate)
        .filter(|gate| Path::new(gate).is_absolute())
}

/// A word for the state, and what there is to say about it.
fn words(entry: &Entry, tampered: &BTreeSet<LedgerKey>) -> (&'static str, anstyle::Style, String) {
    match &entry.state {
        State::Protected { .. } if tampered.contains(&entry.key) => {
            ("not as protected", screen::BAD, display::command(entry))
        }
        State::Protected { .. } if dead_gate(entry).is_some() => {
            let gate = dead_gate(entry).map(screen::harmless).unwrap_or_default();
            ("cannot start", screen::BAD, format!("its gate is missing: {gate}"))
        }
        State::Protected { server } if *server == entry.key.name => {
            ("protected", screen::GOOD, display::command(entry))
        }
        State::Protected { server } => {
            let known = format!("(known as {}) ", screen::quoted(server));
            ("protected", screen::GOOD, known + &display::command(entry))
        }
        State::Open => ("not protected", screen::WARN, display::command(entry)),
        State::NotCoverable(why) => ("not coverable", screen::DIM, screen::harmless(why)),
    }
}

fn print(screen: &Screen, file: &Surveyed, tampered: &BTreeSet<LedgerKey>) {
    let client = file.found.client;
    let runs = client.caches && may_run(client);
    let runs = if runs { "  (runs now)" } else { "" };
    let (name, path) = (screen.paint(screen::BOLD, client.name), display::path(&file.found.path));
    let head = format!("{name} ({})  {path}{runs}", client.id);
    screen.line(&head);
    if let Some(other) = &file.found.shadowed_by {
        let text = format!("  {} reads {} in its stead", client.name, display::path(other));
        screen.line(&screen.paint(screen::WARN, &text));
    }
    match &file.read {
        Err(why) => {
            screen.line(
                &screen.paint(screen::BAD, &format!("  left alone: {}", screen::harmless(&why.to_string()))),
            );
        }
        Ok(contents) => {
            for entry in &contents.entries {
                let (word, style, rest) = words(entry, tampered);
                let name = screen::pad(&display::name(&entry.key.name), 20);
                let project = entry.key.project.as_deref();
                let project = project.map_or_else(String::new, |p| format!("in {}: ", screen::harmless(p)));
                let room = Screen::columns().saturating_sub(40).max(40);
                let rest = screen::clip(&format!("{project}{rest}"), room);
                screen.line(&format!("  {}  {name}  {rest}", screen.paint(style, &screen::pad(word, 13))));
            }
            for odd in &contents.left_out {
                screen.line(&screen.paint(screen::WARN, &format!("  {}", screen::harmless(odd))));
            }
            if contents.entries.is_empty() && contents.left_out.is_empty() {
                screen.line(&screen.paint(screen::DIM, "  no servers"));
            }
        }
    }
}

fn summary(screen: &Screen, surveyed: &[Surveyed], tampered: &BTreeSet<LedgerKey>) {
    if surveyed.is_empty() {
        screen.line("No AI client has a configuration file here. Callgate knows where 21 of them keep theirs: docs/clients.md");
        return;
    }
    let count = |is: fn(&State) -> bool| entries(surveyed).filter(|entry| is(&entry.state)).count();
    let open = count(|state| matches!(state, State::Open));
    let gated = count(|state| matches!(state, State::Protected { .. }));
    let bent =
        if tampered.is_empty() { String::new() } else { format!("{} not as protected, ", tampered.len()) };
    screen.line(&format!(
        "{} protected, {bent}{open} not protected, {} not coverable.",
        gated - tampered.len(),
        count(|state| matches!(state, State::NotCoverable(_))),
    ));
    let dead = entries(surveyed).filter(|entry| dead_gate(entry).is_some()).count();
    if dead > 0 {
        let text = format!(
            "{dead} of them cannot start, because the program of the gate is missing. Put it back: callgate clients protect --all"
        );
        screen.line(&screen.paint(screen::BAD, &text));
    }
    if open > 0 {
        screen.line("Look at what would be written: callgate clients diff --all");
        screen.line("Put the gate in front of them:  callgate clients protect --all");
    }
}

/// What happened to entries that were behind the gate.
fn changed(screen: &Screen, home: &Home, surveyed: &[Surveyed], waiting: &[Queued]) {
    let ledger = match ledger::read(home.path()) {
        Ok(ledger) => ledger,
        Err(error) => return screen.line(&screen.paint(screen::WARN, &error.to_string())),
    };
    let binary = callgate_programs::place(home.path());
    for drift in drift(surveyed, &ledger, waiting, &binary.to_string_lossy()) {
        let said = match &drift {
            Drift::Wiped { client, path, lost } => format!(
                "{} has lost all its servers, {} of them behind the gate: callgate clients backups. Or they are gone on \
                 purpose: callgate clients gone {client}",
                display::path(path),
                lost.len()
            ),
            Drift::LostGate { key } => format!("{} has lost its gate: protect it again", whose(key)),
            Drift::Moved { key, binary } => {
                format!(
                    "{} starts {}, which is not the gate of this home: protect it again",
                    whose(key),
                    screen::quoted(binary)
                )
            }
            Drift::Tampered { key, how } => {
                let how: Vec<_> = how.iter().map(|one| one.words(display::name)).collect();
                format!(
                    "{} is not as it was protected: {}. Put that right: callgate clients protect {} {}",
                    whose(key),
                    how.join("; "),
                    key.client,
                    display::name(&key.name)
                )
            }
            Drift::Shadowed { path, by } => {
                format!(
                    "{} is behind the gate, but {} is read in its stead",
                    display::path(path),
                    display::path(by)
                )
            }
            Drift::CameBack { key } => {
                let entry = format!("{} {}", key.client, display::name(&key.name));
                format!(
                    "{}. Take it away again: callgate clients unprotect {entry}. Or keep it: callgate clients protect {entry}",
                    came_back(&key.client, &display::name(&key.name), 1)
                )
            }
            // Theirs to do, or said above.
            Drift::Edited { .. } | Drift::New { .. } | Drift::Removed { .. } | Drift::Unreadable { .. } => {
                continue;
            }
        };
        screen.line(&screen.paint(screen::WARN, &said));
    }
}

/// What waits for clients to quit, of one kind in one line.
fn waits(screen: &Screen, waiting: &[Queued]) {
    type Is = fn(&Todo) -> bool;
    let kinds: [(&str, Is); 5] = [
        ("To be restored", |todo| matches!(todo, Todo::Restore { .. })),
        ("To be placed", |todo| *todo == Todo::Place),
        ("To be protected", |todo| *todo == Todo::Protect),
        ("Gate to be put back", |todo| *todo == Todo::Repair),
        ("To be unprotected", |todo| *todo == Todo::Unprotect),
    ];
    let clients: BTreeSet<&str> = waiting.iter().map(|queued| queued.key.client.as_str()).collect();
    for client in clients.into_iter().filter_map(client) {
        let until = match may_run(client) {
            true => format!("Waits until {} has quit; closing its window is not quitting.", client.name),
            false => "Waits for Callgate's app, which writes it when it runs.".to_owned(),
        };
        for (words, is) in kinds {
            let of_this = waiting.iter().filter(|queued| queued.key.client == client.id && is(&queued.todo));
            let what: Vec<_> = of_this
                .map(|queued| match queued.todo {
                    Todo::Restore { .. } => display::path(&queued.key.path),
                    _ => display::name(&queued.key.name),
                })
                .collect();
            if !what.is_empty() {
                screen.line(&format!("{}: {words}: {}. {until}", client.name, what.join(", ")));
            }
        }
    }
}

fn whose(key: &LedgerKey) -> String {
    let client = client(&key.client).map_or(key.client.as_str(), |client| client.name);
    format!("{client}: {}", display::name(&key.name))
}

fn objects(screen: &Screen, file: &Surveyed, tampered: &BTreeSet<LedgerKey>) {
    let client = file.found.client.id;
    let path = file.found.path.display().to_string();
    match &file.read {
        Err(why) => {
            let object = json!({ "client": client, "path": path, "problem": why.to_string() });
            screen.line(&object.to_string());
        }
        Ok(contents) => {
            for note in &contents.left_out {
                screen.line(&json!({ "client": client, "path": path, "problem": note }).to_string());
            }
            for entry in &contents.entries {
                let (state, server, why) = match &entry.state {
                    State::Protected { server } if tampered.contains(&entry.key) => {
                        ("not_as_protected", Some(server), None)
                    }
                    State::Protected { server } if dead_gate(entry).is_some() => {
                        ("cannot_start", Some(server), None)
                    }
                    State::Protected { server } => ("protected", Some(server), None),
                    State::Open => ("not_protected", None, None),
                    State::NotCoverable(why) => ("not_coverable", None, Some(why)),
                };
                let object = json!({
                    "client": client, "path": path, "project": entry.key.project, "name": entry.key.name,
                    "state": state, "server": server, "why": why, "command": display::command(entry),
                });
                screen.line(&object.to_string());
            }
        }
    }
}

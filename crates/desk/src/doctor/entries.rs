//! Server entries: behind the gate, open, not coverable, and what happened to them since they were put behind it.

use std::collections::BTreeMap;
use std::path::Path;

use callgate_clients::drift::Drift;
use callgate_clients::ledger::Key;
use callgate_clients::survey::{Entry, State, Surveyed};

use super::finding::{PROTECT, UNPROTECT, on_entries};
use super::{Area, Code, Finding, Gravity, Visit};
use crate::clients::shown;
use crate::text::{client_name, clip, count, name};
use crate::view::DriftFix;

/// Names in one sentence.
const NAMED: usize = 6;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let drifts = visit.clients.drift();
    // Told by what happened to them, and not by their state.
    let lost: Vec<&Key> = drifts.iter().filter_map(apart).collect();
    let states = visit.clients.surveyed.iter().flat_map(|file| of_file(visit, file, &lost));
    states.chain(drifts.iter().filter_map(|drift| of_drift(visit, drift))).collect()
}

fn apart(drift: &Drift) -> Option<&Key> {
    match drift {
        Drift::LostGate { key } | Drift::Tampered { key, .. } => Some(key),
        _ => None,
    }
}

/// How the entries of a file stand, those of one state together.
fn of_file(visit: &Visit<'_>, file: &Surveyed, lost: &[&Key]) -> Vec<Finding> {
    let client = file.found.client;
    let shown = shown::path(&visit.clients.machine.home, &file.found.path);
    let (mut gated, mut open, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut never: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in file.entries() {
        let name = entry.key.name.clone();
        match &entry.state {
            State::Protected { .. } | State::Open if lost.contains(&&entry.key) => {}
            State::Protected { .. } => gated.push(name),
            State::Open if visit.clients.ledger.left_open.contains(&entry.key) => left.push(name),
            State::Open => open.push(name),
            State::NotCoverable(why) => never.entry(why).or_default().push(name),
        }
    }
    let told = |code, gravity, names: Vec<String>, words: &str| {
        let what = format!("{}: {} {words}", client.name, listed(&names));
        Finding::new(Area::Clients, code, gravity, &shown, &what).of(client.id, names)
    };
    let mut found = Vec::new();
    if !gated.is_empty() {
        found.push(told(Code::EntryProtected, Gravity::Ok, gated, "behind the gate"));
    }
    if !open.is_empty() {
        let command = open.clone();
        let finding = told(Code::EntryOpen, Gravity::Warning, open, "not protected");
        found.push(finding.command("Put the gate in front", &on_entries(PROTECT, client.id, &command)));
    }
    if !left.is_empty() {
        found.push(told(Code::EntryLeftOpen, Gravity::Note, left, "not protected, as you wanted"));
    }
    for (why, names) in never {
        found.push(told(Code::EntryNotCoverable, Gravity::Note, names, &format!("not coverable: {why}")));
    }
    for note in file.read.iter().flat_map(|read| &read.left_out) {
        let what = format!("{}: {note}", client.name);
        let finding = Finding::new(Area::Clients, Code::EntryNotCoverable, Gravity::Note, &shown, &what);
        found.push(finding.of(client.id, Vec::new()));
    }
    found
}

/// What happened to what was behind the gate.
fn of_drift(visit: &Visit<'_>, drift: &Drift) -> Option<Finding> {
    let view = visit.clients.words_of(drift);
    let shown = |path: &Path| shown::path(&visit.clients.machine.home, path);
    let of_entry = |key: &Key, code, gravity| {
        let finding = Finding::new(Area::Clients, code, gravity, &shown(&key.path), &view.words);
        finding.of(&key.client, vec![key.name.clone()])
    };
    let again = |key: &Key, code, gravity| {
        let names = std::slice::from_ref(&key.name);
        of_entry(key, code, gravity).command("Put the gate back", &on_entries(PROTECT, &key.client, names))
    };
    Some(match drift {
        Drift::Wiped { client, path, .. } => {
            let finding =
                Finding::new(Area::Clients, Code::ClientWiped, Gravity::Problem, &shown(path), &view.words);
            let finding = finding.of(client, Vec::new());
            match &view.fix {
                Some(DriftFix::Restore { backup, .. }) => finding
                    .command("Put the file back from its copy", &["callgate", "clients", "restore", backup]),
                _ => finding.by("Add the servers again; no copy with servers in it is kept."),
            }
        }
        Drift::LostGate { key } => again(key, Code::EntryLostGate, Gravity::Problem),
        Drift::CameBack { key } => {
            let names = std::slice::from_ref(&key.name);
            let finding = of_entry(key, Code::EntryGateCameBack, Gravity::Warning);
            finding.command("Take it away again", &on_entries(UNPROTECT, &key.client, names))
        }
        Drift::Moved { key, .. } => again(key, Code::EntryMovedGate, Gravity::Problem),
        Drift::Tampered { key, .. } => again(key, Code::EntryTampered, Gravity::Problem),
        Drift::Shadowed { path, .. } => {
            let finding = Finding::new(
                Area::Clients,
                Code::ClientShadowed,
                Gravity::Problem,
                &shown(path),
                &view.words,
            );
            finding.by("Move the servers into the file that is read, then protect them there.")
        }
        Drift::Edited { key } => of_entry(key, Code::EntryEdited, Gravity::Note),
        Drift::Removed { key } => of_entry(key, Code::EntryRemoved, Gravity::Note),
        // Told as not protected, and as a file that cannot be read.
        Drift::New { .. } | Drift::Unreadable { .. } => return None,
    })
}

/// `a, b and 3 more servers are`.
fn listed(names: &[String]) -> String {
    let some: Vec<_> = names.iter().take(NAMED).map(|one| name(one)).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    match names.len().saturating_sub(NAMED) {
        0 => format!("{} {is}", clip(&some.join(", "), 300)),
        more => format!("{} and {} {is}", clip(&some.join(", "), 300), count(more as u64, "more server")),
    }
}

/// `Cursor: github`.
pub(super) fn whose(entry: &Entry) -> String {
    format!("{}: {}", client_name(&entry.key.client), name(&entry.key.name))
}

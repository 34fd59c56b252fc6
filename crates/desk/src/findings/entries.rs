//! Server entries: behind the gate, open, not coverable, and what happened to them since they were put behind it.

use std::collections::BTreeMap;

use callgate_clients::drift::Drift;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::survey::{Entry, State, Surveyed};
use callgate_text::{clip, count, name};
use callgate_wiring::client_name;

use super::{Area, Code, Finding, Gravity, Visit, drift};

/// Names in one sentence.
const NAMED: usize = 6;

pub(super) const PROTECT: [&str; 2] = ["clients", "protect"];
pub(super) const UNPROTECT: [&str; 2] = ["clients", "unprotect"];

/// `callgate clients protect CLIENT NAME…`. A name that begins with a dash is not taken for a flag.
pub(super) fn on_entries<'a>(act: [&'a str; 2], client: &'a str, names: &'a [String]) -> Vec<&'a str> {
    let mut words = vec!["callgate", act[0], act[1], client];
    if names.iter().any(|name| name.starts_with('-')) {
        words.push("--");
    }
    words.extend(names.iter().map(String::as_str));
    words
}

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let drifts = visit.clients.drift();
    // Told by what happened to them, and not by their state.
    let lost: Vec<&LedgerKey> = drifts.iter().filter_map(apart).collect();
    let states = visit.clients.surveyed.iter().flat_map(|file| of_file(visit, file, &lost));
    // A new one is told as not protected, and one that cannot be read with its file.
    let groups = visit.clients.drift_groups();
    let told = groups.iter().filter(|one| !matches!(one.drift, Drift::New { .. } | Drift::Unreadable { .. }));
    states.chain(told.map(|group| drift::finding(&visit.checkup, group))).collect()
}

fn apart(drift: &Drift) -> Option<&LedgerKey> {
    match drift {
        Drift::LostGate { key } | Drift::Tampered { key, .. } => Some(key),
        _ => None,
    }
}

/// How the entries of a file stand, those of one state together.
fn of_file(visit: &Visit<'_>, file: &Surveyed, lost: &[&LedgerKey]) -> Vec<Finding> {
    let client = file.found.client;
    let shown = visit.checkup.shown(&file.found.path);
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
        Finding::new(Area::Clients, code, gravity, &shown, &what).on_entries(client.id, names)
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
        found.push(finding.on_entries(client.id, Vec::new()));
    }
    found
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

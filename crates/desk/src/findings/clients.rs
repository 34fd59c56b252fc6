//! Clients' files as files: can they be read, does their client read them, does it run with what they say now.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_clients::Client;
use callgate_clients::TAKE_IT_AWAY;
use callgate_clients::byte_order_mark::is_repairable;
use callgate_clients::discover::Found;
use callgate_clients::ledger::LedgerError;
use callgate_clients::queue::{self, QueueError, Queued, Todo};
use callgate_clients::survey::{Refusal, Surveyed};
use callgate_clients::table::client;
use callgate_text::count;
use callgate_wiring::Undone;
use callgate_wiring::view::ClientView;

use super::entries::{PROTECT, UNPROTECT, on_entries};
use super::home::accessible;
use super::{Area, Checkup, Code, Finding, Gravity, Visit};
use crate::view::Fix;

pub(super) const MEND_THE_FILE: &str =
    "Mend the file, or put it back from a copy: `callgate clients backups` lists them.";

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    if visit.clients.surveyed.is_empty() {
        let what = "No AI client has a configuration file here";
        let finding = Finding::new(Area::Clients, Code::ClientsNone, Gravity::Note, "", what);
        return vec![
            finding.by(
                "Install one, or put `callgate run --server NAME -- COMMAND` where yours names a server.",
            ),
        ];
    }
    let files = visit.clients.surveyed.iter().flat_map(|file| of_file(visit, file));
    let views = visit.clients.views();
    let stale = views.iter().filter(|view| view.stale).map(stale);
    files.chain(stale).chain(queue(visit, &views)).collect()
}

pub(super) fn undone(undone: &Undone) -> Finding {
    let about = undone.client.as_deref().unwrap_or_default();
    Finding::new(Area::Clients, Code::ChangeRefused, Gravity::Problem, about, &undone.words)
        .act(Fix::OpenClients)
}

pub(super) fn broken_ledger(checkup: &Checkup<'_>, error: &LedgerError) -> Finding {
    let what = format!("Clients' files are not guarded, so nobody notices what lost its gate: {error}");
    let finding = Finding::new(Area::Clients, Code::LedgerBroken, Gravity::Problem, "ledger.json", &what)
        .act(Fix::OpenClients);
    match error {
        LedgerError::Newer { .. } => finding.by("Update Callgate."),
        LedgerError::Read { path, error } if error.kind() == std::io::ErrorKind::PermissionDenied => {
            accessible(checkup, finding, path, ("Make it readable for yourself", "u+rw"))
        }
        LedgerError::Read { path, .. }
        | LedgerError::Broken { path, .. }
        | LedgerError::Write { path, .. } => moved_away(finding, path),
    }
}

fn moved_away(finding: Finding, path: &Path) -> Finding {
    let path = path.display().to_string();
    finding.command("Move it away", &["mv", &path, &format!("{path}.broken")])
}

fn finding(found: &Found, shown: &str, code: Code, gravity: Gravity, what: &str) -> Finding {
    Finding::new(Area::Clients, code, gravity, shown, what).on_entries(found.client.id, Vec::new())
}

fn of_file(visit: &Visit<'_>, file: &Surveyed) -> Vec<Finding> {
    let found = &file.found;
    let shown = visit.checkup.shown(&found.path);
    let mut told: Vec<_> =
        file.read.as_ref().err().map(|why| unreadable(visit, file, &shown, why)).into_iter().collect();
    // Said as drift, if the gate is in the one that is not read.
    let gated = file.entries().iter().any(|entry| entry.server.gated.is_some());
    if let Some(by) = found.shadowed_by.as_ref().filter(|_| !gated) {
        let what = format!(
            "{} reads {} in its stead: what {shown} says does not count",
            found.client.name,
            visit.checkup.shown(by)
        );
        told.push(finding(found, &shown, Code::ClientShadowed, Gravity::Note, &what));
    }
    for left in leftovers(&found.path) {
        let what = format!(
            "{} was about to replace {shown} when something went wrong, and was left behind",
            visit.checkup.shown(&left)
        );
        let finding = finding(found, &shown, Code::ClientLeftover, Gravity::Note, &what);
        told.push(finding.command("Remove it", &["rm", &left.display().to_string()]));
    }
    told
}

/// One that had entries behind the gate is worse: nobody knows whether they still are.
fn unreadable(visit: &Visit<'_>, file: &Surveyed, shown: &str, why: &Refusal) -> Finding {
    let client = file.found.client;
    let ours = |path: &Path| {
        visit.clients.ledger.rows.iter().any(|row| row.key.client == client.id && row.key.path == path)
    };
    let gravity = if ours(&file.found.path) { Gravity::Problem } else { Gravity::Warning };
    let (why, repairable) = (why.to_string(), is_repairable(file));
    // The command is said once, as what mends it.
    let why = if repairable { why.trim_end_matches(TAKE_IT_AWAY).trim_end() } else { &why };
    let what = format!("{}: {shown}: {why}", client.name);
    let finding = finding(&file.found, shown, Code::ClientUnreadable, gravity, &what);
    match repairable {
        true => {
            finding.command("Take the byte order mark away", &["callgate", "clients", "repair", client.id])
        }
        false => finding.by(MEND_THE_FILE),
    }
}

fn stale(view: &ClientView) -> Finding {
    let what = format!(
        "{} runs since before its file was edited, so it still starts its servers as they were",
        view.name
    );
    let finding = Finding::new(Area::Clients, Code::ClientStale, Gravity::Warning, &view.name, &what);
    finding.on_entries(&view.id, Vec::new()).by(&view.reload)
}

/// What a write that was cut off left beside a file.
fn leftovers(file: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Vec::new() };
    let beginning = format!(".{}.callgate-", name.to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(&beginning) && name.ends_with(".tmp")
    });
    ours.map(|entry| entry.path()).collect()
}

pub(super) fn broken_queue(checkup: &Checkup<'_>, error: &QueueError) -> Finding {
    let words = error.to_string();
    let finding = Finding::new(Area::Clients, Code::QueueBroken, Gravity::Warning, "queue.json", &words)
        .act(Fix::OpenClients);
    match error {
        QueueError::Read { path, error } if error.kind() == std::io::ErrorKind::PermissionDenied => {
            accessible(checkup, finding, path, ("Make it readable for yourself", "u+rw"))
        }
        QueueError::Read { path, .. } | QueueError::Broken { path, .. } | QueueError::Write { path, .. } => {
            moved_away(finding, path)
        }
    }
}

fn queue(visit: &Visit<'_>, views: &[ClientView]) -> Vec<Finding> {
    let waiting = match queue::read(visit.checkup.home.path()) {
        Ok(waiting) => waiting,
        Err(error) => return vec![broken_queue(&visit.checkup, &error)],
    };
    let mut ids: Vec<&str> = waiting.iter().map(|queued| queued.key.client.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut told = Vec::new();
    for known in ids.into_iter().filter_map(client) {
        let runs = views.iter().any(|view| view.id == known.id && view.running != Some(false));
        let mut mine: Vec<&Queued> = waiting.iter().filter(|queued| queued.key.client == known.id).collect();
        // Of one kind together, whichever kinds there are.
        while let Some(first) = mine.first().map(|queued| queued.todo.clone()) {
            let (same, others) = mine.into_iter().partition(|queued| queued.todo == first);
            mine = others;
            told.push(waits(known, &first, &same, runs));
        }
    }
    told
}

/// What waits, in words.
fn wish(todo: &Todo) -> &'static str {
    match todo {
        Todo::Protect => "to protect servers",
        Todo::Unprotect => "to unprotect servers",
        Todo::Repair => "to put lost gates back",
        Todo::Place => "to place servers of Callgate's own list",
        Todo::Restore { .. } => "to put its file back from a copy",
    }
}

fn waits(client: &Client, todo: &Todo, queued: &[&Queued], runs: bool) -> Finding {
    let (changes, wanted) = (count(queued.len() as u64, "change"), wish(todo));
    let names: Vec<String> = match todo {
        Todo::Restore { .. } => Vec::new(),
        _ => queued.iter().map(|queued| queued.key.name.clone()).collect(),
    };
    let finding = |gravity, what: &str| {
        Finding::new(Area::Clients, Code::QueueWaits, gravity, client.name, what)
            .on_entries(client.id, names.clone())
    };
    if runs {
        let what = format!("{changes} {wanted} wait until {} has quit", client.name);
        return finding(Gravity::Note, &what).by(client.reload);
    }
    let what = format!(
        "{changes} {wanted} for {} wait for Callgate's app, which writes them when it runs",
        client.name
    );
    let finding = finding(Gravity::Warning, &what);
    let on_these = |words| on_entries(words, client.id, &names);
    match (todo, &names[..]) {
        (Todo::Protect | Todo::Repair, _) => finding.command("Or write them now", &on_these(PROTECT)),
        (Todo::Unprotect, _) => finding.command("Or write them now", &on_these(UNPROTECT)),
        (Todo::Restore { copy }, _) => {
            finding.command("Or write it now", &["callgate", "clients", "restore", copy])
        }
        (Todo::Place, [name]) => {
            finding.command("Or write it now", &["callgate", "add", name, "--client", client.id])
        }
        (Todo::Place, _) => finding.by("Start Callgate's app"),
    }
}

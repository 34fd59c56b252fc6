//! History, counters, what ended sessions left, and room for more.

use std::path::Path;

use callgate_store::checkup::{self, Counters};
use callgate_store::{StoreError, Trouble};

use super::home::accessible;
use super::{Area, Code, Finding, Gravity, Visit};
use crate::clients::shown;
use crate::text::count;

/// Below this, a busy day may fill the disk.
const LOW: u64 = 512 * 1024 * 1024;
/// Below this, the next call may not be recorded, and what is not recorded is refused.
const OUT: u64 = 32 * 1024 * 1024;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    if !visit.at_home {
        return Vec::new();
    }
    let mut found: Vec<_> = history(visit).into_iter().chain(counters(visit)).collect();
    if found.is_empty() {
        let what = "The history and the counters can be used.";
        found.push(finding(visit, Code::RecordOk, Gravity::Ok, visit.home.path(), what));
    }
    found.extend(leftovers(visit));
    for path in checkup::set_aside(visit.home) {
        let what = format!(
            "A damaged database was put out of the way: {}.",
            shown::path(&visit.clients.machine.home, &path)
        );
        let finding = finding(visit, Code::DatabaseSetAside, Gravity::Note, &path, &what);
        found.push(finding.command(
            "Remove it, if you do not want to rescue anything",
            &["rm", &path.display().to_string()],
        ));
    }
    found.extend(disk(visit));
    found
}

fn finding(visit: &Visit<'_>, code: Code, gravity: Gravity, path: &Path, what: &str) -> Finding {
    Finding::new(Area::Record, code, gravity, &shown::path(&visit.clients.machine.home, path), what)
}

fn history(visit: &Visit<'_>) -> Option<Finding> {
    let error = checkup::history(visit.home).err()?;
    let path = visit.home.history_db();
    let told = |gravity, what: &str| finding(visit, Code::HistoryUnusable, gravity, &path, what);
    Some(match &error {
        StoreError::Database { trouble: Trouble::Corrupt, .. } => {
            let what = format!(
                "The history is damaged: {error}. The next session puts it aside and begins a new one."
            );
            told(Gravity::Warning, &what).by("Copy the file now, if you want to rescue what is in it.")
        }
        StoreError::Newer { .. } => told(Gravity::Problem, &error.to_string()).by("Update Callgate."),
        _ => {
            let finding = told(Gravity::Problem, &format!("The history cannot be read: {error}."));
            accessible(visit, finding, &path, ("Make it readable for yourself", "u+rw"))
        }
    })
}

fn counters(visit: &Visit<'_>) -> Option<Finding> {
    let path = visit.home.limits_db();
    let told = |code, gravity, what: &str| finding(visit, code, gravity, &path, what);
    let anew = "See what counts as used up with `callgate counters SERVER`, and start it anew with --reset.";
    match checkup::counters(visit.home) {
        Ok(None | Some(Counters::Sound)) => None,
        Ok(Some(Counters::Lost | Counters::Replaced)) => {
            let what = "The counters were lost or come from elsewhere: every limit that sessions share counts as used up.";
            Some(told(Code::CountersLost, Gravity::Problem, what).by(anew))
        }
        Err(error @ StoreError::Newer { .. }) => {
            Some(told(Code::CountersUnusable, Gravity::Problem, &error.to_string()).by("Update Callgate."))
        }
        Err(error) => {
            let what =
                format!("The counters cannot be read: {error}. Calls under a shared limit are refused.");
            let finding = told(Code::CountersUnusable, Gravity::Problem, &what);
            Some(match checkup::is_foreign(&path) {
                true => accessible(visit, finding, &path, ("Make it readable for yourself", "u+rw")),
                false => finding.by(anew),
            })
        }
    }
}

fn leftovers(visit: &Visit<'_>) -> Vec<Finding> {
    let left = checkup::leftovers(visit.home);
    let (lost, waiting): (Vec<_>, Vec<_>) = left.into_iter().partition(|left| left.unreadable);
    let mut found = Vec::new();
    if !waiting.is_empty() {
        let what = format!(
            "{} ended without a word; what they recorded is filed by whoever looks next.",
            count(waiting.len() as u64, "session")
        );
        let finding = finding(visit, Code::SessionLeftovers, Gravity::Note, &visit.home.spool_dir(), &what);
        found.push(finding.command("File it now", &["callgate", "status"]));
    }
    for left in lost {
        let path = visit.home.spool(left.session);
        let what = format!(
            "What session {} recorded cannot be read: it is damaged, or of a newer Callgate.",
            left.session
        );
        let finding = finding(visit, Code::SpoolUnreadable, Gravity::Warning, &path, &what);
        found.push(finding.by("Update Callgate; if it stays, remove the file."));
    }
    found
}

fn disk(visit: &Visit<'_>) -> Option<Finding> {
    let free = checkup::free_bytes(visit.home).filter(|free| *free < LOW)?;
    let megabytes = free / 1_000_000;
    let (gravity, more) = match free < OUT {
        true => (Gravity::Problem, " A call that cannot be recorded is refused."),
        false => (Gravity::Warning, ""),
    };
    let what = format!("Only {megabytes} MB are free on the disk of Callgate's folder.{more}");
    let finding = finding(visit, Code::DiskLow, gravity, visit.home.path(), &what);
    Some(finding.command(
        "Free some, for example by forgetting old calls",
        &["callgate", "forget", "--before", "30d"],
    ))
}

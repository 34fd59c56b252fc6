//! History, counters, what ended sessions left, and room for more.

use std::path::Path;

use callgate_history::checkup::{self, Counters};
use callgate_home::{StoreError, Trouble};

use super::home::accessible;
use super::{Area, Checkup, Code, Finding, Gravity};
use crate::DeskError;
use crate::text::count;
use crate::view::Fix;

/// Below this, a busy day may fill the disk.
const LOW: u64 = 512 * 1024 * 1024;
/// Below this, the next call may not be recorded, and what is not recorded is refused.
const OUT: u64 = 32 * 1024 * 1024;

pub(super) fn check(checkup: &Checkup<'_>) -> Vec<Finding> {
    let mut found: Vec<_> = history(checkup).into_iter().chain(counters(checkup)).collect();
    if found.is_empty() {
        let what = "The history and the counters can be used.";
        found.push(finding(checkup, Code::RecordOk, Gravity::Ok, checkup.home.path(), what));
    }
    found.extend(leftovers(checkup));
    for path in checkup::set_aside(checkup.home) {
        let what = format!("A damaged database was put out of the way: {}.", checkup.shown(&path));
        let finding = finding(checkup, Code::DatabaseSetAside, Gravity::Note, &path, &what);
        found.push(finding.command(
            "Remove it, if you do not want to rescue anything",
            &["rm", &path.display().to_string()],
        ));
    }
    found.extend(disk(checkup));
    found
}

fn finding(checkup: &Checkup<'_>, code: Code, gravity: Gravity, path: &Path, what: &str) -> Finding {
    checkup.finding(Area::Record, code, gravity, path, what)
}

fn history(checkup: &Checkup<'_>) -> Option<Finding> {
    checkup::history(checkup.home).err().map(|error| unusable_history(checkup, &error.into()))
}

pub(super) fn unusable_history(checkup: &Checkup<'_>, error: &DeskError) -> Finding {
    let path = checkup.home.history_db();
    let told = |gravity, what: &str| {
        finding(checkup, Code::HistoryUnusable, gravity, &path, what).act(Fix::OpenSettings)
    };
    match error {
        DeskError::Store(StoreError::Database { trouble: Trouble::Corrupt, .. }) => {
            let what = format!(
                "The history is damaged: {error}. The next session puts it aside and begins a new one."
            );
            told(Gravity::Warning, &what).by("Copy the file now, if you want to rescue what is in it.")
        }
        DeskError::Store(StoreError::Newer { .. }) => {
            told(Gravity::Problem, &error.to_string()).by("Update Callgate.")
        }
        _ => {
            let finding = told(Gravity::Problem, &format!("The history cannot be read: {error}."));
            accessible(checkup, finding, &path, ("Make it readable for yourself", "u+rw"))
        }
    }
}

fn counters(checkup: &Checkup<'_>) -> Option<Finding> {
    let path = checkup.home.limits_db();
    let told = |code, gravity, what: &str| finding(checkup, code, gravity, &path, what);
    let anew = "See what counts as used up with `callgate counters SERVER`, and start it anew with --reset.";
    match checkup::counters(checkup.home) {
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
                true => accessible(checkup, finding, &path, ("Make it readable for yourself", "u+rw")),
                false => finding.by(anew),
            })
        }
    }
}

fn leftovers(checkup: &Checkup<'_>) -> Vec<Finding> {
    let left = checkup::leftovers(checkup.home);
    let (lost, waiting): (Vec<_>, Vec<_>) = left.into_iter().partition(|left| left.unreadable);
    let mut found = Vec::new();
    if !waiting.is_empty() {
        let what = format!(
            "{} ended without a word; what they recorded is filed by whoever looks next.",
            count(waiting.len() as u64, "session")
        );
        let finding =
            finding(checkup, Code::SessionLeftovers, Gravity::Note, &checkup.home.spool_dir(), &what);
        found.push(finding.command("File it now", &["callgate", "status"]));
    }
    for left in lost {
        let path = checkup.home.spool(left.session);
        let what = format!(
            "What session {} recorded cannot be read: it is damaged, or of a newer Callgate.",
            left.session
        );
        let finding = finding(checkup, Code::SpoolUnreadable, Gravity::Warning, &path, &what);
        found.push(finding.by("Update Callgate; if it stays, remove the file."));
    }
    found
}

fn disk(checkup: &Checkup<'_>) -> Option<Finding> {
    let free = checkup::free_bytes(checkup.home).filter(|free| *free < LOW)?;
    let megabytes = free / 1_000_000;
    let (gravity, more) = match free < OUT {
        true => (Gravity::Problem, " A call that cannot be recorded is refused."),
        false => (Gravity::Warning, ""),
    };
    let what = format!("Only {megabytes} MB are free on the disk of Callgate's folder.{more}");
    let finding = finding(checkup, Code::DiskLow, gravity, checkup.home.path(), &what);
    Some(finding.command(
        "Free some, for example by forgetting old calls",
        &["callgate", "forget", "--before", "30d"],
    ))
}

//! The folder itself, who can get at it, and the settings in it.

use std::io;
use std::path::Path;

use callgate_store::checkup::{self, Open, Unwritable};
use callgate_store::{HomeError, Settings};

use super::{Area, Code, Finding, Gravity, Visit};
use crate::clients::shown;
use crate::text::count;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let folder = shown::path(&visit.clients.machine.home, visit.home.path());
    let finding = |code, gravity, what: &str| Finding::new(Area::Home, code, gravity, &folder, what);
    if !visit.at_home {
        if let Some(unwritable) = checkup::unwritable(visit.home) {
            let what = format!("{folder} is not there, and cannot be made: {}", unwritable.error);
            let finding = finding(Code::HomeUnwritable, Gravity::Problem, &what);
            return vec![writable_again(visit, finding, &unwritable)];
        }
        let what = format!("{folder} is not there yet; it is made with the first use.");
        return vec![finding(Code::HomeMissing, Gravity::Note, &what)];
    }
    let mut found = Vec::new();
    if let Err(error) = visit.home.check() {
        let finding = finding(Code::HomeUnusable, Gravity::Problem, &format!("It cannot be used: {error}."));
        found.push(mended(visit, finding, &error));
    }
    if let Some(unwritable) = checkup::unwritable(visit.home).filter(|_| found.is_empty()) {
        let path = shown::path(&visit.clients.machine.home, &unwritable.path);
        let what = format!("Every call is refused, because {path} cannot be written: {}", unwritable.error);
        let finding = finding(Code::HomeUnwritable, Gravity::Problem, &what);
        found.push(writable_again(visit, finding, &unwritable));
    }
    found.extend(opened(visit, &folder));
    for problem in Settings::read(visit.home).1 {
        let path = visit.home.settings().display().to_string();
        let finding = Finding::new(Area::Home, Code::SettingsBroken, Gravity::Warning, &path, &problem);
        found.push(finding.by("Mend that line, or set it once more: `callgate settings set KEY VALUE`, or the window's settings."));
    }
    if found.is_empty() {
        found.push(finding(Code::HomeOk, Gravity::Ok, &format!("{folder} is yours alone.")));
    }
    found
}

fn mended(visit: &Visit<'_>, finding: Finding, error: &HomeError) -> Finding {
    match error {
        HomeError::Unsafe { path, .. } => {
            finding.command("Make it yours alone", &["chmod", "go-rwx", &path.display().to_string()])
        }
        HomeError::Newer { .. } => finding.by("Update Callgate."),
        _ => accessible(visit, finding, visit.home.path(), ("Make it readable for yourself", "u+rwx")),
    }
}

/// What lets us get at a file of the home again. A change of mode helps its owner alone.
pub(super) fn accessible(
    visit: &Visit<'_>,
    finding: Finding,
    path: &Path,
    (words, mode): (&str, &str),
) -> Finding {
    let home = visit.home.path();
    if checkup::is_foreign(home) || checkup::is_foreign(path) {
        return owned(finding, home);
    }
    finding.command(words, &["chmod", mode, &path.display().to_string()])
}

/// What belongs to root was made by `sudo`, and is given back by it.
fn owned(finding: Finding, path: &Path) -> Finding {
    let me = std::env::var("USER").ok().filter(|name| !name.is_empty() && name != "root");
    let words = "It belongs to another user (was a command run with sudo?). Make it yours again";
    match me {
        Some(me) => finding.command(words, &["sudo", "chown", "-R", &me, &path.display().to_string()]),
        None => finding.by(&format!("{words}, with chown -R and your own name.")),
    }
}

fn writable_again(visit: &Visit<'_>, finding: Finding, unwritable: &Unwritable) -> Finding {
    let path = &unwritable.path;
    match unwritable.error.kind() {
        io::ErrorKind::PermissionDenied if unwritable.foreign && visit.at_home => {
            owned(finding, visit.home.path())
        }
        io::ErrorKind::PermissionDenied => {
            finding.command("Let yourself write it", &["chmod", "-R", "u+rwX", &path.display().to_string()])
        }
        io::ErrorKind::ReadOnlyFilesystem => finding.by(
            "The disk is mounted read-only: mount it for writing, or let CALLGATE_HOME name a folder elsewhere.",
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            finding.by("The disk is full: free some room on it. Calls pass again as soon as there is some.")
        }
        _ => finding.by("See what keeps it from being written; calls pass again as soon as it can be."),
    }
}

/// One finding for what others may write, and one for what they may read.
fn opened(visit: &Visit<'_>, folder: &str) -> Vec<Finding> {
    let (written, read): (Vec<Open>, Vec<Open>) =
        checkup::open_to_others(visit.home).into_iter().partition(|open| open.written.is_some());
    let told = |open: Vec<Open>, code, gravity, may: &str| {
        let first = open.first()?;
        let name = shown::path(&visit.clients.machine.home, &first.path);
        let more = match open.len() {
            1 => String::new(),
            all => format!(" and {} more", count(all as u64 - 1, "file")),
        };
        let why = first.written.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        let what = format!("Others may {may} {name}{more}{why}.");
        let path = visit.home.path().display().to_string();
        let finding = Finding::new(Area::Home, code, gravity, folder, &what);
        Some(finding.command("Make all of it yours alone", &["chmod", "-R", "go-rwx", &path]))
    };
    let written = told(written, Code::HomeWritable, Gravity::Problem, "write");
    let read = told(read, Code::HomeReadable, Gravity::Warning, "read");
    written.into_iter().chain(read).collect()
}

//! The home folder: can it be used and written, who can get at it, the settings in it.

use std::io;
use std::path::Path;

use callgate_controls::Settings;
use callgate_history::checkup::{self, ExposedPath, Unwritable};
use callgate_home::HomeError;
use callgate_text::count;

use super::{Area, Checkup, Code, Finding, Gravity};
use crate::servers::own_list;
use crate::view::Fix;

pub(super) fn check(checkup: &Checkup<'_>) -> Vec<Finding> {
    let (home, folder) = (checkup.home.path(), checkup.shown(checkup.home.path()));
    let finding = |code, gravity, what: &str| checkup.finding(Area::Home, code, gravity, home, what);
    if !checkup.at_home {
        if let Some(trial) = checkup::unwritable(checkup.home) {
            let what = format!("{folder} is not there, and cannot be made: {}", trial.error);
            let finding = finding(Code::HomeUnwritable, Gravity::Problem, &what);
            return vec![writable_again(checkup, finding, &trial)];
        }
        let what = format!("{folder} is not there yet; it is made with the first use.");
        return vec![finding(Code::HomeMissing, Gravity::Note, &what)];
    }
    let mut found: Vec<_> =
        checkup.home.check().err().map(|error| unusable(checkup, &error)).into_iter().collect();
    if let Some(trial) = checkup::unwritable(checkup.home).filter(|_| found.is_empty()) {
        found.push(unwritable(checkup, &trial));
    }
    found.extend(opened(checkup));
    found.extend(settings(checkup));
    if found.is_empty() {
        found.push(finding(Code::HomeOk, Gravity::Ok, &format!("{folder} is yours alone.")));
    }
    found
}

pub(super) fn unusable(checkup: &Checkup<'_>, error: &HomeError) -> Finding {
    let words = format!("Callgate's folder cannot be used: {error}");
    let path = checkup.home.path();
    mended(checkup, checkup.finding(Area::Home, Code::HomeUnusable, Gravity::Problem, path, &words), error)
}

/// By the one lock that is there anyway; trying every folder takes a while.
pub(super) fn unwritable_now(checkup: &Checkup<'_>) -> Option<Finding> {
    let error = checkup.home.check_writable().err()?;
    let path = checkup.home.path().to_owned();
    let foreign = checkup::is_foreign(&path);
    Some(unwritable(checkup, &Unwritable { path, error, foreign }))
}

/// Nothing can be recorded there, and what cannot be recorded is refused.
fn unwritable(checkup: &Checkup<'_>, trial: &Unwritable) -> Finding {
    let path = checkup.shown(&trial.path);
    let words = format!("Every call is refused, because {path} cannot be written: {}", trial.error);
    let home = checkup.home.path();
    let finding = checkup.finding(Area::Home, Code::HomeUnwritable, Gravity::Problem, home, &words);
    writable_again(checkup, finding, trial)
}

/// What a person has written down about Callgate itself: settings, and servers of their own.
pub(super) fn settings(checkup: &Checkup<'_>) -> Vec<Finding> {
    let warning = |code, path: &Path, problem: &str| {
        let finding = checkup.finding(Area::Home, code, Gravity::Warning, path, problem);
        finding.act(Fix::OpenSettings)
    };
    let settings = Settings::read(checkup.home).1.into_iter().map(|problem| {
        let finding = warning(Code::SettingsBroken, &checkup.home.settings(), &problem);
        finding.by("Mend that line, or set it once more: `callgate settings set KEY VALUE`, or the window's settings.")
    });
    let servers = own_list::read(checkup.home).problem.map(|problem| {
        let finding = warning(Code::ServersBroken, &checkup.home.path().join("servers.json"), &problem);
        finding.by("Mend the file; until then no server is added or removed here.")
    });
    settings.chain(servers).collect()
}

fn mended(checkup: &Checkup<'_>, finding: Finding, error: &HomeError) -> Finding {
    match error {
        HomeError::Unsafe { path, .. } => {
            finding.command("Make it yours alone", &["chmod", "go-rwx", &path.display().to_string()])
        }
        HomeError::Newer { .. } => finding.by("Update Callgate."),
        _ => accessible(checkup, finding, checkup.home.path(), ("Make it readable for yourself", "u+rwx")),
    }
}

/// What lets us get at a file of the home again. A change of mode helps its owner alone.
pub(super) fn accessible(
    checkup: &Checkup<'_>,
    finding: Finding,
    path: &Path,
    (words, mode): (&str, &str),
) -> Finding {
    let home = checkup.home.path();
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

fn writable_again(checkup: &Checkup<'_>, finding: Finding, unwritable: &Unwritable) -> Finding {
    let path = &unwritable.path;
    match unwritable.error.kind() {
        io::ErrorKind::PermissionDenied if unwritable.foreign && checkup.at_home => {
            owned(finding, checkup.home.path())
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
fn opened(checkup: &Checkup<'_>) -> Vec<Finding> {
    let (written, read): (Vec<ExposedPath>, Vec<ExposedPath>) =
        checkup::open_to_others(checkup.home).into_iter().partition(|open| open.written.is_some());
    let told = |open: Vec<ExposedPath>, code, gravity, may: &str| {
        let first = open.first()?;
        let name = checkup.shown(&first.path);
        let more = match open.len() {
            1 => String::new(),
            all => format!(" and {} more", count(all as u64 - 1, "file")),
        };
        let why = first.written.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        let what = format!("Others may {may} {name}{more}{why}.");
        let path = checkup.home.path().display().to_string();
        let finding = checkup.finding(Area::Home, code, gravity, checkup.home.path(), &what);
        Some(finding.command("Make all of it yours alone", &["chmod", "-R", "go-rwx", &path]))
    };
    let written = told(written, Code::HomeWritable, Gravity::Problem, "write");
    let read = told(read, Code::HomeReadable, Gravity::Warning, "read");
    written.into_iter().chain(read).collect()
}

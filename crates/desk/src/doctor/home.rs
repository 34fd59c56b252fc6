//! The folder itself, who can get at it, and the settings in it.

use callgate_store::checkup::{self, Open};
use callgate_store::{HomeError, Settings};

use super::{Area, Code, Finding, Gravity, Visit};
use crate::clients::shown;
use crate::text::count;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let folder = shown::path(&visit.clients.machine.home, visit.home.path());
    let finding = |code, gravity, what: &str| Finding::new(Area::Home, code, gravity, &folder, what);
    if !visit.at_home {
        let what = format!("{folder} is not there yet; it is made with the first use.");
        return vec![finding(Code::HomeMissing, Gravity::Note, &what)];
    }
    let mut found = Vec::new();
    if let Err(error) = visit.home.check() {
        let finding = finding(Code::HomeUnusable, Gravity::Problem, &format!("It cannot be used: {error}."));
        found.push(mended(visit, finding, &error));
    }
    found.extend(opened(visit, &folder));
    for problem in Settings::read(visit.home).1 {
        let path = visit.home.settings().display().to_string();
        let finding = Finding::new(Area::Home, Code::SettingsBroken, Gravity::Warning, &path, &problem);
        found.push(finding.by("Mend that line, or set it once more in the window's settings."));
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
        _ => {
            let words = "Make it readable for yourself";
            finding.command(words, &["chmod", "u+rwx", &visit.home.path().display().to_string()])
        }
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

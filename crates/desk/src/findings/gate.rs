//! `bin/callgate`: the program that clients' files name, and the partner beside it.

use std::ffi::OsStr;
use std::path::Path;

use callgate_clients::survey::entries;
use callgate_programs::{Pair, numbers, version_of};
use callgate_supervise::find;

use super::entries::{PROTECT, on_entries};
use super::{Area, Code, Finding, Gravity, Visit};

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let place = callgate_programs::place(visit.checkup.home.path());
    let shown = visit.checkup.shown(&place);
    let finding = |code, gravity, what: &str| Finding::new(Area::Gate, code, gravity, &shown, what);
    let named = place.to_string_lossy();
    let gated = |entry: &&callgate_clients::survey::Entry| {
        entry.server.gated.as_ref().is_some_and(|gate| gate.binary == named)
    };
    let mut wanted = entries(&visit.clients.surveyed).filter(gated);
    // Putting an entry behind the gate puts the program in place first.
    let again = |finding: Finding, client: &str| {
        finding.command("Put it there again", &on_entries(PROTECT, client, &[]))
    };
    if !place.exists() {
        return vec![match wanted.next() {
            Some(entry) => {
                let others = wanted.count();
                let others = if others > 0 { format!(" and {others} more") } else { String::new() };
                let what = format!(
                    "{shown} is not there, but {}{others} would be started through it: they do not start.",
                    entry.key.name
                );
                again(finding(Code::GateMissing, Gravity::Problem, &what), &entry.key.client)
            }
            None => {
                let what = format!("{shown} is not there yet; it comes with the first protected server.");
                finding(Code::GateMissing, Gravity::Note, &what)
            }
        }];
    }
    let client = wanted.next().map_or("--all", |entry| entry.key.client.as_str());
    if find(place.as_os_str(), OsStr::new("")).is_none() {
        let what = format!("{shown} may not be run, so no server behind the gate starts.");
        let finding = finding(Code::GateNotExecutable, Gravity::Problem, &what);
        return vec![finding.command("Let it be run", &["chmod", "u+rwx", &named])];
    }
    let ours = env!("CARGO_PKG_VERSION");
    vec![match (version_of(&place), numbers(ours)) {
        (None, _) => {
            let what = format!("{shown} does not say its version: it is damaged, or not for this system.");
            again(finding(Code::GateBroken, Gravity::Problem, &what), client)
        }
        (Some(there), Some(here)) if there < here => {
            let what =
                format!("{shown} is older than this program ({ours}): servers behind it run the old one.");
            again(finding(Code::GateOtherVersion, Gravity::Warning, &what), client)
        }
        (Some(there), here) => match without_partner(&place, &there) {
            Some(why) => {
                let what = format!(
                    "{why}. Servers start through {shown}, but not those with secrets in the keychain; calls that are held against a tool's \
                     schema are refused; and it has no other command."
                );
                again(finding(Code::GatePartner, Gravity::Problem, &what), client)
            }
            None if here.is_some_and(|here| there > here) => {
                let what = format!("{shown} is newer than this program ({ours}).");
                finding(Code::GateOtherVersion, Gravity::Note, &what).by("Update this program, too.")
            }
            None => finding(Code::GateOk, Gravity::Ok, &format!("{shown} is there ({ours}).")),
        },
    }]
}

/// What is wrong with the program beside a gate of this version.
fn without_partner(gate: &Path, version: &[u64]) -> Option<String> {
    match Pair::at(gate.to_owned()) {
        Ok(pair) if version_of(&pair.partner).as_deref() == Some(version) => None,
        Ok(pair) => Some(format!("{} is not of the gate's version, or does not run", pair.partner.display())),
        Err(why) => Some(why.to_string()),
    }
}

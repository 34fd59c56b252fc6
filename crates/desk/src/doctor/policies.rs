//! The files that decide about calls: policies, the pause switch, what is allowed for a while.

use std::path::{Path, PathBuf};

use callgate_policy::lint::lint;
use callgate_policy::nearest;
use callgate_store::allowance;
use callgate_store::catalogue::{self, Catalogue};
use callgate_store::history::DEMO_SERVER;
use callgate_store::home::read_private;
use callgate_store::pause::{self, Switch};

use super::home::accessible;
use super::{Area, Code, Finding, Gravity, Visit};
use crate::clients::shown;
use crate::protection::{Unusable, version_in};
use crate::text::{client_name, count, name};

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    if !visit.at_home {
        return Vec::new();
    }
    let mut found: Vec<_> = default(visit).into_iter().collect();
    let files = files(visit);
    found.extend(files.iter().filter_map(|path| broken(visit, path)));
    if found.is_empty() {
        let what = format!(
            "{} can be used, the default one among them.",
            count(files.len() as u64 + 1, "policy file")
        );
        found.push(finding(visit, Code::PoliciesOk, Gravity::Ok, &visit.home.policies_dir(), &what));
    }
    found.extend(files.iter().filter_map(|path| stray(visit, path)));
    found.extend(files.iter().chain([&visit.home.default_policy()]).filter_map(|path| misses(visit, path)));
    found.extend(paused(visit));
    if let Some(problem) = allowance::read(visit.home).problem {
        let path = visit.home.allowances();
        let finding = finding(visit, Code::AllowancesBroken, Gravity::Warning, &path, &problem);
        found.push(finding.by("Nothing is allowed by it. Remove the file, and allow again what you meant."));
    }
    found
}

fn finding(visit: &Visit<'_>, code: Code, gravity: Gravity, path: &Path, what: &str) -> Finding {
    let shown = shown::path(&visit.clients.machine.home, path);
    Finding::new(Area::Policies, code, gravity, &shown, what)
}

/// Those of single servers.
fn files(visit: &Visit<'_>) -> Vec<PathBuf> {
    let default = visit.home.default_policy();
    let entries = std::fs::read_dir(visit.home.policies_dir()).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json") && *path != default);
    paths.sort();
    paths
}

fn default(visit: &Visit<'_>) -> Option<Finding> {
    let path = visit.home.default_policy();
    match version_in(&path).err()? {
        Unusable::Missing(_) => {
            let what = "The default policy is gone: servers without a policy of their own refuse every call.";
            let finding = finding(visit, Code::PolicyDefaultMissing, Gravity::Problem, &path, what);
            Some(finding.command("Put it back", &["callgate", "policy", "default", "--restore"]))
        }
        Unusable::Unreadable(_) | Unusable::Broken(_) => broken(visit, &path),
    }
}

fn broken(visit: &Visit<'_>, path: &Path) -> Option<Finding> {
    let unusable = version_in(path).err()?;
    let what = format!(
        "{}. Sessions that run keep the last good version; new ones refuse every call.",
        unusable.why()
    );
    let finding = finding(visit, Code::PolicyBroken, Gravity::Problem, path, &what);
    Some(match unusable {
        Unusable::Broken(_) => {
            let path = path.display().to_string();
            finding.command("See all that is wrong with it", &["callgate", "policy", "check", &path])
        }
        Unusable::Missing(_) | Unusable::Unreadable(_) => {
            accessible(visit, finding, path, ("Make it yours alone", "u+rw,go-rwx"))
        }
    })
}

/// A mistyped name protects nothing.
fn stray(visit: &Visit<'_>, path: &Path) -> Option<Finding> {
    let known = visit.servers.as_ref()?;
    let demo = std::iter::once(DEMO_SERVER);
    if known.iter().map(String::as_str).chain(demo).any(|server| visit.home.policy(server) == *path) {
        return None;
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let meant = match nearest(&stem, &names) {
        Some(near) => format!("Did you mean {}?", name(near)),
        None => "Is its name mistyped?".to_owned(),
    };
    let what =
        format!("It is for no server that a client has, or that ever ran: it protects nothing. {meant}");
    let finding = finding(visit, Code::PolicyStray, Gravity::Warning, path, &what);
    Some(finding.by("Rename the file to the server's name, or remove it."))
}

/// Rules that can never count, by what the server listed last.
fn misses(visit: &Visit<'_>, path: &Path) -> Option<Finding> {
    let text = read_private(path).ok()?;
    let known = catalogue::of_policy(visit.home, path);
    let tools = known.as_ref().map(Catalogue::server_tools);
    let told = lint(&text, tools.as_ref(), visit.now_ms);
    let first = told.first()?;
    let more = match told.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let what = format!("Line {}: {}{more}", first.line, first.message);
    let finding = finding(visit, Code::PolicyMisses, Gravity::Warning, path, &what);
    Some(finding.command(
        "See all of it, with how to mend it",
        &["callgate", "policy", "check", &path.display().to_string()],
    ))
}

fn paused(visit: &Visit<'_>) -> Vec<Finding> {
    let told = |code, gravity, what: &str, words: &[&str]| {
        let command = [&["callgate", "resume"], words].concat();
        finding(visit, code, gravity, &visit.home.paused(), what).command("Let calls through again", &command)
    };
    match pause::read(visit.home) {
        Switch::Broken(why) => {
            let what = format!("Every call is refused, because {why}.");
            let path = visit.home.paused();
            let finding = told(Code::PauseBroken, Gravity::Problem, &what, &[]);
            // What cannot be read cannot be resumed either.
            vec![match std::fs::File::open(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    accessible(visit, finding, &path, ("Make it readable for yourself", "u+rw"))
                }
                _ => finding,
            }]
        }
        Switch::Readable(pauses) => {
            let all = pauses.all.iter().map(|_| {
                told(
                    Code::Paused,
                    Gravity::Warning,
                    "Every call is refused: a person paused everything.",
                    &[],
                )
            });
            let each = pauses.servers.keys().map(|server| {
                let what = format!("Every call to {} is refused: a person paused it.", name(server));
                told(Code::Paused, Gravity::Warning, &what, &[server])
            });
            let clients = pauses.clients.keys().map(|client| {
                let what = format!("Calls of {} are refused: a person paused it.", client_name(client));
                told(Code::Paused, Gravity::Warning, &what, &["--client", client])
            });
            all.chain(each).chain(clients).collect()
        }
    }
}

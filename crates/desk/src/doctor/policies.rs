//! The files that decide about calls: policies, the pause switch, what is allowed for a while.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use callgate_clients::own;
use callgate_clients::survey::State;
use callgate_policy::lint::lint;
use callgate_policy::nearest;
use callgate_store::catalogue::{self, Catalogue};
use callgate_store::home::read_private;
use callgate_store::pause::{self, Switch};
use callgate_store::{allowance, checkup, running};

use super::{Area, Code, Finding, Gravity, Visit};
use crate::clients::shown;
use crate::protection::{Unusable, version_in};
use crate::text::{count, name};

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
    found.extend(files.iter().chain([&visit.home.default_policy()]).filter_map(|path| misses(visit, path)));
    found.extend(stray(visit, &files));
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
    let back = "Open Callgate's window: it offers to put the default policy back.";
    match version_in(&path).err()? {
        Unusable::Missing(_) => {
            let what = "The default policy is gone: servers without a policy of their own refuse every call.";
            Some(finding(visit, Code::PolicyDefaultMissing, Gravity::Problem, &path, what).by(back))
        }
        Unusable::Unreadable(_) | Unusable::Broken(_) => broken(visit, &path),
    }
}

fn broken(visit: &Visit<'_>, path: &Path) -> Option<Finding> {
    let unusable = version_in(path).err()?;
    let what = format!("{}. Every call that it is for is refused.", unusable.why());
    let finding = finding(visit, Code::PolicyBroken, Gravity::Problem, path, &what);
    let path = path.display().to_string();
    Some(match unusable {
        Unusable::Broken(_) => {
            finding.command("See all that is wrong with it", &["callgate", "policy", "check", &path])
        }
        Unusable::Missing(_) | Unusable::Unreadable(_) => {
            finding.command("Make it yours alone", &["chmod", "u+rw,go-rwx", &path])
        }
    })
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

/// Files of servers that nobody knows: a slip of the finger, mostly, by which the server that was meant goes without.
fn stray(visit: &Visit<'_>, files: &[PathBuf]) -> Vec<Finding> {
    if files.is_empty() {
        return Vec::new();
    }
    let Some(names) = known_servers(visit) else { return Vec::new() };
    let policies: BTreeMap<PathBuf, &str> =
        names.iter().map(|name| (visit.home.policy(name), name.as_str())).collect();
    let strays = files.iter().filter(|path| !policies.contains_key(*path));
    let told = strays.map(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let meant =
            nearest(&stem, &known).map(|near| format!(" Did you mean {}?", name(near))).unwrap_or_default();
        let what = format!(
            "No client, session or list knows a server of this name, so the policy holds nobody.{meant}"
        );
        let path_text = path.display().to_string();
        finding(visit, Code::PolicyStray, Gravity::Warning, path, &what)
            .command("If it is not needed, remove it", &["rm", &path_text])
    });
    told.collect()
}

/// Every name that a server has, had or will have; none if it cannot be told, for then nothing is stray.
fn known_servers(visit: &Visit<'_>) -> Option<BTreeSet<String>> {
    let mut names: BTreeSet<String> = checkup::servers(visit.home).ok()?.into_iter().collect();
    names.extend(running(visit.home).into_iter().map(|lease| lease.server));
    for entry in visit.clients.surveyed.iter().flat_map(|file| file.entries()) {
        names.insert(entry.key.name.clone());
        if let State::Protected { server } = &entry.state {
            names.insert(server.clone());
        }
    }
    let ledger = &visit.clients.ledger;
    names.extend(ledger.rows.iter().chain(&ledger.former).map(|row| row.server.clone()));
    names.extend(own::commands(visit.home.path()).ok()?.into_iter().map(|(name, _)| name));
    Some(names)
}

fn paused(visit: &Visit<'_>) -> Vec<Finding> {
    let told = |code, gravity, what: &str, server: Option<&str>| {
        let mut command = vec!["callgate", "resume"];
        command.extend(server);
        finding(visit, code, gravity, &visit.home.paused(), what).command("Let calls through again", &command)
    };
    match pause::read(visit.home) {
        Switch::Broken(why) => {
            let what = format!("Every call is refused, because {why}.");
            vec![told(Code::PauseBroken, Gravity::Problem, &what, None)]
        }
        Switch::Readable(pauses) => {
            let all = pauses.all.iter().map(|_| {
                told(
                    Code::Paused,
                    Gravity::Warning,
                    "Every call is refused: a person paused everything.",
                    None,
                )
            });
            let each = pauses.servers.keys().map(|server| {
                let what = format!("Every call to {} is refused: a person paused it.", name(server));
                told(Code::Paused, Gravity::Warning, &what, Some(server))
            });
            all.chain(each).collect()
        }
    }
}

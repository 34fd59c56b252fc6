//! Policy files: broken, gone, not the ones in force, for nobody, or with rules that miss.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callgate_controls::catalogue::{self, Catalogue};
use callgate_history::DEMO_SERVER;
use callgate_home::read_private;
use callgate_policy::lint::lint;
use callgate_policy::nearest;

use super::home::accessible;
use super::stopped_policies::{Broken, StoppedPolicies};
use super::{Area, Checkup, Code, Finding, Gravity, Sessions, Visit, switches};
use crate::protection::{Trouble, Unusable};
use crate::text::{count, name};
use crate::view::Fix;

/// All that decides about calls.
pub(super) fn check(visit: &Visit<'_>, sessions: &mut Sessions<'_>) -> Vec<Finding> {
    let checkup = &visit.checkup;
    let stopped = StoppedPolicies::default().look(checkup.home, &sessions.leases);
    let mut found = of_sessions(checkup, sessions);
    found.extend(default(checkup, sessions));
    found.extend(of_stopped(checkup, &stopped));
    let files = files(visit);
    if found.is_empty() {
        let what = format!(
            "{} can be used, the default one among them.",
            count(files.len() as u64 + 1, "policy file")
        );
        let folder = checkup.home.policies_dir();
        found.push(checkup.finding(Area::Policies, Code::PoliciesOk, Gravity::Ok, &folder, &what));
    }
    found.extend(files.iter().filter_map(|path| stray(visit, path)));
    let default = checkup.home.default_policy();
    found.extend(files.iter().chain([&default]).filter_map(|path| misses(visit, path)));
    found.extend(switches::pauses(checkup, &sessions.switch));
    found.extend(switches::allowances(checkup, &sessions.guards.allowances));
    found
}

/// Those of single servers.
fn files(visit: &Visit<'_>) -> Vec<PathBuf> {
    let default = visit.checkup.home.default_policy();
    let entries = std::fs::read_dir(visit.checkup.home.policies_dir()).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json") && *path != default);
    paths.sort();
    paths
}

/// The command that shows what is wrong with a file, or lets it be read.
fn mended(checkup: &Checkup<'_>, finding: Finding, path: &Path, readable: bool) -> Finding {
    let shown = path.display().to_string();
    match readable {
        true => finding.command("See all that is wrong with it", &["callgate", "policy", "check", &shown]),
        false => accessible(checkup, finding, path, ("Make it yours alone", "u+rw,go-rwx")),
    }
}

/// Policies that are broken, gone or not the ones in force; one finding for each server that runs.
pub(super) fn of_sessions(checkup: &Checkup<'_>, sessions: &mut Sessions<'_>) -> Vec<Finding> {
    let guards = &mut sessions.guards;
    let mut troubled: BTreeMap<&str, (Trouble, String)> = BTreeMap::new();
    for lease in &sessions.leases {
        let Some((trouble, words)) = guards.of(lease).problem else { continue };
        match trouble {
            // Said with the default policy, once for all of them.
            Trouble::NoPolicy | Trouble::FileBroken if guards.lacks_default(&lease.server) => {}
            // Said with the switch and with the allowances.
            Trouble::Paused | Trouble::Observed => {}
            // Sessions are about to take it up.
            Trouble::Older | Trouble::FileDeleted | Trouble::FileBroken if guards.is_fresh(&lease.server) => {
            }
            trouble => {
                troubled.entry(&lease.server).or_insert((trouble, words));
            }
        }
    }
    let told = |(server, (trouble, problem)): (&str, (Trouble, String))| {
        let (shown, path) = (name(server), checkup.home.policy(server));
        let (code, words) = match trouble {
            Trouble::FileDeleted => (
                Code::PolicyGone,
                format!(
                    "The policy of {shown} is gone: what runs keeps it, what starts anew gets the default"
                ),
            ),
            Trouble::Older => (
                Code::PolicyUnread,
                format!("{shown} runs on an older policy than its file: restart its client"),
            ),
            Trouble::NoPolicy => (Code::PolicyBroken, format!("All calls to {shown} are refused: {problem}")),
            _ => (Code::PolicyBroken, format!("The policy of {shown} is broken: {problem}")),
        };
        let finding = checkup.finding(Area::Policies, code, Gravity::Problem, &path, &words);
        let finding = finding.on_server(Some(server)).act(Fix::OpenRules { server: server.to_owned() });
        match code {
            Code::PolicyBroken => mended(checkup, finding, &path, read_private(&path).is_ok()),
            _ => finding,
        }
    };
    troubled.into_iter().map(told).collect()
}

/// The default policy counts for servers without one of their own. Without it they refuse every call.
pub(super) fn default(checkup: &Checkup<'_>, sessions: &mut Sessions<'_>) -> Option<Finding> {
    let path = checkup.home.default_policy();
    let unusable = sessions.guards.version(&path).err()?;
    // One that began with a good policy keeps it until it ends.
    let refuses = sessions
        .leases
        .iter()
        .any(|lease| lease.policy_version.is_none() && !checkup.home.policy(&lease.server).exists());
    let whose = if refuses { "servers without a policy of their own" } else { "new servers" };
    let told = |code, words: &str| {
        let finding = checkup.finding(Area::Policies, code, Gravity::Problem, &path, words);
        finding.act(Fix::RestoreDefault)
    };
    Some(match unusable {
        Unusable::Missing(_) => {
            let words = format!(
                "The default policy is missing: {whose} refuse every call until {} is back",
                path.display()
            );
            told(Code::PolicyDefaultMissing, &words)
                .command("Put it back", &["callgate", "policy", "default", "--restore"])
        }
        Unusable::Unreadable(ref why) | Unusable::Broken(ref why) => {
            let words = format!("The default policy is broken: {whose} refuse every call. {why}");
            let readable = matches!(unusable, Unusable::Broken(_));
            mended(checkup, told(Code::PolicyBroken, &words), &path, readable)
        }
    })
}

/// Nothing is refused by these yet; the next session of each would refuse everything.
pub(super) fn of_stopped(checkup: &Checkup<'_>, broken: &[Broken]) -> Vec<Finding> {
    let told = |one: &Broken| {
        let shown = one.server.as_deref().map_or_else(|| "a server".to_owned(), name);
        let words = format!(
            "The policy of {shown} is broken: it refuses every call when it starts next. {}",
            one.why
        );
        let finding =
            checkup.finding(Area::Policies, Code::PolicyBroken, Gravity::Problem, &one.path, &words);
        let finding = finding.on_server(one.server.as_deref());
        let finding = mended(checkup, finding, &one.path, one.readable);
        match &one.server {
            Some(server) => finding.act(Fix::OpenRules { server: server.clone() }),
            None => finding,
        }
    };
    broken.iter().map(told).collect()
}

/// A mistyped name protects nothing.
fn stray(visit: &Visit<'_>, path: &Path) -> Option<Finding> {
    let known = visit.servers.as_ref()?;
    let demo = std::iter::once(DEMO_SERVER);
    if known.iter().map(String::as_str).chain(demo).any(|server| visit.checkup.home.policy(server) == *path) {
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
    let finding = visit.checkup.finding(Area::Policies, Code::PolicyStray, Gravity::Warning, path, &what);
    Some(finding.by("Rename the file to the server's name, or remove it."))
}

/// Rules that can never count, by what the server listed last.
fn misses(visit: &Visit<'_>, path: &Path) -> Option<Finding> {
    let text = read_private(path).ok()?;
    let known = catalogue::of_policy(visit.checkup.home, path);
    let tools = known.as_ref().map(Catalogue::server_tools);
    let told = lint(&text, tools.as_ref(), visit.checkup.now.wall_ms);
    let first = told.first()?;
    let more = match told.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let what = format!("Line {}: {}{more}", first.line, first.message);
    let finding = visit.checkup.finding(Area::Policies, Code::PolicyMisses, Gravity::Warning, path, &what);
    Some(finding.command(
        "See all of it, with how to mend it",
        &["callgate", "policy", "check", &path.display().to_string()],
    ))
}

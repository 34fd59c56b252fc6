//! What needs a person: each thing in one sentence, with what mends it.

use std::collections::BTreeMap;

use callgate_store::allowance::{Allowances, What};
use callgate_store::clock::Moment;
use callgate_store::pause::Switch;
use callgate_store::{Home, HomeError, Lease, Settings};

use crate::DeskError;
use crate::error::advice;
use crate::protection::{Guards, Trouble, Unusable};
use crate::servers::listed;
use crate::stopped::Broken;
use crate::text::{client_name, clip, harmless, name, span};
use crate::view::{Fix, Need};

/// The longest sentence, in characters: parts of it were written by others.
const LONGEST: usize = 600;

fn need(words: &str, fix: Option<Fix>, server: Option<&str>, serious: bool) -> Need {
    let words = clip(&harmless(words), LONGEST);
    Need { words, fix, server: server.map(str::to_owned), serious }
}

pub(super) fn of_home(error: &HomeError) -> Need {
    need(&format!("Callgate's folder cannot be used: {error}"), None, None, true)
}

/// Nothing can be recorded there, and what cannot be recorded is refused.
pub(super) fn of_writing(home: &Home) -> Option<Need> {
    let error = home.check_writable().err()?;
    let folder = home.path().display();
    let todo = advice(error.kind()).unwrap_or("Find out what keeps it from being written.");
    let words = format!(
        "Callgate's folder {folder} cannot be written ({error}): calls are refused, and nothing can be saved. {todo}"
    );
    Some(need(&words, None, None, true))
}

pub(super) fn of_history(error: &DeskError) -> Need {
    need(&format!("The history cannot be read: {error}"), Some(Fix::OpenSettings), None, false)
}

pub(super) fn of_pauses(switch: &Switch) -> Vec<Need> {
    let because = |reason: &Option<String>| {
        let reason = reason.as_deref().filter(|reason| !reason.is_empty());
        reason.map_or(String::new(), |reason| format!(": {}", clip(&harmless(reason), 120)))
    };
    match switch {
        Switch::Broken(why) => {
            let words = format!("All calls are refused, because the pause switch is broken: {why}");
            vec![need(&words, Some(Fix::Resume { server: None, client: None }), None, true)]
        }
        Switch::Readable(pauses) => {
            let all = pauses.all.iter().map(|pause| {
                let words = format!("All calls are paused{}", because(&pause.reason));
                need(&words, Some(Fix::Resume { server: None, client: None }), None, true)
            });
            let each = pauses.servers.iter().map(|(server, pause)| {
                let words = format!("Calls to {} are paused{}", name(server), because(&pause.reason));
                let fix = Fix::Resume { server: Some(server.clone()), client: None };
                need(&words, Some(fix), Some(server), true)
            });
            let clients = pauses.clients.iter().flat_map(|(client, pauses)| {
                let all = pauses.all.iter().map(|pause| (None, pause));
                let each = pauses.servers.iter().map(|(server, pause)| (Some(server), pause));
                all.chain(each).map(|(server, pause)| {
                    let whither = server.map(|server| format!(" to {}", name(server))).unwrap_or_default();
                    let words = format!(
                        "Calls of {}{whither} are paused{}",
                        client_name(client),
                        because(&pause.reason)
                    );
                    let fix = Fix::Resume { server: server.cloned(), client: Some(client.clone()) };
                    need(&words, Some(fix), server.map(String::as_str), true)
                })
            });
            all.chain(each).chain(clients).collect()
        }
    }
}

/// Policies that are broken, gone or not the ones in force; one sentence for each server.
pub(super) fn of_sessions(sessions: &[Lease], guards: &mut Guards<'_>) -> Vec<Need> {
    let mut troubled: BTreeMap<&str, (Trouble, String)> = BTreeMap::new();
    for lease in sessions {
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
        let shown = name(server);
        let words = match trouble {
            Trouble::NoPolicy => format!("All calls to {shown} are refused: {problem}"),
            Trouble::FileDeleted => {
                format!(
                    "The policy of {shown} is gone: what runs keeps it, what starts anew gets the default"
                )
            }
            Trouble::Older => format!("{shown} runs on an older policy than its file: restart its client"),
            _ => format!("The policy of {shown} is broken: {problem}"),
        };
        need(&words, Some(Fix::OpenRules { server: server.to_owned() }), Some(server), true)
    };
    troubled.into_iter().map(told).collect()
}

pub(super) fn of_allowances(allowances: &Allowances, now: &Moment) -> Vec<Need> {
    let observed = allowances.all.iter().filter(|one| one.what == What::Observe && one.is_open(now));
    let mut needs: Vec<Need> = observed
        .map(|one| {
            let left = std::time::Duration::from_millis((one.ends_ms - now.wall_ms).max(0).unsigned_abs());
            let whom = one
                .client
                .as_deref()
                .map(|client| format!(" for {}", client_name(client)))
                .unwrap_or_default();
            let words = format!("{} is only watched{whom} for {} more", name(&one.server), span(left));
            need(&words, Some(Fix::EndAllowance { id: one.id.clone() }), Some(&one.server), true)
        })
        .collect();
    if let Some(problem) = &allowances.problem {
        needs.push(need(problem, Some(Fix::OpenSettings), None, false));
    }
    needs
}

/// The default policy counts for servers without one of their own. Without it they refuse every call.
pub(super) fn of_default(home: &Home, sessions: &[Lease], guards: &mut Guards<'_>) -> Vec<Need> {
    let path = home.default_policy();
    let Err(unusable) = guards.version(&path) else { return Vec::new() };
    let mut concerned = sessions.iter().filter(|lease| !home.policy(&lease.server).exists()).peekable();
    let serious = concerned.peek().is_some();
    // One that began with a good policy keeps it until it ends.
    let whose = match concerned.any(|lease| lease.policy_version.is_none()) {
        true => "servers without a policy of their own",
        false => "new servers",
    };
    let words = match unusable {
        Unusable::Missing(_) => {
            let path = path.display();
            format!("The default policy is missing: {whose} refuse every call until {path} is back")
        }
        Unusable::Unreadable(why) | Unusable::Broken(why) => {
            format!("The default policy is broken: {whose} refuse every call. {why}")
        }
    };
    vec![need(&words, Some(Fix::RestoreDefault), None, serious)]
}

/// Nothing is refused by these yet; the next session of each would refuse everything.
pub(super) fn of_stopped(broken: &[Broken]) -> Vec<Need> {
    let told = |one: &Broken| {
        let shown = one.server.as_deref().map_or_else(|| "a server".to_owned(), name);
        let words = format!(
            "The policy of {shown} is broken: it refuses every call when it starts next. {}",
            one.why
        );
        let fix = one.server.clone().map(|server| Fix::OpenRules { server });
        need(&words, fix, one.server.as_deref(), false)
    };
    broken.iter().map(told).collect()
}

pub(super) fn of_settings(home: &Home) -> Vec<Need> {
    let told = |problem: String| need(&problem, Some(Fix::OpenSettings), None, false);
    Settings::read(home).1.into_iter().chain(listed::read(home).problem).map(told).collect()
}

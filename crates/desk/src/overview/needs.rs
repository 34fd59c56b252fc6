//! What needs a person: each thing in one sentence, with what mends it.

use std::collections::BTreeMap;

use callgate_store::allowance::{Allowances, What};
use callgate_store::clock::Moment;
use callgate_store::pause::Switch;
use callgate_store::{Home, HomeError, Lease, Settings};

use crate::DeskError;
use crate::protection::{Guards, Trouble, Unusable};
use crate::servers::listed;
use crate::text::{clip, harmless, span};
use crate::view::{Fix, Need};

fn need(words: String, fix: Option<Fix>, server: Option<&str>, serious: bool) -> Need {
    Need { words, fix, server: server.map(str::to_owned), serious }
}

pub(super) fn of_home(error: &HomeError) -> Need {
    need(format!("Callgate's folder cannot be used: {error}"), None, None, true)
}

pub(super) fn of_history(error: &DeskError) -> Need {
    need(format!("The history cannot be read: {error}"), Some(Fix::OpenSettings), None, false)
}

pub(super) fn of_pauses(switch: &Switch) -> Vec<Need> {
    let because = |reason: &Option<String>| {
        let reason = reason.as_deref().filter(|reason| !reason.is_empty());
        reason.map_or(String::new(), |reason| format!(": {}", clip(&harmless(reason), 120)))
    };
    match switch {
        Switch::Broken(why) => {
            let words = format!("All calls are refused, because the pause switch is broken: {why}");
            vec![need(words, Some(Fix::Resume { server: None }), None, true)]
        }
        Switch::Readable(pauses) => {
            let all = pauses.all.iter().map(|pause| {
                let words = format!("All calls are paused{}", because(&pause.reason));
                need(words, Some(Fix::Resume { server: None }), None, true)
            });
            let each = pauses.servers.iter().map(|(server, pause)| {
                let words = format!("Calls to {} are paused{}", harmless(server), because(&pause.reason));
                need(words, Some(Fix::Resume { server: Some(server.clone()) }), Some(server), true)
            });
            all.chain(each).collect()
        }
    }
}

/// Policies that are broken, gone or not the ones in force; one sentence for each server.
pub(super) fn of_sessions(sessions: &[Lease], guards: &mut Guards<'_>) -> Vec<Need> {
    let mut troubled: BTreeMap<&str, (Trouble, String)> = BTreeMap::new();
    for lease in sessions {
        let Some((trouble, words)) = guards.of(lease).problem else { continue };
        match trouble {
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
        let name = harmless(server);
        let words = match trouble {
            Trouble::NoPolicy => format!("All calls to {name} are refused: {problem}"),
            Trouble::FileDeleted => {
                format!("The policy of {name} is gone: what runs keeps it, what starts anew gets the default")
            }
            Trouble::Older => format!("{name} runs on an older policy than its file: restart its client"),
            _ => format!("The policy of {name} is broken: {problem}"),
        };
        need(words, Some(Fix::OpenRules { server: server.to_owned() }), Some(server), true)
    };
    troubled.into_iter().map(told).collect()
}

pub(super) fn of_allowances(allowances: &Allowances, now: &Moment) -> Vec<Need> {
    let observed = allowances.all.iter().filter(|one| one.what == What::Observe && one.is_open(now));
    let mut needs: Vec<Need> = observed
        .map(|one| {
            let left = std::time::Duration::from_millis((one.ends_ms - now.wall_ms).max(0).unsigned_abs());
            let words = format!("{} is only watched for {} more", harmless(&one.server), span(left));
            need(words, Some(Fix::EndAllowance { id: one.id.clone() }), Some(&one.server), true)
        })
        .collect();
    if let Some(problem) = &allowances.problem {
        needs.push(need(problem.clone(), Some(Fix::OpenSettings), None, false));
    }
    needs
}

/// The default policy counts for servers without one of their own. Without it they refuse every call.
pub(super) fn of_default(home: &Home, sessions: &[Lease], guards: &mut Guards<'_>) -> Vec<Need> {
    let path = home.default_policy();
    let Err(unusable) = guards.version(&path) else { return Vec::new() };
    if sessions.iter().any(|lease| !home.policy(&lease.server).exists()) {
        // Said with that server already.
        return Vec::new();
    }
    let words = match unusable {
        Unusable::Unreadable(_) if !path.exists() => {
            format!(
                "The default policy is missing: new servers refuse every call until {} is back",
                path.display()
            )
        }
        Unusable::Unreadable(why) | Unusable::Broken(why) => {
            format!("The default policy is broken: new servers refuse every call. {why}")
        }
    };
    vec![need(words, Some(Fix::OpenSettings), None, false)]
}

pub(super) fn of_settings(home: &Home) -> Vec<Need> {
    let told = |problem: String| need(harmless(&problem), Some(Fix::OpenSettings), None, false);
    Settings::read(home).1.into_iter().chain(listed::read(home).problem).map(told).collect()
}

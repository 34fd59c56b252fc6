//! What a person has switched for a while: pauses, and what is let through.

use std::time::Duration;

use callgate_controls::allowance::{AllowanceScope, Allowances};
use callgate_controls::approval::Approvals;
use callgate_controls::pause::Switch;
use callgate_text::{clip, harmless, name, span};
use callgate_wiring::client_name;

use super::home::accessible;
use super::{Area, Checkup, Code, Finding, Gravity};
use crate::view::Fix;

/// One for each pause. A pause refuses everything of what it is for, whoever meant it.
pub(super) fn pauses(checkup: &Checkup<'_>, switch: &Switch) -> Vec<Finding> {
    let path = checkup.home.paused();
    let told = |code, words: &str, server: Option<&String>, client: Option<&String>| {
        let mut command = vec!["callgate", "resume"];
        command.extend(server.map(String::as_str));
        command.extend(client.iter().flat_map(|client| ["--client", client.as_str()]));
        checkup
            .finding(Area::Policies, code, Gravity::Problem, &path, words)
            .on_server(server.map(String::as_str))
            .command("Let calls through again", &command)
            .act(Fix::Resume { server: server.cloned(), client: client.cloned() })
    };
    let because = |reason: &Option<String>| {
        let reason = reason.as_deref().filter(|reason| !reason.is_empty());
        reason.map_or(String::new(), |reason| format!(": {}", clip(&harmless(reason), 120)))
    };
    let pauses = match switch {
        Switch::Broken(why) => {
            let words = format!("All calls are refused, because the pause switch is broken: {why}");
            let finding = told(Code::PauseBroken, &words, None, None);
            // What cannot be read cannot be resumed either.
            return vec![match std::fs::File::open(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    accessible(checkup, finding, &path, ("Make it readable for yourself", "u+rw"))
                }
                _ => finding,
            }];
        }
        Switch::Readable(pauses) => pauses,
    };
    let all = pauses.all.iter().map(|pause| {
        told(Code::Paused, &format!("All calls are paused{}", because(&pause.reason)), None, None)
    });
    let each = pauses.servers.iter().map(|(server, pause)| {
        let words = format!("Calls to {} are paused{}", name(server), because(&pause.reason));
        told(Code::Paused, &words, Some(server), None)
    });
    let clients = pauses.clients.iter().flat_map(|(client, pauses)| {
        let all = pauses.all.iter().map(|pause| (None, pause));
        let each = pauses.servers.iter().map(|(server, pause)| (Some(server), pause));
        all.chain(each).map(move |(server, pause)| {
            let whither = server.map(|server| format!(" to {}", name(server))).unwrap_or_default();
            let whose = client_name(client);
            let words = format!("Calls of {whose}{whither} are paused{}", because(&pause.reason));
            told(Code::Paused, &words, server, Some(client))
        })
    });
    all.chain(each).chain(clients).collect()
}

/// What waits for a person's decision. A home in which nobody ever asked has no bell.
pub(super) fn approvals(checkup: &Checkup<'_>) -> Option<Finding> {
    let path = checkup.home.approvals_bell();
    let open = path.exists().then(|| Approvals::new(checkup.home).open(&checkup.now).ok()).flatten()?;
    let first = open.first()?;
    let (tool, client) = (name(&first.tool), client_name(&first.client));
    let words = match open.len() {
        1 => format!("{client} wants to call {tool} and waits for your decision"),
        many => format!("{many} calls wait for your decision, {tool} of {client} first"),
    };
    let server = (open.len() == 1).then_some(first.server.as_str());
    Some(
        checkup
            .finding(Area::Policies, Code::ApprovalWaits, Gravity::Warning, &path, &words)
            .on_server(server)
            .command("Look at it", &["callgate", "approvals"])
            .act(Fix::OpenApprovals),
    )
}

pub(super) fn allowances(checkup: &Checkup<'_>, allowances: &Allowances) -> Vec<Finding> {
    let now = &checkup.now;
    let path = checkup.home.allowances();
    let finding = |code, gravity, words: &str| checkup.finding(Area::Policies, code, gravity, &path, words);
    let observed =
        allowances.all.iter().filter(|one| one.what == AllowanceScope::Observe && one.is_open(now));
    let observed = observed.map(|one| {
        let left = Duration::from_millis((one.ends_ms - now.wall_ms).max(0).unsigned_abs());
        let whom = one.client.as_deref().map(|client| format!(" for {}", client_name(client)));
        let words = format!(
            "{} is only watched{} for {} more",
            name(&one.server),
            whom.unwrap_or_default(),
            span(left)
        );
        finding(Code::Observed, Gravity::Problem, &words)
            .on_server(Some(&one.server))
            .command("Let its rules refuse again", &["callgate", "allow", "--end", &one.id])
            .act(Fix::EndAllowance { id: one.id.clone() })
    });
    let broken = allowances.problem.iter().map(|problem| {
        finding(Code::AllowancesBroken, Gravity::Warning, problem)
            .by("Nothing is allowed by it. Remove the file, and allow again what you meant.")
            .act(Fix::OpenSettings)
    });
    observed.chain(broken).collect()
}

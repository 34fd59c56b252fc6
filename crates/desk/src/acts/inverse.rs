//! The command that takes an act back exactly, whenever somebody types it.

use callgate_policy::edit::{self, Edit, apply_for, difference, truthful};
use callgate_store::pause::Scope;

use crate::change::Change;
use crate::text::quoted;
use crate::view::Target;

/// The last change of a server's rules, whatever it was.
pub(super) fn of_last_change(server: &str) -> String {
    format!("callgate policy revert {}", quoted(server))
}

/// Of the commands for single acts the one that leads back to the rules as they were; else the one that takes back the last
/// change, whatever it was.
pub(super) fn of_change(change: &Change, target: &Target) -> String {
    let (before, after) = (change.before().text(), change.edited().text.as_str());
    let client = target.client.as_deref();
    let leads_back = |edit: &Edit| {
        let back = apply_for(after, client, edit).map(|back| truthful(&back.text));
        back.is_ok_and(|back| difference(before, &back).is_empty())
    };
    let found = candidates(before, target).into_iter().find(|(edit, ..)| leads_back(edit));
    match found {
        Some((_, verb, rate)) => command(verb, target, rate.as_deref()),
        None => of_last_change(&target.server),
    }
}

fn candidates(before: &str, target: &Target) -> Vec<(Edit, &'static str, Option<String>)> {
    let rate = edit::present_cap(before, target.client.as_deref(), target.tool.as_deref());
    let none = Some("none".to_owned());
    let mut found = match target.tool.clone() {
        Some(tool) => vec![
            (Edit::Allow { tool: tool.clone() }, "allow", None),
            (Edit::Block { tool: tool.clone(), reason: None }, "block", None),
            (Edit::Hide { tool: tool.clone() }, "hide", None),
            (Edit::Uncap { tool }, "cap", none),
        ],
        None => vec![
            (Edit::AllowServer, "allow", None),
            (Edit::BlockServer { reason: None }, "block", None),
            (Edit::UncapServer, "cap", none),
        ],
    };
    if let Some(rate) = rate {
        found.push((super::restrict::cap(target, rate), "cap", Some(rate.to_string())));
    }
    found
}

pub(super) fn of_pause(scope: Scope<'_>) -> String {
    pausing("resume", scope)
}

pub(super) fn of_resumption(scope: Scope<'_>) -> String {
    pausing("pause", scope)
}

fn pausing(verb: &str, scope: Scope<'_>) -> String {
    let server = scope.server.map(|server| format!(" {}", quoted(server))).unwrap_or_default();
    format!("callgate {verb}{server}{}", for_client(scope.client))
}

/// A command line that can be pasted.
pub(crate) fn command(verb: &str, target: &Target, rate: Option<&str>) -> String {
    let mut words = format!("callgate {verb} {}", quoted(&target.server));
    for word in target.tool.as_deref().into_iter().chain(rate) {
        words.push(' ');
        words.push_str(&quoted(word));
    }
    format!("{words}{}", for_client(target.client.as_deref()))
}

fn for_client(client: Option<&str>) -> String {
    client.map(|client| format!(" --client {}", quoted(client))).unwrap_or_default()
}

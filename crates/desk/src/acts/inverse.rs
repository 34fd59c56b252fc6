//! The command that takes an act back exactly, whenever somebody types it.

use callgate_controls::pause::{PauseScope, Switch};
use callgate_policy::edit::{self, Edit, apply_for, difference, truthful};
use callgate_text::quoted;

use crate::Desk;
use crate::change::Change;
use crate::view::Target;

/// Of the commands for single acts the one that leads back to the rules as they were; if none does, the change itself has to
/// be taken back.
pub(super) fn of_change(desk: &Desk, change: &Change, target: &Target) -> Option<String> {
    let (before, after) = (change.before().text(), change.edited().text.as_str());
    let client = target.client.as_deref();
    let leads_back = |edit: &Edit| {
        let back = apply_for(after, client, edit).map(|back| truthful(&back.text));
        back.is_ok_and(|back| difference(before, &back).is_empty())
    };
    let found = candidates(before, target).into_iter().find(|(edit, ..)| leads_back(edit));
    let (_, verb, rate) = found?;
    let only = match (verb, &target.tool) {
        ("block", None) => desk.only_option(&target.server, client),
        _ => "",
    };
    Some(format!("{}{only}", command(verb, target, rate.as_deref())))
}

fn candidates(before: &str, target: &Target) -> Vec<(Edit, &'static str, Option<String>)> {
    let rate = edit::present_cap(before, target.client.as_deref(), target.tool.as_deref());
    let none = Some("none".to_owned());
    let mut found = match target.tool.clone() {
        Some(tool) => vec![
            (Edit::Allow { tool: tool.clone() }, "allow", None),
            (Edit::Block { tool: tool.clone(), reason: None }, "block", None),
            (Edit::Ask { tool: tool.clone(), reason: None }, "ask", None),
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

pub(super) fn of_pause(scope: PauseScope<'_>) -> String {
    pausing("resume", scope)
}

/// Every pause that was ended, with its reason.
pub(super) fn of_resumption(desk: &Desk, scope: PauseScope<'_>, seen: &Switch) -> String {
    let Switch::Readable(pauses) = seen else { return pausing("pause", scope) };
    let again = pauses.ended_by(scope).into_iter().map(|(scope, pause)| {
        let reason = pause.reason.as_deref().map(|reason| format!(" --reason {}", quoted(reason)));
        let only = scope.server.map_or("", |server| desk.only_option(server, scope.client));
        format!("{}{}{only}", pausing("pause", scope), reason.unwrap_or_default())
    });
    again.collect::<Vec<_>>().join("; ")
}

fn pausing(verb: &str, scope: PauseScope<'_>) -> String {
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

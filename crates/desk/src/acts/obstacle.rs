//! What refuses a tool although somebody allows it, and the command that takes that back.

use callgate_home::Home;
use callgate_policy::Policy;
use callgate_policy::edit::EditError;
use callgate_policy::file::PolicyFile;
use callgate_wiring::client_name;

use super::{inverse, words};
use crate::DeskError;
use crate::allowing::always_refused;
use crate::change::{Change, CurrentPolicy};
use crate::view::Target;

/// An edit that would not help, with what stands in its way.
pub(super) fn explained(home: &Home, target: &Target, error: DeskError) -> DeskError {
    let DeskError::Edit(
        EditError::StillRefused { rule, reason, .. } | EditError::StillBlocked { rule, reason },
    ) = &error
    else {
        return error;
    };
    match CurrentPolicy::read(home, &target.server) {
        Ok(present) => still_refused(&present, target, rule, reason),
        Err(unreadable) => unreadable,
    }
}

pub(super) fn still_refused(present: &CurrentPolicy, target: &Target, rule: &str, reason: &str) -> DeskError {
    let (what, whom) = (words::what(target), words::whom(target));
    let because = words::sentence(reason);
    let how = how(present.text(), target, rule);
    DeskError::BadInput(format!(
        "{what} would still be refused to {whom}, because {because}. Nothing was changed. {how}"
    ))
}

/// Those single clients to whom a tool stays refused although it is allowed to everyone, as the end of a sentence.
pub(super) fn others_refused(change: &Change, target: &Target, now_ms: i64) -> Result<String, DeskError> {
    let (Some(tool), None) = (&target.tool, &target.client) else { return Ok(String::new()) };
    let text = &change.edited().text;
    let policy = Policy::parse(text).map_err(DeskError::BrokenText)?;
    let file = PolicyFile::parse(text).map_err(DeskError::BrokenText)?;
    let mut said = String::new();
    for client in file.clients.iter().map(|overlay| &overlay.client) {
        // A rule for clients of a pattern is one for whoever has the pattern's own name.
        if let Some((rule, reason)) = always_refused(&policy, client, tool, now_ms) {
            let because = words::sentence(&reason);
            let how = how(text, target, &rule);
            said.push_str(&format!(
                "; it stays refused to {}, because {because}. {how}",
                client_name(client)
            ));
        }
    }
    Ok(said)
}

/// What takes the rule back that a pointer names.
fn how(text: &str, target: &Target, rule: &str) -> String {
    let parts: Vec<String> =
        rule.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (client, parts) = match parts.as_slice() {
        ["clients", client, rest @ ..] => (Some((*client).to_owned()), rest),
        all => (None, all),
    };
    let allow = |tool: Option<String>| {
        let meant = Target { server: target.server.clone(), tool, client: client.clone() };
        inverse::command("allow", &meant, None)
    };
    let hidden = |place: &str| {
        let file = PolicyFile::parse(text).ok()?;
        let body = match &client {
            Some(client) => &file.clients.iter().find(|overlay| overlay.client == *client)?.body,
            None => &file.body,
        };
        body.hide.get(place.parse::<usize>().ok()?).map(|name| name.value.clone())
    };
    match (parts, &target.client, &client) {
        (["all_tools", ..], ..) => format!("That is a block of the whole server: {}", allow(None)),
        (["tools", name, ..], Some(_), None) => {
            format!(
                "That is a rule for every client, and no single one is let through it: {}",
                allow(Some((*name).to_owned()))
            )
        }
        (["tools", name, ..], ..) => format!("Take it back: {}", allow(Some((*name).to_owned()))),
        (["hide", place, ..], ..) => match hidden(place) {
            Some(name) => format!("Take it back: {}", allow(Some(name))),
            None => "Take it out of the rules.".to_owned(),
        },
        (["default"], Some(_), None) => {
            format!("That is the default for every client: {}", allow(target.tool.clone()))
        }
        (["default"], _, Some(_)) => format!("That is this client's default: {}", allow(target.tool.clone())),
        _ => "Change that rule.".to_owned(),
    }
}

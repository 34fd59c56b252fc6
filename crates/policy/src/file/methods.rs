//! Rules for what is no tool call: resources, prompts, completion, the server's own requests, all others.

use super::Spot;
use super::limit::{LimitEntry, limits};
use super::reader::{Cursor, Reader};
use super::rule::{ACTIONS, Action};
use crate::problem::Place;

/// Rules for things with names or addresses (`resources`, `prompts`).
#[derive(Clone, Debug, PartialEq)]
pub struct ListRules {
    pub default: Option<Spot<Action>>,
    /// URI schemes, for resources only.
    pub schemes: Vec<Spot<String>>,
    pub allow: Vec<Spot<String>>,
    pub deny: Vec<Spot<String>>,
    pub hide: Vec<Spot<String>>,
    pub reason: Option<String>,
    pub limits: Vec<LimitEntry>,
    pub place: Place,
}

pub(super) fn list(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>, what: &str) -> Option<ListRules> {
    let known: &[&str] = if what == "`resources`" {
        &["default", "schemes", "allow", "deny", "hide", "reason", "limits"]
    } else {
        &["default", "allow", "deny", "hide", "reason", "limits"]
    };
    let fields = reader.fields(cursor, what, known)?;
    let mut strings =
        |key: &str| fields.get(key).map(|c| reader.strings(c, &format!("`{key}`"))).unwrap_or_default();
    let (schemes, allow, deny, hide) =
        (strings("schemes"), strings("allow"), strings("deny"), strings("hide"));
    for entry in schemes.iter().chain(&allow).chain(&deny).chain(&hide).filter(|entry| entry.value.is_empty())
    {
        let fix = "write what it stands for, or \"*\" for everything".to_owned();
        reader.error(&entry.place, "an entry of this list is empty", Some(fix));
    }
    // A list that allows nothing must not read like one that was never written.
    for key in ["schemes", "allow"] {
        if let Some(c) = fields.get(key).filter(|c| c.node.list().is_some_and(<[_]>::is_empty)) {
            let fix = "write \"default\": \"deny\" to refuse everything, or leave it out".to_owned();
            reader.error(&c.place, format!("`{key}` is an empty list, which allows nothing"), Some(fix));
        }
    }
    Some(ListRules {
        default: fields.get("default").and_then(|c| reader.choice(c, "`default`", ACTIONS)),
        schemes,
        allow,
        deny,
        hide,
        reason: fields.get("reason").and_then(|c| reader.string(c, "`reason`")),
        limits: fields.get("limits").map(|c| limits(reader, c)).unwrap_or_default(),
        place: cursor.place.clone(),
    })
}

/// The rule of one kind of request (`completion`, `sampling`, `elicitation`).
#[derive(Clone, Debug, PartialEq)]
pub struct MethodRule {
    pub action: Option<Spot<Action>>,
    pub reason: Option<String>,
    pub limits: Vec<LimitEntry>,
    /// May the request offer tools to the model? (sampling)
    pub tools: Option<bool>,
    /// May the request send the person to an address? (elicitation)
    pub urls: Option<bool>,
    pub place: Place,
}

pub(super) fn method(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>, what: &str) -> Option<MethodRule> {
    let known: &[&str] = match what {
        "`sampling`" => &["action", "reason", "limits", "tools"],
        "`elicitation`" => &["action", "reason", "limits", "urls"],
        _ => &["action", "reason", "limits"],
    };
    let fields = reader.fields(cursor, what, known)?;
    Some(MethodRule {
        action: fields.get("action").and_then(|c| reader.choice(c, "`action`", ACTIONS)),
        reason: fields.get("reason").and_then(|c| reader.string(c, "`reason`")),
        limits: fields.get("limits").map(|c| limits(reader, c)).unwrap_or_default(),
        tools: fields.get("tools").and_then(|c| reader.boolean(c, "`tools`")),
        urls: fields.get("urls").and_then(|c| reader.boolean(c, "`urls`")),
        place: cursor.place.clone(),
    })
}

/// Requests that no other part of the policy speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherMethods {
    Forward,
    Deny,
}

pub(super) fn other(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<OtherMethods>> {
    let choices =
        [("forward", OtherMethods::Forward), ("deny", OtherMethods::Deny), ("allow", OtherMethods::Forward)];
    reader.choice(cursor, "`other_methods`", &choices)
}

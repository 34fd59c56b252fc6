//! One tool, or those of a pattern, denied, asked about or hidden.

use super::scope::Scope;
use super::{effect, pattern};
use crate::file::{Action, Body, PolicyFile};
use crate::name;
use crate::policy::Policy;
use callgate_document::{Draft, NewValue};

pub(super) fn block(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: &str,
    reason: Option<&str>,
    summary: &mut Vec<String>,
) {
    for tool in pattern::reached(body, tool) {
        act(draft, scope, body, (tool, DENY), reason, summary);
    }
}

/// Has a person asked about every call. What is denied stays so.
pub(super) fn ask(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: &str,
    reason: Option<&str>,
    summary: &mut Vec<String>,
) {
    let is_denied = |tool: &str| {
        let rule = body.tools.iter().find(|rule| rule.name == tool);
        rule.and_then(|rule| rule.action.as_ref()).is_some_and(|action| action.value == Action::Deny)
    };
    for tool in pattern::reached(body, tool).filter(|tool| !is_denied(tool)) {
        act(draft, scope, body, (tool, ASK), reason, summary);
    }
}

/// An action, as it is written and as it is said.
type Acting = (Action, &'static str, &'static str);
const DENY: Acting = (Action::Deny, "deny", "denied");
const ASK: Acting = (Action::Ask, "ask", "asked about");

fn act(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    (tool, (action, word, said)): (&str, Acting),
    reason: Option<&str>,
    summary: &mut Vec<String>,
) {
    let whose = scope.whose();
    let Some(rule) = body.tools.iter().find(|rule| rule.name == tool) else {
        let mut members = vec![("action".to_owned(), NewValue::text(word))];
        members.extend(reason.map(|reason| ("reason".to_owned(), NewValue::text(reason))));
        draft.set(&scope.path(&["tools", tool]), NewValue::Map(members));
        summary.push(format!("{tool:?} is now {said}{whose}"));
        return;
    };
    if rule.action.as_ref().map(|a| a.value) != Some(action) {
        draft.set(&scope.path(&["tools", tool, "action"]), NewValue::text(word));
        summary.push(format!("{tool:?} is now {said}{whose}"));
    }
    effect::make_lasting(draft, &scope.path(&["tools", tool]), rule, summary);
    if let Some(reason) = reason
        && rule.reason.as_deref() != Some(reason)
    {
        draft.set(&scope.path(&["tools", tool, "reason"]), NewValue::text(reason));
        summary.push(format!("the reason is now {reason:?}"));
    }
}

pub(super) fn hide(
    draft: &mut Draft,
    scope: &Scope,
    file: &PolicyFile,
    policy: &Policy,
    tool: &str,
    summary: &mut Vec<String>,
) {
    let body = scope.body(file);
    // Of a pattern nothing but an entry for all of it says so: a rule for more names, or for one of them, lists some.
    let hidden = match name::is_pattern(tool) {
        true => file.body.hide.iter().chain(&body.hide).any(|entry| pattern::covers(&entry.value, tool)),
        false => policy.applying_as(scope.overlay(policy), tool, None, i64::MIN).hidden().is_some(),
    };
    if !hidden {
        draft.append(&scope.path(&["hide"]), NewValue::text(tool));
        summary.push(format!("{tool:?} is now hidden{}", scope.whose()));
    }
    // What is only observed is listed and passes.
    for name in pattern::reached(body, tool) {
        if let Some(rule) = body.tools.iter().find(|rule| rule.name == name) {
            effect::enforce(draft, &scope.path(&["tools", name]), rule, summary);
        }
    }
}

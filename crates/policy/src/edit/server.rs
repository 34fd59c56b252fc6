//! The whole server blocked, and open again: the action of `all_tools`.

use super::effect;
use super::scope::Scope;
use crate::file::{Action, Body};
use callgate_document::{Draft, NewValue};

pub(super) fn block(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    reason: Option<&str>,
    summary: &mut Vec<String>,
) {
    let rule = body.all_tools.as_ref();
    if rule.and_then(|rule| rule.action.as_ref()).map(|a| a.value) != Some(Action::Deny) {
        draft.set(&scope.path(&["all_tools", "action"]), NewValue::text("deny"));
        summary.push(format!("all tools are now denied{}", scope.whose()));
    }
    if let Some(rule) = rule {
        effect::make_lasting(draft, &scope.path(&["all_tools"]), rule, summary);
    }
    if let Some(reason) = reason
        && rule.and_then(|rule| rule.reason.as_deref()) != Some(reason)
    {
        draft.set(&scope.path(&["all_tools", "reason"]), NewValue::text(reason));
        summary.push(format!("the reason is now {reason:?}"));
    }
}

/// Takes back what denies every call; limits and conditions of all tools stay.
pub(super) fn allow(draft: &mut Draft, scope: &Scope, body: &Body, summary: &mut Vec<String>) {
    let Some(rule) = &body.all_tools else { return };
    let whose = scope.whose();
    // From the back, so that the positions of those before stay true.
    let always = rule.deny_if.iter().enumerate().rev().filter(|(_, clause)| clause.conditions.is_empty());
    let mut taken_back = 0;
    for (i, clause) in always {
        draft.remove(&scope.path(&["all_tools", "deny_if", &i.to_string()]));
        let words = clause.on_deny.as_ref().map(|words| format!(" ({words:?})")).unwrap_or_default();
        summary.push(format!("all tools are no longer always denied{whose}{words}"));
        taken_back += 1;
    }
    if taken_back > 0 {
        draft.remove_empty(&scope.path(&["all_tools", "deny_if"]));
    }
    if matches!(rule.action.as_ref().map(|a| a.value), Some(Action::Deny | Action::Ask)) {
        draft.remove(&scope.path(&["all_tools", "action"]));
        if rule.reason.is_some() {
            draft.remove(&scope.path(&["all_tools", "reason"]));
        }
        summary.push(format!("all tools are no longer denied{whose}"));
        taken_back += 1;
    }
    if taken_back > 0 {
        draft.remove_empty(&scope.path(&["all_tools"]));
    }
}

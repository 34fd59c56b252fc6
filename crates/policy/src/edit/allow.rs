//! One tool let through again: what denies or hides it is taken back; its limits and conditions stay.

use super::scope::Scope;
use super::{EditError, judged, pattern};
use crate::call::Judgement;
use crate::file::{Action, Body, DefaultAction, PolicyFile};
use crate::glob::Glob;
use crate::layer::Rule;
use crate::name;
use crate::policy::Policy;
use callgate_document::{Draft, NewValue};

pub(super) fn allow(
    draft: &mut Draft,
    scope: &Scope,
    file: &PolicyFile,
    tool: &str,
    summary: &mut Vec<String>,
) {
    let (body, whose) = (scope.body(file), scope.whose());
    take_back(draft, scope, body, tool, summary);
    let listed = body.tools.iter().any(|rule| rule.name == tool);
    if !listed && has_to_be_listed(scope, file, tool) {
        draft.set(&scope.path(&["tools", tool]), NewValue::Map(Vec::new()));
        summary.push(format!("{tool:?} is now on the list of allowed tools{whose}"));
    }
}

/// Takes back what these rules themselves deny or hide.
pub(super) fn take_back(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: &str,
    summary: &mut Vec<String>,
) {
    let whose = scope.whose();
    // From the back, so that the positions of those before stay true.
    for (i, hidden) in
        body.hide.iter().enumerate().rev().filter(|(_, name)| pattern::covers(tool, &name.value))
    {
        draft.remove(&scope.path(&["hide", &i.to_string()]));
        summary.push(format!("{:?} is no longer hidden{whose}", hidden.value));
    }
    for tool in pattern::reached(body, tool) {
        let Some(rule) = body.tools.iter().find(|rule| rule.name == tool) else { continue };
        for (i, clause) in
            rule.deny_if.iter().enumerate().rev().filter(|(_, clause)| clause.conditions.is_empty())
        {
            draft.remove(&scope.path(&["tools", tool, "deny_if", &i.to_string()]));
            let words = clause.on_deny.as_ref().map(|words| format!(" ({words:?})")).unwrap_or_default();
            summary.push(format!("{tool:?} is no longer always denied{whose}{words}"));
        }
        let stopped = match rule.action.as_ref().map(|action| action.value) {
            Some(Action::Deny) => Some("denied"),
            Some(Action::Ask) => Some("asked about"),
            Some(Action::Allow) | None => None,
        };
        if let Some(stopped) = stopped {
            draft.remove(&scope.path(&["tools", tool, "action"]));
            if rule.reason.is_some() {
                draft.remove(&scope.path(&["tools", tool, "reason"]));
            }
            summary.push(format!("{tool:?} is no longer {stopped} by its own rule{whose}"));
        }
    }
}

/// Would the tool pass only if these rules name it?
fn has_to_be_listed(scope: &Scope, file: &PolicyFile, tool: &str) -> bool {
    let body = scope.body(file);
    if scope.client().is_none() {
        return !says_allow(body) || stopped_by_pattern(body, tool) || stops_a_class(body);
    }
    // A client's rules must not list what everyone's do not.
    let open_to_all = says_allow(&file.body) || file.body.tools.iter().any(|rule| covers(&rule.name, tool));
    let closed_here = body.default.is_some() && !says_allow(body);
    open_to_all && (closed_here || stopped_by_pattern(body, tool) || stops_a_class(body))
}

fn says_allow(body: &Body) -> bool {
    body.default.as_ref().map(|default| default.value) == Some(DefaultAction::Allow)
}

fn covers(rule: &str, tool: &str) -> bool {
    rule == tool || (name::is_pattern(rule) && Glob::new(rule).matches(tool))
}

/// Does a rule for names like this one deny it, or ask? Then a rule of its own takes it out of that one's reach.
fn stopped_by_pattern(body: &Body, tool: &str) -> bool {
    body.tools.iter().any(|rule| {
        name::is_pattern(&rule.name)
            && covers(&rule.name, tool)
            && (matches!(rule.action.as_ref().map(|a| a.value), Some(Action::Deny | Action::Ask))
                || rule.deny_if.iter().any(|clause| clause.conditions.is_empty()))
    })
}

/// Does a rule for a class deny it, ask, or hide? Whether the tool is of that class may be another matter tomorrow.
fn stops_a_class(body: &Body) -> bool {
    body.classes.iter().any(|rule| {
        let action = rule.action.as_ref().map(|action| action.value);
        action.is_some_and(|action| action != Action::Allow)
            || rule.hides.is_some()
            || rule.deny_if.iter().any(|clause| clause.conditions.is_empty())
    })
}

pub(super) fn still_refused(new: &Policy, scope: &Scope, tool: &str) -> Result<(), EditError> {
    match judged(new, scope.caller(), tool, i64::MIN) {
        // Conditions may refuse a call without arguments; that is theirs to say, call by call.
        Judgement::Refuse(refusal)
            if !["/require/", "/deny_if/", "/ask_if/"].iter().any(|list| refusal.rule.contains(list)) =>
        {
            Err(EditError::StillRefused { tool: tool.to_owned(), rule: refusal.rule, reason: refusal.reason })
        }
        _ => Ok(()),
    }
}

/// One client cannot be let into a server that is blocked for everyone.
pub(super) fn server_still_blocked(new: &Policy, scope: &Scope) -> Result<(), EditError> {
    let blocks = |rule: &Rule| rule.denied.clone();
    match new.base.all_tools.as_ref().and_then(blocks).filter(|_| scope.client().is_some()) {
        Some(denial) => {
            let reason = denial.reason.unwrap_or_else(|| "all tools are denied for everyone".to_owned());
            Err(EditError::StillBlocked { rule: denial.pointer, reason })
        }
        None => Ok(()),
    }
}

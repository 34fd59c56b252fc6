//! What the window edits, to and from the form of the policy language.

use std::num::NonZeroU32;

use callgate_policy::edit::form::{self, Form, FormAction, FormClause, FormCondition, FormLimit, Whose};
use callgate_policy::file::{self, Operator, PolicyFile, Subject, Value};
use callgate_policy::{Scope, Window};

use crate::DeskError;
use crate::view::{Action, Case, Condition, LimitDraft, LimitKind, RuleDraft};

pub(super) fn draft(form: &Form) -> RuleDraft {
    RuleDraft {
        action: match form.action {
            FormAction::Allow => Action::Allow,
            FormAction::Deny => Action::Deny,
            FormAction::Hide => Action::Hide,
            FormAction::Ask => Action::Ask,
        },
        reason: form.reason.clone(),
        limits: form.limits.iter().filter_map(limit_draft).collect(),
        require: form.require.iter().map(condition_draft).collect(),
        deny_if: form.deny_if.iter().map(case).collect(),
        ask_if: form.ask_if.iter().map(case).collect(),
    }
}

fn case(clause: &FormClause) -> Case {
    Case {
        conditions: clause.conditions.iter().map(condition_draft).collect(),
        reason: clause.on_deny.clone(),
    }
}

fn limit_draft(limit: &FormLimit) -> Option<LimitDraft> {
    let kind = match limit.kind {
        file::LimitKind::Calls => LimitKind::Calls,
        file::LimitKind::Concurrent => LimitKind::Concurrent,
        file::LimitKind::Total => LimitKind::Total,
        // No form holds one.
        file::LimitKind::Sum => return None,
    };
    Some(LimitDraft {
        counter: limit.counter.clone(),
        limit: kind,
        max: limit.max.get(),
        window: limit.window.map(|window| window.to_string()),
        scope: limit.scope.word().to_owned(),
    })
}

fn condition_draft(condition: &FormCondition) -> Condition {
    let is_said = condition.op != Operator::Exists || condition.value != Value::Bool(true);
    Condition {
        path: condition.path.clone(),
        op: condition.op.word().to_owned(),
        value: is_said.then(|| condition.value.to_json()),
    }
}

/// What cannot stand in a policy is told field by field; the rest the policy's own reader finds.
pub(super) fn form(draft: &RuleDraft) -> Result<Form, DeskError> {
    Ok(Form {
        action: action(draft.action),
        reason: draft.reason.clone(),
        limits: draft.limits.iter().map(limit).collect::<Result<_, _>>()?,
        require: draft.require.iter().map(condition).collect::<Result<_, _>>()?,
        deny_if: draft.deny_if.iter().map(clause).collect::<Result<_, _>>()?,
        ask_if: draft.ask_if.iter().map(clause).collect::<Result<_, _>>()?,
    })
}

pub(super) fn action(action: Action) -> FormAction {
    match action {
        Action::Allow => FormAction::Allow,
        Action::Deny => FormAction::Deny,
        Action::Hide => FormAction::Hide,
        Action::Ask => FormAction::Ask,
    }
}

/// Gives new limits a counter with a name of its own: without one, a count starts anew when its window is changed. Those
/// that are written without a name stay so, as every byte that nobody changed.
pub(super) fn name_counters(form: &mut Form, text: &str, whose: Whose<'_>) {
    let present = PolicyFile::parse(text).ok().and_then(|file| form::read(&file, whose).form);
    let mut unnamed: Vec<FormLimit> = present.map(|form| form.limits).unwrap_or_default();
    unnamed.retain(|limit| limit.counter.is_none());
    let own = whose.client.map_or("cap", |_| "client_cap");
    let base = format!("{}_{own}", whose.tool.unwrap_or("*"));
    for at in 0..form.limits.len() {
        let limit = form.limits[at].clone();
        if limit.counter.is_some() {
            continue;
        }
        let same = |other: &FormLimit| other.kind == limit.kind && other.scope == limit.scope;
        if let Some(old) = unnamed.iter().position(same) {
            unnamed.remove(old);
            continue;
        }
        let taken = |name: &str| form.limits.iter().any(|one| one.counter.as_deref() == Some(name));
        let mut names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}_{n}")));
        form.limits[at].counter =
            names.find(|name| name.len() > 256 || !taken(name)).filter(|name| name.len() <= 256);
    }
}

fn limit(draft: &LimitDraft) -> Result<FormLimit, DeskError> {
    let windowed = draft.limit == LimitKind::Calls;
    let window = draft.window.as_deref().filter(|_| windowed);
    if windowed && window.is_none() {
        return Err(bad("a limit on calls needs a window, such as \"minute\""));
    }
    let window = window.map(|text| text.parse::<Window>().map_err(|error| bad(format!("{text:?}: {error}"))));
    Ok(FormLimit {
        counter: draft.counter.clone(),
        kind: match draft.limit {
            LimitKind::Calls => file::LimitKind::Calls,
            LimitKind::Concurrent => file::LimitKind::Concurrent,
            LimitKind::Total => file::LimitKind::Total,
        },
        max: NonZeroU32::new(draft.max)
            .ok_or_else(|| bad("a limit is at least 1; to refuse every call, deny the tool"))?,
        window: window.transpose()?,
        scope: Scope::of_word(&draft.scope).ok_or_else(|| {
            bad(format!("{:?} is no scope: write session, grant, client, server or all", draft.scope))
        })?,
    })
}

fn clause(draft: &Case) -> Result<FormClause, DeskError> {
    Ok(FormClause {
        conditions: draft.conditions.iter().map(condition).collect::<Result<_, _>>()?,
        on_deny: draft.reason.clone(),
    })
}

fn condition(draft: &Condition) -> Result<FormCondition, DeskError> {
    if let Err(fix) = Subject::parse(&draft.path) {
        return Err(bad(format!("{:?} is no path into the arguments: {fix}", draft.path)));
    }
    let op = Operator::of_word(&draft.op).ok_or_else(|| {
        let known: Vec<&str> = Operator::ALL.iter().map(|op| op.word()).collect();
        bad(format!("{:?} is no operator: write one of {}", draft.op, known.join(", ")))
    })?;
    let value = match &draft.value {
        Some(text) => Value::of_json(text).ok_or_else(|| {
            bad(format!("{text:?} is no plain JSON value: write text in double quotes, a number, or a list"))
        })?,
        None if op == Operator::Exists => Value::Bool(true),
        None => return Err(bad(format!("{} {} needs a value", draft.path, draft.op))),
    };
    Ok(FormCondition { path: draft.path.clone(), op, value })
}

fn bad(words: impl Into<String>) -> DeskError {
    DeskError::BadInput(words.into())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn condition() -> impl Strategy<Value = Condition> {
        let ops = prop::sample::select(vec![
            ("eq", Some("null")),
            ("neq", Some("1.50")),
            ("in", Some("[1, \"ä\", false]")),
            ("not_in", Some("[]")),
            ("regex", Some("\"^\\\\d\"")),
            ("exists", None),
            ("exists", Some("false")),
            ("inside", Some("\"~/a\"")),
        ]);
        let paths = prop::sample::select(vec!["args[\"a.b\"].0", "paths", "urls"]);
        (ops, paths).prop_map(|((op, value), path)| Condition {
            path: path.to_owned(),
            op: op.to_owned(),
            value: value.map(str::to_owned),
        })
    }

    fn limit() -> impl Strategy<Value = LimitDraft> {
        let kinds = prop::sample::select(vec![
            (LimitKind::Calls, Some("minute")),
            (LimitKind::Calls, Some("90s")),
            (LimitKind::Concurrent, None),
            (LimitKind::Total, None),
        ]);
        let scope = prop::sample::select(Scope::ALL);
        (kinds, 1u32.., prop::option::of(Just("c".to_owned())), scope).prop_map(
            |((limit, window), max, counter, scope)| LimitDraft {
                counter,
                limit,
                max,
                window: window.map(str::to_owned),
                scope: scope.word().to_owned(),
            },
        )
    }

    proptest! {
        #[test]
        fn a_draft_is_the_same_after_it_was_a_form(
            action in prop::sample::select(vec![Action::Allow, Action::Deny, Action::Hide, Action::Ask]),
            reason in prop::option::of(".*"),
            limits in prop::collection::vec(limit(), 0..3),
            require in prop::collection::vec(condition(), 0..3),
            conditions in prop::collection::vec(condition(), 0..3),
        ) {
            let deny_if = vec![Case { conditions: conditions.clone(), reason: reason.clone() }];
            let ask_if = vec![Case { conditions, reason: None }];
            let one = RuleDraft { action, reason, limits, require, deny_if, ask_if };
            prop_assert_eq!(draft(&form(&one).unwrap()), one);
        }
    }
}

//! Caps that a click or a command sets: one limit of a known name in a tool's rule, or in that of all tools.

use super::scope::Scope;
use super::{EditError, effect, judged, pattern, server};
use crate::call::Judgement;
use crate::file::{Body, LimitEntry, PolicyFile};
use crate::limit;
use crate::policy::Policy;
use crate::window::Rate;
use callgate_document::{Draft, NewValue};

/// Stands for all tools in the name of their counter; the pattern that fits all of them is capped by the same.
const ALL: &str = "*";

/// The name of the counter that `Cap` sets, so that the next `Cap` finds it again.
pub fn cap_counter(tool: &str) -> String {
    format!("{tool}_cap")
}

/// One call must not be counted twice by one counter, so a client's own caps have counters of their own.
fn counter_of(scope: &Scope, tool: Option<&str>) -> String {
    let tool = tool.unwrap_or(ALL);
    if scope.client().is_some() { format!("{tool}_client_cap") } else { cap_counter(tool) }
}

/// The cap that an edit has set for everyone, or for this client; no tool: for all tools together.
pub fn present_cap(text: &str, client: Option<&str>, tool: Option<&str>) -> Option<Rate> {
    let policy = Policy::parse(text).ok()?;
    let file = PolicyFile::parse(text).ok()?;
    let mut copied = Draft::new(text);
    let scope = Scope::open(&mut copied, &policy, client, &mut Vec::new()).ok()?;
    let (_, limit) = limit_of(scope.body(&file), tool, &counter_of(&scope, tool))?;
    limit.window.map(|window| Rate { max: limit.max, window })
}

/// Where the limits for the tool stand.
fn rule_path(tool: Option<&str>) -> Vec<&str> {
    tool.map_or_else(|| vec!["all_tools"], |tool| vec!["tools", tool])
}

/// The rules that a cap is written into: that of the tool, or of the pattern and all that it covers, or of all tools.
fn rules<'b>(body: &'b Body, tool: Option<&'b str>) -> Vec<Option<&'b str>> {
    tool.map_or_else(|| vec![None], |tool| pattern::reached(body, tool).map(Some).collect())
}

/// The limit of this counter in a rule, by its place among the limits there.
fn limit_of<'f>(body: &'f Body, rule: Option<&str>, counter: &str) -> Option<(usize, &'f LimitEntry)> {
    let rule = match rule {
        Some(tool) => body.tools.iter().find(|rule| rule.name == tool)?,
        None => body.all_tools.as_ref()?,
    };
    rule.limits.iter().enumerate().find(|(_, limit)| limit.counter.as_deref() == Some(counter))
}

/// A limit or a condition lists its tool, and listed is allowed: so it must not be what lets the tool through. At no
/// time, whatever rules have ended by then, and not when a block of the whole server is taken back either.
pub(super) fn may_be_listed(
    draft: &Draft,
    scope: &Scope,
    file: &PolicyFile,
    policy: &Policy,
    tool: &str,
) -> Result<(), EditError> {
    let listed = match scope.client() {
        Some(_) => scope.body(file).tools.iter().any(|rule| rule.name == tool),
        None => policy.rule_of(tool).is_some(),
    };
    if listed {
        return Ok(());
    }
    let mut open = draft.clone();
    server::allow(&mut open, &Scope::EVERYONE, &file.body, &mut Vec::new());
    if scope.client().is_some() {
        server::allow(&mut open, scope, scope.body(file), &mut Vec::new());
    }
    let mut open = Policy::parse(open.text()).map_err(EditError::Broken)?;
    open.classes.clone_from(&policy.classes);
    let overlay = scope.overlay(&open);
    // Hidden by its own name it stays hidden; as a look-alike of a hidden one, or as one that is not listed, it would be let out.
    let layers = std::iter::once(&open.base).chain(overlay.map(|overlay| &overlay.layer));
    if layers.map(|layer| layer.find(tool, i64::MIN)).any(|found| found.hidden.is_some()) {
        return Ok(());
    }
    for now_ms in effect::moments(&open, overlay) {
        if let Judgement::Refuse(refusal) = judged(&open, scope.caller(), tool, now_ms) {
            return Err(EditError::NotAllowed { tool: tool.to_owned(), reason: refusal.reason });
        }
    }
    Ok(())
}

pub(super) fn cap(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: Option<&str>,
    rate: Rate,
    summary: &mut Vec<String>,
) {
    let counter = counter_of(scope, tool);
    let before = draft.text().to_owned();
    for rule in rules(body, tool) {
        let limits = [rule_path(rule), vec!["limits"]].concat();
        let Some((place, before)) = limit_of(body, rule, &counter) else {
            draft.append(&scope.path(&limits), limit(&counter, rate, None));
            continue;
        };
        let index = place.to_string();
        let at = |key| scope.path(&limits).into_iter().chain([index.as_str(), key]).collect::<Vec<_>>();
        if before.window != Some(rate.window) {
            draft.set(&at("window"), NewValue::text(&rate.window.to_string()));
        }
        if before.max != rate.max {
            draft.set(&at("max"), NewValue::word(&rate.max.get()));
        }
    }
    if draft.text() != before {
        summary.push(format!("{} now capped at {rate}{}", subject(tool), scope.whose()));
        summary.extend(tool.into_iter().flat_map(|tool| pattern::out_of_reach(body, tool, "capped")));
    }
}

/// A cap that ends by itself stands beside the others, under a counter of its own, and takes its own place again.
pub(super) fn cap_until(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: Option<&str>,
    rate: Rate,
    until: &str,
    summary: &mut Vec<String>,
) {
    let counter = format!("{}_until", counter_of(scope, tool));
    let limits = [rule_path(tool), vec!["limits"]].concat();
    if let Some((place, _)) = limit_of(body, tool, &counter) {
        let index = place.to_string();
        draft.remove(&scope.path(&[limits.clone(), vec![index.as_str()]].concat()));
    }
    draft.append(&scope.path(&limits), limit(&counter, rate, Some(until)));
    summary.push(format!("{} now capped at {rate} until {until}{}", subject(tool), scope.whose()));
}

/// A limit as an edit writes it.
fn limit(counter: &str, rate: Rate, until: Option<&str>) -> NewValue {
    let members = [
        ("counter", Some(NewValue::text(counter))),
        ("window", Some(NewValue::text(&rate.window.to_string()))),
        ("max", Some(NewValue::word(&rate.max.get()))),
        ("scope", Some(NewValue::text(limit::Scope::Grant.word()))),
        ("until", until.map(NewValue::text)),
    ];
    NewValue::Map(members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

pub(super) fn uncap(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: Option<&str>,
    summary: &mut Vec<String>,
) {
    let counter = counter_of(scope, tool);
    let mut found = false;
    for rule in rules(body, tool) {
        if let Some((place, _)) = limit_of(body, rule, &counter) {
            let index = place.to_string();
            let at = [rule_path(rule), vec!["limits", &index]].concat();
            draft.remove(&scope.path(&at));
            found = true;
        }
    }
    if found {
        let whose = scope.whose();
        summary.push(format!("{} no longer capped by \"callgate cap\"{whose}", subject(tool)));
    }
}

/// What a caller is told that has reached the cap.
pub(super) fn explain(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: Option<&str>,
    reason: &str,
    summary: &mut Vec<String>,
) {
    let counter = counter_of(scope, tool);
    let before = draft.text().to_owned();
    for rule in rules(body, tool) {
        let Some((place, cap)) = limit_of(body, rule, &counter) else { continue };
        if cap.on_deny.as_deref() != Some(reason) {
            let index = place.to_string();
            let at = [rule_path(rule), vec!["limits", &index, "on_deny"]].concat();
            draft.set(&scope.path(&at), NewValue::text(reason));
        }
    }
    if draft.text() != before {
        summary.push(format!("the reason is now {reason:?}"));
    }
}

fn subject(tool: Option<&str>) -> String {
    tool.map_or_else(|| "all tools together are".to_owned(), |tool| format!("{tool:?} is"))
}

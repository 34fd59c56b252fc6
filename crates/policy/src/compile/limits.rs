//! Limits as they are written become limits as they are counted: each with a name for its counter.

use super::until;
use crate::file::{LimitEntry, LimitKind, ToolRule};
use crate::limit::{Kind, Limit, Scope};
use crate::window::Window;

/// The limits of one rule. `label` is what counters without a name of their own begin with: calls that one rule speaks
/// of are counted together, all that match it if it is a pattern's.
pub(crate) fn of(rule: &ToolRule, label: &str) -> Vec<Limit> {
    let short = rule.rate_limit.iter().map(|rate| {
        let limit = Limit {
            pointer: rate.place.pointer.clone(),
            counter: String::new(),
            kind: Kind::Calls(rate.rate.window.duration()),
            max: rate.rate.max,
            scope: Scope::Session,
            on_deny: rate.on_deny.clone(),
            until_ms: None,
        };
        (limit, "rate_limit".to_owned())
    });
    with_counters(entries(&rule.limits).chain(short), label)
}

/// The limits of a rule that has no short form.
pub(crate) fn written(limits: &[LimitEntry], label: &str) -> Vec<Limit> {
    with_counters(entries(limits), label)
}

/// Each with what its counter is called if it has no name.
fn entries(limits: &[LimitEntry]) -> impl Iterator<Item = (Limit, String)> {
    limits.iter().filter_map(|entry| {
        let limit = Limit {
            pointer: entry.place.pointer.clone(),
            counter: entry.counter.clone().unwrap_or_default(),
            kind: kind(entry)?,
            max: entry.max,
            scope: entry.scope,
            on_deny: entry.on_deny.clone(),
            until_ms: until(entry.until.as_ref()),
        };
        Some((limit, unnamed(entry)))
    })
}

fn with_counters(limits: impl Iterator<Item = (Limit, String)>, label: &str) -> Vec<Limit> {
    let mut out: Vec<Limit> = Vec::new();
    for (mut limit, unnamed) in limits {
        if limit.counter.is_empty() {
            let base = format!("{label}{unnamed}");
            let mut names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}_{n}")));
            let taken = |name: &str| out.iter().any(|l| l.counter == name && same_counter_space(l, &limit));
            limit.counter = names.find(|name| !taken(name)).unwrap_or(base);
        }
        out.push(limit);
    }
    out
}

/// Would both count a call with the same counter?
pub(crate) fn same_counter(a: &Limit, b: &Limit) -> bool {
    a.counter == b.counter && same_counter_space(a, b)
}

/// Counters of different kinds or scopes have nothing to do with each other, whatever their names.
pub(super) fn same_counter_space(a: &Limit, b: &Limit) -> bool {
    a.scope == b.scope && std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
}

/// `None` only in a file with errors.
fn kind(entry: &LimitEntry) -> Option<Kind> {
    let window = entry.window.map(Window::duration);
    Some(match entry.kind.value {
        LimitKind::Calls => Kind::Calls(window?),
        LimitKind::Concurrent => Kind::Concurrent,
        LimitKind::Total => Kind::Total,
        LimitKind::Sum => Kind::Sum { window: window?, from: entry.amount_from.clone()? },
    })
}

fn unnamed(entry: &LimitEntry) -> String {
    let window = entry.window.map(|window| format!("per_{window}")).unwrap_or_default();
    match entry.kind.value {
        LimitKind::Calls => window,
        LimitKind::Concurrent => "at_once".to_owned(),
        LimitKind::Total => "total".to_owned(),
        LimitKind::Sum => format!("sum_{window}"),
    }
}

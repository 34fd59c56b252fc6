//! One call must not be counted twice by one counter: among all rules that can apply to it together, each limit has a
//! counter of its own.

use rustc_hash::FxHashMap;

use super::limits::{same_counter, same_counter_space};
use crate::file::{Body, PolicyFile, ToolRule};
use crate::glob::Glob;
use crate::layer::{Layer, Rule};
use crate::limit::Limit;
use crate::name;
use crate::policy::Policy;
use crate::problem::Problems;

pub(super) fn check(file: &PolicyFile, policy: &Policy, problems: &mut Problems<'_>) {
    for (rule, compiled) in pairs(&file.body, &policy.base) {
        for limit in twice_in(compiled).chain(shared_with_all(compiled, &policy.base)) {
            complain(rule, limit, problems);
        }
    }
    if file.clients.is_empty() {
        return;
    }
    // A counter's name finds those who share it; which of them can meet in one call is looked at then.
    let mut base: FxHashMap<&str, Vec<(&ToolRule, &Limit)>> = FxHashMap::default();
    for (rule, compiled) in pairs(&file.body, &policy.base) {
        for limit in &compiled.limits {
            base.entry(&limit.counter).or_default().push((rule, limit));
        }
    }
    let overlays = policy.overlays.iter().filter_map(|overlay| {
        Some((file.clients.iter().find(|written| written.client == overlay.client)?, overlay))
    });
    for (written, overlay) in overlays {
        for (rule, compiled) in pairs(&written.body, &overlay.layer) {
            for limit in twice_in(compiled).chain(shared_with_all(compiled, &overlay.layer)) {
                complain(rule, limit, problems);
            }
            for limit in &compiled.limits {
                let others = base.get(limit.counter.as_str()).into_iter().flatten();
                let clash = others
                    .filter(|(_, other)| same_counter_space(limit, other))
                    .find(|(other, _)| can_meet((rule, &written.body), (other, &file.body)));
                if let Some((_, other)) = clash {
                    complain(rule, Clash { limit, other }, problems);
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Clash<'p> {
    limit: &'p Limit,
    other: &'p Limit,
}

/// The rules of a layer as they are written, each with what became of it.
fn pairs<'p>(body: &'p Body, layer: &'p Layer) -> impl Iterator<Item = (&'p ToolRule, &'p Rule)> {
    body.all_tools
        .iter()
        .zip(&layer.all_tools)
        .chain(body.tools.iter().chain(&body.classes).zip(&layer.rules))
}

fn twice_in(rule: &Rule) -> impl Iterator<Item = Clash<'_>> {
    rule.limits.iter().enumerate().filter_map(|(i, limit)| {
        let other = rule.limits[..i].iter().find(|other| same_counter(limit, other))?;
        Some(Clash { limit, other })
    })
}

fn shared_with_all<'p>(rule: &'p Rule, layer: &'p Layer) -> impl Iterator<Item = Clash<'p>> {
    let all = layer.all_tools.as_ref().filter(|all| !std::ptr::eq(*all, rule));
    rule.limits.iter().filter_map(move |limit| {
        let other = all?.limits.iter().find(|other| same_counter(limit, other))?;
        Some(Clash { limit, other })
    })
}

/// Is there a tool that both rules speak of?
fn can_meet((rule, body): (&ToolRule, &Body), (other, other_body): (&ToolRule, &Body)) -> bool {
    let for_all =
        |rule: &ToolRule, body: &Body| body.all_tools.as_ref().is_some_and(|all| all.place == rule.place);
    if for_all(rule, body) || for_all(other, other_body) {
        return true;
    }
    let class = |rule: &ToolRule, body: &Body| body.classes.iter().any(|one| one.place == rule.place);
    match (class(rule, body), class(other, other_body)) {
        (true, true) => return rule.name == other.name,
        // A tool of that class may have that name.
        (true, false) | (false, true) => return true,
        (false, false) => {}
    }
    match (name::is_pattern(&rule.name), name::is_pattern(&other.name)) {
        (false, false) => rule.name == other.name,
        (true, false) => Glob::new(&rule.name).matches(&other.name),
        (false, true) => Glob::new(&other.name).matches(&rule.name),
        (true, true) => Glob::new(&rule.name).meets(&Glob::new(&other.name)),
    }
}

fn complain(rule: &ToolRule, clash: Clash<'_>, problems: &mut Problems<'_>) {
    let Clash { limit, other } = clash;
    let entry = rule.limits.iter().find(|l| l.place.pointer == limit.pointer);
    let place = entry.map_or(&rule.place, |entry| &entry.place);
    let message =
        format!("the counter {:?} is already used by {} for the same calls", limit.counter, other.pointer);
    problems.error(place, message, Some("give each limit its own \"counter\"".to_owned()));
}

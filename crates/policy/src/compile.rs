//! From the file to the policy: names looked up, windows and patterns ready, what is not built yet marked.

use rustc_hash::FxHashMap;

use crate::evaluate::Clause;
use crate::file::{
    self, Action, DefaultAction, LimitKind, Mode, Operator, OtherMethods, PolicyFile, Record, Spot, ToolRule,
};
use crate::limit::{Limit, Scope};
use crate::name;
use crate::policy::{Default, Denial, MethodRefusal, Named, NotBuilt, Pattern, Policy, Rule};
use crate::problem::{Place, Problems};
use crate::unbuilt::{Feature, Unbuilt};
use crate::window::Window;

/// Counters of `all_tools` that were given no name.
const ALL: &str = "all";

pub(crate) fn policy(file: &PolicyFile, version: String, problems: &mut Problems<'_>) -> Policy {
    let body = &file.body;
    let mut policy = Policy {
        version,
        default: match body.default.as_ref().map(|d| d.value) {
            Some(DefaultAction::Allow) => Default::Allow,
            Some(DefaultAction::Ask) => Default::Ask,
            Some(DefaultAction::Deny) | None => Default::Deny,
        },
        ..Policy::empty()
    };
    hide(&mut policy, &body.hide);
    for rule in &body.tools {
        if name::is_pattern(&rule.name) {
            let unbuilt = Unbuilt { feature: Feature::Pattern, pointer: rule.place.pointer.clone() };
            policy.not_built.tool_patterns.push(Pattern { text: rule.name.clone(), unbuilt });
        } else {
            let index = policy.rules.len();
            policy.rules.push(tool_rule(rule, &rule.name));
            policy.names.entry(rule.name.as_str().into()).or_default().rule = Some(index);
        }
    }
    if let Some(rule) = &body.all_tools {
        policy.all_tools = tool_rule(rule, ALL);
    }
    policy.spellings = spellings(&policy.names);
    not_built(file, &mut policy.not_built);
    methods(body, &mut policy);
    check_counters(file, &policy, problems);
    policy
}

fn hide(policy: &mut Policy, entries: &[Spot<String>]) {
    for entry in entries {
        let pointer = entry.place.pointer.clone();
        if entry.value == "*" {
            policy.hide_all.get_or_insert(pointer);
        } else if name::is_pattern(&entry.value) {
            let unbuilt = Unbuilt { feature: Feature::Pattern, pointer };
            policy.not_built.hide_patterns.push(Pattern { text: entry.value.clone(), unbuilt });
        } else {
            policy.names.entry(entry.value.as_str().into()).or_default().hidden.get_or_insert(pointer);
        }
    }
}

/// Of several names with one folded form the hidden one speaks for them: its refusal gives away least.
fn spellings(names: &FxHashMap<Box<str>, Named>) -> FxHashMap<Box<str>, Box<str>> {
    let mut ordered: Vec<_> = names.iter().collect();
    ordered.sort_by_key(|(name, named)| (named.hidden.is_none(), (*name).clone()));
    let mut spellings = FxHashMap::default();
    for (name, _) in ordered {
        spellings.entry(name::folded(name).into_owned().into_boxed_str()).or_insert_with(|| name.clone());
    }
    spellings
}

fn tool_rule(rule: &ToolRule, label: &str) -> Rule {
    let mut compiled = Rule { pointer: rule.place.pointer.clone(), ..Rule::default() };
    if let Some(action) = &rule.action
        && action.value == Action::Deny
    {
        compiled.denied = Some(Denial { pointer: action.place.pointer.clone(), reason: rule.reason.clone() });
    }
    for clause in &rule.deny_if {
        match Clause::compile(clause) {
            // No conditions: PolicyLayer's way to write a plain deny.
            Some(clause) if clause.conditions.is_empty() => {
                let reason = clause.on_deny.or_else(|| rule.reason.clone());
                compiled.denied.get_or_insert(Denial { pointer: clause.pointer, reason });
            }
            Some(clause) => compiled.deny_if.push(clause),
            None => {}
        }
    }
    compiled.require = rule.require.iter().filter_map(Clause::compile).collect();
    compiled.limits = limits(rule, label);
    compiled.unbuilt = unbuilt_in(rule);
    compiled
}

/// The first thing in a rule that is not built yet, in the order in which a person reads it.
fn unbuilt_in(rule: &ToolRule) -> Option<Unbuilt> {
    let mut found: Vec<(Feature, &Place)> = Vec::new();
    if let Some(action) = rule.action.as_ref().filter(|a| a.value == Action::Ask) {
        found.push((Feature::Ask, &action.place));
    }
    if let Some(clause) = rule.ask_if.first() {
        found.push((Feature::Ask, &clause.place));
    }
    for clause in rule.require.iter().chain(&rule.deny_if) {
        if clause.conditions.iter().any(|c| matches!(c.op, Operator::Inside | Operator::NotInside)) {
            found.push((Feature::PathOperator, &clause.place));
        }
    }
    for limit in &rule.limits {
        if limit.kind.value != LimitKind::Calls {
            found.push((Feature::LimitKind(limit.kind.value.word()), &limit.place));
        }
        found.extend(limit.until.iter().map(|until| (Feature::Until, &until.place)));
    }
    found.extend(rule.until.iter().map(|until| (Feature::Until, &until.place)));
    found.extend(rule.mode.iter().filter(|m| m.value == Mode::Observe).map(|m| (Feature::Observe, &m.place)));
    found.extend(rule.record.iter().filter(|r| r.value != Record::Full).map(|r| (Feature::Record, &r.place)));
    found.extend(rule.validate.iter().filter(|v| v.value).map(|v| (Feature::Validate, &v.place)));
    found.sort_by_key(|(_, place)| place.offset);
    let (feature, place) = found.first()?;
    Some(Unbuilt { feature: *feature, pointer: place.pointer.clone() })
}

fn limits(rule: &ToolRule, label: &str) -> Vec<Limit> {
    let mut out: Vec<Limit> = Vec::new();
    let mut add = |counter: Option<&str>, unnamed: String, window: Window, limit: Limit| {
        let counter = counter.map_or_else(
            || {
                let base = format!("{label}_{unnamed}");
                let taken = |name: &str| out.iter().any(|l| l.counter == name && l.scope == limit.scope);
                let numbered = (2..).map(|n| format!("{base}_{n}"));
                std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
            },
            str::to_owned,
        );
        out.push(Limit { counter, window: window.duration(), ..limit });
    };
    for entry in &rule.limits {
        let (LimitKind::Calls, Some(window)) = (entry.kind.value, entry.window) else { continue };
        let limit = Limit {
            pointer: entry.place.pointer.clone(),
            counter: String::new(),
            window: window.duration(),
            max: entry.max,
            scope: entry.scope,
            on_deny: entry.on_deny.clone(),
        };
        add(entry.counter.as_deref(), format!("per_{window}"), window, limit);
    }
    if let Some(rate) = &rule.rate_limit {
        let limit = Limit {
            pointer: rate.place.pointer.clone(),
            counter: String::new(),
            window: rate.rate.window.duration(),
            max: rate.rate.max,
            scope: Scope::Session,
            on_deny: rate.on_deny.clone(),
        };
        add(None, "rate_limit".to_owned(), rate.rate.window, limit);
    }
    out
}

fn not_built(file: &PolicyFile, not_built: &mut NotBuilt) {
    let body = &file.body;
    let mut everything: Vec<(Feature, &Place)> = Vec::new();
    everything
        .extend(body.mode.iter().filter(|m| m.value == Mode::Observe).map(|m| (Feature::Observe, &m.place)));
    everything
        .extend(body.record.iter().filter(|r| r.value != Record::Full).map(|r| (Feature::Record, &r.place)));
    everything.extend(body.validate.iter().filter(|v| v.value).map(|v| (Feature::Validate, &v.place)));
    everything.sort_by_key(|(_, place)| place.offset);
    not_built.everything = everything
        .first()
        .map(|(feature, place)| Unbuilt { feature: *feature, pointer: place.pointer.clone() });
    if let Some(class) = body.classes.first() {
        not_built.classes = Some(Unbuilt { feature: Feature::Classes, pointer: class.place.pointer.clone() });
    }
    for overlay in &file.clients {
        let unbuilt = Unbuilt { feature: Feature::Client, pointer: overlay.place.pointer.clone() };
        not_built.clients.push(Pattern { text: overlay.client.clone(), unbuilt });
    }
}

fn methods(body: &file::Body, policy: &mut Policy) {
    let mut refuse = |prefixes: &[&'static str], feature: Feature, place: Option<&Place>| {
        let Some(place) = place else { return };
        for prefix in prefixes {
            let unbuilt = Unbuilt { feature, pointer: place.pointer.clone() };
            policy.methods.push(MethodRefusal { prefix, unbuilt });
        }
    };
    let resources = ["resources/", "subscriptions/"];
    refuse(&resources, Feature::Resources, body.resources.as_ref().map(|r| &r.place));
    refuse(&["prompts/"], Feature::Prompts, body.prompts.as_ref().map(|r| &r.place));
    refuse(&["completion/"], Feature::Completion, body.completion.as_ref().map(|r| &r.place));
    refuse(&["sampling/"], Feature::Sampling, body.sampling.as_ref().map(|r| &r.place));
    refuse(&["elicitation/"], Feature::Elicitation, body.elicitation.as_ref().map(|r| &r.place));
    if let Some(other) = body.other_methods.as_ref().filter(|o| o.value == OtherMethods::Deny) {
        policy.other_methods_denied = Some(other.place.pointer.clone());
    }
}

/// One call must not be counted twice by one counter.
fn check_counters(file: &PolicyFile, policy: &Policy, problems: &mut Problems<'_>) {
    let mut complain = |rule: &ToolRule, limit: &Limit, other: &Limit| {
        let entry = rule.limits.iter().find(|l| l.place.pointer == limit.pointer);
        let place = entry.map_or(&rule.place, |entry| &entry.place);
        let message = format!(
            "the counter {:?} is already used by {} for the same calls",
            limit.counter, other.pointer
        );
        problems.error(place, message, Some("give each limit its own \"counter\"".to_owned()));
    };
    let clash = |a: &Limit, b: &Limit| a.counter == b.counter && a.scope == b.scope;
    let all = file.body.all_tools.iter().map(|rule| (rule, &policy.all_tools, &[][..]));
    let shared = policy.all_tools.limits.as_slice();
    let tools = file.body.tools.iter().filter_map(|rule| Some((rule, policy.rule_of(&rule.name)?, shared)));
    for (written, compiled, before) in all.chain(tools) {
        for (i, limit) in compiled.limits.iter().enumerate() {
            if let Some(other) = compiled.limits[..i].iter().chain(before).find(|other| clash(limit, other)) {
                complain(written, limit, other);
            }
        }
    }
}

//! From the file to the policy: names looked up, windows and patterns ready.

mod counters;
pub(crate) mod limits;

use crate::call::Keep;
use crate::class::ToolClass;
use crate::evaluate::{Clause, Quantifier};
use crate::file::{self, Action, Body, DefaultAction, PolicyFile, Record, Spot, ToolRule, Unlisted};
use crate::glob::Glob;
use crate::layer::{Default, DefaultRule, Denial, Layer, Rule, Validate};
use crate::lookup::HiddenGlob;
use crate::loops::LoopRule;
use crate::overlay::Overlay;
use crate::policy::Policy;
use crate::problem::Problems;
use crate::{codegen, methods, moment, name};

/// Counters of `all_tools` that were given no name begin with this, those of a tool with its name and `_`: no name of a
/// tool makes the two alike.
const ALL: &str = "all_tools:";

/// The same of those of a class.
const CLASS: &str = "class:";

pub(crate) fn policy(file: &PolicyFile, version: String, problems: &mut Problems<'_>) -> Policy {
    let mut policy = Policy { version, base: layer(&file.body, ""), ..Policy::empty() };
    policy.process = file.process.as_ref().map(|process| process.value.clone()).unwrap_or_default();
    if policy.base.default.is_none() {
        // Only of a file that has errors: it is never used.
        policy.base.default = Some(DefaultRule { action: Default::Deny, pointer: String::new() });
    }
    policy.requests = methods::layer(&file.body, "", &methods::Layer::default(), problems);
    for overlay in &file.clients {
        let label = format!("{}:", overlay.client);
        let compiled = Overlay {
            client: overlay.client.clone(),
            layer: layer(&overlay.body, &label),
            requests: methods::layer(&overlay.body, &label, &policy.requests, problems),
        };
        if let Err(other) = policy.overlays.add(compiled) {
            let message = format!("{:?} is the same client as {other:?}", overlay.client);
            problems.error(&overlay.place, message, Some("keep one of them".to_owned()));
        }
    }
    counters::check(file, &policy, problems);
    policy
}

/// `label`: what the counters without a name of their own begin with.
fn layer(body: &Body, label: &str) -> Layer {
    let mut layer = Layer {
        default: body.default.as_ref().map(|said| DefaultRule {
            action: match said.value {
                DefaultAction::Allow => Default::Allow,
                DefaultAction::Deny => Default::Deny,
                DefaultAction::Ask => Default::Ask,
            },
            pointer: said.place.pointer.clone(),
        }),
        unlisted: body
            .unlisted
            .as_ref()
            .filter(|said| said.value == Unlisted::Hide)
            .map(|said| said.place.pointer.clone()),
        mode: body.mode.as_ref().map(|mode| mode.value),
        keep: keep(body.record.as_ref()),
        ask_settings: body.ask.as_ref().map(|said| said.value).unwrap_or_default(),
        pin: body.pin.as_ref().map(|said| said.value),
        validate: validate(body.validate.as_ref()),
        all_tools: body.all_tools.as_ref().map(|rule| tool_rule(rule, &format!("{label}{ALL}"))),
        codegen: body.codegen.as_ref().and_then(codegen::Rules::compile),
        loops: body.loops.as_ref().map(LoopRule::compile),
        ..Layer::default()
    };
    for entry in &body.hide {
        let pointer = entry.place.pointer.clone();
        if name::is_pattern(&entry.value) {
            layer.names.hidden.push(HiddenGlob { glob: Glob::new(&entry.value), pointer });
        } else {
            let named = layer.names.exact.entry(entry.value.as_str().into()).or_default();
            named.hidden.get_or_insert(pointer);
            named.hidden_by_name = true;
        }
    }
    for rule in &body.tools {
        let at = layer.rules.len();
        layer.rules.push(tool_rule(rule, &format!("{label}{}_", rule.name)));
        if name::is_pattern(&rule.name) {
            layer.names.ruled.push((Glob::new(&rule.name), at));
        } else {
            layer.names.exact.entry(rule.name.as_str().into()).or_default().rule = Some(at);
        }
    }
    for rule in &body.classes {
        // Other names were refused when the file was read.
        let Some(class) = ToolClass::from_key(&rule.name) else { continue };
        layer.classes.insert(class, layer.rules.len());
        layer.rules.push(tool_rule(rule, &format!("{label}{CLASS}{}_", rule.name)));
    }
    layer.settle();
    layer
}

pub(crate) fn keep(record: Option<&Spot<Record>>) -> Keep {
    match record.map(|record| record.value) {
        None | Some(Record::Full) => Keep::Full,
        Some(Record::Keys) => Keep::Keys,
        Some(Record::None) => Keep::Nothing,
    }
}

fn validate(said: Option<&Spot<bool>>) -> Option<Validate> {
    said.map(|said| Validate { wanted: said.value, pointer: said.place.pointer.clone() })
}

/// The form was checked when the file was read.
pub(crate) fn until(said: Option<&Spot<String>>) -> Option<i64> {
    said.and_then(|said| moment::parse(&said.value))
}

fn tool_rule(rule: &ToolRule, label: &str) -> Rule {
    let mut compiled = Rule {
        pointer: rule.place.pointer.clone(),
        ends_ms: until(rule.until.as_ref()),
        mode: rule.mode.as_ref().map(|mode| mode.value),
        keep: keep(rule.record.as_ref()),
        validate: validate(rule.validate.as_ref()),
        loops: rule.loops.as_ref().map(LoopRule::compile),
        ask_settings: rule.ask.as_ref().map(|said| said.value).unwrap_or_default(),
        pin: rule.pin.as_ref().map(|said| said.value),
        ..Rule::default()
    };
    compiled.hides = rule.hides.as_ref().map(|place| place.pointer.clone());
    if let Some(action) = &rule.action {
        let said = Denial { pointer: action.place.pointer.clone(), reason: rule.reason.clone() };
        match action.value {
            Action::Allow => {}
            Action::Deny => compiled.denied = Some(said),
            Action::Ask => compiled.ask = Some(said),
        }
    }
    for clause in &rule.deny_if {
        match Clause::compile(clause, Quantifier::Any) {
            // No conditions: PolicyLayer's way to write a plain deny.
            Some(clause) if clause.conditions.is_empty() => {
                let reason = clause.on_deny.or_else(|| rule.reason.clone());
                compiled.denied.get_or_insert(Denial { pointer: clause.pointer, reason });
            }
            Some(clause) => compiled.deny_if.push(clause),
            None => {}
        }
    }
    let clauses =
        |all: &[file::Clause], how| all.iter().filter_map(|clause| Clause::compile(clause, how)).collect();
    compiled.require = clauses(&rule.require, Quantifier::Every);
    compiled.ask_if = clauses(&rule.ask_if, Quantifier::Any);
    compiled.limits = limits::of(rule, label);
    compiled
}

//! From the file to the rules for requests.

use super::limits;
use super::list::{Entries, ListRule, Listed};
use super::{Layer, MethodRule};
use crate::call::RefusalKind;
use crate::compile::keep;
use crate::file::{self, Action, Body, Mode, OtherMethods, Spot};
use crate::limit::Limit;
use crate::problem::Problems;

/// `label`: what the counters without a name of their own begin with. `base` is the layer below this one.
pub(crate) fn layer(body: &Body, label: &str, base: &Layer, problems: &mut Problems<'_>) -> Layer {
    let of = |rule: Option<&MethodRule>| rule.map(|rule| rule.limits.clone()).unwrap_or_default();
    let mut method =
        |rule: &Option<file::MethodRule>, name: &str, before: Option<&MethodRule>, more: Option<bool>| {
            rule.as_ref().map(|rule| method(rule, &format!("{label}{name}/"), &of(before), more, problems))
        };
    let completion = method(&body.completion, "completion", base.completion.as_ref(), None);
    let tools = body.sampling.as_ref().and_then(|rule| rule.tools);
    let sampling = method(&body.sampling, "sampling", base.sampling.as_ref(), tools);
    let urls = body.elicitation.as_ref().and_then(|rule| rule.urls);
    let elicitation = method(&body.elicitation, "elicitation", base.elicitation.as_ref(), urls);
    let before = |limits: Option<&Vec<Limit>>| limits.cloned().unwrap_or_default();
    let (resources, prompts) = (
        before(base.resources.as_ref().map(|r| &r.limits)),
        before(base.prompts.as_ref().map(|r| &r.limits)),
    );
    Layer {
        resources: body
            .resources
            .as_ref()
            .map(|rule| list(rule, &format!("{label}resources/"), &resources, problems)),
        prompts: body
            .prompts
            .as_ref()
            .map(|rule| list(rule, &format!("{label}prompts/"), &prompts, problems)),
        completion,
        sampling,
        elicitation,
        others_denied: body
            .other_methods
            .as_ref()
            .filter(|other| other.value == OtherMethods::Deny)
            .map(|other| other.place.pointer.clone()),
        observe: body.mode.as_ref().map(|mode| mode.value == Mode::Observe),
        keep: keep(body.record.as_ref()),
    }
}

fn list<E: Entries>(
    rule: &file::ListRules,
    label: &str,
    before: &[Limit],
    problems: &mut Problems<'_>,
) -> ListRule<E> {
    let pointer = rule.place.pointer.clone();
    let entries = |list: &[Spot<String>]| -> Vec<Listed<E>> {
        list.iter()
            .map(|spot| Listed { pointer: spot.place.pointer.clone(), entry: E::entry(&spot.value) })
            .collect()
    };
    // Who lists what is allowed means that the rest is not.
    let (rest_refused, rest_pointer) = match &rule.default {
        Some(said) => (refusal(said.value), said.place.pointer.clone()),
        None if rule.allow.is_empty() => (None, pointer.clone()),
        None => (Some(RefusalKind::Denied), format!("{pointer}/allow")),
    };
    let scheme =
        |spot: &Spot<String>| spot.value.trim_end_matches('/').trim_end_matches(':').to_ascii_lowercase();
    ListRule {
        hide: entries(&rule.hide),
        deny: entries(&rule.deny),
        allow: entries(&rule.allow),
        schemes: (!rule.schemes.is_empty()).then(|| rule.schemes.iter().map(scheme).collect()),
        rest_refused,
        rest_pointer,
        reason: rule.reason.clone(),
        limits: limits::compile(&rule.limits, label, before, problems),
        pointer,
    }
}

fn method(
    rule: &file::MethodRule,
    label: &str,
    before: &[Limit],
    permits_more: Option<bool>,
    problems: &mut Problems<'_>,
) -> MethodRule {
    MethodRule {
        pointer: rule.place.pointer.clone(),
        refused: rule.action.as_ref().and_then(|action| refusal(action.value)),
        reason: rule.reason.clone(),
        limits: limits::compile(&rule.limits, label, before, problems),
        permits_more: permits_more.unwrap_or(false),
    }
}

fn refusal(action: Action) -> Option<RefusalKind> {
    match action {
        Action::Allow => None,
        Action::Deny => Some(RefusalKind::Denied),
        Action::Ask => Some(RefusalKind::Ask),
    }
}

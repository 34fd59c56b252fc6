//! Whether a denial that was written is one: for every client, at any time, and not only observed.

use std::collections::BTreeSet;

use super::scope::Scope;
use super::{EditError, Reading, pattern};
use crate::call::Keep;
use crate::file::{Mode, PolicyFile, ToolRule};
use crate::layer::Layer;
use crate::lookup::Found;
use crate::overlay::Overlay;
use crate::policy::Policy;
use callgate_document::{Draft, NewValue};

/// Takes out of a rule what would end its denial, or leave it to be observed only.
pub(super) fn make_lasting(draft: &mut Draft, at: &[&str], rule: &ToolRule, summary: &mut Vec<String>) {
    let below = |key| [at, &[key]].concat();
    if let Some(until) = &rule.until {
        draft.remove(&below("until"));
        summary.push(format!("the rule no longer ends by itself (\"until\" was {:?})", until.value));
    }
    enforce(draft, at, rule, summary);
}

/// Takes `"mode": "observe"` out of a rule.
pub(super) fn enforce(draft: &mut Draft, at: &[&str], rule: &ToolRule, summary: &mut Vec<String>) {
    if rule.mode.as_ref().is_some_and(|mode| mode.value == Mode::Observe) {
        draft.remove(&[at, &["mode"]].concat());
        summary.push("the rule is no longer only observed".to_owned());
    }
}

/// A tool that gets a rule of its own leaves the patterns that spoke of it. What these wanted to be kept off the record
/// stays off it. Returns what was read of the draft on the way.
pub(super) fn keep_private(
    draft: &mut Draft,
    scope: &Scope,
    before: &Reading,
    tool: &str,
) -> Option<Reading> {
    let kept = |Reading { policy, .. }: &Reading| {
        // What a class keeps off the record stays off it, whichever this tool is of.
        let kept = |class| policy.applying_as(scope.overlay(policy), tool, class, i64::MIN).keep();
        policy.classes_of(tool).into_iter().map(kept).max().unwrap_or_default()
    };
    // What is no policy any more is told by whoever reads it next.
    let mut made = Reading::of(draft.text()).ok()?;
    made.policy.classes.clone_from(&before.policy.classes);
    let has_rule = scope.body(&made.file).tools.iter().any(|rule| rule.name == tool);
    let was = kept(before);
    if has_rule && kept(&made) < was {
        let word = if was == Keep::Nothing { "none" } else { "keys" };
        draft.set(&scope.path(&["tools", tool, "record"]), NewValue::text(word));
    }
    Some(made)
}

/// Is the tool refused by rules that never end, whoever of those that the rules are for calls it? Observing is another matter.
pub(super) fn refused_always(policy: &Policy, scope: &Scope, tool: &str) -> Result<(), EditError> {
    for overlay in scope.overlays(policy) {
        for now_ms in moments(policy, overlay) {
            let refused = |name: &str| {
                // A rule of its class may be another one tomorrow.
                let applying = policy.applying_as(overlay, name, None, now_ms);
                applying.hidden().is_some() || applying.rules().any(|rule| rule.denied.is_some())
            };
            if !refused(tool) || !covered_names(policy, overlay, tool).all(refused) {
                let who = overlay.map_or_else(String::new, |o| format!(" for the client {:?}", o.client));
                return Err(EditError::NotRefused { tool: tool.to_owned(), who });
            }
        }
    }
    Ok(())
}

/// The rules that a pattern covers, by their names: what is said of it may be another thing for them.
fn covered_names<'p>(
    policy: &'p Policy,
    overlay: Option<&'p Overlay>,
    tool: &'p str,
) -> impl Iterator<Item = &'p str> {
    let layers = std::iter::once(&policy.base).chain(overlay.map(|overlay| &overlay.layer));
    let names = layers.flat_map(Layer::named_rules).map(|(name, _)| name);
    names.filter(move |name| *name != tool && pattern::covers(tool, name))
}

/// What to say if calls of the tool are only observed, at some time or for some client; of a pattern, also what it covers.
pub(super) fn only_observed(policy: &Policy, scope: &Scope, tool: &str) -> Vec<String> {
    let of = |name: &str, what: &str| {
        observed(policy, scope, what, |overlay, now_ms| {
            let classes = policy.classes_of(name).into_iter();
            classes.into_iter().any(|class| policy.applying_as(overlay, name, class, now_ms).observing())
        })
    };
    let shown = format!("{tool:?}");
    let whole = of(tool, &shown);
    let mut said = whole.clone();
    let overlays = scope.overlays(policy);
    let covered: BTreeSet<&str> =
        overlays.into_iter().flat_map(|overlay| covered_names(policy, overlay, tool)).collect();
    for name in covered {
        // What is so for the whole pattern is not said again.
        if of(name, &shown) != whole {
            said.extend(of(name, &format!("{name:?}")));
        }
    }
    said
}

/// The same for a block of all tools, some of which may have rules that are observed by themselves.
pub(super) fn server_only_observed(policy: &Policy, scope: &Scope, file: &PolicyFile) -> Vec<String> {
    let mut said = observed(policy, scope, "the block", |overlay, now_ms| {
        policy.applying_to(overlay, Found::default(), Found::default(), None, now_ms).observing()
    });
    let observes = |rule: &&ToolRule| rule.mode.as_ref().is_some_and(|mode| mode.value == Mode::Observe);
    for rule in file.body.tools.iter().filter(observes) {
        said.push(format!(
            "but {:?} is only observed by its own rule: its calls pass until that \"mode\" is changed",
            rule.name
        ));
    }
    for client in file.clients.iter().filter(|one| scope.client().is_none_or(|client| one.client == client)) {
        for rule in client.body.tools.iter().filter(observes) {
            said.push(format!(
                "but {:?} is only observed for the client {:?}: its calls pass until that \"mode\" is changed",
                rule.name, client.client
            ));
        }
    }
    said
}

fn observed(
    policy: &Policy,
    scope: &Scope,
    what: &str,
    observing: impl Fn(Option<&Overlay>, i64) -> bool,
) -> Vec<String> {
    let mut said = Vec::new();
    for overlay in scope.overlays(policy) {
        if !moments(policy, overlay).into_iter().any(|now_ms| observing(overlay, now_ms)) {
            continue;
        }
        let Some(overlay) = overlay else {
            // What holds for everyone is not said again for single clients.
            return vec![format!(
                "but {what} is only observed: the policy refuses nothing here until its \"mode\" is changed"
            )];
        };
        said.push(format!(
            "but {what} is only observed for the client {:?}: nothing is refused to it until its \"mode\" is changed",
            overlay.client
        ));
    }
    said
}

/// Between two of these moments nothing changes by itself; after the last one nothing does any more.
pub(super) fn moments(policy: &Policy, overlay: Option<&Overlay>) -> BTreeSet<i64> {
    let layers = std::iter::once(&policy.base).chain(overlay.map(|overlay| &overlay.layer));
    let ends = layers.flat_map(Layer::every_rule).filter_map(|rule| rule.ends_ms);
    ends.chain([i64::MIN, i64::MAX]).collect()
}

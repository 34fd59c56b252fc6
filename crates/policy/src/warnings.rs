//! Things in a good policy that may not mean what its writer thinks.
//!
//! Looks at the file, not at the compiled policy: it speaks of what was written. It never changes a decision.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::file::{
    Action, Body, Clause, DefaultAction, Mode, Operator, PolicyFile, Record, Spot, ToolRule, Value,
};
use crate::name;
use crate::problem::{Place, Problems};
use crate::unbuilt::Feature;

pub(crate) fn look(file: &PolicyFile, problems: &mut Problems<'_>) {
    let body = &file.body;
    default(body, problems);
    hide(body, problems);
    spellings(body, problems);
    for rule in &body.tools {
        tool(rule, &format!("{:?}", rule.name), problems);
    }
    if let Some(rule) = &body.all_tools {
        tool(rule, "all tools", problems);
        all_tools(rule, problems);
    }
    not_built(file, problems);
    not_acted_on(file, problems);
}

fn default(body: &Body, problems: &mut Problems<'_>) {
    let Some(default) = &body.default else { return };
    if default.value != DefaultAction::Deny || !body.tools.is_empty() || !body.classes.is_empty() {
        return;
    }
    let message = match body.hide.iter().map(|h| format!("{:?}", h.value)).collect::<Vec<_>>().join(", ") {
        hidden if hidden.is_empty() => {
            "every tool is denied: the default is deny and no tool is listed".to_owned()
        }
        hidden => format!(
            "every tool is denied, not only {hidden}: the default is deny and no tool is listed under \"tools\""
        ),
    };
    let fix = "write \"default\": \"allow\" if the rest should keep working, or list the tools to allow";
    problems.warn(&default.place, message, fix.to_owned());
}

fn hide(body: &Body, problems: &mut Problems<'_>) {
    let mut seen = FxHashSet::default();
    for entry in &body.hide {
        if !seen.insert(entry.value.as_str()) {
            problems.warn(
                &entry.place,
                format!("{:?} is hidden twice", entry.value),
                "remove one".to_owned(),
            );
        }
    }
    let hides_all = seen.contains("*");
    for rule in &body.tools {
        if hides_all || seen.contains(rule.name.as_str()) {
            let message = format!("{:?} is hidden, so this rule is never reached", rule.name);
            problems.warn(&rule.place, message, "remove the rule, or the entry in \"hide\"".to_owned());
        }
    }
}

fn spellings(body: &Body, problems: &mut Problems<'_>) {
    let mut seen: FxHashMap<String, &str> = FxHashMap::default();
    let hidden = body.hide.iter().map(|h| (h.value.as_str(), &h.place));
    for (tool, place) in hidden.chain(body.tools.iter().map(|rule| (rule.name.as_str(), &rule.place))) {
        match seen.entry(name::folded(tool).into_owned()) {
            std::collections::hash_map::Entry::Occupied(other) if *other.get() != tool => {
                let message = format!("{tool:?} and {:?} differ only in spelling", other.get());
                problems.warn(place, message, None);
            }
            std::collections::hash_map::Entry::Occupied(_) => {}
            std::collections::hash_map::Entry::Vacant(slot) => {
                slot.insert(tool);
            }
        }
    }
}

fn tool(rule: &ToolRule, what: &str, problems: &mut Problems<'_>) {
    let denied = rule.action.as_ref().is_some_and(|a| a.value == Action::Deny)
        || rule.deny_if.iter().any(|clause| clause.conditions.is_empty());
    let limited = !rule.limits.is_empty() || rule.rate_limit.is_some();
    if denied && (limited || !rule.require.is_empty()) {
        let message = format!("{what} is always denied, so its limits and conditions are never reached");
        problems.warn(&rule.place, message, None);
    }
    if rule.reason.is_some() && !denied {
        let message = "`reason` is said only when the rule denies, and this one does not".to_owned();
        problems.warn(
            &rule.place,
            message,
            "add \"action\": \"deny\", or write \"on_deny\" in a condition".to_owned(),
        );
    }
    for entry in rule.limits.iter().filter(|entry| entry.counter.is_none()) {
        let message = "this limit has no counter name; its count starts anew when its window is changed";
        problems.warn(&entry.place, message, "add \"counter\": \"…\"".to_owned());
    }
    if let Some(rate) = rule.rate_limit.as_ref().filter(|_| !rule.limits.is_empty()) {
        let message = "`rate_limit` and `limits` both apply: each of them must have room";
        problems.warn(&rate.place, message, None);
    }
    for clause in &rule.require {
        if clause.conditions.is_empty() {
            problems.warn(&clause.place, "this requires nothing: it has no conditions", None);
        }
        never_true(clause, &format!("so every call of {what} is refused"), problems);
    }
    for clause in &rule.deny_if {
        never_true(clause, "so this never denies anything", problems);
    }
    if let Some(ask) = &rule.ask
        && rule.action.as_ref().is_none_or(|a| a.value != Action::Ask)
        && rule.ask_if.is_empty()
    {
        problems.warn(&ask.place, "`ask` has no effect: nothing here asks", None);
    }
}

/// Conditions that no arguments can satisfy.
fn never_true(clause: &Clause, consequence: &str, problems: &mut Problems<'_>) {
    for condition in &clause.conditions {
        if condition.op == Operator::In && condition.value == Value::List(Vec::new()) {
            problems.warn(&condition.place, format!("nothing is in an empty list, {consequence}"), None);
        }
    }
    let absent = |c: &&crate::file::Predicate| c.op == Operator::Exists && c.value == Value::Bool(false);
    for absent in clause.conditions.iter().filter(absent) {
        let other = clause.conditions.iter().find(|c| c.path == absent.path && c.place != absent.place);
        if let Some(other) = other
            && (other.op != Operator::Exists || other.value != absent.value)
        {
            let message =
                format!("{} cannot be absent and fit another condition, {consequence}", absent.path.text);
            problems.warn(&absent.place, message, None);
        }
    }
}

fn all_tools(rule: &ToolRule, problems: &mut Problems<'_>) {
    if let Some(action) = &rule.action {
        match action.value {
            Action::Allow => {
                let message = "`all_tools` allows nothing by itself; that is what `default` is for";
                problems.warn(&action.place, message, "write \"default\": \"allow\"".to_owned());
            }
            Action::Deny => problems.warn(&action.place, "every tool is denied, the listed ones too", None),
            Action::Ask => {}
        }
    }
}

/// Features that refuse what they touch.
fn not_built(file: &PolicyFile, problems: &mut Problems<'_>) {
    let mut refused = |feature: Feature, place: &Place, what: &str| {
        problems.warn(place, format!("{}: {what} refused", feature.sentence()), None);
    };
    let body = &file.body;
    if let Some(default) = body.default.as_ref().filter(|d| d.value == DefaultAction::Ask) {
        refused(Feature::Ask, &default.place, "calls of tools that are not listed are");
    }
    for entry in body.hide.iter().filter(|h| h.value != "*" && name::is_pattern(&h.value)) {
        refused(Feature::Pattern, &entry.place, "calls of the tools that it matches are");
    }
    for rule in &body.tools {
        if name::is_pattern(&rule.name) {
            refused(Feature::Pattern, &rule.place, "calls of the tools that it matches are");
        } else {
            in_rule(rule, &format!("every call of {:?} is", rule.name), &mut refused);
        }
    }
    if let Some(rule) = &body.all_tools {
        in_rule(rule, "every call is", &mut refused);
    }
    if let Some(class) = body.classes.first() {
        refused(Feature::Classes, &class.place, "calls of tools that are not listed are");
    }
    for overlay in &file.clients {
        refused(Feature::Client, &overlay.place, &format!("calls of the client {:?} are", overlay.client));
    }
    server_wide(
        body.mode.as_ref(),
        body.record.as_ref(),
        body.validate.as_ref(),
        "every call is",
        &mut refused,
    );
    let families = [
        (Feature::Resources, body.resources.as_ref().map(|r| &r.place)),
        (Feature::Prompts, body.prompts.as_ref().map(|r| &r.place)),
        (Feature::Completion, body.completion.as_ref().map(|r| &r.place)),
        (Feature::Sampling, body.sampling.as_ref().map(|r| &r.place)),
        (Feature::Elicitation, body.elicitation.as_ref().map(|r| &r.place)),
    ];
    for (feature, place) in families {
        if let Some(place) = place {
            refused(feature, place, "these requests are");
        }
    }
}

fn in_rule(rule: &ToolRule, what: &str, refused: &mut impl FnMut(Feature, &Place, &str)) {
    if let Some(action) = rule.action.as_ref().filter(|a| a.value == Action::Ask) {
        refused(Feature::Ask, &action.place, what);
    }
    if let Some(clause) = rule.ask_if.first() {
        refused(Feature::Ask, &clause.place, what);
    }
    for clause in rule.require.iter().chain(&rule.deny_if) {
        if let Some(path) =
            clause.conditions.iter().find(|c| matches!(c.op, Operator::Inside | Operator::NotInside))
        {
            refused(Feature::PathOperator, &path.place, what);
        }
    }
    for limit in &rule.limits {
        if limit.kind.value != crate::file::LimitKind::Calls {
            refused(Feature::LimitKind(limit.kind.value.word()), &limit.place, what);
        }
        if let Some(until) = &limit.until {
            refused(Feature::Until, &until.place, what);
        }
    }
    if let Some(until) = &rule.until {
        refused(Feature::Until, &until.place, what);
    }
    server_wide(rule.mode.as_ref(), rule.record.as_ref(), rule.validate.as_ref(), what, refused);
}

/// What can be said of one tool and of all.
fn server_wide(
    mode: Option<&Spot<Mode>>,
    record: Option<&Spot<Record>>,
    validate: Option<&Spot<bool>>,
    what: &str,
    refused: &mut impl FnMut(Feature, &Place, &str),
) {
    if let Some(mode) = mode.filter(|m| m.value == Mode::Observe) {
        refused(Feature::Observe, &mode.place, what);
    }
    if let Some(record) = record.filter(|r| r.value != Record::Full) {
        refused(Feature::Record, &record.place, what);
    }
    if let Some(validate) = validate.filter(|v| v.value) {
        refused(Feature::Validate, &validate.place, what);
    }
}

/// Features that change no decision: read, and left alone for now.
fn not_acted_on(file: &PolicyFile, problems: &mut Problems<'_>) {
    let rules = file.body.tools.iter().chain(&file.body.all_tools);
    let mut places: Vec<(&str, &Place)> = Vec::new();
    places.extend(file.process.iter().map(|p| ("process", &p.place)));
    places.extend(file.body.pin.iter().map(|p| ("pin", &p.place)));
    places.extend(file.body.loops.iter().map(|l| ("loop", &l.place)));
    for rule in rules {
        places.extend(rule.pin.iter().map(|p| ("pin", &p.place)));
        places.extend(rule.loops.iter().map(|l| ("loop", &l.place)));
    }
    for (key, place) in places {
        problems.warn(place, format!("`{key}` is not acted on yet by this version of Callgate"), None);
    }
}

//! Things in a good policy that may not mean what its writer thinks.
//!
//! Looks at the file, not at the compiled policy: it speaks of what was written. It never changes a decision.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::evaluate::schemes;
use crate::file::{
    Action, AskedIn, Body, Clause, DefaultAction, Mode, Operator, OtherMethods, PolicyFile, Spot, ToolRule,
    Unlisted, Value,
};
use crate::glob::Glob;
use crate::name;
use crate::problem::Problems;

pub(crate) fn look(file: &PolicyFile, watch_only: bool, problems: &mut Problems<'_>) {
    default(file, problems);
    layer(&file.body, problems);
    for overlay in &file.clients {
        layer(&overlay.body, problems);
        if overlay.body == Body::default() {
            let message = format!("nothing is said for the client {:?}", overlay.client);
            problems.warn(&overlay.place, message, "remove it".to_owned());
        }
        opened_for_a_client(&file.body, &overlay.body, &overlay.client, problems);
        asked_by_one_client(&overlay.body, problems);
    }
    nothing_unlisted(file, problems);
    nothing_to_observe(file, problems);
    limits_of_the_process(file, problems);
    if watch_only && file.body.mode.is_none() {
        loops_that_only_report(file, problems);
    }
}

/// What can be odd in the policy itself, and in what it adds for one client.
fn layer(body: &Body, problems: &mut Problems<'_>) {
    hide(body, problems);
    spellings(body, problems);
    never_first(body, problems);
    for rule in &body.tools {
        tool(rule, &format!("{:?}", rule.name), problems);
    }
    for rule in &body.classes {
        tool(rule, &format!("the class {}", rule.name), problems);
    }
    classes_after_all_names(body, problems);
    if let Some(rule) = &body.all_tools {
        tool(rule, "all tools", problems);
        all_tools(rule, problems);
    }
}

/// Names and patterns come before classes: one that every name fits leaves them nothing.
fn classes_after_all_names(body: &Body, problems: &mut Problems<'_>) {
    let everything = |name: &str| name::is_pattern(name) && Glob::new(name).is_everything();
    let ruled = body.tools.iter().find(|rule| everything(&rule.name) && rule.until.is_none());
    let by = match (body.hide.iter().find(|hidden| everything(&hidden.value)), ruled) {
        (Some(hidden), _) => format!("{:?} in \"hide\" hides every tool", hidden.value),
        (None, Some(rule)) => format!("the pattern {:?} speaks of every tool first", rule.name),
        (None, None) => return,
    };
    for class in &body.classes {
        let message = format!("this rule is never used: {by}");
        let fix = "remove it, or say with \"default\" what the pattern says".to_owned();
        problems.warn(&class.place, message, fix);
    }
}

fn default(file: &PolicyFile, problems: &mut Problems<'_>) {
    let body = &file.body;
    let Some(default) = &body.default else { return };
    let opened = |body: &Body| !body.tools.is_empty() || !body.classes.is_empty();
    let by_client = file.clients.iter().any(|o| opened(&o.body) || o.body.default.is_some());
    if default.value != DefaultAction::Deny || opened(body) || by_client {
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
    let globs: Vec<Glob> =
        body.hide.iter().filter(|h| name::is_pattern(&h.value)).map(|h| Glob::new(&h.value)).collect();
    for rule in &body.tools {
        let by_pattern = |hidden: &Glob| {
            if name::is_pattern(&rule.name) {
                hidden.covers(&Glob::new(&rule.name))
            } else {
                hidden.matches(&rule.name)
            }
        };
        if seen.contains(rule.name.as_str()) || globs.iter().any(by_pattern) {
            let message = format!("{:?} is hidden, so this rule is never reached", rule.name);
            problems.warn(&rule.place, message, "remove the rule, or the entry in \"hide\"".to_owned());
        }
    }
}

/// Patterns that match nothing that a pattern before them leaves over.
fn never_first(body: &Body, problems: &mut Problems<'_>) {
    let mut globs: Vec<(Glob, &ToolRule)> = body
        .tools
        .iter()
        .filter(|rule| name::is_pattern(&rule.name))
        .map(|rule| (Glob::new(&rule.name), rule))
        .collect();
    globs.sort_by(|(a, _), (b, _)| a.rank().cmp(&b.rank()));
    for (i, (glob, rule)) in globs.iter().enumerate() {
        // A rule that ends leaves its names to the next.
        let before = globs[..i].iter().filter(|(_, rule)| rule.until.is_none());
        if let Some((_, other)) = before.into_iter().find(|(other, _)| other.covers(glob)) {
            let message = format!(
                "this rule is never reached: {:?} matches the same tools and comes first",
                other.name
            );
            problems.warn(&rule.place, message, "keep one of them".to_owned());
        }
    }
}

/// The one thing by which an overlay gives more than the policy does.
fn opened_for_a_client(base: &Body, overlay: &Body, client: &str, problems: &mut Problems<'_>) {
    let Some(default) = overlay.default.as_ref().filter(|d| d.value == DefaultAction::Allow) else { return };
    if base.default.as_ref().is_some_and(|d| d.value != DefaultAction::Allow) {
        let message = format!("the client {client:?} may call every tool that is not listed, others may not");
        problems.warn(&default.place, message, None);
    }
}

/// What is said for one client only ever makes the policy stricter, and this never does.
fn asked_by_one_client(overlay: &Body, problems: &mut Problems<'_>) {
    let rules = overlay.tools.iter().chain(&overlay.all_tools).filter_map(|rule| rule.ask.as_ref());
    for said in overlay.ask.iter().chain(rules).filter(|said| said.value.asked_in == Some(AskedIn::Client)) {
        let message = "`where` has no effect here: for one client nothing is made milder than for all";
        let fix = "write it into the policy itself; a client that cannot ask is not asked to";
        problems.warn(&said.place, message, fix.to_owned());
    }
}

/// Only what the default denies is hidden by `unlisted`.
fn nothing_unlisted(file: &PolicyFile, problems: &mut Problems<'_>) {
    let denies = |body: &Body| body.default.as_ref().map(|default| default.value == DefaultAction::Deny);
    let base = denies(&file.body).unwrap_or(false);
    let for_clients = || file.clients.iter().any(|overlay| denies(&overlay.body) == Some(true));
    let mut warn = |body: &Body, denied: bool| {
        let hides = |said: &&Spot<Unlisted>| said.value == Unlisted::Hide;
        if let Some(said) = body.unlisted.as_ref().filter(hides)
            && !denied
        {
            let message = "`unlisted` hides nothing: the default does not deny what is not listed";
            problems.warn(&said.place, message, "write \"default\": \"deny\" beside it".to_owned());
        }
    };
    warn(&file.body, base || for_clients());
    for overlay in &file.clients {
        warn(&overlay.body, denies(&overlay.body).unwrap_or(base));
    }
}

fn nothing_to_observe(file: &PolicyFile, problems: &mut Problems<'_>) {
    let Some(mode) = file.body.mode.as_ref().filter(|mode| mode.value == Mode::Observe) else { return };
    let refuses = |body: &Body| {
        let rule = |rule: &ToolRule| {
            rule.action.as_ref().is_some_and(|action| action.value != Action::Allow)
                || rule.hides.is_some()
                || !rule.require.is_empty()
                || !rule.deny_if.is_empty()
                || !rule.ask_if.is_empty()
                || !rule.limits.is_empty()
                || rule.rate_limit.is_some()
                || rule.validate.as_ref().is_some_and(|validate| validate.value)
                || rule.loops.is_some()
        };
        body.default.as_ref().is_some_and(|default| default.value != DefaultAction::Allow)
            || !body.hide.is_empty()
            || body.validate.as_ref().is_some_and(|validate| validate.value)
            || body.codegen.is_some()
            || body.loops.is_some()
            || body.tools.iter().chain(&body.classes).chain(&body.all_tools).any(rule)
            || [&body.resources, &body.prompts].iter().any(|rules| rules.is_some())
            || [&body.completion, &body.sampling, &body.elicitation].iter().any(|rule| rule.is_some())
            || body.other_methods.as_ref().is_some_and(|other| other.value == OtherMethods::Deny)
    };
    if !refuses(&file.body) && !file.clients.iter().any(|overlay| refuses(&overlay.body)) {
        problems.warn(&mode.place, "there is nothing to observe: no rule here refuses anything", None);
    }
}

/// What becomes of a server that is beyond a limit, without a limit.
fn limits_of_the_process(file: &PolicyFile, problems: &mut Problems<'_>) {
    let Some(process) = &file.process else { return };
    let value = &process.value;
    let limited = value.memory.is_some() || value.processes.is_some() || value.idle.is_some();
    if value.on_limit.is_some() && !limited {
        let message = "`on_limit` has no effect: there is no `memory`, `processes` or `idle` beside it";
        problems.warn(&process.place, message, None);
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
    let asked = |clauses: &[Clause]| clauses.iter().any(|clause| !clause.conditions.is_empty());
    let conditional = asked(&rule.require) || asked(&rule.deny_if) || asked(&rule.ask_if);
    if denied && (limited || conditional) {
        let message = format!("{what} is always denied, so its limits and conditions are never reached");
        problems.warn(&rule.place, message, None);
    }
    let asks = rule.action.as_ref().is_some_and(|a| a.value == Action::Ask);
    if rule.reason.is_some() && !denied && !asks {
        let message = "`reason` is said only when the rule denies or asks, and this one does not".to_owned();
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
    rule.deny_if.iter().chain(&rule.ask_if).for_each(|clause| misses_spellings(clause, problems));
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
        let other = clause.conditions.iter().find(|c| c.subject == absent.subject && c.place != absent.place);
        if let Some(other) = other
            && (other.op != Operator::Exists || other.value != absent.value)
        {
            let message = format!(
                "{} cannot be absent and fit another condition, {consequence}",
                absent.subject.text()
            );
            problems.warn(&absent.place, message, None);
        }
    }
}

/// Patterns for the scheme of an address that other spellings of the same scheme get past.
fn misses_spellings(clause: &Clause, problems: &mut Problems<'_>) {
    for condition in clause.conditions.iter().filter(|condition| condition.op == Operator::Regex) {
        let Value::Text(pattern) = &condition.value else { continue };
        let Some(rest) = pattern.strip_prefix('^').map(|rest| rest.trim_start_matches("\\s*")) else {
            continue;
        };
        let Some(schemes) = schemes(rest) else { continue };
        let first = schemes.first().copied().unwrap_or_default().to_ascii_uppercase();
        let message = format!("{pattern:?} lets {first}: pass, and servers take that for the same address");
        let fix = Value::Text(format!("(?i)^\\s*{rest}")).to_json();
        problems.warn(&condition.place, message, format!("write {fix}"));
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

/// Where nothing else refuses, neither do loops, unless they are said to.
fn loops_that_only_report(file: &PolicyFile, problems: &mut Problems<'_>) {
    for body in std::iter::once(&file.body).chain(file.clients.iter().map(|overlay| &overlay.body)) {
        let rules = body.tools.iter().chain(&body.classes).chain(&body.all_tools);
        let rules = rules.filter_map(|rule| rule.loops.as_ref());
        for said in body.loops.iter().chain(rules).filter(|said| said.value.action.is_none()) {
            let message = "a loop is only reported: nothing else in this policy refuses a call";
            let fix = "add \"action\": \"deny\" if it is to be refused".to_owned();
            problems.warn(&said.place, message, fix);
        }
    }
}

//! Did a change of policy open anything?
//!
//! Restricting is easy and loosening is not; so every way in which a policy can become looser has to be found here, and
//! said in words. When the list is empty, no call that the old policy refused passes the new one.

use std::collections::BTreeSet;

use crate::evaluate::Clause;
use crate::limit::Limit;
use crate::name;
use crate::policy::{Default, Pattern, Policy, Rule};
use crate::window::Window;

/// Each thing that became looser, in words.
pub fn loosened(old: &Policy, new: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    if new.broken.is_some() {
        methods(old, new, &mut found);
        return found;
    }
    if let Some(reason) = &old.broken {
        found.push(format!("every call was refused ({reason}), now the rules decide"));
        return found;
    }
    let names: BTreeSet<&str> = old.names.keys().chain(new.names.keys()).map(|name| &**name).collect();
    for name in &names {
        tool(&format!("{name:?}"), Standing::of(old, name), Standing::of(new, name), &mut found);
    }
    let (before, after) = (Standing::of_others(old), Standing::of_others(new));
    tool("every tool that is not listed", before, after, &mut found);
    spellings(old, new, &mut found);
    patterns("tools named", &old.not_built.hide_patterns, &new.not_built.hide_patterns, &mut found);
    if new.default == Default::Allow && new.not_built.classes.is_none() {
        patterns("tools named", &old.not_built.tool_patterns, &new.not_built.tool_patterns, &mut found);
    }
    patterns("calls of the client", &old.not_built.clients, &new.not_built.clients, &mut found);
    rule("all tools", &old.all_tools, &new.all_tools, &mut found);
    if old.not_built.everything.is_some() && new.not_built.everything.is_none() {
        found.push("every call was refused, now the rules decide".to_owned());
    }
    methods(old, new, &mut found);
    found
}

/// What a policy says about one tool on the whole.
enum Standing<'p> {
    Refused(&'static str),
    Open(Option<&'p Rule>),
}

impl<'p> Standing<'p> {
    fn of(policy: &'p Policy, tool: &str) -> Standing<'p> {
        if policy.is_hidden("", tool) {
            return Standing::Refused("hidden");
        }
        let rule = policy.rule_of(tool);
        if policy.all_tools.denied.is_some() || rule.is_some_and(|r| r.denied.is_some()) {
            return Standing::Refused("denied");
        }
        let matching = |patterns: &[Pattern]| patterns.iter().any(|p| name::matches(&p.text, tool));
        let not_built = &policy.not_built;
        if rule.is_some_and(|r| r.unbuilt.is_some()) || policy.all_tools.unbuilt.is_some() {
            return Standing::Refused("refused");
        }
        if matching(&not_built.hide_patterns) || (rule.is_none() && matching(&not_built.tool_patterns)) {
            return Standing::Refused("refused");
        }
        // A name that only another spelling of it is ruled by is refused too.
        if rule.is_none() && policy.look_alike(tool).is_some() {
            return Standing::Refused("refused");
        }
        match rule {
            Some(rule) => Standing::Open(Some(rule)),
            None => Standing::of_others(policy),
        }
    }

    fn of_others(policy: &'p Policy) -> Standing<'p> {
        if policy.hide_all.is_some() {
            Standing::Refused("hidden")
        } else if policy.all_tools.denied.is_some() || policy.default == Default::Deny {
            Standing::Refused("denied")
        } else if policy.default == Default::Ask
            || policy.not_built.classes.is_some()
            || policy.all_tools.unbuilt.is_some()
        {
            Standing::Refused("refused")
        } else {
            Standing::Open(None)
        }
    }
}

fn tool(what: &str, old: Standing<'_>, new: Standing<'_>, found: &mut Vec<String>) {
    match (old, new) {
        (_, Standing::Refused(_)) => {}
        (Standing::Refused(was), Standing::Open(_)) => {
            found.push(format!("{what} was {was}, is now allowed"))
        }
        (Standing::Open(None), Standing::Open(_)) => {}
        (Standing::Open(Some(old)), Standing::Open(new)) => {
            rule(what, old, new.unwrap_or(&Rule::default()), found)
        }
    }
}

/// Conditions that are gone, limits that are gone or wider.
fn rule(what: &str, old: &Rule, new: &Rule, found: &mut Vec<String>) {
    if new.denied.is_some() || new.unbuilt.is_some() {
        return;
    }
    if what == "all tools" && (old.denied.is_some() || old.unbuilt.is_some()) {
        found.push("all tools were refused, now the rules decide".to_owned());
    }
    let gone = |old: &'_ [Clause], new: &[Clause]| -> Vec<String> {
        old.iter().filter(|o| !new.iter().any(|n| n.same_test(o))).map(Clause::words).collect()
    };
    for words in gone(&old.deny_if, &new.deny_if) {
        found.push(format!("{what}: no longer denied when {words}"));
    }
    for words in gone(&old.require, &new.require) {
        found.push(format!("{what}: no longer required that {words}"));
    }
    for before in &old.limits {
        let same: Vec<&Limit> = new.limits.iter().filter(|l| l.counter == before.counter).collect();
        if same.iter().any(|after| at_least_as_tight(after, before)) {
            continue;
        }
        found.push(match same.first() {
            Some(after) => format!("{what}: the cap was {}, is now {}", shown(before), shown(after)),
            None => format!("{what}: the cap of {} (counter {:?}) is gone", shown(before), before.counter),
        });
    }
}

fn at_least_as_tight(new: &Limit, old: &Limit) -> bool {
    // Another scope is another counter, which starts empty: wider or not, it is not the same cap any more.
    new.max <= old.max && new.window >= old.window && new.scope == old.scope
}

fn shown(limit: &Limit) -> String {
    let window =
        Window::from_seconds(limit.window.as_secs()).map_or_else(|_| String::new(), |w| w.to_string());
    format!("{} per {window} by {}", limit.max, limit.scope)
}

/// Where unlisted tools are allowed, a name that leaves the file takes the guard against its look-alikes with it.
fn spellings(old: &Policy, new: &Policy, found: &mut Vec<String>) {
    if matches!(Standing::of_others(new), Standing::Refused(_)) {
        return;
    }
    let mut gone: Vec<_> =
        old.spellings.iter().filter(|(folded, _)| !new.spellings.contains_key(*folded)).collect();
    gone.sort();
    for (_, name) in gone {
        found.push(format!("other spellings of {name:?} are no longer refused"));
    }
}

fn patterns(what: &str, old: &[Pattern], new: &[Pattern], found: &mut Vec<String>) {
    for pattern in old.iter().filter(|o| !new.iter().any(|n| n.text == o.text)) {
        found.push(format!("{what} {:?} are no longer refused", pattern.text));
    }
}

fn methods(old: &Policy, new: &Policy, found: &mut Vec<String>) {
    for family in old.methods.iter().filter(|o| !new.methods.iter().any(|n| n.prefix == o.prefix)) {
        found.push(format!("requests {}… were refused, are now let through", family.prefix));
    }
    // A broken policy refuses what the protocol does not know, too.
    if old.other_methods_denied.is_some() && new.other_methods_denied.is_none() && new.broken.is_none() {
        found.push("methods that the protocol does not know were denied, are now let through".to_owned());
    }
}

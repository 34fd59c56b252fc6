//! Did a change open anything for requests that call no tool?
//!
//! Part by part: whatever a layer of the old policy refused must be refused by some layer of the new one for the same
//! clients. Where that cannot be seen from the entries it is called looser, never the other way round.

use super::list::{Entries, ListRule, Listed};
use rustc_hash::FxHashSet;

use super::{Family, Layer, Layers, MethodRule};
use crate::call::RefusalKind;
use crate::compare::Clients;
use crate::limit::{Kind, Limit};
use crate::policy::Policy;

/// Each thing that became looser, in words.
pub(crate) fn look(old: &Policy, new: &Policy, cases: &[Clients<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut for_everyone: FxHashSet<String> = FxHashSet::default();
    // What holds for clients without an overlay holds for everyone, and is not said again for single ones.
    let (everyone, some): (Vec<_>, Vec<_>) = cases.iter().partition(|clients| clients.who.is_none());
    for clients in everyone.into_iter().chain(some) {
        let (was, now) = (old.request_layers_with(clients.old), new.request_layers_with(clients.new));
        let mut words = Vec::new();
        for before in was.iter() {
            layer(before, now, &mut words);
        }
        observed(was, now, &mut words);
        if let Some(kept) = now.keep().more_than(was.keep()) {
            words.push(format!("requests that call no tool: {kept}"));
        }
        words.retain(|words| !for_everyone.contains(words));
        match &clients.who {
            Some(who) => found.extend(words.iter().map(|words| format!("for {who}: {words}"))),
            None => {
                found.extend(words.iter().cloned());
                for_everyone.extend(words);
            }
        }
    }
    let mut said: FxHashSet<String> = FxHashSet::default();
    found.retain(|words| said.insert(words.clone()));
    found
}

fn observed(old: Layers<'_>, new: Layers<'_>, found: &mut Vec<String>) {
    if new.observing() && !old.observing() && old.iter().any(|layer| !layer.is_empty()) {
        found.push("rules for requests were enforced, are now only observed".to_owned());
    }
}

fn layer(old: &Layer, new: Layers<'_>, found: &mut Vec<String>) {
    if let Some(rule) = &old.resources {
        let now: Vec<_> = new.iter().filter_map(|layer| layer.resources.as_ref()).collect();
        list("resources", rule, &now, found);
    }
    if let Some(rule) = &old.prompts {
        let now: Vec<_> = new.iter().filter_map(|layer| layer.prompts.as_ref()).collect();
        list("prompts", rule, &now, found);
    }
    type Of = fn(&Layer) -> Option<&MethodRule>;
    let kinds: [(&str, Of, Option<&str>); 3] = [
        ("completion", |layer| layer.completion.as_ref(), None),
        ("sampling", |layer| layer.sampling.as_ref(), Some("may offer tools")),
        ("elicitation", |layer| layer.elicitation.as_ref(), Some("may send people to addresses")),
    ];
    for (name, of, more) in kinds {
        if let Some(rule) = of(old) {
            let now: Vec<_> = new.iter().filter_map(of).collect();
            method(name, rule, &now, more, found);
        }
    }
    let denied = new.iter().any(|layer| layer.others_denied.is_some());
    if old.others_denied.is_some() && !denied {
        found.push("methods that the protocol does not know were denied, are now let through".to_owned());
    }
    let families =
        [Family::Resources, Family::Prompts, Family::Completion, Family::Sampling, Family::Elicitation];
    for family in families {
        // Where a part of a policy is, unknown methods and odd spellings of its family are refused.
        if old.pointer(family).is_some() && new.iter().all(|layer| layer.pointer(family).is_none()) {
            found.push(format!("nothing rules over {} any more", family.words()));
        }
    }
}

fn list<E: Entries>(what: &str, old: &ListRule<E>, new: &[&ListRule<E>], found: &mut Vec<String>) {
    limits(what, &old.limits, &new.iter().flat_map(|rule| &rule.limits).collect::<Vec<_>>(), found);
    // A layer that lets nothing through answers for all the rest. One that asks does not: somebody may say yes.
    if new.iter().any(|rule| rule.rest_refused.is_some_and(|now| !is_ask(now)) && rule.allow.is_empty()) {
        return;
    }
    let refusing: Vec<&Listed<E>> = new.iter().flat_map(|rule| rule.hide.iter().chain(&rule.deny)).collect();
    for (was, entries) in [("hidden", &old.hide), ("denied", &old.deny)] {
        for listed in entries {
            if !refusing.iter().any(|now| E::covers(&now.entry, &listed.entry)) {
                found.push(format!("{what}: {:?} is no longer {was}", E::text(&listed.entry)));
            }
        }
    }
    if let Some(schemes) = &old.schemes {
        let kept = |rule: &&ListRule<E>| {
            rule.schemes.as_ref().is_some_and(|now| now.iter().all(|scheme| schemes.contains(scheme)))
        };
        if !new.iter().any(kept) {
            found.push(format!("{what}: other schemes than {} are let through", schemes.join(", ")));
        }
    }
    if let Some(was) = old.rest_refused {
        let mut added: Option<Vec<&str>> = None;
        for rule in new.iter().filter(|rule| rule.rest_refused.is_some_and(|now| is_ask(was) || !is_ask(now)))
        {
            let is_new = |now: &&Listed<E>| !old.allow.iter().any(|was| E::covers(&was.entry, &now.entry));
            let more: Vec<&str> =
                rule.allow.iter().filter(is_new).map(|listed| E::text(&listed.entry)).collect();
            if added.as_ref().is_none_or(|least| more.len() < least.len()) {
                added = Some(more);
            }
        }
        match added {
            None if new.iter().any(|rule| rule.rest_refused.is_some()) => {
                found.push(format!("{what}: what is not listed was denied, is now asked for"));
            }
            None => found.push(format!("{what}: what is not listed was refused, is now allowed")),
            Some(added) => found.extend(added.iter().map(|text| format!("{what}: {text:?} is now allowed"))),
        }
    }
}

fn method(what: &str, old: &MethodRule, new: &[&MethodRule], more: Option<&str>, found: &mut Vec<String>) {
    let asks = new.iter().any(|rule| rule.refused.is_some_and(is_ask));
    if new.iter().any(|rule| rule.refused.is_some_and(|now| !is_ask(now))) {
        return;
    }
    match old.refused {
        Some(kind) if asks && !is_ask(kind) => {
            return found.push(format!("{what} was denied, is now asked for"));
        }
        _ if asks => return,
        Some(RefusalKind::Ask) => return found.push(format!("{what} had to be asked for, is now allowed")),
        Some(_) => return found.push(format!("{what} was denied, is now allowed")),
        None => {}
    }
    if let Some(more) = more.filter(|_| !old.permits_more && new.iter().all(|rule| rule.permits_more)) {
        found.push(format!("{what} {more} now"));
    }
    limits(what, &old.limits, &new.iter().flat_map(|rule| &rule.limits).collect::<Vec<_>>(), found);
}

fn is_ask(kind: RefusalKind) -> bool {
    kind == RefusalKind::Ask
}

fn limits(what: &str, old: &[Limit], new: &[&Limit], found: &mut Vec<String>) {
    for before in old {
        let same: Vec<&&Limit> = new.iter().filter(|after| after.counter == before.counter).collect();
        if same.iter().any(|after| as_tight(after, before)) {
            continue;
        }
        found.push(match same.first() {
            Some(after) => format!(
                "{what}: the cap was {} {}, is now {} {}",
                before.words(),
                before.scope.words(),
                after.words(),
                after.scope.words()
            ),
            None => format!("{what}: the cap of {} (counter {:?}) is gone", before.words(), before.counter),
        });
    }
}

fn as_tight(new: &Limit, old: &Limit) -> bool {
    let same_kind = match (&new.kind, &old.kind) {
        (Kind::Calls(new), Kind::Calls(old)) => new >= old,
        (Kind::Concurrent, Kind::Concurrent) | (Kind::Total, Kind::Total) => true,
        (Kind::Sum { window: new, from: now }, Kind::Sum { window: old, from: was }) => {
            new >= old && now == was
        }
        _ => false,
    };
    // A cap that ends of itself is gone one day; another scope is another counter, which starts empty.
    let lasts = match (new.until_ms, old.until_ms) {
        (None, _) => true,
        (Some(new), Some(old)) => new >= old,
        (Some(_), None) => false,
    };
    same_kind && lasts && new.max <= old.max && new.scope == old.scope
}

//! The cases that two policies tell apart: finitely many kinds of clients, and of tools.
//!
//! Names that stand in a file are a case each. All others differ only in the patterns that match them: a case is a choice
//! of the pattern that counts in each of the layers. Choices that no name can fit are left out where that can be told.

use std::collections::BTreeSet;

use super::{Clients, Findings, View};
use crate::class::ToolClass;
use crate::glob::Glob;
use crate::layer::{Layer, Rule};
use crate::lookup::Found;
use crate::overlay::Overlay;
use crate::policy::Policy;

/// Where several layers know patterns, which of them counts in each.
type Choice<'p, T> = Vec<Option<(&'p Glob, T)>>;

/// For one list of patterns, the most specific first.
type Patterns<'p, T> = Vec<(&'p Glob, T)>;

pub(super) fn clients<'p>(old: &'p Policy, new: &'p Policy, patience: &mut usize) -> Vec<Clients<'p>> {
    let lists: Vec<Patterns<'p, _>> = vec![old.overlays.globs().collect(), new.overlays.globs().collect()];
    let mut all = Vec::new();
    let mut add = |choice: &Choice<'p, &'p Overlay>| {
        if let [old, new] = choice.as_slice() {
            let who = new.or(*old).map(|(_, overlay)| format!("clients named {:?}", overlay.client));
            all.push(Clients { old: old.map(|(_, o)| o), new: new.map(|(_, o)| o), who });
        }
    };
    each_choice(&lists, &mut Vec::new(), patience, &mut add);
    let names: BTreeSet<&str> = old.overlays.names().chain(new.overlays.names()).collect();
    for name in names {
        let who = Some(format!("the client {name:?}"));
        all.push(Clients { old: old.overlays.of(name), new: new.overlays.of(name), who });
    }
    all
}

impl<'p> View<'p> {
    pub(super) fn old_layers(&self) -> impl Iterator<Item = &'p Layer> {
        [Some(&self.old.base), self.clients.old.map(|o| &o.layer)].into_iter().flatten()
    }

    pub(super) fn new_layers(&self) -> impl Iterator<Item = &'p Layer> {
        [Some(&self.new.base), self.clients.new.map(|o| &o.layer)].into_iter().flatten()
    }

    /// Every case of tools in turn.
    pub(super) fn tools(&self, findings: &mut Findings) {
        let layers = self.old_layers().chain(self.new_layers());
        let names: BTreeSet<&str> = layers.flat_map(|l| l.names.exact.keys().map(|name| &**name)).collect();
        for name in names {
            for class in self.classes_of(name) {
                if !findings.goes_on(1) {
                    return;
                }
                let old = self.old.applying_as(self.clients.old, name, class, self.now_ms);
                let new = self.new.applying_as(self.clients.new, name, class, self.now_ms);
                let what = match old.class.or(new.class) {
                    Some(class) => format!("{name:?}, of class {class},"),
                    None => format!("{name:?}"),
                };
                self.stand(&what, &old, &new, findings);
            }
        }
        self.other_tools(findings);
    }

    /// The classes that a tool may be of, if any rule asks.
    pub(super) fn classes(&self) -> Vec<Option<ToolClass>> {
        match self.old.asks_for_classes() || self.new.asks_for_classes() {
            true => ToolClass::ALL.map(Some).to_vec(),
            false => vec![None],
        }
    }

    /// The same of a tool with this name.
    pub(super) fn classes_of(&self, tool: &str) -> Vec<Option<ToolClass>> {
        match [self.old, self.new].map(|policy| policy.classes_of(tool)) {
            // The one knows what the other does not ask for.
            [old, new] if new == [None] => old,
            [_, new] => new,
        }
    }

    /// Tools that no layer names exactly.
    fn other_tools(&self, findings: &mut Findings) {
        let patterns = |layer: Option<&'p Layer>| -> Patterns<'p, &'p Rule> {
            layer.into_iter().flat_map(|layer| layer.globs_in_force(self.now_ms)).collect()
        };
        let lists = vec![
            patterns(Some(&self.old.base)),
            patterns(self.clients.old.map(|o| &o.layer)),
            patterns(Some(&self.new.base)),
            patterns(self.clients.new.map(|o| &o.layer)),
        ];
        let mut choices: Vec<Choice<'p, &'p Rule>> = Vec::new();
        each_choice(&lists, &mut Vec::new(), &mut findings.patience, &mut |choice| {
            choices.push(choice.clone())
        });
        let hiding = || self.old_layers().flat_map(|layer| &layer.names.hidden);
        for choice in &choices {
            let chosen: Vec<&Glob> = choice.iter().flatten().map(|(glob, _)| *glob).collect();
            self.case(&chosen, choice, false, findings);
            for hidden in hiding() {
                let within: Vec<&Glob> = chosen.iter().copied().chain([&hidden.glob]).collect();
                let effort: usize = within.iter().map(|glob| glob.effort(&hidden.glob)).sum();
                if !findings.goes_on(effort) {
                    return;
                }
                if chosen.iter().all(|glob| glob.meets(&hidden.glob))
                    && fits_some_name(&lists, choice, &within)
                {
                    self.case(&within, choice, true, findings);
                }
            }
        }
    }

    /// The tools that match all these patterns, and no more specific ones than were chosen.
    fn case(&self, within: &[&Glob], choice: &Choice<'p, &'p Rule>, hidden: bool, findings: &mut Findings) {
        let [old_base, old_overlay, new_base, new_overlay] = choice.as_slice() else { return };
        let found = |chosen: &Option<(&'p Glob, &'p Rule)>, hidden: bool| Found {
            rule: chosen.map(|(_, rule)| rule),
            hidden: hidden.then_some(""),
            ..Found::default()
        };
        let still_hidden = self
            .new_layers()
            .flat_map(|layer| &layer.names.hidden)
            .any(|new| new.glob.is_everything() || within.iter().any(|glob| new.glob.covers(glob)));
        for class in self.classes() {
            if !findings.goes_on(1) {
                return;
            }
            let (old, new) = (
                self.old.applying_to(
                    self.clients.old,
                    found(old_base, hidden),
                    found(old_overlay, false),
                    class,
                    self.now_ms,
                ),
                self.new.applying_to(
                    self.clients.new,
                    found(new_base, still_hidden),
                    found(new_overlay, false),
                    class,
                    self.now_ms,
                ),
            );
            let what = match within.iter().min_by_key(|glob| glob.rank()) {
                Some(glob) if glob.is_everything() => "every tool".to_owned(),
                Some(glob) => format!("tools named {:?}", glob.text()),
                None => "every tool that is not listed".to_owned(),
            };
            let what = match old.class.or(new.class) {
                Some(class) if within.iter().any(|glob| !glob.is_everything()) => {
                    format!("{what} of class {class}")
                }
                Some(class) => format!("tools of class {class} that are not named"),
                None => what,
            };
            self.stand(&what, &old, &new, findings);
        }
    }
}

/// Visits every choice of one pattern, or none, from each list that some name may fit.
fn each_choice<'p, T: Copy>(
    lists: &[Patterns<'p, T>],
    chosen: &mut Choice<'p, T>,
    patience: &mut usize,
    visit: &mut impl FnMut(&Choice<'p, T>),
) {
    let Some(list) = lists.get(chosen.len()) else {
        let within: Vec<&Glob> = chosen.iter().flatten().map(|(glob, _)| *glob).collect();
        let effort: usize = lists.iter().map(|list| list.len() * within.len()).sum();
        *patience = patience.saturating_sub(effort + 1);
        if *patience > 0 && fits_some_name(lists, chosen, &within) {
            visit(chosen);
        }
        return;
    };
    chosen.push(None);
    each_choice(lists, chosen, patience, visit);
    chosen.pop();
    for entry in list {
        let effort: usize = chosen.iter().flatten().map(|(glob, _)| glob.effort(entry.0)).sum();
        *patience = patience.saturating_sub(effort);
        if *patience == 0 {
            return;
        }
        if chosen.iter().flatten().all(|(glob, _)| glob.meets(entry.0)) {
            chosen.push(Some(*entry));
            each_choice(lists, chosen, patience, visit);
            chosen.pop();
        }
    }
}

/// No, if a more specific pattern than the chosen one matches every name within.
fn fits_some_name<T: Copy>(lists: &[Patterns<'_, T>], chosen: &Choice<'_, T>, within: &[&Glob]) -> bool {
    lists.iter().zip(chosen).all(|(list, choice)| {
        let sooner = list.iter().take_while(|(glob, _)| choice.is_none_or(|(c, _)| !std::ptr::eq(c, *glob)));
        sooner
            .map(|(glob, _)| glob)
            .all(|glob| !glob.is_everything() && !within.iter().any(|narrower| glob.covers(narrower)))
    })
}

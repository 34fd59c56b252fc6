//! A name or pattern that leaves the file takes the guard against its look-alikes with it.

use std::collections::BTreeSet;

use super::stand::is_shut;
use super::{Findings, View};
use crate::glob::Glob;
use crate::layer::{Layer, Rule};
use crate::lookup::Found;

impl<'p> View<'p> {
    pub(super) fn guards(&self, findings: &mut Findings) {
        let held = |layer: &'p Layer, folded: &str| {
            let names = layer.names.spellings.get(folded).into_iter().flatten();
            names.map(|name| &**name).find(|name| layer.holds(name, self.now_ms))
        };
        let keys: BTreeSet<&str> =
            self.old_layers().flat_map(|l| l.names.spellings.keys().map(|key| &**key)).collect();
        for folded in keys {
            if !findings.goes_on(1) {
                return;
            }
            let Some(name) = self.old_layers().find_map(|layer| held(layer, folded)) else { continue };
            let guarded = self.new_layers().any(|layer| held(layer, folded).is_some());
            if !guarded
                && !self.all_shut(|glob| glob.matches_folded(folded), |glob| glob.matches_folded(folded))
            {
                findings.push(self, &format!("names that look like {name:?} are no longer refused"));
            }
        }
        let new_globs: BTreeSet<&str> =
            self.new_layers().flat_map(|layer| self.globs(layer)).map(Glob::text).collect();
        for glob in self.old_layers().flat_map(|layer| self.globs(layer)) {
            if !findings.goes_on(1 + new_globs.len()) {
                return;
            }
            // Every name fits `*` as it is spelled.
            let guarded = glob.is_everything() || new_globs.contains(glob.text());
            if !guarded && !self.all_shut(|new| new.meets_folded(glob), |new| new.covers_folded(glob)) {
                let words =
                    format!("names that look like tools named {:?} are no longer refused", glob.text());
                findings.push(self, &words);
            }
        }
    }

    fn globs(&self, layer: &'p Layer) -> impl Iterator<Item = &'p Glob> {
        let hidden = layer.names.hidden.iter().map(|hidden| &hidden.glob);
        layer.globs_in_force(self.now_ms).map(|(glob, _)| glob).chain(hidden)
    }

    /// Does the new policy refuse every tool that it does not name exactly, of those that patterns for which `may` holds
    /// could match? (`hides` holds for patterns that match all of them.)
    fn all_shut(&self, may: impl Fn(&Glob) -> bool, hides: impl Fn(&Glob) -> bool) -> bool {
        let choices = |layer: Option<&'p Layer>| -> Vec<Option<&'p Rule>> {
            let globs = layer.into_iter().flat_map(|layer| layer.globs_in_force(self.now_ms));
            let rules = globs.filter(|(glob, _)| may(glob)).map(|(_, rule)| Some(rule));
            std::iter::once(None).chain(rules).collect()
        };
        let hidden = self.new_layers().flat_map(|layer| &layer.names.hidden).any(|h| hides(&h.glob));
        let hidden = hidden.then_some("");
        let overlaid = choices(self.clients.new.map(|overlay| &overlay.layer));
        choices(Some(&self.new.base)).into_iter().all(|own| {
            overlaid.iter().all(|other| {
                let own = Found { rule: own, hidden, ..Found::default() };
                let other = Found { rule: *other, ..Found::default() };
                self.classes().into_iter().all(|class| {
                    is_shut(&self.new.applying_to(self.clients.new, own, other, class, self.now_ms))
                })
            })
        })
    }
}

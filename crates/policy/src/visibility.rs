//! Which tools a policy leaves out of lists, for whom.
//!
//! Lists have no moment: a client that has read one is told of a new policy, but nobody tells it that a rule's time is
//! over. So a tool is listed in spite of `hide` only if it is observed whatever the time.

use std::collections::{BTreeMap, BTreeSet};

use crate::class::ToolClass;
use crate::file::Mode;
use crate::glob::Glob;
use crate::layer::Layer;
use crate::lookup::Found;
use crate::overlay::Overlay;
use crate::policy::Policy;

/// Two policies with equal visibility list the same tools. The other way round nearly always: sets of patterns that
/// match the same names, each in other words, count as different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// Names and patterns, none of them covered by another one.
    hidden: BTreeSet<String>,
    /// Classes of which all but listed tools are hidden; all of them, if no rule tells classes apart.
    unlisted: Vec<ToolClass>,
    /// Where there are such: the names and patterns that list some.
    listed: Option<BTreeSet<String>>,
    /// What decides whether hidden tools are observed, where patterns hide them and some rule says a mode.
    modes: BTreeMap<(usize, ModePlace), Said>,
}

/// Where in a layer a mode can be said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ModePlace {
    Top,
    AllTools,
    Tool(String),
    Class(ToolClass),
}

/// One rule's mode, and when the rule ends.
type Said = (Option<&'static str>, Option<i64>);

impl Policy {
    /// Is this only spelled like a tool that is hidden from this client? No mode and no allowance lets it be called.
    pub fn looks_hidden(&self, client: &str, tool: &str) -> bool {
        self.hides_anything()
            && self.applying(client, tool, i64::MIN).imitated().is_some_and(|imitated| imitated.hidden)
    }

    /// Is this tool to be left out of this client's lists?
    pub fn is_hidden(&self, client: &str, tool: &str) -> bool {
        self.is_hidden_with(self.overlays.of(client), tool)
    }

    /// The same of a tool whose definition is at hand, and tells this class.
    pub fn is_hidden_as(&self, client: &str, tool: &str, class: ToolClass) -> bool {
        self.is_hidden_by(self.overlays.of(client), tool, Some(class))
    }

    fn is_hidden_with(&self, overlay: Option<&Overlay>, tool: &str) -> bool {
        let class = self.asks_for_classes().then(|| self.class_of(tool));
        self.is_hidden_by(overlay, tool, class)
    }

    fn is_hidden_by(&self, overlay: Option<&Overlay>, tool: &str, class: Option<ToolClass>) -> bool {
        let applying = self.applying_as(overlay, tool, class, i64::MIN);
        applying.hidden().is_some() && !self.always_observed(overlay, tool, class)
    }

    fn always_observed(&self, overlay: Option<&Overlay>, tool: &str, class: Option<ToolClass>) -> bool {
        let rules = || layers(self, overlay).flat_map(Layer::every_rule);
        let tops = || layers(self, overlay).filter_map(|layer| layer.mode);
        if !rules().filter_map(|rule| rule.mode).chain(tops()).any(|mode| mode == Mode::Observe) {
            return false;
        }
        let moments: BTreeSet<i64> = rules().filter_map(|rule| rule.ends_ms).chain([i64::MIN]).collect();
        moments.into_iter().all(|now_ms| self.applying_as(overlay, tool, class, now_ms).observing())
    }

    /// May a list of tools be shorter than what the server sends?
    pub fn hides_anything(&self) -> bool {
        std::iter::once(&self.base)
            .chain(self.overlays.iter().map(|overlay| &overlay.layer))
            .any(|layer| layer.names.hide_anything() || layer.unlisted.is_some() || layer.hides_a_class())
    }

    /// What this client gets to see.
    pub fn visibility(&self, client: &str) -> Visibility {
        let overlay = self.overlays.of(client);
        let hiding = || layers(self, overlay).flat_map(|layer| layer.names.hidden.iter().map(|h| &h.glob));
        // Where every tool is observed, nothing is hidden.
        let says_mode = layers(self, overlay).flat_map(Layer::every_rule).any(|rule| rule.mode.is_some());
        let top = overlay.and_then(|o| o.layer.mode).or(self.base.mode);
        if !says_mode && top == Some(Mode::Observe) {
            return Visibility {
                hidden: BTreeSet::new(),
                unlisted: Vec::new(),
                listed: None,
                modes: BTreeMap::new(),
            };
        }
        // Of two that match the same names, the one that comes first in the alphabet stands for both.
        let redundant = |glob: &Glob| {
            hiding().any(|other| other.covers(glob) && (!glob.covers(other) || other.text() < glob.text()))
        };
        let globs = hiding().filter(|glob| !redundant(glob)).map(|glob| glob.text().to_owned());
        let names = layers(self, overlay).flat_map(|layer| layer.names.exact.keys());
        let names = names.filter(|name| self.is_hidden_with(overlay, name));
        let mut hidden: BTreeSet<String> = globs.collect();
        let mut modes = BTreeMap::new();
        // Which tool that is not named here stands for all of them.
        let nothing_found =
            |class| self.applying_to(overlay, Found::default(), Found::default(), Some(class), i64::MIN);
        let unlisted: Vec<ToolClass> =
            ToolClass::ALL.into_iter().filter(|class| nothing_found(*class).hidden().is_some()).collect();
        let listed = (!unlisted.is_empty()).then(|| {
            let rules = layers(self, overlay).flat_map(Layer::named_rules);
            rules.map(|(name, _)| name.to_owned()).collect()
        });
        let by_class = layers(self, overlay).any(Layer::hides_a_class);
        if by_class || (says_mode && (!hidden.is_empty() || !unlisted.is_empty())) {
            // Exceptions cut into what a pattern hides: then all that could make one counts.
            hidden.extend(names.map(|name| name.to_string()));
            for (which, layer) in layers(self, overlay).enumerate() {
                modes.insert((which, ModePlace::Top), (layer.mode.map(word), None));
                for (name, rule) in layer.named_rules() {
                    modes.insert(
                        (which, ModePlace::Tool(name.to_owned())),
                        (rule.mode.map(word), rule.ends_ms),
                    );
                }
                for (class, rule) in layer.class_rules() {
                    modes.insert((which, ModePlace::Class(class)), (rule.mode.map(word), rule.ends_ms));
                }
                if let Some(rule) = &layer.all_tools {
                    modes.insert((which, ModePlace::AllTools), (rule.mode.map(word), rule.ends_ms));
                }
            }
        } else {
            hidden
                .extend(names.filter(|name| !hiding().any(|g| g.matches(name))).map(|name| name.to_string()));
        }
        Visibility { hidden, unlisted, listed, modes }
    }
}

fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Observe => "observe",
        Mode::Enforce => "enforce",
    }
}

/// The policy's own layer and the client's.
fn layers<'p>(policy: &'p Policy, overlay: Option<&'p Overlay>) -> impl Iterator<Item = &'p Layer> {
    std::iter::once(&policy.base).chain(overlay.map(|overlay| &overlay.layer))
}

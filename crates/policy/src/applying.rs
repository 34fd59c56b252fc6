//! Everything in a policy that applies to one call of a tool, put together from its layers.
//!
//! All rules count at once: each of them must let the call through. That is why an overlay can never take away what the
//! policy itself refuses.

use crate::call::Keep;
use crate::class::ToolClass;
use crate::codegen;
use crate::file::{AskSettings, AskedIn, Mode, Pin};
use crate::layer::{Default, DefaultRule, Layer, Rule, Says};
use crate::lookup::{Found, Imitated};
use crate::overlay::Overlay;
use crate::policy::Policy;
use crate::window::Window;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Applying<'p> {
    base: &'p Layer,
    overlay: Option<&'p Layer>,
    /// Those that name the tool, a pattern that it matches, or else its class, then those for every tool; each time the policy's own
    /// rule, then the client's.
    rules: [Option<&'p Rule>; 4],
    exact: bool,
    hidden: Option<&'p str>,
    imitated: Option<Imitated<'p>>,
    /// One of the rules is that of this class.
    pub(crate) class: Option<ToolClass>,
    pub(crate) now_ms: i64,
}

impl Policy {
    pub(crate) fn applying(&self, client: &str, tool: &str, now_ms: i64) -> Applying<'_> {
        self.applying_with(self.overlays.of(client), tool, now_ms)
    }

    pub(crate) fn applying_with<'p>(
        &'p self,
        overlay: Option<&'p Overlay>,
        tool: &str,
        now_ms: i64,
    ) -> Applying<'p> {
        let layers = || std::iter::once(&self.base).chain(overlay.map(|overlay| &overlay.layer));
        let class = layers().any(|layer| !layer.classes.is_empty()).then(|| self.class_of(tool));
        self.applying_as(overlay, tool, class, now_ms)
    }

    /// The same of a tool that is taken to be of this class; of none, if rules by class are not to count.
    pub(crate) fn applying_as<'p>(
        &'p self,
        overlay: Option<&'p Overlay>,
        tool: &str,
        class: Option<ToolClass>,
        now_ms: i64,
    ) -> Applying<'p> {
        let own = self.base.find(tool, now_ms);
        let overlaid = overlay.map(|overlay| overlay.layer.find(tool, now_ms)).unwrap_or_default();
        let mut applying = self.applying_to(overlay, own, overlaid, class, now_ms);
        // A layer that does not hold exactly this name guards the names that it does hold, whatever another one says.
        if !own.exact {
            applying.imitated = self.base.imitated(tool, now_ms);
        }
        if let Some(overlay) = overlay.filter(|_| !overlaid.exact)
            && !applying.imitated.is_some_and(|imitated| imitated.hidden)
        {
            applying.imitated = overlay.layer.imitated(tool, now_ms).or(applying.imitated);
        }
        applying
    }

    /// For any tool of which the layers know this much.
    pub(crate) fn applying_to<'p>(
        &'p self,
        overlay: Option<&'p Overlay>,
        own: Found<'p>,
        overlaid: Found<'p>,
        class: Option<ToolClass>,
        now_ms: i64,
    ) -> Applying<'p> {
        let overlay = overlay.map(|overlay| &overlay.layer);
        let for_all = overlay.and_then(|layer| layer.all_tools_at(now_ms));
        // Names and patterns come first, in each layer.
        let by_class = |layer: Option<&'p Layer>, found: &Found<'p>| match found.rule {
            Some(_) => None,
            None => layer.zip(class).and_then(|(layer, class)| layer.class_rule(class, now_ms)),
        };
        let classed = [by_class(Some(&self.base), &own), by_class(overlay, &overlaid)];
        let mut applying = Applying {
            base: &self.base,
            overlay,
            rules: [
                own.rule.or(classed[0]),
                overlaid.rule.or(classed[1]),
                self.base.all_tools_at(now_ms),
                for_all,
            ],
            exact: own.exact || overlaid.exact,
            hidden: own
                .hidden
                .or(overlaid.hidden)
                .or_else(|| classed.into_iter().flatten().find_map(|rule| rule.hides.as_deref())),
            imitated: None,
            class: class.filter(|_| classed.iter().any(Option::is_some)),
            now_ms,
        };
        // Lists have no moment: a tool that was in them while its rule held is denied after, not hidden.
        let was_listed = |layer: Option<&'p Layer>, found: &Found<'p>| {
            let by_class = layer.zip(class).is_some_and(|(layer, class)| layer.class_is_over(class, now_ms));
            found.over || (found.rule.is_none() && by_class)
        };
        let was_listed = was_listed(Some(&self.base), &own) || was_listed(overlay, &overlaid);
        if applying.hidden.is_none() && !was_listed {
            applying.hidden = applying.unlisted().filter(|_| applying.default_action() == Default::Deny);
        }
        applying
    }
}

impl<'p> Applying<'p> {
    /// The rules that name the tool, a pattern that it matches, or else its class.
    pub(crate) fn own_rules(&self) -> impl Iterator<Item = &'p Rule> {
        self.rules[..2].iter().copied().flatten()
    }

    /// The rules for every tool.
    pub(crate) fn rules_for_all(&self) -> impl Iterator<Item = &'p Rule> {
        self.rules[2..].iter().copied().flatten()
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = &'p Rule> {
        self.rules.iter().copied().flatten()
    }

    /// Is this said anywhere in the layers?
    pub(crate) fn says(&self, what: impl Fn(&Says) -> bool) -> bool {
        what(&self.base.says) || self.overlay.is_some_and(|layer| what(&layer.says))
    }

    /// The class, if it is its rule that says what stands at this place.
    pub(crate) fn class_at(&self, pointer: &str) -> Option<ToolClass> {
        let mut steps = pointer.split('/').skip(1).peekable();
        let _client = steps.next_if_eq(&"clients").and_then(|_| steps.next());
        self.class.filter(|_| steps.next() == Some("classes"))
    }

    pub(crate) fn listed(&self) -> bool {
        self.own_rules().next().is_some()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Pointer of the entry that hides the tool.
    pub(crate) fn hidden(&self) -> Option<&'p str> {
        self.hidden
    }

    /// Pointer of what hides the tools that the default denies.
    pub(crate) fn unlisted(&self) -> Option<&'p str> {
        let overlaid = || self.overlay.and_then(|layer| layer.unlisted.as_deref());
        self.base.unlisted.as_deref().or_else(overlaid)
    }

    /// What the name looks like without being it.
    pub(crate) fn imitated(&self) -> Option<Imitated<'p>> {
        self.imitated
    }

    /// For tools that no rule names.
    pub(crate) fn default(&self) -> Option<&'p DefaultRule> {
        self.overlay.and_then(|layer| layer.default.as_ref()).or(self.base.default.as_ref())
    }

    /// What the default does to this tool.
    pub(crate) fn default_action(&self) -> Default {
        if self.listed() { Default::Allow } else { self.default().map_or(Default::Deny, |d| d.action) }
    }

    /// What is asked about codegen sessions, in all layers.
    pub(crate) fn codegen(&self) -> impl Iterator<Item = &'p codegen::Rules> {
        self.base.codegen.iter().chain(self.overlay.and_then(|layer| layer.codegen.as_ref()))
    }

    /// Of all that say something the nearest to the tool is heard.
    pub(crate) fn observing(&self) -> bool {
        if !self.says(|says| says.mode) {
            return false;
        }
        let tops = self.overlay.and_then(|layer| layer.mode).or(self.base.mode);
        self.rules().find_map(|rule| rule.mode).or(tops) == Some(Mode::Observe)
    }

    /// The most private of all counts.
    pub(crate) fn keep(&self) -> Keep {
        if !self.says(|says| says.keep) {
            return Keep::Full;
        }
        // A name that was refused for looking like another tells as much as that one.
        let meant = self.imitated.and_then(|imitated| imitated.rule);
        self.own_rules().chain(meant).map(|rule| rule.keep).fold(self.keep_of_all(), Keep::max)
    }

    /// The same of what is said for every tool.
    pub(crate) fn keep_of_all(&self) -> Keep {
        let tops = self.overlay.map_or(Keep::Full, |layer| layer.keep).max(self.base.keep);
        self.rules_for_all().map(|rule| rule.keep).fold(tops, Keep::max)
    }

    /// Where several say how long, the shortest counts.
    pub(crate) fn ask_settings(&self) -> AskSettings {
        let layers = std::iter::once(self.base).chain(self.overlay).map(|layer| layer.ask_settings);
        let shorter = |one: Option<Window>, other: Option<Window>| one.into_iter().chain(other).min();
        layers.chain(self.rules().map(|rule| rule.ask_settings)).fold(AskSettings::default(), |one, other| {
            let (hold, expires) = (shorter(one.hold, other.hold), shorter(one.expires, other.expires));
            AskSettings { asked_in: None, hold, expires }
        })
    }

    /// Is every call a matter of asking?
    pub(crate) fn always_asks(&self) -> bool {
        self.default_action() == Default::Ask || self.rules().any(|rule| rule.ask.is_some())
    }

    /// In one layer a rule overrides the top. What a client's overlay says is heard where it is stricter.
    pub(crate) fn asked_in(&self) -> AskedIn {
        let said = |(layer, rules): (&Layer, [Option<&Rule>; 2])| {
            let own = rules.into_iter().flatten().find_map(|rule| rule.ask_settings.asked_in);
            own.or(layer.ask_settings.asked_in)
        };
        let mut layers = self.layers().map(said);
        let base = layers.next().flatten().unwrap_or_default();
        layers.flatten().fold(base, AskedIn::max)
    }

    /// In one layer a rule overrides the top. An overlay only adds: what it says is heard where it is stricter than what is said,
    /// or goes `unsaid`, in the policy itself.
    pub(crate) fn pin(&self, unsaid: impl FnOnce() -> Pin) -> Pin {
        let [own, overlaid, for_all, for_all_overlaid] = self.rules;
        let said = |layer: &Layer, rules: [Option<&Rule>; 2]| {
            rules.into_iter().flatten().find_map(|rule| rule.pin).or(layer.pin)
        };
        let overlay = self.overlay.and_then(|layer| said(layer, [overlaid, for_all_overlaid]));
        said(self.base, [own, for_all]).unwrap_or_else(unsaid).max(overlay.unwrap_or(Pin::Off))
    }

    /// Does what goes unsaid not matter?
    pub(crate) fn is_pin_said(&self) -> bool {
        self.pin(|| Pin::Off) == self.pin(|| Pin::Enforce)
    }

    /// Pointer of what wants the arguments checked against the tool's schema. In one layer a rule overrides the top; but
    /// no layer speaks for the other.
    pub(crate) fn validate(&self) -> Option<&'p str> {
        let mut layers = self.layers();
        let mut wanted = || layers.find_map(|(layer, rules)| validates(layer, rules));
        if self.says(|says| says.validate) { wanted() } else { None }
    }

    /// Each layer with its own rules that apply.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (&'p Layer, [Option<&'p Rule>; 2])> {
        let [own, overlaid, for_all, for_all_overlaid] = self.rules;
        let overlay = self.overlay.map(|layer| (layer, [overlaid, for_all_overlaid]));
        std::iter::once((self.base, [own, for_all])).chain(overlay)
    }

    /// Pointer of what lets the call through, if nothing refuses it.
    pub(crate) fn pointer(&self) -> &'p str {
        let own = self.own_rules().next().map(|rule| rule.pointer.as_str());
        own.or(self.default().map(|default| default.pointer.as_str())).unwrap_or_default()
    }
}

/// What one layer and its rules say together.
fn validates<'p>(layer: &'p Layer, rules: [Option<&'p Rule>; 2]) -> Option<&'p str> {
    let said = || rules.into_iter().flatten().filter_map(|rule| rule.validate.as_ref());
    let wanted = said().find(|said| said.wanted);
    let top = layer.validate.as_ref().filter(|top| top.wanted && said().next().is_none());
    wanted.or(top).map(|said| said.pointer.as_str())
}

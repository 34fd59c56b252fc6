//! Rules for requests that call no tool, compiled. Like those for tools they lie in layers: the policy's own, and the
//! overlay of the client that asks.
//!
//! A request is let through when every layer that speaks of it lets it through. What a request asks for is read in
//! `request`, the decision is put together in `judge_method`; here is what each rule says by itself.

mod compile;
mod limits;
mod list;
pub(crate) mod loosened;

pub(crate) use compile::layer;
pub(crate) use list::{ListRule, Names, Uris};

use crate::call::{Keep, RefusalKind};
use crate::limit::Limit;
use crate::overlay::Overlay;
use crate::policy::Policy;

/// What one layer of a policy says about requests other than calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) resources: Option<ListRule<Uris>>,
    pub(crate) prompts: Option<ListRule<Names>>,
    pub(crate) completion: Option<MethodRule>,
    pub(crate) sampling: Option<MethodRule>,
    pub(crate) elicitation: Option<MethodRule>,
    /// The pointer of `other_methods: "deny"`.
    pub(crate) others_denied: Option<String>,
    /// `mode`, where it is said.
    observe: Option<bool>,
    keep: Keep,
}

/// The rule of one kind of request.
#[derive(Clone, Debug)]
pub(crate) struct MethodRule {
    pub(crate) pointer: String,
    /// How the rule refuses every such request, if it does.
    pub(crate) refused: Option<RefusalKind>,
    pub(crate) reason: Option<String>,
    pub(crate) limits: Vec<Limit>,
    /// `tools` of sampling, `urls` of elicitation.
    pub(crate) permits_more: bool,
}

impl MethodRule {
    pub(crate) fn action(&self) -> String {
        format!("{}/action", self.pointer)
    }
}

/// What a rule has against a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) kind: RefusalKind,
    pub(crate) rule: String,
    pub(crate) reason: String,
}

/// The layers for one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layers<'p> {
    base: &'p Layer,
    overlay: Option<&'p Layer>,
}

impl Policy {
    pub(crate) fn request_layers(&self, client: &str) -> Layers<'_> {
        self.request_layers_with(self.overlays.of(client))
    }

    pub(crate) fn request_layers_with<'p>(&'p self, overlay: Option<&'p Overlay>) -> Layers<'p> {
        Layers { base: &self.requests, overlay: overlay.map(|overlay| &overlay.requests) }
    }
}

impl<'p> Layers<'p> {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'p Layer> {
        std::iter::once(self.base).chain(self.overlay)
    }

    /// Are refusals only noted? What is said for the client counts before what is said for all.
    pub(crate) fn observing(self) -> bool {
        self.overlay.and_then(|layer| layer.observe).or(self.base.observe).unwrap_or(false)
    }

    /// The most private wish counts.
    pub(crate) fn keep(self) -> Keep {
        self.iter().map(|layer| layer.keep).max().unwrap_or_default()
    }
}

/// A family of methods that a part of the policy rules over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Resources,
    Prompts,
    Completion,
    Sampling,
    Elicitation,
}

impl Family {
    /// By the beginning of a folded method.
    pub(crate) fn of(folded: &str) -> Option<Family> {
        let families = [
            ("resources/", Family::Resources),
            ("subscriptions/", Family::Resources),
            ("prompts/", Family::Prompts),
            ("completion/", Family::Completion),
            ("sampling/", Family::Sampling),
            ("elicitation/", Family::Elicitation),
        ];
        families.into_iter().find(|(prefix, _)| folded.starts_with(prefix)).map(|(_, family)| family)
    }

    fn words(self) -> &'static str {
        match self {
            Family::Resources => "resources",
            Family::Prompts => "prompts",
            Family::Completion => "completion",
            Family::Sampling => "sampling",
            Family::Elicitation => "elicitation",
        }
    }
}

impl Layer {
    /// The part of this layer that has a say in requests of the family.
    pub(crate) fn pointer(&self, family: Family) -> Option<&str> {
        let method = |rule: &'_ Option<MethodRule>| rule.is_some();
        match family {
            Family::Resources => self.resources.as_ref().map(|rule| rule.pointer.as_str()),
            Family::Prompts => self.prompts.as_ref().map(|rule| rule.pointer.as_str()),
            // A completion names a resource or a prompt.
            Family::Completion if !method(&self.completion) => {
                self.pointer(Family::Resources).or_else(|| self.pointer(Family::Prompts))
            }
            Family::Completion => self.completion.as_ref().map(|rule| rule.pointer.as_str()),
            Family::Sampling => self.sampling.as_ref().map(|rule| rule.pointer.as_str()),
            Family::Elicitation => self.elicitation.as_ref().map(|rule| rule.pointer.as_str()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let families =
            [Family::Resources, Family::Prompts, Family::Completion, Family::Sampling, Family::Elicitation];
        self.others_denied.is_none() && families.iter().all(|family| self.pointer(*family).is_none())
    }

    /// Is nothing refused but by caps?
    pub(crate) fn refuses_nothing(&self) -> bool {
        let quiet = |rule: &Option<MethodRule>, more: bool| {
            rule.as_ref().is_none_or(|rule| rule.refused.is_none() && (!more || rule.permits_more))
        };
        self.resources.as_ref().is_none_or(ListRule::refuses_nothing)
            && self.prompts.as_ref().is_none_or(ListRule::refuses_nothing)
            && quiet(&self.completion, false)
            && quiet(&self.sampling, true)
            && quiet(&self.elicitation, true)
            && self.others_denied.is_none()
    }
}

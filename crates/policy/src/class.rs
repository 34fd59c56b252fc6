//! Risk classes: what a call of a tool can do, as far as rules speak of it.
//!
//! The language names the classes and does not tell them: which one a tool is of comes from whoever knows its definition.
//! Rules by class are for tools that no name and no pattern of the same layer speaks of.

use std::fmt;

use crate::layer::{Layer, Rule};
use crate::policy::Policy;

/// From the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolClass {
    Read,
    Write,
    Execute,
    Destructive,
    Financial,
}

impl ToolClass {
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Execute, Self::Destructive, Self::Financial];

    /// What counts where nothing is known of a tool: that it may run anything.
    pub const CAUTIOUS: Self = Self::Execute;

    /// As it is written in a policy.
    pub fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Destructive => "destructive",
            Self::Financial => "financial",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.key() == key)
    }

    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Write",
            Self::Execute => "Execute",
            Self::Destructive => "Destructive",
            Self::Financial => "Financial",
        }
    }
}

impl fmt::Display for ToolClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who knows which class the tools of a server are of. Asked for a tool that rules by class may speak of, once a call:
/// it has to answer from memory.
pub trait ToolClasses: fmt::Debug + Send + Sync {
    /// Of a tool whose definition is known.
    fn known(&self, tool: &str) -> Option<ToolClass>;

    /// Of any other tool: never less than [`ToolClass::CAUTIOUS`].
    fn guess(&self, tool: &str) -> ToolClass;
}

/// A layer's rules by class, by their positions among its rules.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassRules([Option<usize>; 5]);

impl ClassRules {
    pub(crate) fn insert(&mut self, class: ToolClass, rule: usize) {
        self.0[class as usize] = Some(rule);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl Layer {
    pub(crate) fn class_rule(&self, class: ToolClass, now_ms: i64) -> Option<&Rule> {
        let rule = self.classes.0[class as usize].and_then(|at| self.rules.get(at));
        rule.filter(|rule| rule.in_force(now_ms))
    }

    /// A rule for it was written, and is over.
    pub(crate) fn class_is_over(&self, class: ToolClass, now_ms: i64) -> bool {
        self.classes.0[class as usize].is_some() && self.class_rule(class, now_ms).is_none()
    }

    pub(crate) fn hides_a_class(&self) -> bool {
        self.class_rules().any(|(_, rule)| rule.hides.is_some())
    }

    /// Every rule by class, in force or not.
    pub(crate) fn class_rules(&self) -> impl Iterator<Item = (ToolClass, &Rule)> {
        ToolClass::ALL.into_iter().filter_map(|class| {
            let at = self.classes.0[class as usize]?;
            Some((class, self.rules.get(at)?))
        })
    }
}

impl Policy {
    /// Do rules of this policy depend on what tools can do?
    pub fn asks_for_classes(&self) -> bool {
        self.all_layers().any(|layer| !layer.classes.is_empty())
    }

    /// Tells it who knows the classes of the server's tools. Until then all tools count as [`ToolClass::CAUTIOUS`].
    pub fn know_classes(&mut self, classes: std::sync::Arc<dyn ToolClasses>) {
        self.classes = Some(classes);
    }

    /// Who that is, if there is somebody.
    pub fn classes(&self) -> Option<&std::sync::Arc<dyn ToolClasses>> {
        self.classes.as_ref()
    }

    /// The class of this tool, if rules ask for it and its definition is known.
    pub fn known_class(&self, tool: &str) -> Option<ToolClass> {
        self.classes.as_ref().filter(|_| self.asks_for_classes())?.known(tool)
    }

    pub(crate) fn class_of(&self, tool: &str) -> ToolClass {
        let Some(classes) = &self.classes else { return ToolClass::CAUTIOUS };
        classes.known(tool).unwrap_or_else(|| classes.guess(tool).max(ToolClass::CAUTIOUS))
    }

    /// The classes that a tool of this name may be of, as far as any rule asks for them.
    pub(crate) fn classes_of(&self, tool: &str) -> Vec<Option<ToolClass>> {
        let known = self.classes.as_ref().and_then(|classes| classes.known(tool));
        match (self.asks_for_classes(), known) {
            (false, _) => vec![None],
            (true, Some(class)) => vec![Some(class)],
            (true, None) => ToolClass::ALL.map(Some).to_vec(),
        }
    }

    pub(crate) fn all_layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.base).chain(self.overlays.iter().map(|overlay| &overlay.layer))
    }
}

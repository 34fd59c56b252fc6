//! One layer of rules, compiled: the policy's own, or what it adds for one client.
//!
//! Layers know nothing of each other. What all of them together mean for a call is put together in `applying`.

use crate::call::Keep;
use crate::class::ClassRules;
use crate::codegen;
use crate::evaluate::{Clause, Condition};
use crate::file::{AskSettings, Mode, Pin};
use crate::limit::Limit;
use crate::lookup::Names;
use crate::loops::LoopRule;

#[derive(Clone, Debug, std::default::Default)]
pub(crate) struct Layer {
    /// Always said by the policy's own layer.
    pub(crate) default: Option<DefaultRule>,
    /// Pointer of what hides tools that are not listed, where the default denies them.
    pub(crate) unlisted: Option<String>,
    pub(crate) mode: Option<Mode>,
    pub(crate) keep: Keep,
    pub(crate) ask_settings: AskSettings,
    pub(crate) pin: Option<Pin>,
    pub(crate) validate: Option<Validate>,
    pub(crate) names: Names,
    /// Those by name or pattern, then those by class.
    pub(crate) rules: Vec<Rule>,
    pub(crate) all_tools: Option<Rule>,
    pub(crate) classes: ClassRules,
    pub(crate) codegen: Option<codegen::Rules>,
    pub(crate) loops: Option<LoopRule>,
    pub(crate) says: Says,
}

/// What is said anywhere in a layer, so that a judgement need not look for what is not there.
#[derive(Clone, Copy, Debug, std::default::Default)]
pub(crate) struct Says {
    pub(crate) mode: bool,
    pub(crate) keep: bool,
    pub(crate) validate: bool,
    /// In rules alone.
    pub(crate) ask: bool,
    /// When a rule is over.
    pub(crate) ends: bool,
    /// Something about every argument of a kind.
    pub(crate) kinds: bool,
    pub(crate) loops: bool,
}

/// What happens to a tool that has no rule of its own.
#[derive(Clone, Debug)]
pub(crate) struct DefaultRule {
    pub(crate) action: Default,
    pub(crate) pointer: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    Allow,
    Deny,
    Ask,
}

/// Whether arguments are checked against the tool's own schema.
#[derive(Clone, Debug)]
pub(crate) struct Validate {
    pub(crate) wanted: bool,
    pub(crate) pointer: String,
}

#[derive(Clone, Debug, std::default::Default)]
pub(crate) struct Rule {
    pub(crate) pointer: String,
    /// From this moment on it is as if the rule were not written.
    pub(crate) ends_ms: Option<i64>,
    pub(crate) denied: Option<Denial>,
    /// Pointer of what hides the tools that it is for; only of a class.
    pub(crate) hides: Option<String>,
    pub(crate) require: Vec<Clause>,
    pub(crate) deny_if: Vec<Clause>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) ask: Option<Denial>,
    pub(crate) ask_if: Vec<Clause>,
    pub(crate) ask_settings: AskSettings,
    pub(crate) pin: Option<Pin>,
    pub(crate) mode: Option<Mode>,
    pub(crate) keep: Keep,
    pub(crate) validate: Option<Validate>,
    pub(crate) loops: Option<LoopRule>,
}

/// A refusal, or a question, without conditions.
#[derive(Clone, Debug)]
pub(crate) struct Denial {
    pub(crate) pointer: String,
    pub(crate) reason: Option<String>,
}

impl Rule {
    pub(crate) fn in_force(&self, now_ms: i64) -> bool {
        self.ends_ms.is_none_or(|end| now_ms < end)
    }

    pub(crate) fn limits_at(&self, now_ms: i64) -> impl Iterator<Item = &Limit> {
        self.limits.iter().filter(move |limit| limit.until_ms.is_none_or(|end| now_ms < end))
    }

    /// Nothing but its limits can refuse a call.
    pub(crate) fn only_limits(&self) -> bool {
        self.denied.is_none()
            && self.hides.is_none()
            && self.require.is_empty()
            && self.deny_if.is_empty()
            && self.ask.is_none()
            && self.ask_if.is_empty()
            && !self.validate.as_ref().is_some_and(|v| v.wanted)
            && !self.loops.as_ref().is_some_and(LoopRule::insists)
            && self.pin != Some(Pin::Enforce)
    }

    fn asks_for_kinds(&self) -> bool {
        let clauses = self.require.iter().chain(&self.deny_if).chain(&self.ask_if);
        clauses.flat_map(|clause| &clause.conditions).any(Condition::is_about_kind)
    }

    /// The moments at which something in it ends.
    pub(crate) fn ends(&self) -> impl Iterator<Item = i64> {
        self.ends_ms.into_iter().chain(self.limits.iter().filter_map(|limit| limit.until_ms))
    }
}

impl Layer {
    /// To be called when everything is in: names and what is said.
    pub(crate) fn settle(&mut self) {
        self.names.settle();
        let says = Says {
            mode: self.mode.is_some() || self.every_rule().any(|rule| rule.mode.is_some()),
            keep: self.keep != Keep::Full || self.every_rule().any(|rule| rule.keep != Keep::Full),
            validate: self.validate.is_some() || self.every_rule().any(|rule| rule.validate.is_some()),
            ask: self.every_rule().any(|rule| rule.ask.is_some() || !rule.ask_if.is_empty()),
            ends: self.every_rule().any(|rule| rule.ends_ms.is_some()),
            kinds: self.every_rule().any(Rule::asks_for_kinds),
            loops: self.loops.is_some() || self.every_rule().any(|rule| rule.loops.is_some()),
        };
        self.says = says;
    }

    pub(crate) fn all_tools_at(&self, now_ms: i64) -> Option<&Rule> {
        self.all_tools.as_ref().filter(|rule| rule.in_force(now_ms))
    }

    /// Every rule for tools, whether it is in force or not.
    pub(crate) fn every_rule(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(&self.all_tools)
    }
}

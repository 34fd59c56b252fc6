//! An Intercept policy, checked, with its places; the short `rate_limit` already written out.

use super::value::Operand;
use crate::ledger::SourcePosition;

#[derive(Debug)]
pub(crate) struct Spot<T> {
    pub(crate) value: T,
    pub(crate) place: SourcePosition,
}

#[derive(Debug)]
pub(super) struct Config {
    pub(super) description: Option<String>,
    pub(super) default_deny: bool,
    pub(super) hide: Vec<Spot<String>>,
    pub(super) tools: Vec<Tool>,
}

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) place: SourcePosition,
    pub(super) rules: Vec<Rule>,
}

impl Tool {
    pub(super) fn is_all(&self) -> bool {
        self.name == "*"
    }

    /// The first part of the keys under which its counters are kept.
    pub(super) fn scope(&self) -> &str {
        if self.is_all() { "_global" } else { &self.name }
    }
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) place: SourcePosition,
    pub(super) deny: bool,
    pub(super) conditions: Vec<SourceCondition>,
    pub(super) on_deny: Option<String>,
    pub(super) state: Option<CounterState>,
}

#[derive(Debug)]
pub(super) struct SourceCondition {
    pub(super) place: SourcePosition,
    /// JSON pointer, for problems.
    pub(super) pointer: String,
    pub(super) subject: ConditionSubject,
    pub(super) op: Op,
    pub(super) value: Operand,
}

/// What a condition looks at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConditionSubject {
    /// `args.a.b`: the names below `args`.
    Args(Vec<String>),
    /// `state.tool.counter`: the key without `state.`.
    State(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Eq,
    Neq,
    In,
    NotIn,
    Lt,
    Lte,
    Gt,
    Gte,
    Regex,
    Contains,
    Exists,
}

pub(super) const OPS: [(&str, Op); 11] = [
    ("eq", Op::Eq),
    ("neq", Op::Neq),
    ("in", Op::In),
    ("not_in", Op::NotIn),
    ("lt", Op::Lt),
    ("lte", Op::Lte),
    ("gt", Op::Gt),
    ("gte", Op::Gte),
    ("regex", Op::Regex),
    ("contains", Op::Contains),
    ("exists", Op::Exists),
];

impl Op {
    pub(super) fn word(self) -> &'static str {
        OPS.iter().find(|(_, op)| *op == self).map_or("", |(word, _)| word)
    }

    pub(super) fn caps(self) -> bool {
        matches!(self, Op::Lt | Op::Lte)
    }
}

#[derive(Debug)]
pub(super) struct CounterState {
    pub(super) place: SourcePosition,
    pub(super) counter: String,
    pub(super) window: &'static str,
    pub(super) step: Increment,
}

/// What one call adds to a counter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Increment {
    Fixed(i64),
    /// A number from the arguments, by its path below `args`.
    From(Vec<String>),
}

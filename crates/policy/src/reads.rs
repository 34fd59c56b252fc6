//! What a policy says about a tool, whatever it is called with: for whoever judges calls again of which not everything
//! was kept, and for whoever compares two policies.

use std::collections::BTreeSet;

use crate::evaluate::Clause;
use crate::file::Path;
use crate::layer::{Layer, Rule};
use crate::limit::{Kind, Limit};
use crate::policy::Policy;

/// One thing in a policy that depends on arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reads<'p> {
    /// The rule that refuses by it.
    pub pointer: &'p str,
    /// `required that args.url matches "^https:"`
    pub words: String,
    pub paths: Vec<&'p Path>,
}

impl Policy {
    /// Everything that the rules for this tool read of its arguments, in the order in which they are asked.
    pub fn reads(&self, client: &str, tool: &str, now_ms: i64) -> Vec<Reads<'_>> {
        let applying = self.applying(client, tool, now_ms);
        let mut found = Vec::new();
        for rule in applying.rules() {
            found.extend(rule.deny_if.iter().map(|clause| read_by(clause, "denied when")));
            found.extend(rule.require.iter().map(|clause| read_by(clause, "required that")));
        }
        for rules in applying.codegen() {
            found.extend(rules.about(tool).map(|rule| Reads {
                pointer: &rule.pointer,
                words: format!("required that {}", rule.kind.words()),
                paths: rules.reads(rule).into_iter().collect(),
            }));
        }
        found.extend(applying.rules().flat_map(|rule| sums(rule, now_ms)));
        let asks = applying.rules().flat_map(|rule| &rule.ask_if);
        found.extend(asks.map(|clause| read_by(clause, "asked about when")));
        found
    }

    /// The limits of a call of this tool, whatever its arguments.
    pub fn limits(&self, client: &str, tool: &str, now_ms: i64) -> Vec<&Limit> {
        self.applying(client, tool, now_ms).rules().flat_map(|rule| rule.limits_at(now_ms)).collect()
    }

    /// Every limit on tools, for whoever has to know beforehand how far back they look.
    pub fn all_limits(&self) -> impl Iterator<Item = &Limit> {
        self.layers().flat_map(Layer::every_rule).flat_map(|rule| &rule.limits)
    }

    /// Tools that are written down here by their exact names.
    pub fn tool_names(&self) -> BTreeSet<&str> {
        self.layers().flat_map(|layer| layer.names.exact.keys()).map(|name| &**name).collect()
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.base).chain(self.overlays.iter().map(|overlay| &overlay.layer))
    }
}

fn read_by<'p>(clause: &'p Clause, verb: &str) -> Reads<'p> {
    Reads {
        pointer: &clause.pointer,
        words: format!("{verb} {}", clause.words()),
        paths: clause.conditions.iter().map(|condition| &condition.path).collect(),
    }
}

fn sums(rule: &Rule, now_ms: i64) -> impl Iterator<Item = Reads<'_>> {
    rule.limits_at(now_ms).filter_map(|limit| match &limit.kind {
        Kind::Sum { from, .. } => {
            Some(Reads { pointer: &limit.pointer, words: limit.words(), paths: vec![from] })
        }
        Kind::Calls(_) | Kind::Concurrent | Kind::Total => None,
    })
}

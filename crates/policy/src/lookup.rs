//! Which rule of a layer speaks of a tool, whether it hides it, and whether the name only looks like one that it knows.
//!
//! Exact names come from a hash map and settle everything at once: what the patterns would have said about hiding them
//! was worked out when the policy was compiled. Patterns are tried, the most specific first, only for other names.

use rustc_hash::FxHashMap;

use crate::glob::Glob;
use crate::layer::{Layer, Rule};
use crate::name;

#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) exact: FxHashMap<Box<str>, Named>,
    /// Exact names by their folded form; the hidden first, because their refusal gives away least.
    pub(crate) spellings: FxHashMap<Box<str>, Vec<Box<str>>>,
    /// Patterns of `tools`, the most specific first, each with its position among the rules.
    pub(crate) ruled: Vec<(Glob, usize)>,
    /// Patterns of `hide`, the most specific first.
    pub(crate) hidden: Vec<HiddenGlob>,
}

#[derive(Clone, Debug)]
pub(crate) struct HiddenGlob {
    pub(crate) glob: Glob,
    pub(crate) pointer: String,
}

/// What the file says about one exact name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// Pointer of the `hide` entry: its own, or of a pattern that matches it.
    pub(crate) hidden: Option<String>,
    /// Its own name stands in `hide`.
    pub(crate) hidden_by_name: bool,
    /// Position among the rules.
    pub(crate) rule: Option<usize>,
}

/// What one layer knows about a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found<'p> {
    pub(crate) rule: Option<&'p Rule>,
    /// Pointer of the entry that hides it.
    pub(crate) hidden: Option<&'p str>,
    /// The file holds exactly this name.
    pub(crate) exact: bool,
    /// A rule for it was written, and is over.
    pub(crate) over: bool,
}

/// A name or pattern of the file that a careless reader might take a tool's name for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Imitated<'p> {
    pub(crate) name: &'p str,
    pub(crate) hidden: bool,
    pub(crate) rule: Option<&'p Rule>,
}

impl Names {
    /// To be called when all names are in: puts patterns in order and works out what they say about exact names.
    pub(crate) fn settle(&mut self) {
        self.ruled.sort_by(|(a, _), (b, _)| a.rank().cmp(&b.rank()));
        self.hidden.sort_by(|a, b| a.glob.rank().cmp(&b.glob.rank()));
        for (name, named) in &mut self.exact {
            if named.hidden.is_none() {
                named.hidden = self.hidden.iter().find(|h| h.glob.matches(name)).map(|h| h.pointer.clone());
            }
        }
        let mut ordered: Vec<_> = self.exact.iter().collect();
        ordered.sort_by_key(|(name, named)| (named.hidden.is_none(), (*name).clone()));
        for (name, _) in ordered {
            let folded = name::folded(name).into_owned().into_boxed_str();
            self.spellings.entry(folded).or_default().push(name.clone());
        }
    }

    pub(crate) fn hide_anything(&self) -> bool {
        !self.hidden.is_empty() || self.exact.values().any(|named| named.hidden.is_some())
    }
}

impl Layer {
    pub(crate) fn find(&self, tool: &str, now_ms: i64) -> Found<'_> {
        let named = self.names.exact.get(tool);
        if let Some(named) = named
            && let Some(rule) = self.live_rule(named, now_ms)
        {
            return Found { rule: Some(rule), hidden: named.hidden.as_deref(), exact: true, over: false };
        }
        let hidden = match named {
            Some(named) => named.hidden.as_deref(),
            None => self.names.hidden.iter().find(|h| h.glob.matches(tool)).map(|h| h.pointer.as_str()),
        };
        let rule = self.globs_in_force(now_ms).find(|(glob, _)| glob.matches(tool)).map(|(_, rule)| rule);
        Found {
            rule,
            hidden,
            exact: named.is_some_and(|named| named.hidden_by_name),
            over: rule.is_none() && self.says.ends && self.ever_lists(tool),
        }
    }

    /// Is there a rule for this tool, in force or not?
    fn ever_lists(&self, tool: &str) -> bool {
        self.names.exact.get(tool).is_some_and(|named| named.rule.is_some())
            || self.names.ruled.iter().any(|(glob, _)| glob.matches(tool))
    }

    /// Every rule with the name or pattern that it is for, in force or not.
    pub(crate) fn named_rules(&self) -> impl Iterator<Item = (&str, &Rule)> {
        let exact = self.names.exact.iter().filter_map(|(name, named)| Some((&**name, named.rule?)));
        let globs = self.names.ruled.iter().map(|(glob, at)| (glob.text(), *at));
        exact.chain(globs).filter_map(|(name, at)| Some((name, self.rules.get(at)?)))
    }

    /// Patterns with their rules, the most specific first.
    pub(crate) fn globs_in_force(&self, now_ms: i64) -> impl Iterator<Item = (&Glob, &Rule)> {
        self.names
            .ruled
            .iter()
            .filter_map(|(glob, at)| Some((glob, self.rules.get(*at)?)))
            .filter(move |(_, rule)| rule.in_force(now_ms))
    }

    /// Is this name in the file, at this moment?
    pub(crate) fn holds(&self, name: &str, now_ms: i64) -> bool {
        let named = self.names.exact.get(name);
        named.is_some_and(|n| n.hidden_by_name || self.live_rule(n, now_ms).is_some())
    }

    fn live_rule(&self, named: &Named, now_ms: i64) -> Option<&Rule> {
        named.rule.and_then(|at| self.rules.get(at)).filter(|rule| rule.in_force(now_ms))
    }

    /// What the layer holds that the name, which it does not hold itself, might be taken for.
    pub(crate) fn imitated(&self, tool: &str, now_ms: i64) -> Option<Imitated<'_>> {
        // Refused for its length alone; folding it would take its time.
        if tool.len() > name::LONGEST {
            return None;
        }
        let folded = name::folded(tool);
        let alike = self.names.spellings.get(folded.as_ref()).into_iter().flatten();
        if let Some(name) = alike.map(|name| &**name).find(|n| *n != tool && self.holds(n, now_ms)) {
            let named = self.names.exact.get(name);
            let hidden = named.is_some_and(|n| n.hidden.is_some());
            return Some(Imitated { name, hidden, rule: named.and_then(|n| self.live_rule(n, now_ms)) });
        }
        let hiding = self.names.hidden.iter().map(|h| (&h.glob, None));
        let ruling = self.globs_in_force(now_ms).map(|(glob, rule)| (glob, Some(rule)));
        hiding
            .chain(ruling)
            .find(|(glob, _)| glob.is_imitated_by(tool, &folded))
            .map(|(glob, rule)| Imitated { name: glob.text(), hidden: rule.is_none(), rule })
    }
}

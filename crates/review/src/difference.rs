//! What changed rules would have decided otherwise than today's, over the same recorded calls.
//!
//! Both policies are judged and counted as if each had been in force from the first replayed call on. So a call that
//! today's cap refuses is no difference when the changed rules keep that cap, whatever became of the call when it was made.

use std::fmt;
use std::ops::ControlFlow;

use callgate_history::History;
use callgate_policy::{Files, Policy};
use rustc_hash::FxHashMap;

use crate::error::ReviewError;
use crate::partial_calls::is_masked;
use crate::rejudging::{Judged, RowOfTwo, judge_by_both};
use crate::ruling::Ruling;
use crate::simulate::{Count, Example, Pace, Progress, Simulation, TOOLS, asked_words, newest};
use crate::words::{counted, when};

/// Which calls two policies are held against.
#[derive(Clone, Copy)]
pub struct ComparisonRequest<'a> {
    pub server: &'a str,
    pub since_ms: i64,
    pub files: &'a dyn Files,
    /// How many of the calls that differ are named, each way.
    pub examples: usize,
}

impl fmt::Debug for ComparisonRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("server", &self.server)
            .field("since_ms", &self.since_ms)
            .finish_non_exhaustive()
    }
}

/// Today's rules and the changed ones, and what lies between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub today: Simulation,
    pub changed: Simulation,
    /// Refused, or asked about, by the changed rules and not by today's.
    pub more: CallsApart,
    /// Those of them that a person would be asked about.
    pub asked: u64,
    /// Refused by today's rules and not by the changed ones.
    pub fewer: CallsApart,
    /// Refused by both, but not in the same way: hidden instead of denied.
    pub otherwise: u64,
    /// Let through by both, and noted by only one of them.
    pub noted: u64,
    /// One of them decides by something that the record does not hold.
    pub unclear: u64,
    /// Tools with calls of one of the two kinds above, those with most first.
    pub tools: Vec<ToolDifference>,
}

/// Calls that one of two policies refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallsApart {
    pub calls: u64,
    /// The newest of them, newest first, each with the rule that refuses it.
    pub examples: Vec<Example>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDifference {
    /// The tool; for other requests the method.
    pub tool: String,
    pub more: u64,
    pub fewer: u64,
}

/// Holds two policies against all calls of a server since a time. Says how far it is every few thousand calls, and stops
/// when told to.
pub fn compare(
    history: &History,
    today: &Policy,
    changed: &Policy,
    question: &ComparisonRequest<'_>,
    each: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Difference, ReviewError> {
    let ComparisonRequest { server, since_ms, files, examples } = *question;
    let mut count = Comparison::new((today, changed), examples);
    let mut pace = Pace::new(each);
    judge_by_both(history, (today, changed), server, since_ms, files, |row| {
        let at_ms = match row {
            RowOfTwo::Judged(today, changed) => {
                count.judged(today, changed);
                today.call.at_ms
            }
            RowOfTwo::LeftOut(call) => {
                count.today.left_out(call.decision);
                count.changed.left_out(call.decision);
                call.at_ms
            }
        };
        pace.step(at_ms)
    })?;
    pace.finish()?;
    Ok(count.finish(since_ms))
}

impl Difference {
    /// Is every call decided as today, as far as can be told?
    pub fn is_none(&self) -> bool {
        self.more.calls == 0 && self.fewer.calls == 0 && self.otherwise == 0 && self.noted == 0
    }

    /// `No call of the last 7 days would have been decided differently.`, or
    /// `Refuses 12 calls more than today's rules, 0 fewer.`
    pub fn headline(&self, now_ms: i64) -> String {
        let of_then = when("of", self.changed.since_ms, now_ms);
        let (more, fewer) = (self.more.calls, self.fewer.calls);
        if self.changed.calls == 0 {
            format!("There are no calls {} to judge.", when("in", self.changed.since_ms, now_ms))
        } else if more > 0 || fewer > 0 {
            let refused =
                format!("{} more than today's rules, {fewer} fewer.", counted(more - self.asked, "call"));
            match self.asked {
                0 => format!("Refuses {refused}"),
                asked => format!(
                    "Asks you about {} that pass today, and refuses {refused}",
                    counted(asked, "call")
                ),
            }
        } else if !self.is_none() {
            "Refuses the same calls as today's rules.".to_owned()
        } else if self.unclear > 0 {
            format!("As far as can be told, no call {of_then} would have been decided differently.")
        } else {
            format!("No call {of_then} would have been decided differently.")
        }
    }

    /// The totals, and what else a person should know, a sentence each.
    pub fn details(&self, now_ms: i64) -> Vec<String> {
        let changed = &self.changed;
        if changed.calls == 0 {
            return Vec::new();
        }
        let mut said = vec![format!(
            "Of {} {}, today's rules refuse {}, these {}.",
            counted(changed.calls, "call"),
            when("in", changed.since_ms, now_ms),
            self.today.refused - self.today.asked,
            changed.refused - changed.asked,
        )];
        let mut say = |count: u64, words: &str| {
            if count > 0 {
                said.push(format!("{} {words}.", counted(count, "call")));
            }
        };
        say(
            self.otherwise,
            "would be refused by both, but in another way (denied, hidden, capped or asked about)",
        );
        say(self.noted, "would pass both, and be noted as \"would deny\" by only one of them");
        say(self.unclear, "cannot be told: a rule reads arguments that were masked, cut or not kept");
        say(changed.asked, &asked_words(changed.asked_an_hour));
        say(changed.unchecked, "would also have to fit the tool's schema, which was not checked here");
        say(
            changed.left_out.all(),
            "left out, because no rule decided about them (malformed, paused, not recorded)",
        );
        if self.today.by_class || changed.by_class {
            said.push("Rules by class go by what each tool can do as it is known now.".to_owned());
        }
        said
    }
}

struct Comparison<'p> {
    policies: (&'p Policy, &'p Policy),
    named: usize,
    today: Count,
    changed: Count,
    difference: Difference,
    tools: FxHashMap<String, ToolDifference>,
}

impl<'p> Comparison<'p> {
    fn new(policies: (&'p Policy, &'p Policy), named: usize) -> Comparison<'p> {
        Comparison {
            policies,
            named,
            today: Count::default(),
            changed: Count::default(),
            difference: Difference::default(),
            tools: FxHashMap::default(),
        }
    }

    fn judged(&mut self, today: &Judged<'_>, changed: &Judged<'_>) {
        self.today.judged(today);
        self.changed.judged(changed);
        match (today.ruling, changed.ruling) {
            (Ruling::Untold, Ruling::Untold) if self.reads_the_same(today) => {}
            (Ruling::Untold, _) | (_, Ruling::Untold) => self.difference.unclear += 1,
            (then, now) if then == now => {}
            (then, now) => match (then.refuses(), now.refuses()) {
                (false, true) => {
                    self.difference.asked += u64::from(now == Ruling::Asked);
                    self.difference.more.add(changed, self.named);
                    self.tool(changed.about(), true);
                }
                (true, false) => {
                    self.difference.fewer.add(today, self.named);
                    self.tool(today.about(), false);
                }
                (true, true) => self.difference.otherwise += 1,
                (false, false) => self.difference.noted += 1,
            },
        }
    }

    /// Do both policies ask the same of the arguments that are not known? Then they come to the same, whatever those were.
    fn reads_the_same(&self, judged: &Judged<'_>) -> bool {
        let (today, changed) = self.policies;
        if today.version() == changed.version() {
            return true;
        }
        let call = judged.call;
        if call.method != "tools/call" || is_masked(call.tool) || judged.rule == "/codegen" {
            return false;
        }
        let asked = |policy: &Policy| -> Vec<String> {
            let reads = policy.reads(call.client, call.tool, call.at_ms);
            reads.into_iter().map(|read| read.words).collect()
        };
        asked(today) == asked(changed)
    }

    fn tool(&mut self, name: &str, more: bool) {
        if !self.tools.contains_key(name) {
            if self.tools.len() >= TOOLS {
                return;
            }
            let tool = ToolDifference { tool: name.to_owned(), ..ToolDifference::default() };
            self.tools.insert(name.to_owned(), tool);
        }
        let Some(tool) = self.tools.get_mut(name) else { return };
        *(if more { &mut tool.more } else { &mut tool.fewer }) += 1;
    }

    fn finish(self, since_ms: i64) -> Difference {
        let mut tools: Vec<ToolDifference> = self.tools.into_values().collect();
        let calls = |tool: &ToolDifference| tool.more + tool.fewer;
        tools.sort_by(|a, b| calls(b).cmp(&calls(a)).then_with(|| a.tool.cmp(&b.tool)));
        let (today, changed) = self.policies;
        Difference {
            today: self.today.finish(today, since_ms),
            changed: self.changed.finish(changed, since_ms),
            tools,
            ..self.difference
        }
    }
}

impl CallsApart {
    fn add(&mut self, judged: &Judged<'_>, named: usize) {
        self.calls += 1;
        newest(&mut self.examples, judged, named);
    }
}

//! What a policy would have done to the calls that were made.

use std::ops::ControlFlow;

use callgate_history::History;
use callgate_home::CallId;
use callgate_journal::Decision;
use callgate_policy::{Files, Policy};
use rustc_hash::FxHashMap;

use crate::error::ReviewError;
use crate::rejudging::{Judged, ReplayedRow, judge_again};
use crate::ruling::Ruling;
use crate::words::{counted, when};

/// Calls between two words about the progress.
const STEP: u64 = 4096;
const HOUR_MS: i64 = 60 * 60 * 1000;
/// Calls that are named beside a count.
pub(crate) const EXAMPLES: usize = 3;
/// Tools that are counted by name. An agent can make up names without end.
pub(crate) const TOOLS: usize = 4096;

/// How far a simulation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub rows: u64,
    /// The time of the row it is at.
    pub at_ms: i64,
}

/// What a policy would have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
    /// Version of the policy.
    pub policy: String,
    pub since_ms: i64,
    /// Calls that were judged again.
    pub calls: u64,
    pub passed: u64,
    /// Let through, but noted: by rules that only observe.
    pub observed: u64,
    /// All that would not have reached the server: denied, hidden, capped, asked.
    pub refused: u64,
    pub capped: u64,
    pub asked: u64,
    /// The most of them in one hour of the clock: what a person would have had to put up with.
    pub asked_an_hour: u64,
    /// A rule that reads arguments decides, and those were masked, cut or withheld.
    pub untold: u64,
    /// Would pass these rules, but has a schema to fit that is not at hand here.
    pub unchecked: u64,
    /// Rules go by what tools can do: as it is known now, not as it was known then.
    pub by_class: bool,
    /// Refused now, let through then.
    pub newly_refused: u64,
    /// The newest of them, newest first.
    pub newly_refused_examples: Vec<Example>,
    /// Passes now, refused then.
    pub newly_passed: u64,
    pub newly_passed_examples: Vec<Example>,
    pub left_out: LeftOut,
    /// Every rule that refuses, caps, asks, observes or cannot be told, those that do most first.
    pub rules: Vec<RuleEffect>,
    /// Every tool or method, those called most first.
    pub tools: Vec<ToolEffect>,
    /// Calls of tools that were too many to be counted by name.
    pub unnamed: u64,
}

/// Rows that no rule decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub malformed: u64,
    pub broken: u64,
    pub unrecorded: u64,
    pub paused: u64,
}

impl LeftOut {
    pub fn all(&self) -> u64 {
        self.malformed + self.broken + self.unrecorded + self.paused
    }
}

/// One call among those that a count is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub id: CallId,
    pub at_ms: i64,
    pub tool: String,
    pub ruling: Ruling,
    pub rule: String,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleEffect {
    pub rule: String,
    pub denied: u64,
    pub hidden: u64,
    pub capped: u64,
    pub asked: u64,
    pub unsupported: u64,
    pub observed: u64,
    pub untold: u64,
    /// Refused by it now and let through then.
    pub newly: u64,
    /// The first calls that it touches.
    pub examples: Vec<CallId>,
    /// The newest call that it touches, and its time.
    pub newest: Option<(CallId, i64)>,
    /// What the first caller would have been told.
    pub reason: String,
}

impl RuleEffect {
    /// Calls that it keeps from the server.
    pub fn refused(&self) -> u64 {
        self.denied + self.hidden + self.capped + self.asked + self.unsupported
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolEffect {
    /// The tool; for other requests the method.
    pub tool: String,
    pub calls: u64,
    pub refused: u64,
    pub observed: u64,
    pub untold: u64,
    pub newly_refused: u64,
    pub newly_passed: u64,
}

/// Judges all calls to a server since a time again. Says how far it is every few thousand calls, and stops when told to.
pub fn simulate(
    history: &History,
    policy: &Policy,
    server: &str,
    since_ms: i64,
    files: &dyn Files,
    each: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Simulation, ReviewError> {
    let mut count = Count::default();
    let mut pace = Pace::new(each);
    judge_again(history, policy, server, since_ms, files, |row| {
        let at_ms = match row {
            ReplayedRow::Judged(judged) => {
                count.judged(judged);
                judged.call.at_ms
            }
            ReplayedRow::LeftOut(call) => {
                count.left_out(call.decision);
                call.at_ms
            }
        };
        pace.step(at_ms)
    })?;
    pace.finish()?;
    Ok(count.finish(policy, since_ms))
}

/// Tells whoever waits how far it is, and hears whether to go on.
pub(crate) struct Pace<F> {
    each: F,
    rows: u64,
    stopped: bool,
}

impl<F: FnMut(Progress) -> ControlFlow<()>> Pace<F> {
    pub(crate) fn new(each: F) -> Pace<F> {
        Pace { each, rows: 0, stopped: false }
    }

    pub(crate) fn step(&mut self, at_ms: i64) -> ControlFlow<()> {
        self.rows += 1;
        if !self.rows.is_multiple_of(STEP) {
            return ControlFlow::Continue(());
        }
        let flow = (self.each)(Progress { rows: self.rows, at_ms });
        self.stopped = flow.is_break();
        flow
    }

    pub(crate) fn finish(self) -> Result<(), ReviewError> {
        if self.stopped { Err(ReviewError::Stopped) } else { Ok(()) }
    }
}

/// What has to be said of rules by class.
pub(crate) const CLASSES_OF_NOW: &str = "rules by class go by what each tool can do as it is known now";

impl Simulation {
    /// `would have refused 4 of 312 calls in the last 7 days`, and what else a person should know, a sentence each.
    pub fn sentences(&self, now_ms: i64) -> Vec<String> {
        let when = when("in", self.since_ms, now_ms);
        if self.calls == 0 {
            return vec![format!("there are no calls {when} to judge again")];
        }
        let refused = match self.refused - self.asked {
            0 => "nothing".to_owned(),
            refused => refused.to_string(),
        };
        let mut said =
            vec![format!("would have refused {refused} of {} {when}", counted(self.calls, "call"))];
        let mut say = |count: u64, words: &str| {
            if count > 0 {
                said.push(format!("{count} {words}"));
            }
        };
        let were = |count: u64| if count == 1 { "was" } else { "were" };
        say(self.newly_refused, &format!("of them {} let through then", were(self.newly_refused)));
        say(self.newly_passed, &format!("that {} refused then would pass", were(self.newly_passed)));
        say(self.observed, "would only be noted, by rules that observe");
        say(self.asked, &asked_words(self.asked_an_hour));
        say(self.untold, "cannot be told: a rule reads arguments that were masked, cut or not kept");
        say(self.unchecked, "would also have to fit the tool's schema, which was not checked here");
        say(
            self.left_out.all(),
            "were left out, because no rule decided them (malformed, paused, not recorded)",
        );
        if self.by_class {
            said.push(CLASSES_OF_NOW.to_owned());
        }
        said
    }
}

/// "would have been asked about, 3 an hour at most"
pub(crate) fn asked_words(an_hour: u64) -> String {
    format!("would have been asked about, {an_hour} an hour at most")
}

#[derive(Default)]
pub(crate) struct Count {
    totals: Simulation,
    /// The hour that was looked at last, and how often somebody would have been asked in it.
    hour: (i64, u64),
    rules: FxHashMap<String, RuleEffect>,
    tools: FxHashMap<String, ToolEffect>,
}

impl Count {
    pub(crate) fn left_out(&mut self, decision: Decision) {
        let left_out = &mut self.totals.left_out;
        match decision {
            Decision::Broken => left_out.broken += 1,
            Decision::Unrecorded => left_out.unrecorded += 1,
            Decision::Paused => left_out.paused += 1,
            _ => left_out.malformed += 1,
        }
    }

    pub(crate) fn judged(&mut self, judged: &Judged<'_>) {
        let then = judged.was_let_through();
        let ruling = judged.ruling;
        let newly_refused = ruling.refuses() && then;
        let newly_passed = matches!(ruling, Ruling::Passed | Ruling::Observed) && !then;
        let totals = &mut self.totals;
        totals.calls += 1;
        totals.passed += u64::from(ruling == Ruling::Passed);
        totals.observed += u64::from(ruling == Ruling::Observed);
        totals.refused += u64::from(ruling.refuses());
        totals.capped += u64::from(ruling == Ruling::Capped);
        if ruling == Ruling::Asked {
            let hour = judged.call.at_ms.div_euclid(HOUR_MS);
            self.hour = (hour, if self.hour.0 == hour { self.hour.1 + 1 } else { 1 });
            totals.asked += 1;
            totals.asked_an_hour = totals.asked_an_hour.max(self.hour.1);
        }
        totals.untold += u64::from(ruling == Ruling::Untold);
        totals.unchecked += u64::from(judged.unchecked && ruling == Ruling::Passed);
        if newly_refused {
            totals.newly_refused += 1;
            newest(&mut totals.newly_refused_examples, judged, EXAMPLES);
        }
        if newly_passed {
            totals.newly_passed += 1;
            newest(&mut totals.newly_passed_examples, judged, EXAMPLES);
        }
        if ruling != Ruling::Passed {
            self.rule(judged, newly_refused);
        }
        self.tool(judged, newly_refused, newly_passed);
    }

    fn rule(&mut self, judged: &Judged<'_>, newly_refused: bool) {
        if !self.rules.contains_key(judged.rule) {
            let effect = RuleEffect {
                rule: judged.rule.to_owned(),
                reason: judged.reason().into_owned(),
                ..RuleEffect::default()
            };
            self.rules.insert(judged.rule.to_owned(), effect);
        }
        let Some(effect) = self.rules.get_mut(judged.rule) else { return };
        *match judged.ruling {
            Ruling::Hidden => &mut effect.hidden,
            Ruling::Capped => &mut effect.capped,
            Ruling::Asked => &mut effect.asked,
            Ruling::Unsupported => &mut effect.unsupported,
            Ruling::Untold => &mut effect.untold,
            Ruling::Observed => &mut effect.observed,
            Ruling::Passed | Ruling::Denied | Ruling::Broken => &mut effect.denied,
        } += 1;
        effect.newly += u64::from(newly_refused);
        if let Some(id) = judged.call.id() {
            if effect.examples.len() < EXAMPLES {
                effect.examples.push(id);
            }
            effect.newest = Some((id, judged.call.at_ms));
        }
    }

    fn tool(&mut self, judged: &Judged<'_>, newly_refused: bool, newly_passed: bool) {
        let name = judged.about();
        if !self.tools.contains_key(name) {
            if self.tools.len() >= TOOLS {
                self.totals.unnamed += 1;
                return;
            }
            self.tools.insert(name.to_owned(), ToolEffect { tool: name.to_owned(), ..ToolEffect::default() });
        }
        let Some(effect) = self.tools.get_mut(name) else { return };
        effect.calls += 1;
        effect.refused += u64::from(judged.ruling.refuses());
        effect.observed += u64::from(judged.ruling == Ruling::Observed);
        effect.untold += u64::from(judged.ruling == Ruling::Untold);
        effect.newly_refused += u64::from(newly_refused);
        effect.newly_passed += u64::from(newly_passed);
    }

    pub(crate) fn finish(self, policy: &Policy, since_ms: i64) -> Simulation {
        let mut rules: Vec<RuleEffect> = self.rules.into_values().collect();
        let effect = |effect: &RuleEffect| (effect.refused(), effect.observed, effect.untold);
        rules.sort_by(|a, b| effect(b).cmp(&effect(a)).then_with(|| a.rule.cmp(&b.rule)));
        let mut tools: Vec<ToolEffect> = self.tools.into_values().collect();
        tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
        let by_class = policy.asks_for_classes();
        Simulation { policy: policy.version().to_owned(), since_ms, by_class, rules, tools, ..self.totals }
    }
}

/// Keeps the newest few, newest first.
pub(crate) fn newest(examples: &mut Vec<Example>, judged: &Judged<'_>, most: usize) {
    let Some(id) = judged.call.id().filter(|_| most > 0) else { return };
    examples.truncate(most - 1);
    let example = Example {
        id,
        at_ms: judged.call.at_ms,
        tool: judged.call.tool.to_owned(),
        ruling: judged.ruling,
        rule: judged.rule.to_owned(),
        reason: judged.reason().into_owned(),
    };
    examples.insert(0, example);
}

//! Loops: the same call again and again, with the same result each time. The policy says how often is too often; who made which
//! call, and what came of it, is known to the session alone.

use std::time::Duration;

use callgate_protocol::NextStep;

use crate::applying::Applying;
use crate::call::{Refusal, RefusalKind};
use crate::file::{Action, LoopSettings, Spot};
use crate::layer::{Layer, Rule};
use crate::policy::Policy;
use crate::window::wait_words;

/// How many equal results are a loop, where `loop` says no number.
const USUAL: u32 = 5;
/// Within so long, where it says nothing else.
const USUAL_WINDOW: Duration = Duration::from_mins(10);

/// When the same call again is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRule {
    pub pointer: String,
    /// After so many of the same call, whatever came of them.
    pub same_call: Option<u32>,
    /// After so many of the same call with the same result in a row.
    pub same_result: Option<u32>,
    /// What is longer ago does not count.
    pub window: Duration,
    action: LoopAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopAction {
    /// As the policy does with everything: where that refuses nothing, a loop is only reported.
    AsPolicy,
    Deny,
    Ask,
}

impl LoopRule {
    pub(crate) fn compile(said: &Spot<LoopSettings>) -> LoopRule {
        let LoopSettings { same_call, same_result, window, action } = said.value;
        let (same_call, same_result) = match (same_call, same_result) {
            _ if action == Some(Action::Allow) => (None, None),
            (None, None) => (None, Some(USUAL)),
            (call, result) => (call.map(u32::from), result.map(u32::from)),
        };
        LoopRule {
            pointer: said.place.pointer.clone(),
            same_call,
            same_result,
            window: window.map_or(USUAL_WINDOW, |window| window.duration()),
            action: match action {
                None | Some(Action::Allow) => LoopAction::AsPolicy,
                Some(Action::Deny) => LoopAction::Deny,
                Some(Action::Ask) => LoopAction::Ask,
            },
        }
    }

    /// Nothing is a loop: the rule says so for its tools.
    pub(crate) fn is_off(&self) -> bool {
        self.same_call.is_none() && self.same_result.is_none()
    }

    /// It refuses, whatever else the policy does.
    pub(crate) fn insists(&self) -> bool {
        !self.is_off() && self.action != LoopAction::AsPolicy
    }

    /// A person who said yes has answered it.
    pub fn asks(&self) -> bool {
        self.action == LoopAction::Ask
    }

    /// It is only reported under this policy.
    pub fn only_reports(&self, policy: &Policy) -> bool {
        self.action == LoopAction::AsPolicy && policy.watch_only()
    }

    /// How much is to be remembered for it.
    pub fn most(&self) -> u32 {
        self.same_call.max(self.same_result).unwrap_or(0)
    }

    /// "after 5 equal results within 10 min"
    pub fn words(&self) -> String {
        let results = self.same_result.map(|times| format!("{times} equal results"));
        let calls = self.same_call.map(|times| format!("{times} equal calls"));
        let after: Vec<String> = results.into_iter().chain(calls).collect();
        format!("after {} within {}", after.join(" or "), wait_words(self.window))
    }

    /// What a call of this tool hears that was made so many times already; `same`: with one and the same result.
    pub fn refusal(&self, tool: &str, times: u32, same: bool) -> Refusal {
        let kind = if self.asks() { RefusalKind::Ask } else { RefusalKind::Denied };
        let and = if same { ", and had the same result each time" } else { "" };
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let reason = format!("{tool:?} was called {times} with these arguments{and}");
        Refusal { next: NextStep::BreakLoop, ..Refusal::new(kind, self.pointer.as_str(), reason) }
    }

    /// Does it refuse whatever that one does?
    pub(crate) fn is_as_tight_as(&self, old: &LoopRule) -> bool {
        let count =
            |new: Option<u32>, old: Option<u32>| old.is_none_or(|old| new.is_some_and(|new| new <= old));
        count(self.same_call, old.same_call)
            && count(self.same_result, old.same_result)
            && self.window >= old.window
            && (self.insists() || !old.insists())
            // A yes that lasts ends it.
            && (old.asks() || !self.asks())
    }
}

impl Policy {
    /// Does it speak of loops at all? If not, nobody need look for one.
    pub fn speaks_of_loops(&self) -> bool {
        self.base.says.loops || self.overlays.iter().any(|overlay| overlay.layer.says.loops)
    }

    /// What is a loop of this tool's calls: each of these counts.
    pub fn loops(&self, client: &str, tool: &str, now_ms: i64) -> Vec<&LoopRule> {
        if !self.speaks_of_loops() {
            return Vec::new();
        }
        self.applying(client, tool, now_ms).loops()
    }
}

impl<'p> Applying<'p> {
    pub(crate) fn loops(&self) -> Vec<&'p LoopRule> {
        self.layers()
            .flat_map(|(layer, rules)| in_layer(layer, rules))
            .filter(|rule| !rule.is_off())
            .collect()
    }
}

/// In one layer rules override the top; but no layer speaks for the other.
fn in_layer<'p>(layer: &'p Layer, rules: [Option<&'p Rule>; 2]) -> impl Iterator<Item = &'p LoopRule> {
    let said = move || rules.into_iter().flatten().filter_map(|rule| rule.loops.as_ref());
    let top = layer.loops.as_ref().filter(|_| said().next().is_none());
    said().chain(top)
}

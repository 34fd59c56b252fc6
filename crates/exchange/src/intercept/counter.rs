//! Who keeps which counter. Intercept's keys are `<tool>.<counter>`, and `_global.<counter>` for `"*"`.

use std::collections::HashMap;

use super::config::{ConditionSubject, Config, CounterState};
use crate::ledger::Ledger;
use crate::note::Difference;

/// The rule that moves a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'c> {
    /// Positions in the file.
    pub(super) tool: usize,
    pub(super) rule: usize,
    pub(super) state: &'c CounterState,
    /// Intercept's engine counts only for rules that cap their own counter with `lt` or `lte`.
    pub(super) capped: bool,
}

#[derive(Debug)]
pub(super) struct Counters<'c> {
    owners: HashMap<String, Owner<'c>>,
}

impl<'c> Counters<'c> {
    /// Finds all counters, and the conditions that read one which nobody keeps.
    pub(super) fn of(config: &'c Config, ledger: &mut Ledger) -> Counters<'c> {
        let mut owners: HashMap<String, Owner<'c>> = HashMap::new();
        for (t, tool) in config.tools.iter().enumerate() {
            for (r, rule) in tool.rules.iter().enumerate() {
                let Some(state) = &rule.state else { continue };
                let key = format!("{}.{}", tool.scope(), state.counter);
                let own = ConditionSubject::State(key.clone());
                let capped = rule.conditions.iter().any(|c| c.subject == own && c.op.caps());
                if let Some(other) = owners.get(&key) {
                    // Two on one tool were reported already.
                    if other.tool != t {
                        let message = format!(
                            "the counter {:?} is for Intercept the same as the one in line {}",
                            state.counter, other.state.place.line
                        );
                        ledger.problem(state.place, "", message, "give one of them another name");
                    }
                    continue;
                }
                owners.insert(key, Owner { tool: t, rule: r, state, capped });
            }
        }
        let counters = Counters { owners };
        for condition in config.tools.iter().flat_map(|tool| &tool.rules).flat_map(|rule| &rule.conditions) {
            let ConditionSubject::State(key) = &condition.subject else { continue };
            if key.contains('.') && counters.owner(key).is_none() {
                let message = format!("this reads state.{key}, but no matching state block was found");
                let fix = "add a state block with this counter to a rule of that tool";
                ledger.problem(condition.place, &condition.pointer, message, fix);
            } else if let Some(counter) = key.strip_prefix("*.") {
                let text = format!(
                    "state.*.{counter} is taken for state._global.{counter}, which Intercept wants \
                        to be written; it never counts the other"
                );
                ledger.note(condition.place.line, Difference::Stricter, text);
            }
        }
        counters
    }

    pub(super) fn owner(&self, key: &str) -> Option<&Owner<'c>> {
        let global = key.strip_prefix("*.").map(|counter| format!("_global.{counter}"));
        self.owners.get(global.as_deref().unwrap_or(key))
    }
}

//! The rules of one tool in our language.
//!
//! An evaluate rule lets a call through when all its conditions hold: those on arguments become one entry of `require`,
//! those on counters become limits. A rule that cannot be said denies: what it would have refused is refused.

use super::condition::{self, CannotSay, is_position, predicate};
use super::config::{ConditionSubject, Config, Increment, Rule, SourceCondition};
use super::counter::{Counters, Owner};
use super::state::{self, Cap};
use crate::json::Json;
use crate::ledger::Ledger;
use crate::note::Difference;

/// The longest name that a counter of ours may have.
const LONGEST_COUNTER: usize = 256;

/// As low as a number gets that every reader of JSON can read.
const LOWEST: &str = "-1e308";

/// A tool's rule in our language.
#[derive(Debug, Default)]
pub(super) struct Said {
    deny: Option<Denial>,
    require: Vec<Json>,
    deny_if: Vec<Json>,
    limits: Vec<Limit>,
    /// Paths of amounts that a call must have already, to pass what is above.
    amounts: Vec<String>,
}

#[derive(Debug)]
struct Denial {
    rule: String,
    reason: Option<String>,
}

#[derive(Debug)]
struct Limit {
    rule: String,
    counter: String,
    window: &'static str,
    max: u32,
    /// Of a sum: where the amounts come from.
    amount_from: Option<String>,
    on_deny: Option<String>,
}

impl Said {
    pub(super) fn counts(&self) -> bool {
        self.deny.is_none() && !self.limits.is_empty()
    }

    pub(super) fn into_json(self) -> Json {
        let mut out = Json::Object(Vec::new());
        if let Some(denial) = self.deny {
            return out
                .with("description", Json::Text(denial.rule))
                .with("action", Json::text("deny"))
                .with_some("reason", denial.reason);
        }
        for (key, entries) in [("require", self.require), ("deny_if", self.deny_if)] {
            if !entries.is_empty() {
                out = out.with(key, Json::List(entries));
            }
        }
        if !self.limits.is_empty() {
            out = out.with("limits", Json::List(self.limits.into_iter().map(Limit::into_json).collect()));
        }
        out
    }
}

impl Limit {
    fn into_json(self) -> Json {
        let mut out =
            Json::object([("description", Json::Text(self.rule)), ("counter", Json::Text(self.counter))]);
        if let Some(from) = self.amount_from {
            out = out.with("kind", Json::text("sum")).with("amount_from", Json::Text(from));
        }
        out.with("window", Json::text(self.window))
            .with("max", Json::number(self.max))
            .with("scope", Json::text("server"))
            .with_some("on_deny", self.on_deny)
    }
}

pub(super) fn say(config: &Config, tool: usize, counters: &Counters<'_>, ledger: &mut Ledger) -> Said {
    let rules = &config.tools[tool].rules;
    let mut said = Said::default();
    // A rule that denies leaves nothing for the others to say.
    if let Some(deny) = rules.iter().find(|rule| rule.deny) {
        for rule in rules.iter().filter(|rule| !std::ptr::eq(*rule, deny)) {
            let text = format!(
                "the rule {:?} decides nothing, because {:?} denies every call; it was left out",
                rule.name, deny.name
            );
            ledger.note(rule.place.line, Difference::Same, text);
        }
        said.deny = Some(Denial { rule: deny.name.clone(), reason: deny.on_deny.clone() });
        return said;
    }
    for (index, rule) in rules.iter().enumerate() {
        let mut speaker = Speaker { config, tool, index, rule, counters, ledger, said: &mut said };
        if let Err(CannotSay(why)) = speaker.rule() {
            let text = format!(
                "the rule {:?} cannot be said here ({why}); every call that it is about is denied",
                rule.name
            );
            ledger.note(rule.place.line, Difference::Stricter, text);
            let reason = rule
                .on_deny
                .clone()
                .unwrap_or_else(|| format!("the rule {:?} could not be imported", rule.name));
            said.deny.get_or_insert(Denial { rule: rule.name.clone(), reason: Some(reason) });
        }
    }
    said
}

struct Speaker<'a, 'c> {
    config: &'a Config,
    tool: usize,
    /// Of the rule.
    index: usize,
    rule: &'a Rule,
    counters: &'a Counters<'c>,
    ledger: &'a mut Ledger,
    said: &'a mut Said,
}

impl Speaker<'_, '_> {
    fn rule(&mut self) -> Result<(), CannotSay> {
        let rule = self.rule;
        let mut required = Vec::new();
        for condition in &rule.conditions {
            let ConditionSubject::Args(steps) = &condition.subject else { continue };
            let spoken = condition::say(condition, steps, self.ledger)?;
            required.extend(spoken.required);
            for denied in spoken.denied {
                let entry = self.clause(vec![denied]);
                self.said.deny_if.push(entry);
            }
        }
        if !required.is_empty() {
            let entry = self.clause(required);
            self.said.require.push(entry);
        }
        for key in self.keys() {
            self.counter(key)?;
        }
        self.amount_must_be_a_number()
    }

    fn clause(&self, conditions: Vec<Json>) -> Json {
        Json::object([
            ("description", Json::text(self.rule.name.as_str())),
            ("conditions", Json::List(conditions)),
        ])
        .with_some("on_deny", self.rule.on_deny.as_deref())
    }

    /// The counters that the rule reads, each once, in the order of the file.
    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for condition in &self.rule.conditions {
            if let ConditionSubject::State(key) = &condition.subject
                && !keys.contains(key)
            {
                keys.push(key.clone());
            }
        }
        keys
    }

    fn counter(&mut self, key: String) -> Result<(), CannotSay> {
        let rule = self.rule;
        let subject = ConditionSubject::State(key);
        let conditions: Vec<&SourceCondition> =
            rule.conditions.iter().filter(|c| c.subject == subject).collect();
        let ConditionSubject::State(key) = &subject else { return Ok(()) };
        match self.counters.owner(key).copied() {
            None => self.nobody_counts(&conditions),
            Some(owner) if owner.tool == self.tool => self.own_counter(key, &conditions, &owner),
            Some(owner) => {
                conditions.iter().try_for_each(|condition| self.foreign_counter(key, condition, &owner))
            }
        }
    }

    /// `state.x`: Intercept lets it stand, and it is always 0.
    fn nobody_counts(&mut self, conditions: &[&SourceCondition]) -> Result<(), CannotSay> {
        if !conditions.iter().all(|condition| state::holds_at_zero(condition)) {
            return Err(CannotSay("it reads a counter that stands at 0 forever, and never holds".to_owned()));
        }
        for condition in conditions {
            let text = "nothing ever moves this counter, so the condition always holds; it was left out";
            self.ledger.note(condition.place.line, Difference::Same, text);
        }
        Ok(())
    }

    fn own_counter(
        &mut self,
        key: &str,
        conditions: &[&SourceCondition],
        owner: &Owner<'_>,
    ) -> Result<(), CannotSay> {
        let own = owner.rule == self.index;
        let line = conditions.first().map_or(self.rule.place.line, |c| c.place.line);
        let capped = state::same_calls(conditions, owner, own);
        if capped.cap != Cap::None && !owner.capped {
            let text = format!(
                "state.{key} is counted here, as Intercept's reference says; its engine counts only \
                    for a rule that caps its own counter with lt or lte"
            );
            self.ledger.note(line, Difference::Stricter, text);
        } else if !capped.exact {
            let text =
                format!("what is said of state.{key} cannot be said exactly; the limit was drawn tighter");
            self.ledger.note(line, Difference::Stricter, text);
        }
        let name = if own {
            self.counter_name(key)
        } else {
            self.counter_name(&format!("{key} (rule {})", self.index + 1))
        };
        match capped.cap {
            Cap::None => {
                let text = format!("what is said of state.{key} always holds; it was left out");
                self.ledger.note(line, Difference::Same, text);
                Ok(())
            }
            Cap::Calls(0) => Err(CannotSay("its limit has no room for a single call".to_owned())),
            Cap::Calls(calls) => {
                let max = self.fitting(calls as f64, line);
                self.limit(name, owner, max, None, line);
                Ok(())
            }
            Cap::Sum(most) => self.sum(name, owner, most, line),
        }
    }

    fn sum(&mut self, name: String, owner: &Owner<'_>, most: f64, line: usize) -> Result<(), CannotSay> {
        let from = amount_path(owner)?;
        self.said.amounts.push(from.clone());
        if most < 0.0 {
            return Err(CannotSay("its limit has no room for any amount".to_owned()));
        }
        if most < 1.0 {
            let text = format!(
                "only 0 is let through as {from}; Intercept also lets through what it cuts down to 0"
            );
            self.ledger.note(line, Difference::Stricter, text);
            let entry = self.clause(vec![predicate(&from, "eq", Json::number(0u32))]);
            self.said.require.push(entry);
            return Ok(());
        }
        let text = format!(
            "amounts from {from} are added up exactly and negative ones are refused; Intercept cuts \
                fractions off and subtracts"
        );
        self.ledger.note(line, Difference::Stricter, text);
        let max = self.fitting(most, line);
        self.limit(name, owner, max, Some(from), line);
        Ok(())
    }

    /// A counter that another tool's calls move.
    fn foreign_counter(
        &mut self,
        key: &str,
        condition: &SourceCondition,
        owner: &Owner<'_>,
    ) -> Result<(), CannotSay> {
        let line = condition.place.line;
        let calls = match state::other_calls(condition, owner)? {
            Cap::None => return Ok(()),
            Cap::Calls(0) => return Err(CannotSay("its condition on a counter never holds".to_owned())),
            Cap::Calls(calls) => calls,
            Cap::Sum(_) => return Err(CannotSay("it looks at the amounts of another tool".to_owned())),
        };
        let tools = &self.config.tools;
        if tools[owner.tool].is_all() || tools[self.tool].is_all() {
            // One call cannot be counted twice by one counter, and with two counters it would be looser.
            return Err(CannotSay("it looks at a counter of other calls than its own".to_owned()));
        }
        let text = format!(
            "state.{key} is shared with {:?}: calls of both tools count; Intercept counts only those of {:?}",
            tools[self.tool].name, tools[owner.tool].name
        );
        self.ledger.note(line, Difference::Stricter, text);
        let name = self.counter_name(key);
        let max = self.fitting(calls as f64, line);
        if let Some(limit) = self.said.limits.iter_mut().find(|limit| limit.counter == name) {
            limit.max = limit.max.min(max);
            return Ok(());
        }
        self.limit(name, owner, max, None, line);
        Ok(())
    }

    /// Without a limit that takes the amount, a call without a number is still denied there.
    fn amount_must_be_a_number(&mut self) -> Result<(), CannotSay> {
        let Some(state) = self.rule.state.as_ref().filter(|state| matches!(state.step, Increment::From(_)))
        else {
            return Ok(());
        };
        let owner = Owner { tool: self.tool, rule: self.index, state, capped: false };
        let from = amount_path(&owner)?;
        if self.said.amounts.contains(&from) {
            return Ok(());
        }
        let text = format!(
            "the amount from {from} is not limited; a call is denied when it is no number, as by Intercept"
        );
        self.ledger.note(state.place.line, Difference::Same, text);
        let entry = self.clause(vec![predicate(&from, "gte", Json::Raw(LOWEST.to_owned()))]);
        self.said.require.push(entry);
        Ok(())
    }

    fn limit(
        &mut self,
        counter: String,
        owner: &Owner<'_>,
        max: u32,
        amount_from: Option<String>,
        line: usize,
    ) {
        let window = owner.state.window;
        let text = format!(
            "counted over any {window} before a call, and calls that fail keep their place; \
                Intercept starts anew with each {window} of the clock and gives the place of a failed call back"
        );
        self.ledger.note(line, Difference::Stricter, text);
        let (rule, on_deny) = (self.rule.name.clone(), self.rule.on_deny.clone());
        self.said.limits.push(Limit { rule, counter, window, max, amount_from, on_deny });
    }

    /// The largest cap that our language has is enough for calls; sums may be larger.
    fn fitting(&mut self, most: f64, line: usize) -> u32 {
        if most > f64::from(u32::MAX) {
            let text = format!("{most} is more than a limit can have here; it is {}", u32::MAX);
            self.ledger.note(line, Difference::Stricter, text);
        }
        // Saturates.
        most as u32
    }

    /// Intercept's key, unless it cannot be a name here.
    fn counter_name(&self, key: &str) -> String {
        let key =
            key.strip_prefix("*.").map_or_else(|| key.to_owned(), |counter| format!("_global.{counter}"));
        if key.len() <= LONGEST_COUNTER && !key.chars().any(char::is_control) {
            return key;
        }
        let start: String = key.chars().filter(|c| !c.is_control()).take(40).collect();
        format!("{start}… #{}", sum_of(&key))
    }
}

/// Tells long names apart; the same name always gets the same number, or a counter would not be shared.
fn sum_of(key: &str) -> u64 {
    key.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn amount_path(owner: &Owner<'_>) -> Result<String, CannotSay> {
    let Increment::From(steps) = &owner.state.step else {
        return Err(CannotSay("its counter has no amounts".to_owned()));
    };
    if steps.iter().any(|step| is_position(step)) {
        return Err(CannotSay(
            "a number in the path of its amount is also a position in a list here".to_owned(),
        ));
    }
    condition::path(steps)
}

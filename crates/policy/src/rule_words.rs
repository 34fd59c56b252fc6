//! One rule of a policy in words, whole: what it denies, caps, requires and asks.
//!
//! The words of limits and conditions are those that a refused caller is told. What only concerns one call is said where
//! that call is judged.

use crate::compile::limits;
use crate::evaluate::{Clause, Quantifier};
use crate::file::{self, Action, Mode, Record, ToolRule};

/// `denied: "not from an agent"`, `at most 10 calls per minute, per client; denied when args.url matches "^file:"`
pub fn rule_words(rule: &ToolRule) -> String {
    let mut said = Vec::new();
    let reason = |words: Option<&String>| words.map(|words| format!(": {words:?}")).unwrap_or_default();
    let action = rule.action.as_ref().map(|action| action.value);
    let always = rule.deny_if.iter().find(|clause| clause.conditions.is_empty());
    match (action, always) {
        (Some(Action::Deny), _) => said.push(format!("denied{}", reason(rule.reason.as_ref()))),
        (_, Some(clause)) => {
            said.push(format!("denied{}", reason(clause.on_deny.as_ref().or(rule.reason.as_ref()))));
        }
        (Some(Action::Ask), None) => said.push(format!("asked about{}", reason(rule.reason.as_ref()))),
        (Some(Action::Allow) | None, None) => {}
    }
    if rule.hides.is_some() {
        said.push("hidden".to_owned());
    }
    let unconditional = !said.is_empty();
    for limit in limits::of(rule, "") {
        said.push(format!("at most {}, {}", limit.words(), limit.scope.words()));
    }
    said.extend(clauses(&rule.deny_if, "denied when", Quantifier::Any));
    said.extend(clauses(&rule.require, "required that", Quantifier::Every));
    said.extend(clauses(&rule.ask_if, "asked about when", Quantifier::Any));
    if rule.validate.as_ref().is_some_and(|validate| validate.value) {
        said.push("the arguments have to fit the tool's schema".to_owned());
    }
    if said.is_empty() {
        said.push("allowed".to_owned());
    } else if !unconditional && action == Some(Action::Allow) {
        said.insert(0, "allowed".to_owned());
    }
    match rule.record.as_ref().map(|record| record.value) {
        Some(Record::Keys) => said.push("of arguments only the names are recorded".to_owned()),
        Some(Record::None) => said.push("neither arguments nor results are recorded".to_owned()),
        Some(Record::Full) | None => {}
    }
    if let Some(until) = &rule.until {
        said.push(format!("until {}", until.value));
    }
    let words = said.join("; ");
    match rule.mode.as_ref().map(|mode| mode.value) {
        Some(Mode::Observe) => format!("only observed: {words}"),
        Some(Mode::Enforce) | None => words,
    }
}

/// What its conditions refuse, each as a refused caller is told: `denied when …`, `allowed only when …`.
pub fn condition_words(rule: &ToolRule) -> Vec<String> {
    let always = rule.deny_if.iter().any(|clause| clause.conditions.is_empty()).then(|| "denied".to_owned());
    let denied = clauses(&rule.deny_if, "denied when", Quantifier::Any);
    let required = clauses(&rule.require, "allowed only when", Quantifier::Every);
    always.into_iter().chain(denied).chain(required).collect()
}

fn clauses<'c>(
    clauses: &'c [file::Clause],
    verb: &'c str,
    how: Quantifier,
) -> impl Iterator<Item = String> + 'c {
    clauses.iter().filter(|clause| !clause.conditions.is_empty()).filter_map(move |clause| {
        let words = Clause::compile(clause, how)?.words();
        let told = clause.on_deny.as_ref().map(|told| format!(" ({told:?})")).unwrap_or_default();
        Some(format!("{verb} {words}{told}"))
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::file::PolicyFile;

    #[test]
    fn every_part_of_a_rule_is_said() {
        let cases = [
            ("{}", "allowed"),
            (r#"{"action":"deny","reason":"not from an agent"}"#, "denied: \"not from an agent\""),
            (r#"{"deny_if":[{"conditions":[],"on_deny":"no"}]}"#, "denied: \"no\""),
            (r#"{"action":"ask"}"#, "asked about"),
            (
                r#"{"limits":[{"window":"minute","max":10},{"kind":"total","max":1,"scope":"server"}],
                   "deny_if":[{"path":"args.url","op":"regex","value":"^file:","on_deny":"no local files"}]}"#,
                "at most 10 calls per minute, per client; at most 1 call in all, for all clients together; \
                 denied when args.url matches \"^file:\" (\"no local files\")",
            ),
            (
                r#"{"rate_limit":"5/90s","require":[{"path":"args.a","op":"exists"}],"validate":true}"#,
                "at most 5 calls per 90s, per session; required that args.a is present; \
                 the arguments have to fit the tool's schema",
            ),
            (
                r#"{"action":"deny","mode":"observe","record":"keys","until":"2026-03-01T18:00:00Z"}"#,
                "only observed: denied; of arguments only the names are recorded; until 2026-03-01T18:00:00Z",
            ),
        ];
        for (rule, words) in cases {
            let text = format!("{{\"version\":\"1\",\"default\":\"deny\",\"tools\":{{\"x\":{rule}}}}}");
            let file = PolicyFile::parse(&text).unwrap();
            assert_eq!(rule_words(&file.body.tools[0]), words, "{rule}");
        }
    }
}

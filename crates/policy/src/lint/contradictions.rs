//! Conditions of one entry that cannot hold together, whatever the server.

use std::cmp::Ordering;

use callgate_protocol::json::Raw;

use crate::evaluate::{Condition, Quantifier};
use crate::file::{Clause, Operator, Predicate, Subject, ToolRule, Value};
use crate::files::AsWritten;
use crate::number::Decimal;
use crate::problem::Problems;

pub(super) fn look(rule: &ToolRule, problems: &mut Problems<'_>) {
    let lists = [
        (&rule.require, "so every call is refused"),
        (&rule.deny_if, "so this never holds"),
        (&rule.ask_if, "so this never holds"),
    ];
    for (clauses, consequence) in lists {
        for clause in clauses {
            if let Some((one, other)) = contradiction(clause) {
                let message = format!(
                    "{} cannot be both {} {} and {} {}, {consequence}",
                    one.subject.text(),
                    one.op.word(),
                    one.value,
                    other.op.word(),
                    other.value
                );
                let fix = "write them as entries of their own if either will do".to_owned();
                problems.warn(&other.place, message, fix);
            }
        }
    }
}

fn contradiction(clause: &Clause) -> Option<(&Predicate, &Predicate)> {
    let pairs = clause
        .conditions
        .iter()
        .enumerate()
        .flat_map(|(i, one)| clause.conditions[i + 1..].iter().map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| same_argument(one, other))
        .find(|(one, other)| excludes(one, other) || excludes(other, one) || no_room(one, other))
}

/// Of every argument of a kind, one may fit the one and one the other.
fn same_argument(one: &Predicate, other: &Predicate) -> bool {
    match (&one.subject, &other.subject) {
        (Subject::Argument(one), Subject::Argument(other)) => one.steps == other.steps,
        _ => false,
    }
}

/// One says which value it is, and the other does not take that.
fn excludes(one: &Predicate, other: &Predicate) -> bool {
    let takes_paths = matches!(other.op, Operator::Inside | Operator::NotInside);
    if one.op != Operator::Eq || takes_paths || one.value == Value::Null {
        return false;
    }
    // A number may come as text that spells it, and the other way round.
    let json = one.value.to_json();
    let forms = match &one.value {
        Value::Text(text) if Decimal::parse(text.trim()).is_some() => return excludes_number(one, other),
        Value::Number(_) => return excludes_number(one, other),
        Value::Bool(_) => vec![json.clone(), format!("\"{json}\"")],
        Value::Text(text) if text == "true" || text == "false" => vec![json, text.clone()],
        _ => vec![json],
    };
    forms.iter().all(|form| fails(other, form))
}

/// Numbers have many spellings; only what compares them by value is certain.
fn excludes_number(one: &Predicate, other: &Predicate) -> bool {
    let by_value = match (&other.value, other.op) {
        (Value::Number(_), Operator::Eq | Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte) => {
            true
        }
        (Value::List(values), Operator::In) => values.iter().all(|value| matches!(value, Value::Number(_))),
        _ => false,
    };
    by_value && matches!(one.value, Value::Number(_)) && fails(other, &one.value.to_json())
}

fn fails(predicate: &Predicate, json: &str) -> bool {
    let (Some(condition), Ok(value)) = (Condition::compile(predicate, Quantifier::Any), Raw::parse(json))
    else {
        return false;
    };
    condition.holds_for(value, &AsWritten) == Some(false)
}

/// Above the one and below the other.
fn no_room(one: &Predicate, other: &Predicate) -> bool {
    let (low, high) = match (one.op, other.op) {
        (Operator::Gt | Operator::Gte, Operator::Lt | Operator::Lte) => (one, other),
        (Operator::Lt | Operator::Lte, Operator::Gt | Operator::Gte) => (other, one),
        _ => return false,
    };
    let (Value::Number(bottom), Value::Number(top)) = (&low.value, &high.value) else { return false };
    let (Some(bottom), Some(top)) = (Decimal::parse(bottom), Decimal::parse(top)) else { return false };
    match bottom.cmp(&top) {
        Ordering::Greater => true,
        Ordering::Equal => low.op == Operator::Gt || high.op == Operator::Lt,
        Ordering::Less => false,
    }
}

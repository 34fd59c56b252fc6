//! Can a condition ever hold for an argument of these types?
//!
//! By the table of the operators, type by type; for arguments that take only certain values, by trying each.

use callgate_protocol::json::Raw;

use crate::evaluate::{Condition, Quantifier};
use crate::file::{Operator, Predicate, Value};
use crate::files::AsWritten;
use crate::number::Decimal;
use crate::schema::{Part, Types};

/// What is certain about a condition on an argument that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It may hold or not.
    Open,
    Always,
    Never,
    /// It cannot be judged, which refuses the call.
    Unclear,
}

pub(super) fn of(part: &Part, predicate: &Predicate) -> Fit {
    // Whether it is there is the call's own matter.
    if part.is_unsaid() || predicate.op == Operator::Exists {
        return Fit::Open;
    }
    // Where a path leads is a matter of the disk.
    if let Some(choices) = &part.choices
        && !matches!(predicate.op, Operator::Inside | Operator::NotInside)
    {
        let condition = Condition::compile(predicate, Quantifier::Any);
        return all_alike(choices.iter().map(|choice| tried(choice, condition.as_ref())));
    }
    all_alike(part.types.each().map(|one| of_type(one, part, predicate)))
}

fn all_alike(mut fits: impl Iterator<Item = Fit>) -> Fit {
    let Some(first) = fits.next() else { return Fit::Open };
    if fits.all(|fit| fit == first) { first } else { Fit::Open }
}

fn tried(json: &str, condition: Option<&Condition>) -> Fit {
    let (Some(condition), Ok(value)) = (condition, Raw::parse(json)) else { return Fit::Open };
    match condition.holds_for(value, &AsWritten) {
        Some(true) => Fit::Always,
        Some(false) => Fit::Never,
        None => Fit::Unclear,
    }
}

fn of_type(one: Types, part: &Part, predicate: &Predicate) -> Fit {
    let value = &predicate.value;
    let values = || match value {
        Value::List(values) => values.as_slice(),
        single => std::slice::from_ref(single),
    };
    match predicate.op {
        Operator::Exists => Fit::Open,
        Operator::Eq | Operator::In => equal(one, values()),
        Operator::Neq | Operator::NotIn => match equal(one, values()) {
            Fit::Never => Fit::Always,
            Fit::Always => Fit::Never,
            other => other,
        },
        Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => match (one, value) {
            (Types::TEXT, _) => Fit::Open,
            (Types::NUMBER, Value::Number(_)) => Fit::Open,
            (Types::NUMBER, Value::Text(text)) if spells_number(text) => Fit::Open,
            _ => Fit::Unclear,
        },
        Operator::Regex => match one {
            Types::TEXT | Types::NUMBER | Types::BOOL => Fit::Open,
            _ => Fit::Unclear,
        },
        Operator::Contains => match (one, value) {
            (Types::TEXT, Value::Text(_) | Value::Number(_)) => Fit::Open,
            (Types::LIST, value) => {
                let items =
                    part.items.as_deref().filter(|items| !items.is_unsaid() && items.choices.is_none());
                let held = |items: &Part| {
                    all_alike(items.types.each().map(|one| equal(one, std::slice::from_ref(value))))
                };
                // A list may be empty, and then it holds nothing for certain.
                if items.map(held) == Some(Fit::Never) { Fit::Never } else { Fit::Open }
            }
            _ => Fit::Unclear,
        },
        Operator::Inside | Operator::NotInside => match one {
            Types::TEXT => Fit::Open,
            Types::LIST => match part.items.as_deref() {
                Some(items) if !items.types.has(Types::TEXT) => Fit::Unclear,
                _ => Fit::Open,
            },
            _ => Fit::Unclear,
        },
    }
}

/// Is a value of this type one of these?
fn equal(one: Types, values: &[Value]) -> Fit {
    let plain = values.iter().any(|value| *value != Value::Null);
    if plain && matches!(one, Types::LIST | Types::OBJECT) {
        return Fit::Unclear;
    }
    let may = |value: &Value| match (one, value) {
        (Types::NULL, Value::Null) | (Types::BOOL, Value::Bool(_)) | (Types::NUMBER, Value::Number(_)) => {
            true
        }
        (Types::TEXT, value) => *value != Value::Null,
        (Types::BOOL, Value::Text(text)) => text == "true" || text == "false",
        (Types::NUMBER, Value::Text(text)) => spells_number(text),
        _ => false,
    };
    if values.iter().any(may) { Fit::Open } else { Fit::Never }
}

fn spells_number(text: &str) -> bool {
    Decimal::parse(text.trim()).is_some()
}

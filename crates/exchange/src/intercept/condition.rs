//! One condition on arguments, said in our language so that it holds exactly when Intercept's does.
//!
//! Where that cannot be had, the condition is stricter, or the whole rule denies; the notes say which. Intercept compares
//! floats and, failing that, what Go prints; ours compares numbers as they are written and refuses what is unclear.

use super::config::{Op, SourceCondition};
use super::value::Operand;
use crate::json::Json;
use crate::ledger::Ledger;
use crate::note::Difference;
use crate::yaml::is_json_number;

/// From here on, a float no longer tells one whole number from the next.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What becomes of a condition that must hold.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// All of these are required.
    pub(super) required: Vec<Json>,
    /// None of these may hold.
    pub(super) denied: Vec<Json>,
}

/// Why a rule cannot be said; its tool is denied then.
#[derive(Debug)]
pub(super) struct CannotSay(pub(super) String);

pub(super) fn say(
    condition: &SourceCondition,
    steps: &[String],
    ledger: &mut Ledger,
) -> Result<Spoken, CannotSay> {
    let absent = condition.op == Op::Exists && condition.value == Operand::Bool(false);
    let path = path(steps)?;
    let line = condition.place.line;
    if let Some(number) = steps.iter().find(|step| is_position(step)) {
        if !absent {
            return Err(CannotSay(format!(
                "in \"{path}\", {number} is only a name for Intercept, and here also a position in a list"
            )));
        }
        let text = format!("in \"{path}\", {number} is also a position in a list here");
        ledger.note(line, Difference::Stricter, text);
    }
    let mut notes = Notes { ledger, line, path: &path };
    let one = |op: &str, value: Json| predicate(&path, op, value);
    let mut spoken = Spoken::default();
    match (condition.op, &condition.value) {
        // Null is as good as absent there, and something that is there here.
        (Op::Exists, Operand::Bool(false)) => spoken.denied.push(one("neq", null())),
        (Op::Exists, _) => spoken.required.push(one("neq", null())),
        (op @ (Op::Eq | Op::Neq), value) => {
            let Some(plain) = value.plain() else { return Err(printed(op, &path)) };
            notes.equality(value, op == Op::Neq);
            spoken.required.push(one(op.word(), plain));
        }
        (op @ (Op::In | Op::NotIn), Operand::List(items)) => {
            let plain: Vec<Json> = items.iter().filter_map(Operand::plain).collect();
            if plain.len() < items.len() {
                if op == Op::NotIn {
                    return Err(printed(op, &path));
                }
                let text = format!(
                    "lists and maps among the values for {path} were left out; Intercept compares \
                        how Go prints them"
                );
                notes.add(Difference::Stricter, text);
            }
            items.iter().for_each(|item| notes.equality(item, op == Op::NotIn));
            spoken.required.push(one(op.word(), Json::List(plain)));
        }
        (op @ (Op::Lt | Op::Lte | Op::Gt | Op::Gte), value) => {
            let Some(plain) = value.plain() else { return Err(printed(op, &path)) };
            let text = format!(
                "a number in quotes as {path} is compared as a number here; Intercept denies every text"
            );
            notes.add(Difference::Differs, text);
            if let Operand::Number(number, written) = value {
                notes.exactness(*number, written);
            }
            spoken.required.push(one(op.word(), plain));
        }
        (Op::Regex, Operand::Text(text)) => {
            // Intercept matches texts only; ours would match numbers as well.
            spoken.required.push(is_text(&path));
            spoken.required.push(one("regex", Json::text(text.as_str())));
        }
        (Op::Contains, Operand::Text(text)) => {
            notes.spelled(text);
            spoken.required.push(one("contains", Json::text(text.as_str())));
        }
        (Op::Contains, value) => {
            let Some(plain) = value.plain() else { return Err(printed(Op::Contains, &path)) };
            notes.equality(value, false);
            // Only lists contain such a value there; a text may hold the digits.
            spoken.required.push(predicate(&format!("{path}.0"), "exists", Json::Raw("true".to_owned())));
            spoken.required.push(one("contains", plain));
        }
        (op, _) => return Err(printed(op, &path)),
    }
    Ok(spoken)
}

fn printed(op: Op, path: &str) -> CannotSay {
    CannotSay(format!("\"{} {}\" compares how Go prints lists and maps", path, op.word()))
}

struct Notes<'l, 'p> {
    ledger: &'l mut Ledger,
    line: usize,
    path: &'p str,
}

impl Notes<'_, '_> {
    fn add(&mut self, severity: Difference, text: String) {
        self.ledger.note(self.line, severity, text);
    }

    /// How equality differs for this value.
    fn equality(&mut self, value: &Operand, negated: bool) {
        let path = self.path;
        match value {
            Operand::Number(number, written) => {
                let said = format!(
                    "a text that spells {written} in another way equals it as {path} here; \
                        Intercept takes only one spelling"
                );
                self.add(if negated { Difference::Stricter } else { Difference::Differs }, said);
                self.exactness(*number, written);
            }
            Operand::Text(text) => self.spelled(text),
            Operand::Null | Operand::Bool(_) | Operand::List(_) | Operand::Map => {}
        }
        if negated && *value != Operand::Null {
            let said = format!(
                "a list or an object as {path} is refused here; Intercept lets it pass as something else"
            );
            self.add(Difference::Stricter, said);
        }
    }

    fn exactness(&mut self, number: f64, written: &str) {
        if number.abs() >= EXACT {
            let said =
                format!("{written} is compared exactly here; Intercept does not tell it from its neighbours");
            self.add(Difference::Differs, said);
        }
    }

    /// A text that spells a number is compared with numbers by value here.
    fn spelled(&mut self, text: &str) {
        if is_json_number(text.trim_matches([' ', '\t', '\n', '\r'])) {
            let path = self.path;
            let said = format!(
                "the number {} equals the text {text:?} as {path} here, however it is written; \
                    Intercept compares how Go prints it",
                text.trim()
            );
            self.add(Difference::Differs, said);
        }
    }
}

pub(super) fn predicate(path: &str, op: &str, value: Json) -> Json {
    Json::object([("path", Json::text(path)), ("op", Json::text(op)), ("value", value)])
}

/// Every text contains the empty one; what is no text cannot be judged, and is refused.
fn is_text(path: &str) -> Json {
    predicate(path, "contains", Json::text(""))
}

fn null() -> Json {
    Json::Raw("null".to_owned())
}

pub(super) fn is_position(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit())
}

/// `args.a["b[0]"].c`: Intercept's names stand for themselves, brackets included.
pub(super) fn path(steps: &[String]) -> Result<String, CannotSay> {
    let mut path = String::from("args");
    for step in steps {
        if step.contains("\"]") {
            return Err(CannotSay(format!("the name {step:?} cannot be written in a path")));
        }
        if step.is_empty() || step.contains(['[', '.']) {
            path.push_str(&format!("[\"{step}\"]"));
        } else {
            path.push('.');
            path.push_str(step);
        }
    }
    Ok(path)
}

//! Calls denied by what one of their arguments says: one condition in a rule.

use callgate_protocol::json::{Kind, Raw};

use super::EditError;
use super::effect;
use super::scope::Scope;
use crate::evaluate::Quantifier;
use crate::file::{ArgumentKind, Body, Clause, Operator, Subject, Value};
use callgate_document::{Draft, NewValue};

/// When a call is refused. Paths as in policies: `args.url`; or `paths`, `urls` for every argument of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// The argument starts with this text. Schemes (`file:`) are known in any case and behind blanks, as those who open
    /// addresses know them.
    StartsWith { path: String, prefix: String },
    /// It is this text, number, true, false or null, as JSON.
    Equals { path: String, value: String },
    /// It is not a path into this folder, or is missing.
    NotInside { path: String, folder: String },
}

/// A condition as it is written, and as it is read again.
struct Condition {
    list: &'static str,
    subject: Subject,
    op: Operator,
    value: Value,
    written: NewValue,
}

pub(super) fn refuse(
    draft: &mut Draft,
    scope: &Scope,
    body: &Body,
    tool: Option<&str>,
    when: &When,
    reason: Option<&str>,
    summary: &mut Vec<String>,
) -> Result<(), EditError> {
    let Condition { list, subject, op, value, written } = condition(when)?;
    let rule = match tool {
        Some(tool) => body.tools.iter().find(|rule| rule.name == tool),
        None => body.all_tools.as_ref(),
    };
    let rule_path = tool.map_or_else(|| vec!["all_tools"], |tool| vec!["tools", tool]);
    if let Some(rule) = rule {
        effect::enforce(draft, &scope.path(&rule_path), rule, summary);
    }
    let clauses = rule.map_or(&[][..], |rule| if list == "require" { &rule.require } else { &rule.deny_if });
    let same = |clause: &Clause| match clause.conditions.as_slice() {
        [one] => is_same(&one.subject, &subject) && one.op == op && one.value == value,
        _ => false,
    };
    let Some(place) = clauses.iter().position(same) else {
        let mut members = vec![
            (subject.key().to_owned(), NewValue::text(subject.text())),
            ("op".to_owned(), NewValue::text(op.word())),
            ("value".to_owned(), written),
        ];
        members.extend(reason.map(|reason| ("on_deny".to_owned(), NewValue::text(reason))));
        draft.append(&scope.path(&[rule_path, vec![list]].concat()), NewValue::Map(members));
        summary.push(words(scope, tool, when));
        if let Some(until) = rule.and_then(|rule| rule.until.as_ref()) {
            summary.push(format!("but only as long as its rule holds (\"until\" is {:?})", until.value));
        }
        return Ok(());
    };
    if let Some(reason) = reason
        && clauses[place].on_deny.as_deref() != Some(reason)
    {
        let index = place.to_string();
        draft.set(&scope.path(&[rule_path, vec![list, &index, "on_deny"]].concat()), NewValue::text(reason));
        summary.push(format!("the reason is now {reason:?}"));
    }
    Ok(())
}

/// Two spellings of one path are the same.
fn is_same(one: &Subject, other: &Subject) -> bool {
    match (one, other) {
        (Subject::Argument(one), Subject::Argument(other)) => one.steps == other.steps,
        _ => one == other,
    }
}

fn condition(when: &When) -> Result<Condition, EditError> {
    let path = |text: &str| {
        let wrong = |fix| EditError::NotARule(format!("{text:?} is no path into the arguments: {fix}"));
        Subject::parse(text).map_err(wrong)
    };
    let text = |list, subject, op, value: String| Condition {
        list,
        subject,
        op,
        written: NewValue::Text(value.clone()),
        value: Value::Text(value),
    };
    match when {
        When::StartsWith { path: at, prefix } => {
            if prefix.is_empty() {
                return Err(EditError::NotARule(
                    "every text starts with nothing: say what the argument starts with".to_owned(),
                ));
            }
            Ok(text("deny_if", path(at)?, Operator::Regex, starts_with(prefix)))
        }
        When::Equals { path: at, value } => {
            let (value, written) = scalar(value)?;
            Ok(Condition { list: "deny_if", subject: path(at)?, op: Operator::Eq, value, written })
        }
        When::NotInside { path: at, folder } => {
            Ok(text("require", path(at)?, Operator::Inside, folder.clone()))
        }
    }
}

/// A pattern for texts that start so.
fn starts_with(prefix: &str) -> String {
    let escaped = regex::escape(prefix);
    if is_scheme(prefix) { format!("(?i)^\\s*{escaped}") } else { format!("^{escaped}") }
}

/// Does it begin as an address does: `file:`, `https://host`?
pub(crate) fn is_scheme(prefix: &str) -> bool {
    prefix.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

fn scalar(json: &str) -> Result<(Value, NewValue), EditError> {
    let wrong = || {
        EditError::NotARule(format!(
            "{json:?} cannot be compared with: it has to be text in quotes, a number, true, false or null"
        ))
    };
    let raw = Raw::parse(json).map_err(|_| wrong())?;
    let value = match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(raw.as_bool().ok_or_else(wrong)?),
        Kind::Number => Value::Number(raw.as_number().ok_or_else(wrong)?.to_owned()),
        Kind::String => {
            let text = raw.as_str().ok_or_else(wrong)?.into_owned();
            return Ok((Value::Text(text.clone()), NewValue::Text(text)));
        }
        Kind::Array | Kind::Object => return Err(wrong()),
    };
    Ok((value, NewValue::Word(raw.text().to_owned())))
}

fn words(scope: &Scope, tool: Option<&str>, when: &When) -> String {
    let what = tool.map_or_else(|| "every tool".to_owned(), |tool| format!("{tool:?}"));
    let whose = scope.whose();
    let said = |path: &str, how: Quantifier| match ArgumentKind::of_word(path) {
        Some(kind) => how.words(kind).to_owned(),
        None => path.to_owned(),
    };
    match when {
        When::StartsWith { path, prefix } => {
            let path = said(path, Quantifier::Any);
            format!("{what} is now denied{whose} when {path} starts with {prefix:?}")
        }
        When::Equals { path, value } => {
            format!("{what} is now denied{whose} when {} is {value}", said(path, Quantifier::Any))
        }
        When::NotInside { path, folder } => {
            let path = said(path, Quantifier::Every);
            format!("{what} is now denied{whose} unless {path} is inside {folder:?}")
        }
    }
}

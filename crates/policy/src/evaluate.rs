//! Conditions over a call's arguments, compiled once and evaluated without allocation where strings need no unescaping.
//!
//! Three outcomes: holds, does not hold, cannot be judged. What cannot be judged refuses: an attacker chooses the
//! arguments, and a rule that vanishes when it is fed the wrong kind of value is no rule.

use std::borrow::Cow;
use std::cmp::Ordering;

use callgate_protocol::NextStep;
use callgate_protocol::json::{Kind, Raw, write_string};
use regex::Regex;

use crate::address;
use crate::edit::is_scheme;
use crate::file::{self, ArgumentKind, Operator, Path, Subject, Value};
use crate::files::Files;
use crate::kinds;
use crate::number::Decimal;
use crate::path;
use crate::schema::ArgumentSchema;

/// A call's arguments, with what it takes to read them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a> {
    pub(crate) raw: Option<Raw<'a>>,
    pub(crate) files: &'a dyn Files,
    /// What the server says of them, if that is known.
    pub(crate) schema: Option<&'a ArgumentSchema>,
}

/// How a condition on every argument of a kind is meant: what must hold has to hold of all of them, what denies denies
/// for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Every,
    Any,
}

impl Quantifier {
    pub(crate) fn words(self, kind: ArgumentKind) -> &'static str {
        match (self, kind) {
            (Quantifier::Every, ArgumentKind::Paths) => "every path",
            (Quantifier::Any, ArgumentKind::Paths) => "a path",
            (Quantifier::Every, ArgumentKind::Urls) => "every URL",
            (Quantifier::Any, ArgumentKind::Urls) => "a URL",
        }
    }
}

/// Why a condition could not be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CannotJudge {
    pub(crate) why: String,
    pub(crate) next: NextStep,
}

impl CannotJudge {
    fn new(why: String) -> CannotJudge {
        CannotJudge { why, next: NextStep::OtherArguments }
    }
}

type Outcome = Result<bool, CannotJudge>;

#[derive(Clone, Debug)]
enum Test {
    Eq(Value),
    Neq(Value),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    /// The ordering must be one of these.
    Order(&'static [Ordering], Value),
    Regex(Box<Regex>),
    Contains(Value),
    Exists(bool),
    /// The path, or every path of a list, leads into one of these folders; a list with both kinds cannot be judged.
    Inside(Vec<String>),
    /// Neither the path nor any path of a list leads into one of these folders.
    NotInside(Vec<String>),
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The arguments that are read; all of them where every one of a kind is asked for.
    pub(crate) path: Path,
    kind: Option<(ArgumentKind, Quantifier)>,
    /// It is about an address, and each reading of that counts as an address of its own.
    of_address: Option<Quantifier>,
    test: Test,
    /// For comparing policies and for sentences: `args.url matches "^file:"`.
    pub(crate) words: String,
}

/// Conditions that stand together.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) pointer: String,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) on_deny: Option<String>,
}

/// How a clause stands to a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    AllHold,
    /// The position of one condition that does not hold.
    Fails(usize),
    Unclear(CannotJudge),
}

impl Clause {
    /// `None` when an operator cannot use its value; the file's reader has complained about it.
    pub(crate) fn compile(clause: &file::Clause, how: Quantifier) -> Option<Clause> {
        let conditions: Option<Vec<_>> =
            clause.conditions.iter().map(|condition| Condition::compile(condition, how)).collect();
        Some(Clause {
            pointer: clause.place.pointer.clone(),
            conditions: conditions?,
            on_deny: clause.on_deny.clone(),
        })
    }

    /// A condition that fails settles the matter whatever the unclear ones would have said; so order does not matter.
    pub(crate) fn standing(&self, args: &Arguments<'_>) -> Standing {
        let mut unclear = None;
        for (i, condition) in self.conditions.iter().enumerate() {
            match condition.holds(args) {
                Ok(true) => {}
                Ok(false) => return Standing::Fails(i),
                Err(e) => unclear = unclear.or(Some(e)),
            }
        }
        unclear.map_or(Standing::AllHold, Standing::Unclear)
    }

    /// `args.a is 1 and args.b exists`
    pub(crate) fn words(&self) -> String {
        let words: Vec<&str> = self.conditions.iter().map(|c| c.words.as_str()).collect();
        words.join(" and ")
    }

    /// The same for a clause that holds: of several arguments, those that make it so.
    pub(crate) fn words_for(&self, args: &Arguments<'_>) -> String {
        let words: Vec<String> = self
            .conditions
            .iter()
            .map(|condition| match condition.first(args, true) {
                Some(label) => format!("{} (here {label})", condition.words),
                None => condition.words.clone(),
            })
            .collect();
        words.join(" and ")
    }
}

impl Condition {
    pub(crate) fn compile(predicate: &file::Predicate, how: Quantifier) -> Option<Condition> {
        use Ordering::{Equal, Greater, Less};
        let value = predicate.value.clone();
        let list = |value: Value| match value {
            Value::List(values) => values,
            single => vec![single],
        };
        let test = match predicate.op {
            Operator::Eq => Test::Eq(value),
            Operator::Neq => Test::Neq(value),
            Operator::In => Test::In(list(value)),
            Operator::NotIn => Test::NotIn(list(value)),
            Operator::Lt => Test::Order(&[Less], value),
            Operator::Lte => Test::Order(&[Less, Equal], value),
            Operator::Gt => Test::Order(&[Greater], value),
            Operator::Gte => Test::Order(&[Greater, Equal], value),
            Operator::Regex => Test::Regex(Box::new(predicate.pattern.clone()?.0)),
            Operator::Contains => Test::Contains(value),
            Operator::Exists => Test::Exists(value != Value::Bool(false)),
            Operator::Inside => Test::Inside(folders(value)),
            Operator::NotInside => Test::NotInside(folders(value)),
        };
        let (path, kind) = match &predicate.subject {
            Subject::Argument(path) => (path.clone(), None),
            Subject::Every(kind) => (Path { text: "args".to_owned(), steps: Vec::new() }, Some((*kind, how))),
        };
        let of_address = is_about_address(predicate).then_some(how);
        Some(Condition { words: words(predicate, how), path, kind, of_address, test })
    }

    fn holds(&self, args: &Arguments<'_>) -> Outcome {
        if let Some((kind, how)) = self.kind {
            return self.holds_of(args, kind, how);
        }
        let Some(found) = args.raw.and_then(|raw| resolve(raw, &self.path)) else {
            // Absent arguments satisfy nothing but the wish that they be absent.
            return Ok(matches!(self.test, Test::Exists(false)));
        };
        Probe { at: &self.path.text, condition: self }.passes(found, args.files)
    }

    /// One value settles it: where every one has to fit, one that does not; where any will do, one that does. Else one that
    /// cannot be judged leaves it open. A call without such a value has nothing that could be held against it.
    fn holds_of(&self, args: &Arguments<'_>, kind: ArgumentKind, how: Quantifier) -> Outcome {
        let given = kinds::given(args.raw, kind, args.schema)
            .map_err(|unbounded| CannotJudge::new(unbounded.words(kind)))?;
        if let Test::Exists(wanted) = self.test {
            return Ok(given.is_empty() != wanted);
        }
        let settles = how == Quantifier::Any;
        let mut unclear = None;
        for given in &given {
            match self.passes(given, args.files) {
                Ok(holds) if holds == settles => return Ok(settles),
                Ok(_) => {}
                Err(why) => unclear = unclear.or(Some(why)),
            }
        }
        unclear.map_or(Ok(!settles), Err)
    }

    fn passes(&self, given: &kinds::Given<'_>, files: &dyn Files) -> Outcome {
        let probe = Probe { at: &given.label, condition: self };
        match given.value() {
            Some(value) => probe.passes(value, files),
            None => Err(CannotJudge::new(format!("{} cannot be read", given.label))),
        }
    }

    pub(crate) fn is_about_kind(&self) -> bool {
        self.kind.is_some()
    }

    /// For one value, wherever it stands; none if it cannot be judged.
    pub(crate) fn holds_for(&self, value: Raw<'_>, files: &dyn Files) -> Option<bool> {
        Probe { at: &self.path.text, condition: self }.passes(value, files).ok()
    }

    /// What it asks for, where it does not hold: of several arguments, which is not so.
    pub(crate) fn wanted(&self, args: &Arguments<'_>) -> String {
        match self.first(args, false) {
            Some(label) => format!("{}, which is not so for {label}", self.words),
            None => self.words.clone(),
        }
    }

    /// Of several arguments, the first that fits, or does not.
    pub(crate) fn first(&self, args: &Arguments<'_>, fits: bool) -> Option<String> {
        let (kind, _) = self.kind?;
        let given = kinds::given(args.raw, kind, args.schema).ok()?;
        if matches!(self.test, Test::Exists(_)) {
            return None;
        }
        given.into_iter().find(|given| self.passes(given, args.files) == Ok(fits)).map(|given| given.label)
    }
}

/// One condition held against one argument.
struct Probe<'c> {
    /// The way to the argument: `args.url`.
    at: &'c str,
    condition: &'c Condition,
}

impl Probe<'_> {
    /// What an address is to those who open it counts beside what it is letter by letter.
    fn passes(&self, found: Raw<'_>, files: &dyn Files) -> Outcome {
        let outcome = self.fits(found, files);
        let (Some(how), Some(text)) = (self.condition.of_address, found.as_str()) else { return outcome };
        let settles = how == Quantifier::Any;
        if outcome != Ok(!settles) {
            return outcome;
        }
        for reading in address::other_readings(&text) {
            let mut json = Vec::new();
            write_string(&mut json, &reading);
            let json = String::from_utf8_lossy(&json);
            let outcome = match Raw::parse(&json) {
                Ok(reading) => self.fits(reading, files)?,
                Err(_) => return Err(self.cannot(found)),
            };
            if outcome == settles {
                return Ok(settles);
            }
        }
        Ok(!settles)
    }

    fn fits(&self, found: Raw<'_>, files: &dyn Files) -> Outcome {
        match &self.condition.test {
            Test::Exists(wanted) => Ok(*wanted),
            Test::Eq(value) => self.equals(found, value),
            Test::Neq(value) => self.equals(found, value).map(|same| !same),
            Test::In(values) => self.any_equals(found, values),
            Test::NotIn(values) => self.any_equals(found, values).map(|some| !some),
            Test::Order(wanted, value) => Ok(wanted.contains(&self.order(found, value)?)),
            Test::Regex(regex) => Ok(regex.is_match(&self.text(found)?)),
            Test::Inside(folders) => self.paths(found, folders, files, true),
            Test::NotInside(folders) => self.paths(found, folders, files, false),
            Test::Contains(value) => self.contains(found, value),
        }
    }

    fn any_equals(&self, found: Raw<'_>, values: &[Value]) -> Outcome {
        if values.iter().any(|value| *value != Value::Null) {
            self.plain(found)?;
        }
        for value in values {
            if self.equals(found, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Numbers by value, a number and a text that spells one by value too, everything else by its text.
    fn equals(&self, found: Raw<'_>, value: &Value) -> Outcome {
        // Whether something is null is clear for lists and objects too.
        if *value == Value::Null {
            return Ok(found.kind() == Kind::Null);
        }
        self.plain(found)?;
        Ok(match (found.kind(), value) {
            (Kind::Null, _) => false,
            (Kind::String, Value::Text(text)) => self.text(found)? == text.as_str(),
            (Kind::Bool, Value::Bool(b)) => found.as_bool() == Some(*b),
            (Kind::Bool, Value::Text(text)) => found.text() == text,
            (Kind::String, Value::Bool(b)) => self.text(found)? == if *b { "true" } else { "false" },
            (Kind::Number | Kind::String, Value::Number(n)) | (Kind::Number, Value::Text(n)) => {
                let text = self.text(found)?;
                match (self.decimal(found, &text)?, number(n)) {
                    (Some(a), Some(b)) => a == b,
                    _ => false,
                }
            }
            _ => false,
        })
    }

    fn order(&self, found: Raw<'_>, value: &Value) -> Result<Ordering, CannotJudge> {
        let (Value::Number(wanted) | Value::Text(wanted)) = value else { return Err(self.cannot(found)) };
        if !matches!(found.kind(), Kind::Number | Kind::String) {
            return Err(self.cannot(found));
        }
        let text = self.text(found)?;
        match (self.decimal(found, &text)?, number(wanted)) {
            (Some(a), Some(b)) => Ok(a.cmp(&b)),
            _ if found.kind() == Kind::String && matches!(value, Value::Text(_)) => {
                Ok(text.as_ref().cmp(wanted))
            }
            _ => Err(self.cannot(found)),
        }
    }

    fn contains(&self, found: Raw<'_>, value: &Value) -> Outcome {
        match (found.kind(), value) {
            (Kind::String, Value::Text(part)) => Ok(self.text(found)?.contains(part.as_str())),
            (Kind::String, Value::Number(part)) => Ok(self.text(found)?.contains(part.as_str())),
            (Kind::Array, _) => {
                // An element that cannot be compared may be what was looked for.
                let mut unclear = None;
                for item in found.items() {
                    match self.equals(item, value) {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        Err(e) => unclear = Some(e),
                    }
                }
                unclear.map_or(Ok(false), Err)
            }
            _ => Err(self.cannot(found)),
        }
    }

    /// Is every path inside (`wanted`), or none? A list without any names no place, and so satisfies neither. Where one
    /// path is inside and another is not, both answers would be wrong somewhere: a denial means any of them, a
    /// requirement all.
    fn paths(&self, found: Raw<'_>, folders: &[String], files: &dyn Files, wanted: bool) -> Outcome {
        if found.kind() == Kind::String {
            return self.inside(found, folders, files).map(|inside| inside == wanted);
        }
        if found.kind() != Kind::Array {
            return Err(self.cannot(found));
        }
        let mut all = None;
        for item in found.items() {
            let inside = self.inside(item, folders, files)?;
            if *all.get_or_insert(inside) != inside {
                let why = format!("{} holds paths inside and outside", self.at);
                return Err(CannotJudge::new(format!(
                    "{why}, which the rule \"{}\" cannot judge",
                    self.condition.words
                )));
            }
        }
        Ok(all == Some(wanted))
    }

    fn inside(&self, found: Raw<'_>, folders: &[String], files: &dyn Files) -> Outcome {
        if found.kind() != Kind::String {
            return Err(self.cannot(found));
        }
        let text = self.text(found)?;
        path::is_inside(&text, folders, files).map_err(|why| {
            let argument = self.at.to_string();
            let why = format!("{argument} {why}");
            match path::is_plain(&text, files.flavour()) {
                // It is not its spelling that stands in the way.
                true => CannotJudge::new(why),
                false => CannotJudge { why, next: NextStep::AbsolutePath { argument } },
            }
        })
    }

    fn plain(&self, found: Raw<'_>) -> Result<(), CannotJudge> {
        match found.kind() {
            Kind::Array | Kind::Object => Err(self.cannot(found)),
            _ => Ok(()),
        }
    }

    fn text<'a>(&self, found: Raw<'a>) -> Result<Cow<'a, str>, CannotJudge> {
        match found.kind() {
            Kind::String => found
                .as_str()
                .ok_or_else(|| CannotJudge::new(format!("{} holds text that is not valid Unicode", self.at))),
            Kind::Number | Kind::Bool => Ok(Cow::Borrowed(found.text())),
            Kind::Null | Kind::Array | Kind::Object => Err(self.cannot(found)),
        }
    }

    /// A number too wild to compare is an error, a text that is no number is not.
    fn decimal<'t>(&self, found: Raw<'_>, text: &'t str) -> Result<Option<Decimal<'t>>, CannotJudge> {
        let decimal = number(text);
        if decimal.is_none() && found.kind() == Kind::Number {
            return Err(CannotJudge::new(format!("{} is a number out of reach", self.at)));
        }
        Ok(decimal)
    }

    fn cannot(&self, found: Raw<'_>) -> CannotJudge {
        let kind = match found.kind() {
            Kind::Null => "null",
            Kind::Bool => "true or false",
            Kind::Number => "a number",
            Kind::String => "text",
            Kind::Array => "a list",
            Kind::Object => "an object",
        };
        CannotJudge::new(format!(
            "{} is {kind}, which cannot be judged by the rule \"{}\"",
            self.at, self.condition.words
        ))
    }
}

/// By its kind, by its argument's name, or because the pattern begins with a scheme. Where paths are asked for, their own readings
/// count.
fn is_about_address(predicate: &file::Predicate) -> bool {
    let of_text = !matches!(predicate.op, Operator::Exists | Operator::Inside | Operator::NotInside);
    let named = || match &predicate.subject {
        Subject::Every(kind) => *kind == ArgumentKind::Urls,
        Subject::Argument(path) => {
            let name = path.steps.iter().rfind(|step| step.index.is_none());
            name.is_some_and(|step| kinds::is_named_so(ArgumentKind::Urls, &step.name))
        }
    };
    let of_scheme = || match (&predicate.op, &predicate.value) {
        (Operator::Regex, Value::Text(pattern)) => begins_with_scheme(pattern),
        _ => false,
    };
    of_text && (named() || of_scheme())
}

/// `^file:`, `(?i)^\s*(file|data):`
fn begins_with_scheme(pattern: &str) -> bool {
    let rest = pattern.strip_prefix("(?i)").unwrap_or(pattern);
    let Some(rest) = rest.strip_prefix('^') else { return false };
    schemes(rest.trim_start_matches("\\s*")).is_some()
}

/// The schemes that a pattern begins with: `(file|data):…`.
pub(crate) fn schemes(pattern: &str) -> Option<Vec<&str>> {
    let schemes = pattern.strip_prefix("(?:").or_else(|| pattern.strip_prefix('(')).unwrap_or(pattern);
    let (schemes, _) = schemes.split_once(':')?;
    let schemes: Vec<&str> = schemes.trim_end_matches(')').split('|').collect();
    schemes.iter().all(|scheme| is_scheme(&format!("{scheme}:"))).then_some(schemes)
}

fn folders(value: Value) -> Vec<String> {
    let values = match value {
        Value::List(values) => values,
        single => vec![single],
    };
    values
        .into_iter()
        .filter_map(|value| if let Value::Text(text) = value { Some(text) } else { None })
        .collect()
}

/// A text that spells a number; servers are lenient about blanks around it.
fn number(text: &str) -> Option<Decimal<'_>> {
    Decimal::parse(text.trim_matches([' ', '\t', '\n', '\r']))
}

pub(crate) fn resolve<'a>(args: Raw<'a>, path: &Path) -> Option<Raw<'a>> {
    path.steps.iter().try_fold(args, |at, step| match (at.kind(), step.index) {
        (Kind::Object, _) => at.get(&step.name),
        (Kind::Array, Some(index)) => at.items().nth(index),
        _ => None,
    })
}

fn words(predicate: &file::Predicate, how: Quantifier) -> String {
    let value = &predicate.value;
    let path = match &predicate.subject {
        Subject::Argument(path) => path.text.as_str(),
        Subject::Every(kind) if predicate.op == Operator::Exists => Quantifier::Any.words(*kind),
        Subject::Every(kind) => how.words(*kind),
    };
    match predicate.op {
        Operator::Eq => format!("{path} is {value}"),
        Operator::Neq => format!("{path} is not {value}"),
        Operator::In => format!("{path} is one of {value}"),
        Operator::NotIn => format!("{path} is none of {value}"),
        Operator::Lt => format!("{path} is below {value}"),
        Operator::Lte => format!("{path} is at most {value}"),
        Operator::Gt => format!("{path} is above {value}"),
        Operator::Gte => format!("{path} is at least {value}"),
        Operator::Regex => format!("{path} matches {value}"),
        Operator::Contains => format!("{path} contains {value}"),
        Operator::Exists if *value == Value::Bool(false) => format!("{path} is absent"),
        Operator::Exists => format!("{path} is present"),
        Operator::Inside => format!("{path} is inside {value}"),
        Operator::NotInside => format!("{path} is not inside {value}"),
    }
}

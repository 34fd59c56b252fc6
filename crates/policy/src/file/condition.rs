//! `require`, `deny_if` and `ask_if`: what is asked of a call's arguments.

use std::fmt;

use callgate_protocol::json::{Kind, Raw, write_string};
use regex::{Regex, RegexBuilder};

use super::Spot;
use super::reader::{Cursor, Reader};
use crate::problem::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Eq,
    Neq,
    In,
    NotIn,
    Lt,
    Lte,
    Gt,
    Gte,
    Regex,
    Contains,
    Exists,
    Inside,
    NotInside,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("eq", Operator::Eq),
    ("neq", Operator::Neq),
    ("in", Operator::In),
    ("not_in", Operator::NotIn),
    ("lt", Operator::Lt),
    ("lte", Operator::Lte),
    ("gt", Operator::Gt),
    ("gte", Operator::Gte),
    ("regex", Operator::Regex),
    ("contains", Operator::Contains),
    ("exists", Operator::Exists),
    ("inside", Operator::Inside),
    ("not_inside", Operator::NotInside),
];

impl Operator {
    pub const ALL: &[Operator] = &[
        Operator::Eq,
        Operator::Neq,
        Operator::In,
        Operator::NotIn,
        Operator::Lt,
        Operator::Lte,
        Operator::Gt,
        Operator::Gte,
        Operator::Regex,
        Operator::Contains,
        Operator::Exists,
        Operator::Inside,
        Operator::NotInside,
    ];

    pub fn of_word(word: &str) -> Option<Operator> {
        OPERATORS.iter().find(|(known, _)| *known == word).map(|(_, op)| *op)
    }

    pub fn word(self) -> &'static str {
        OPERATORS.iter().find(|(_, op)| *op == self).map_or("", |(word, _)| word)
    }
}

/// A value written in a rule; numbers as they were spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
}

impl Value {
    /// The value that a JSON text stands for; none for objects, lists of lists and what is no JSON.
    pub fn of_json(text: &str) -> Option<Value> {
        value_of(Raw::parse(text).ok()?, true)
    }

    pub fn to_json(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.clone(),
            Value::Text(text) => {
                let mut out = Vec::new();
                write_string(&mut out, text);
                String::from_utf8_lossy(&out).into_owned()
            }
            Value::List(values) => {
                let values: Vec<String> = values.iter().map(Value::to_json).collect();
                format!("[{}]", values.join(", "))
            }
        }
    }
}

fn value_of(raw: Raw<'_>, lists: bool) -> Option<Value> {
    Some(match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(raw.as_bool()?),
        Kind::Number => Value::Number(raw.as_number()?.to_owned()),
        Kind::String => Value::Text(raw.as_str()?.into_owned()),
        Kind::Array if lists => {
            Value::List(raw.items().map(|item| value_of(item, false)).collect::<Option<_>>()?)
        }
        Kind::Array | Kind::Object => return None,
    })
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => f.write_str(n),
            Value::Text(t) => write!(f, "{t:?}"),
            Value::List(values) => {
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{value}")?;
                }
                Ok(())
            }
        }
    }
}

/// One step into the arguments. A number steps into a list by position and into an object by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    pub index: Option<usize>,
}

/// `args.a.b`, `args.a.0`, `args["a.b"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub text: String,
    pub steps: Vec<Step>,
}

impl Path {
    /// The steps below `args`, or what is wrong and how it should be written.
    pub fn parse(text: &str) -> Result<Path, String> {
        let Some(mut rest) = text.strip_prefix("args") else {
            // `$.args.url`, `$.url` and `.url` are how others write it.
            let bare = text.trim_start_matches(['$', '.']);
            let below = ["args", "arguments", "params.arguments"].iter().find_map(|root| {
                bare.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            });
            return Err(match below {
                Some(rest) => format!("write \"args{rest}\""),
                None if bare.starts_with('[') => format!("write \"args{bare}\""),
                None => format!("write \"args.{bare}\""),
            });
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let name;
            if let Some(after) = rest.strip_prefix("[\"") {
                let end = after.find("\"]").ok_or("close the bracket: args[\"a.b\"]")?;
                name = &after[..end];
                rest = &after[end + 2..];
            } else if let Some(after) = rest.strip_prefix('[') {
                let end = after.find(']').ok_or("close the bracket: args[0]")?;
                name = &after[..end];
                if name.is_empty() || !name.bytes().all(|b| b.is_ascii_digit()) {
                    return Err("in brackets stands a number or a name in double quotes".to_owned());
                }
                rest = &after[end + 1..];
            } else if let Some(after) = rest.strip_prefix('.') {
                let end = after.find(['.', '[']).unwrap_or(after.len());
                name = &after[..end];
                rest = &after[end..];
                if name.is_empty() {
                    return Err("a name is missing between the dots; write names with dots as args[\"a.b\"]"
                        .to_owned());
                }
            } else {
                return Err(format!("write \"args.{text}\""));
            }
            let index = if name.bytes().all(|b| b.is_ascii_digit()) { name.parse().ok() } else { None };
            steps.push(Step { name: name.to_owned(), index });
        }
        Ok(Path { text: text.to_owned(), steps })
    }
}

/// A kind of argument, whatever it is called: every path, every URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    Paths,
    Urls,
}

const ARGUMENT_KINDS: &[(&str, ArgumentKind)] =
    &[("paths", ArgumentKind::Paths), ("urls", ArgumentKind::Urls)];

impl ArgumentKind {
    pub fn of_word(word: &str) -> Option<ArgumentKind> {
        ARGUMENT_KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }

    pub fn word(self) -> &'static str {
        ARGUMENT_KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// What of a call's arguments a condition is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `"path": "args.url"`
    Argument(Path),
    /// `"args": "paths"`: every argument of a kind, at any depth.
    Every(ArgumentKind),
}

impl Subject {
    /// `args.url`, or the word for a kind. No path is spelled like one.
    pub fn text(&self) -> &str {
        match self {
            Subject::Argument(path) => &path.text,
            Subject::Every(kind) => kind.word(),
        }
    }

    /// The way back.
    pub fn parse(text: &str) -> Result<Subject, String> {
        match ArgumentKind::of_word(text) {
            Some(kind) => Ok(Subject::Every(kind)),
            None => Path::parse(text).map(Subject::Argument),
        }
    }

    /// The member of a condition that says it.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Subject::Argument(_) => "path",
            Subject::Every(_) => "args",
        }
    }
}

/// `{ "path": …, "op": …, "value": … }`, or `"args"` in place of `"path"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    pub subject: Subject,
    pub op: Operator,
    pub value: Value,
    /// The value of `regex`, ready.
    pub(crate) pattern: Option<Pattern>,
    pub place: Place,
}

/// A regular expression; two of the same text are the same.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(pub(crate) Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

/// Conditions that stand together: all of them, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub conditions: Vec<Predicate>,
    pub on_deny: Option<String>,
    pub place: Place,
}

/// Regular expressions of a policy: bounded in size, so that a file cannot exhaust memory.
pub(super) fn regex(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).dfa_size_limit(1 << 20).nest_limit(100).build()
}

pub(super) fn clauses(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>, what: &str) -> Vec<Clause> {
    let mut out = Vec::new();
    for item in reader.items(cursor, what) {
        let what = format!("an entry of {what}");
        if item.node.member("conditions").is_none() {
            if let Some((predicate, on_deny)) = predicate(reader, &item, &what) {
                out.push(Clause { conditions: vec![predicate], on_deny, place: item.place });
            }
            continue;
        }
        let Some(fields) = reader.fields(&item, &what, &["conditions", "on_deny", "description"]) else {
            continue;
        };
        description(reader, fields.get("description"));
        let mut conditions = Vec::new();
        for condition in fields.get("conditions").map(|c| reader.items(c, "`conditions`")).unwrap_or_default()
        {
            if let Some((predicate, None)) = predicate(reader, &condition, "a condition") {
                conditions.push(predicate);
            }
        }
        let on_deny = fields.get("on_deny").and_then(|c| reader.string(c, "`on_deny`"));
        out.push(Clause { conditions, on_deny, place: item.place });
    }
    out
}

pub(super) fn description(reader: &mut Reader<'_, '_, '_>, cursor: Option<&Cursor<'_>>) -> Option<String> {
    cursor.and_then(|c| reader.string(c, "`description`"))
}

fn predicate(
    reader: &mut Reader<'_, '_, '_>,
    cursor: &Cursor<'_>,
    what: &str,
) -> Option<(Predicate, Option<String>)> {
    // Inside `conditions` the words for a refusal belong to the group.
    let known: &[&str] = if what == "a condition" {
        &["path", "args", "op", "value"]
    } else {
        &["path", "args", "op", "value", "on_deny", "conditions"]
    };
    let fields = reader.fields(cursor, what, known)?;
    let on_deny = fields.get("on_deny").and_then(|c| reader.string(c, "`on_deny`"));
    let subject = match (fields.get("path"), fields.get("args")) {
        (Some(c), None) => path(reader, c).map(Subject::Argument),
        (None, Some(c)) => reader.choice(c, "`args`", ARGUMENT_KINDS).map(|kind| Subject::Every(kind.value)),
        (Some(_), Some(c)) => {
            let fix = "keep \"path\" for one argument, or \"args\" for every one of a kind".to_owned();
            reader.error(&c.place, "`path` and `args` do not go together", Some(fix));
            None
        }
        (None, None) => missing(reader, &fields.place, what, "path", "\"path\": \"args.url\""),
    };
    let op = match fields.get("op") {
        Some(c) => operator(reader, c),
        None => missing(reader, &fields.place, what, "op", "\"op\": \"eq\""),
    };
    let op = op?;
    if let Some(c) = fields.get("op")
        && subject == Some(Subject::Every(ArgumentKind::Urls))
        && matches!(op, Operator::Inside | Operator::NotInside)
    {
        let message = format!("{} is for paths, and these are URLs", op.word());
        let fix = "use \"op\": \"regex\", as in \"(?i)^https://example\\\\.com(/|$)\"".to_owned();
        reader.error(&c.place, message, Some(fix));
        return None;
    }
    let value = match fields.get("value") {
        Some(c) => value(reader, c, op),
        None if op == Operator::Exists => Some(Value::Bool(true)),
        None => missing(reader, &fields.place, what, "value", "\"value\": …"),
    };
    let (value, place) = (value?, cursor.place.clone());
    let pattern = match &value {
        Value::Text(text) if op == Operator::Regex => reader.regex(text).ok().map(Pattern),
        _ => None,
    };
    Some((Predicate { subject: subject?, op, value, pattern, place }, on_deny))
}

/// What others call an operator of its own is said with `regex` here.
fn operator(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Operator> {
    let word: String = cursor
        .as_str()
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let fix = match word.as_str() {
        "startswith" | "beginswith" | "prefix" | "hasprefix" => {
            "write \"op\": \"regex\" with ^ in front, such as \"value\": \"^draft-\"; for folders there is \"inside\""
        }
        "endswith" | "suffix" | "hassuffix" => {
            "write \"op\": \"regex\" with $ at the end, such as \"value\": \"\\\\.pem$\""
        }
        "notcontains" | "doesnotcontain" | "excludes" => {
            "write \"op\": \"contains\" in the other list: \"deny_if\" in place of \"require\", or the other way round"
        }
        "notregex" | "notmatches" | "nomatch" => {
            "write \"op\": \"regex\" in the other list: \"deny_if\" in place of \"require\", or the other way round"
        }
        "substring" | "icontains" => "write \"op\": \"contains\", or \"regex\" with (?i) for any case",
        "glob" | "like" | "wildcard" => "write \"op\": \"regex\": .* stands for any text",
        "isnull" | "missing" | "absent" => "write \"op\": \"exists\", \"value\": false",
        "between" | "range" => "write two conditions, with \"gte\" and \"lte\"",
        _ => return reader.choice(cursor, "`op`", OPERATORS).map(|op| op.value),
    };
    let shown = cursor.as_str().unwrap_or_default();
    reader.error(&cursor.place, format!("{shown:?} is no operator"), Some(fix.to_owned()));
    None
}

fn missing<T>(
    reader: &mut Reader<'_, '_, '_>,
    place: &Place,
    what: &str,
    key: &str,
    example: &str,
) -> Option<T> {
    reader.error(place, format!("`{key}` is missing in {what}"), Some(format!("add {example}")));
    None
}

pub(super) fn path(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Path> {
    let text = reader.string(cursor, "`path`")?;
    match Path::parse(&text) {
        Ok(path) => Some(path),
        Err(fix) => {
            let (message, fix) = if text.starts_with("state.") {
                let message = "paths into `state` belong to Intercept's language".to_owned();
                (message, "count with an entry of \"limits\" instead".to_owned())
            } else {
                (format!("{text:?} is no path into the arguments"), fix)
            };
            reader.error(&cursor.place, message, Some(fix));
            None
        }
    }
}

fn value(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>, op: Operator) -> Option<Value> {
    match op {
        Operator::Exists => reader.boolean(cursor, "the value of exists").map(Value::Bool),
        Operator::In | Operator::NotIn => {
            let what = format!("the value of {}", op.word());
            let items = reader.items(cursor, &what);
            let values: Vec<Value> = items.iter().filter_map(|c| scalar(reader, c, &what)).collect();
            (cursor.is_array() && values.len() == items.len()).then_some(Value::List(values))
        }
        Operator::Regex => {
            let pattern = reader.string(cursor, "the value of regex")?;
            if let Err(e) = reader.regex(&pattern) {
                let fix = match e {
                    regex::Error::CompiledTooBig(_) => "make the pattern smaller".to_owned(),
                    // The crate's message has several lines with a caret; its last line says what is wrong.
                    e => e
                        .to_string()
                        .lines()
                        .last()
                        .unwrap_or("")
                        .trim()
                        .trim_start_matches("error: ")
                        .to_owned(),
                };
                reader.error(
                    &cursor.place,
                    format!("{pattern:?} is no usable regular expression"),
                    Some(fix),
                );
                return None;
            }
            Some(Value::Text(pattern))
        }
        Operator::Inside | Operator::NotInside => {
            let what = format!("the value of {}", op.word());
            if cursor.is_array() {
                let folders: Vec<Spot<String>> = reader.strings(cursor, &what);
                for folder in &folders {
                    absolute_folder(reader, &folder.place, &folder.value);
                }
                return Some(Value::List(folders.into_iter().map(|s| Value::Text(s.value)).collect()));
            }
            let folder = reader.string(cursor, &what)?;
            absolute_folder(reader, &cursor.place, &folder);
            Some(Value::Text(folder))
        }
        Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => {
            match scalar(reader, cursor, &format!("the value of {}", op.word()))? {
                v @ (Value::Number(_) | Value::Text(_)) => Some(v),
                _ => {
                    reader.wrong_kind(cursor, &format!("the value of {}", op.word()), "a number or text");
                    None
                }
            }
        }
        Operator::Eq | Operator::Neq | Operator::Contains => {
            scalar(reader, cursor, &format!("the value of {}", op.word()))
        }
    }
}

/// A folder that starts nowhere is inside nothing: the rule would refuse every call. Either system's form will do, for a
/// policy may be written on another machine than the one that uses it.
fn absolute_folder(reader: &mut Reader<'_, '_, '_>, place: &Place, folder: &str) {
    let rest = folder.strip_prefix('~');
    let home = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
    let drive = matches!(folder.as_bytes(), [c, b':', b'/' | b'\\', ..] if c.is_ascii_alphabetic());
    if !home && !drive && !folder.starts_with('/') && !folder.starts_with("\\\\") {
        let message = format!("{folder:?} is no absolute folder");
        let fix = "begin it with / or ~/ (on Windows with a drive, such as C:\\)".to_owned();
        reader.error(place, message, Some(fix));
    }
}

fn scalar(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>, what: &str) -> Option<Value> {
    use callgate_document::Value as Json;
    match &cursor.node.value {
        Json::Text(_) => reader.string(cursor, what).map(Value::Text),
        Json::Number(number) => {
            if crate::number::Decimal::parse(number).is_none() {
                reader.error(
                    &cursor.place,
                    format!("the number {number} is out of reach"),
                    Some("write a smaller exponent".to_owned()),
                );
                return None;
            }
            Some(Value::Number(number.clone()))
        }
        Json::Bool(flag) => Some(Value::Bool(*flag)),
        Json::Null => Some(Value::Null),
        Json::List(_) => {
            let message = format!("{what} must be one plain value, not a list");
            reader.error(&cursor.place, message, Some("use \"op\": \"in\" for a list".to_owned()));
            None
        }
        Json::Map(_) => {
            reader.wrong_kind(cursor, what, "one plain value");
            None
        }
    }
}

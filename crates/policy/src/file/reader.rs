//! Typed access to the parsed text, with every complaint in one place.
//!
//! Owns: syntax, duplicate keys, unknown keys, wrong kinds. Knows no key of the grammar.

use std::num::NonZeroU32;
use std::ops::Range;

use callgate_document::{BYTE_ORDER_MARK, Node, ParseErrorKind, Syntax, Value, parse_json};
use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Spot, condition, suggest};
use crate::problem::{Place, Problems, below};

/// A parsed text; `shift` is the length of a byte order mark before it.
pub(crate) struct Tree {
    pub(crate) root: Node,
    pub(crate) shift: usize,
}

impl Tree {
    pub(crate) fn root(&self) -> Cursor<'_> {
        let place = Place { offset: self.root.span.start + self.shift, pointer: String::new() };
        Cursor { node: &self.root, place }
    }
}

pub(crate) fn parse(text: &str, problems: &mut Problems<'_>) -> Option<Tree> {
    // Editors on Windows like to put a byte order mark in front; it means nothing here.
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let shift = text.len() - body.len();
    match parse_json(body, Syntax::Jsonc) {
        Ok(Some(root)) => Some(Tree { root, shift }),
        Ok(None) => {
            let fix = Some("start with { \"version\": \"1\", \"default\": \"deny\" }".to_owned());
            problems.error(&Place::default(), "the file is empty", fix);
            None
        }
        Err(e) => {
            let place = Place { offset: e.range().start + shift, pointer: String::new() };
            let (message, fix) = syntax(e.kind());
            problems.error(&place, message, fix.map(str::to_owned));
            None
        }
    }
}

/// The parser's complaint in our words.
fn syntax(kind: &ParseErrorKind) -> (String, Option<&'static str>) {
    use ParseErrorKind as K;
    let (message, fix) = match kind {
        K::ExpectedComma => ("a comma is missing here", Some("add a comma after the value before")),
        K::ExpectedColonAfterObjectKey => {
            ("a colon is missing after the name", Some("write \"name\": value"))
        }
        K::ExpectedObjectValue => ("the value is missing", Some("write a value after the colon")),
        K::ExpectedStringObjectProperty | K::UnexpectedWord => {
            ("this word is not JSON", Some("put text and names in double quotes"))
        }
        K::SingleQuotedStringsNotAllowed => ("text stands in double quotes", Some("write \" instead of '")),
        K::UnterminatedObject => ("this { is never closed", Some("add a }")),
        K::UnterminatedArray => ("this [ is never closed", Some("add a ]")),
        K::UnterminatedCommentBlock => ("this comment is never closed", Some("add */")),
        K::MultipleRootJsonValues => {
            ("the file goes on after its end", Some("remove what follows the last }"))
        }
        K::NestingDepthExceeded => {
            ("nested too deeply", Some("no part of a policy is nested so deeply; remove it"))
        }
        other => {
            let said = other.to_string();
            let mut chars = said.chars();
            let lower = chars.next().map(|c| c.to_lowercase().chain(chars).collect::<String>());
            return (lower.unwrap_or(said), Some("remove or mend what stands here"));
        }
    };
    (message.to_owned(), fix)
}

/// One value of the file and where it stands.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    pub(crate) node: &'t Node,
    pub(crate) place: Place,
}

impl<'t> Cursor<'t> {
    pub(crate) fn as_str(&self) -> Option<&'t str> {
        self.node.text()
    }

    pub(crate) fn as_number(&self) -> Option<&'t str> {
        match &self.node.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn is_array(&self) -> bool {
        self.node.list().is_some()
    }

    pub(crate) fn is_object(&self) -> bool {
        self.node.map().is_some()
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.node.value {
            Value::Text(_) => "text",
            Value::Number(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Map(_) => "an object",
            Value::List(_) => "a list",
            Value::Null => "null",
        }
    }
}

/// The members of an object whose keys are given by the grammar.
pub(crate) struct Fields<'t> {
    pub(crate) place: Place,
    entries: Vec<(&'t str, Cursor<'t>)>,
}

impl<'t> Fields<'t> {
    pub(crate) fn get(&self, key: &str) -> Option<&Cursor<'t>> {
        self.entries.iter().find(|(k, _)| *k == key).map(|(_, c)| c)
    }
}

/// Reads values of wanted kinds and complains about all others.
pub(crate) struct Reader<'p, 'x, 't> {
    text: &'t str,
    shift: usize,
    problems: &'p mut Problems<'x>,
    /// Many rules say the same one, and building it is the most of reading a rule.
    regexes: FxHashMap<String, Regex>,
}

impl<'p, 'x, 't> Reader<'p, 'x, 't> {
    pub(crate) fn new(text: &'t str, shift: usize, problems: &'p mut Problems<'x>) -> Self {
        Reader { text, shift, problems, regexes: FxHashMap::default() }
    }

    /// The regular expression of this text.
    pub(super) fn regex(&mut self, pattern: &str) -> Result<Regex, regex::Error> {
        if let Some(known) = self.regexes.get(pattern) {
            return Ok(known.clone());
        }
        let built = condition::regex(pattern)?;
        self.regexes.insert(pattern.to_owned(), built.clone());
        Ok(built)
    }

    pub(crate) fn error(&mut self, place: &Place, message: impl Into<String>, fix: Option<String>) {
        self.problems.error(place, message, fix);
    }

    pub(crate) fn wrong_kind(&mut self, cursor: &Cursor<'_>, what: &str, wanted: &str) {
        let fix = match (wanted, &cursor.node.value) {
            ("a list", Value::Text(text)) => format!("put it in brackets: [{text:?}]"),
            ("a list", _) => "write [ … ]".to_owned(),
            ("an object", _) => "write { … }".to_owned(),
            ("text", Value::Number(number)) => format!("put it in double quotes: \"{number}\""),
            ("text", _) => "write text in double quotes".to_owned(),
            ("true or false", _) => "write true or false, without quotes".to_owned(),
            (wanted, _) => format!("write {wanted}"),
        };
        self.error(&cursor.place, format!("{what} must be {wanted}, not {}", cursor.kind()), Some(fix));
    }

    /// An object with known keys: unknown and repeated ones are errors.
    pub(crate) fn fields<'a>(
        &mut self,
        cursor: &Cursor<'a>,
        what: &str,
        known: &[&str],
    ) -> Option<Fields<'a>> {
        let mut entries: Vec<(&'a str, Cursor<'a>)> = Vec::new();
        for (name, value) in self.entries(cursor, what)? {
            let Some(key) = known.iter().find(|k| **k == name.value) else {
                let fix = suggest::key(&name.value, known);
                self.error(&name.place, format!("unknown key {:?} in {what}", name.value), Some(fix));
                continue;
            };
            // Keys live as long as the tree: take the tree's copy, not ours.
            let key: &'a str = cursor.node.member(key).map_or("", |member| &member.key);
            entries.push((key, value));
        }
        Some(Fields { place: cursor.place.clone(), entries })
    }

    /// An object whose keys are names: repeated ones are errors, the first counts.
    pub(crate) fn entries<'a>(
        &mut self,
        cursor: &Cursor<'a>,
        what: &str,
    ) -> Option<Vec<(Spot<String>, Cursor<'a>)>> {
        let Some(members) = cursor.node.map() else {
            self.wrong_kind(cursor, what, "an object");
            return None;
        };
        let mut entries: Vec<(Spot<String>, Cursor<'a>)> = Vec::with_capacity(members.len());
        let mut seen = FxHashSet::default();
        for member in members {
            let name = member.key.clone();
            let pointer = below(&cursor.place.pointer, &name);
            let place = Place { offset: member.key_span.start + self.shift, pointer: pointer.clone() };
            self.check_string(&place, &member.key_span);
            if !seen.insert(member.key.as_str()) {
                self.error(&place, format!("{name:?} is written twice"), Some("keep one of them".to_owned()));
                continue;
            }
            let value_place = Place { offset: member.value.span.start + self.shift, pointer };
            entries.push((Spot { value: name, place }, Cursor { node: &member.value, place: value_place }));
        }
        Some(entries)
    }

    pub(crate) fn items<'a>(&mut self, cursor: &Cursor<'a>, what: &str) -> Vec<Cursor<'a>> {
        let Some(items) = cursor.node.list() else {
            self.wrong_kind(cursor, what, "a list");
            return Vec::new();
        };
        let item = |(i, node): (usize, &'a Node)| Cursor {
            node,
            place: Place {
                offset: node.span.start + self.shift,
                pointer: below(&cursor.place.pointer, &i.to_string()),
            },
        };
        items.iter().enumerate().map(item).collect()
    }

    pub(crate) fn string(&mut self, cursor: &Cursor<'_>, what: &str) -> Option<String> {
        let Some(text) = cursor.as_str() else {
            self.wrong_kind(cursor, what, "text");
            return None;
        };
        self.check_string(&cursor.place, &cursor.node.span);
        Some(text.to_owned())
    }

    pub(crate) fn strings(&mut self, cursor: &Cursor<'_>, what: &str) -> Vec<Spot<String>> {
        let mut out = Vec::new();
        for item in self.items(cursor, what) {
            if let Some(value) = self.string(&item, &format!("each entry of {what}")) {
                out.push(Spot { value, place: item.place });
            }
        }
        out
    }

    pub(crate) fn boolean(&mut self, cursor: &Cursor<'_>, what: &str) -> Option<bool> {
        match cursor.node.value {
            Value::Bool(flag) => Some(flag),
            _ => {
                self.wrong_kind(cursor, what, "true or false");
                None
            }
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        cursor: &Cursor<'_>,
        what: &str,
        choices: &[(&str, T)],
    ) -> Option<Spot<T>> {
        let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        let Some(text) = cursor.as_str() else {
            self.wrong_kind(cursor, what, &suggest::one_of(&words()));
            return None;
        };
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
            return Some(Spot { value: *value, place: cursor.place.clone() });
        }
        let message = format!("{what} must be {}, not {text:?}", suggest::one_of(&words()));
        let fix = match suggest::nearest(text, &words()).or_else(|| suggest::meaning(text, &words())) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "write one of these words".to_owned(),
        };
        self.error(&cursor.place, message, Some(fix));
        None
    }

    /// A whole number from 1 on.
    pub(crate) fn count(&mut self, cursor: &Cursor<'_>, what: &str, zero: &str) -> Option<NonZeroU32> {
        let Some(lexeme) = cursor.as_number() else {
            let fix = cursor
                .as_str()
                .filter(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()))
                .map_or_else(
                    || "write a whole number such as 10".to_owned(),
                    |s| format!("write {s} without quotes"),
                );
            self.error(&cursor.place, format!("{what} must be a number, not {}", cursor.kind()), Some(fix));
            return None;
        };
        match lexeme.parse::<u32>().map(NonZeroU32::new) {
            Ok(Some(count)) => Some(count),
            Ok(None) => {
                self.error(&cursor.place, format!("{what} must be at least 1"), Some(zero.to_owned()));
                None
            }
            Err(_) => {
                let message = format!("{what} must be a whole number from 1 to {}, not {lexeme}", u32::MAX);
                self.error(&cursor.place, message, Some("write a whole number such as 10".to_owned()));
                None
            }
        }
    }

    /// JSON allows no raw control characters in text; the parser below us does.
    fn check_string(&mut self, place: &Place, span: &Range<usize>) {
        let raw = self.text.get(span.start + self.shift..span.end + self.shift).unwrap_or("");
        if raw.bytes().any(|b| b < 0x20) {
            let fix = "write line breaks as \\n and tabs as \\t".to_owned();
            self.error(place, "a raw line break or control character inside text", Some(fix));
        }
    }
}

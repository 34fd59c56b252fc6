//! The secrets of an entry: by their names, by their looks, or both. Only looks; nothing is changed, nothing is printed.

use std::ops::Range;

use callgate_redaction::is_offered;
use callgate_secrets::referring;

use super::classification;
use crate::entry::{Local, SpannedText};

/// A secret in an entry.
#[derive(Clone, PartialEq, Eq)]
pub struct Finding {
    pub slot: Slot,
    /// What it is called: the variable, the flag, the header. For a value that only its looks gave away, `secret`.
    pub name: String,
    pub why: Why,
    /// How many bytes of the text come before the secret and stay: `--token=`, `Authorization: Bearer `.
    pub before: usize,
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    Variable(String),
    /// Counted from 0, the program left out.
    Argument(usize),
    /// Of a server that is reached over the network.
    Header(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Name,
    Looks,
    Both,
}

impl Finding {
    pub(crate) fn value(&self) -> &str {
        self.text.get(self.before..).unwrap_or_default()
    }

    /// In characters: what a person may be told of it.
    pub fn length(&self) -> usize {
        self.value().chars().count()
    }
}

impl std::fmt::Debug for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Finding { slot, name, why, before, .. } = self;
        write!(f, "Finding({slot:?}, {name}, {why:?}, behind {before})")
    }
}

/// Every secret of a program's variables and arguments.
pub fn secrets(local: &Local) -> Vec<Finding> {
    let variables = local.env.iter().filter_map(|(name, text)| {
        let (before, name, why) = in_variable(name, &text.value)?;
        Some(finding(Slot::Variable(name.to_owned()), name, why, before, text))
    });
    let mut found: Vec<_> = variables.collect();
    for (index, text) in local.args.iter().enumerate() {
        let flag = index.checked_sub(1).and_then(|at| local.args.get(at)).map(|flag| flag.value.as_str());
        if let Some((before, name, why)) = in_argument(flag, &text.value) {
            found.push(finding(Slot::Argument(index), name, why, before, text));
        }
    }
    found
}

/// Those of the headers of a server that is reached over the network.
pub fn in_headers(headers: &[(String, SpannedText)]) -> Vec<Finding> {
    let found = headers.iter().filter_map(|(name, text)| {
        let (before, why) = in_header(name, &text.value)?;
        Some(finding(Slot::Header(name.clone()), name, why, before, text))
    });
    found.collect()
}

/// Every text that may be a secret, and where it stands.
pub(super) fn slots(local: &Local) -> impl Iterator<Item = (Slot, &SpannedText)> {
    let variables = local.env.iter().map(|(name, text)| (Slot::Variable(name.clone()), text));
    variables.chain(local.args.iter().enumerate().map(|(at, text)| (Slot::Argument(at), text)))
}

/// What is there already as a reference, by slot and name.
pub fn references(local: &Local) -> Vec<(Slot, String)> {
    let named = |text: &SpannedText| Some(referring(&text.value)?.ok()?.reference.name().to_owned());
    slots(local).filter_map(|(slot, text)| Some((slot, named(text)?))).collect()
}

fn finding(slot: Slot, name: &str, why: Why, before: usize, text: &SpannedText) -> Finding {
    Finding { slot, name: name.to_owned(), why, before, text: text.value.clone(), span: text.span.clone() }
}

fn in_variable<'a>(name: &'a str, value: &str) -> Option<(usize, &'a str, Why)> {
    let before = behind_scheme(value);
    let rest = value.get(before..)?;
    let random = before > 0 || classification::is_random(rest);
    judge(is_offered(name), rest, random).map(|why| (before, name, why))
}

/// `flag` is the argument before, which may say what this one is.
fn in_argument<'a>(flag: Option<&'a str>, value: &'a str) -> Option<(usize, &'a str, Why)> {
    let flag = flag.filter(|flag| flag.starts_with('-') && !flag.contains('='));
    if is_header_flag(flag.unwrap_or_default()) {
        return header_line(value, 0);
    }
    if flag.is_some_and(is_variable_flag) {
        return assignment(value, 0);
    }
    // A value may end in `=` itself: what the flag before says counts first.
    let named = flag.filter(|_| !value.starts_with('-')).filter(|flag| is_offered(flag));
    if named.is_none()
        && let Some((own, rest)) = value.split_once('=').filter(|(own, _)| is_name(own))
    {
        let at = own.len() + 1;
        if is_header_flag(own) {
            return header_line(rest, at);
        }
        if is_variable_flag(own) {
            return assignment(rest, at);
        }
        return judge(is_offered(own), rest, false).map(|why| (at, own.trim_start_matches('-'), why));
    }
    let why = judge(named.is_some(), value, false)?;
    Some((0, named.map_or("secret", |flag| flag.trim_start_matches('-')), why))
}

/// `NAME=value`, as containers take variables.
fn assignment(text: &str, at: usize) -> Option<(usize, &str, Why)> {
    let (name, value) = text.split_once('=')?;
    let (before, name, why) = in_variable(name, value)?;
    Some((at + name.len() + 1 + before, name, why))
}

/// `Name: value`.
fn header_line(text: &str, at: usize) -> Option<(usize, &str, Why)> {
    let (name, value) = text.split_once(':')?;
    let blank = value.len() - value.trim_start().len();
    let (before, why) = in_header(name, value.trim_start())?;
    Some((at + name.len() + 1 + blank + before, name.trim(), why))
}

fn in_header(name: &str, value: &str) -> Option<(usize, Why)> {
    let before = behind_scheme(value);
    let why = judge(is_offered(name), value.get(before..)?, before > 0)?;
    Some((before, why))
}

/// `Bearer …`: the word is no secret.
fn behind_scheme(value: &str) -> usize {
    let known = ["bearer ", "basic ", "token ", "apikey "];
    let length =
        |scheme: &&str| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    known.iter().find(|scheme| length(scheme)).map_or(0, |scheme| scheme.len())
}

fn judge(named: bool, value: &str, random: bool) -> Option<Why> {
    if classification::is_open(value) {
        return None;
    }
    match (named, random || classification::is_secret(value)) {
        (true, true) => Some(Why::Both),
        (true, false) => Some(Why::Name),
        (false, true) => Some(Why::Looks),
        (false, false) => None,
    }
}

fn is_header_flag(flag: &str) -> bool {
    matches!(flag, "--header" | "-H" | "--headers")
}

fn is_variable_flag(flag: &str) -> bool {
    matches!(flag, "-e" | "--env")
}

/// What may stand before `=`: a flag or a variable, not the middle of an address or a script.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

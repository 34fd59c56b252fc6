//! Secrets are masked at capture: before anything is written, and before it is cut to size.
//!
//! What counts as secret: values under telling keys ([`keys`]), values whose neighbour says so (`selector:
//! "#password"` beside `value`), values of known shapes ([`shapes`]), assignments in text, JSON inside strings, and
//! the server's own secrets, given as literals. One pass over the raw text looks for anything that could start all
//! that; most texts have nothing, and are kept as they came.

mod json;
mod keys;
mod shapes;
mod text;

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// How much of arguments or of a result is kept.
pub const KEPT: usize = 64 * 1024;
/// How much is looked at: what is beyond is cut anyway, however much masking shortens what is before.
const LOOKED_AT: usize = KEPT + 64 * 1024;
/// No secret is longer; one that starts in what is kept ends in what is looked at.
const LONGEST_SECRET: usize = 8 * 1024;
/// Names, rules and ids are kept to this length.
const SHORT: usize = 1024;
/// A sentence: a reason, an event.
const SENTENCE: usize = 8 * 1024;
/// A literal shorter than this would mask ordinary words.
const SHORTEST_LITERAL: usize = 6;

/// A text as it may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    pub text: Cow<'a, str>,
    /// The end is missing.
    pub cut: bool,
    pub masked: bool,
}

/// A text that had to be written anew.
struct Masked {
    text: String,
    /// A secret was masked; else only a doubtful end was left out.
    changed: bool,
}

/// Masks secrets, including those that this session's server was started with.
#[derive(Clone, Debug, Default)]
pub struct Masker {
    literals: Option<AhoCorasick>,
    /// Names that a person wants masked besides the known ones, squeezed.
    names: Arc<[String]>,
}

impl Masker {
    /// `secrets` are values that must not be written whatever they look like.
    pub fn new(secrets: &[String]) -> Masker {
        let mut forms: Vec<String> = Vec::new();
        for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST_LITERAL) {
            forms.push(secret.clone());
            // As it looks inside a JSON string.
            let escaped = serde_json::to_string(secret).unwrap_or_default();
            let escaped = escaped.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
            if escaped != secret && !escaped.is_empty() {
                forms.push(escaped.to_owned());
            }
        }
        let literals = (!forms.is_empty()).then(|| AhoCorasick::new(&forms).ok()).flatten();
        Masker { literals, names: Arc::default() }
    }

    /// Masks also what is named so, however it is spelled.
    #[must_use]
    pub fn with_names(self, names: &[String]) -> Masker {
        let mut names: Vec<String> = names.iter().map(|name| keys::squeezed(name)).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        Masker { names: names.into(), ..self }
    }

    /// Are there names that only this person knows?
    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    fn is_own(&self, name: &str) -> bool {
        !self.names.is_empty()
            && name.len() <= keys::LONGEST
            && self.names.binary_search(&keys::squeezed(name)).is_ok()
    }

    /// Does a value under this name need masking?
    fn class(&self, name: &str) -> keys::Class {
        if self.is_own(name) { keys::Class::Everything } else { keys::class(name) }
    }

    fn is_secret(&self, name: &str) -> bool {
        self.class(name) != keys::Class::Plain
    }

    /// Does this text name a secret field, as a selector, a label or a header would?
    fn names_a_secret(&self, text: &str) -> bool {
        keys::names_a_secret(text) || self.is_own(text)
    }

    /// Arguments or a result: JSON, masked and then cut.
    pub fn keep<'a>(&self, text: &'a str) -> Kept<'a> {
        let near = &text[..text.floor_char_boundary(KEPT + LONGEST_SECRET)];
        if !self.may_hold_secrets(near) {
            return cut(Cow::Borrowed(text), false, false);
        }
        let looked_at = &text[..text.floor_char_boundary(LOOKED_AT)];
        let whole = looked_at.len() == text.len();
        let masked = match json::mask(self, looked_at, whole, 0) {
            Ok(masked) => masked,
            // Not JSON after all: masked as the text that it is.
            Err(json::NotJson) => text::mask(self, looked_at, whole),
        };
        match masked {
            Some(masked) => cut(Cow::Owned(masked.text), !whole, masked.changed),
            None => cut(Cow::Borrowed(looked_at), !whole, false),
        }
    }

    /// What a server says of a tool: JSON, whole. A member's name says nothing about its value here (`password` in a
    /// schema holds a type), so only what looks like a secret by itself is masked.
    pub fn keep_definition(&self, json: &str) -> String {
        match json::mask_strings(self, json) {
            Ok(masked) => masked,
            // Not JSON after all: nothing that could be shown as a definition.
            Err(json::NotJson) => "null".to_owned(),
        }
    }

    /// A sentence for people.
    pub fn keep_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let looked_at = &text[..text.floor_char_boundary(SENTENCE)];
        if !self.may_hold_secrets(looked_at) {
            return Cow::Borrowed(looked_at);
        }
        self.masked_text(looked_at)
    }

    /// The same, however long it is: what is cut before it is masked shows a part of what should be masked whole.
    pub fn keep_line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if self.may_hold_secrets(line) { self.masked_text(line) } else { Cow::Borrowed(line) }
    }

    fn masked_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text::mask(self, text, true).map_or(Cow::Borrowed(text), |masked| Cow::Owned(masked.text))
    }

    /// A command line, argument by argument; a value that follows a telling flag is masked whole.
    pub fn command(&self, command: &[String]) -> Vec<String> {
        let mut after_flag = false;
        command
            .iter()
            .map(|argument| {
                let flag = argument.starts_with('-') && !argument.contains('=');
                let kept = match after_flag && !flag {
                    true => marker(argument),
                    // Without the look-up of the calls: a session starts with this, and has few arguments.
                    false => self.masked_text(argument).into_owned(),
                };
                after_flag = flag && self.is_secret(argument);
                kept
            })
            .collect()
    }

    fn may_hold_secrets(&self, text: &str) -> bool {
        // A name of one's own can be spelled in many ways: with such names every text gets the closer look.
        self.has_names()
            || triggers().is_match(text)
            || self.literals.as_ref().is_some_and(|literals| literals.is_match(text))
    }
}

/// The values of secret-looking environment variables, for [`Masker::new`].
pub fn secret_values(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<String> {
    environment
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        // Every shell sets these two, and there "PWD" is where one works, not a password.
        .filter(|(name, _)| !matches!(name.as_str(), "PWD" | "OLDPWD"))
        .filter(|(name, value)| {
            value.len() >= SHORTEST_LITERAL && (keys::is_secret(name) || !shapes::find(value).is_empty())
        })
        .map(|(_, value)| value)
        .collect()
}

/// What stands in place of a secret.
fn marker(secret: &str) -> String {
    format!("[masked, {} characters]", secret.chars().count())
}

/// Cut at a character, so that what is kept stays text.
fn cut(text: Cow<'_, str>, already: bool, masked: bool) -> Kept<'_> {
    if text.len() <= KEPT {
        return Kept { text, cut: already, masked };
    }
    let end = text.floor_char_boundary(KEPT);
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    };
    Kept { text, cut: true, masked }
}

/// The start of a name, rule or id.
pub(crate) fn short(text: &str) -> &str {
    if text.len() <= SHORT { text } else { &text[..text.floor_char_boundary(SHORT)] }
}

/// Anything that could be the start of a secret. Escapes are among them, because they could spell one.
fn triggers() -> &'static AhoCorasick {
    static TRIGGERS: OnceLock<AhoCorasick> = OnceLock::new();
    TRIGGERS.get_or_init(|| {
        let hints = shapes::SHAPES.iter().map(shapes::Shape::hint);
        let patterns = keys::TRIGGERS.iter().copied().chain(hints).chain(["\\u"]);
        // Every call goes through this one: worth a millisecond of building.
        build(patterns, AhoCorasickKind::DFA)
    })
}

/// Builds the look-up that every call needs, before a call has to wait for it.
pub(crate) fn warm() {
    triggers();
}

/// Looks for all of them in one pass, in any case. Quick to build, because a session may start with it.
fn search(patterns: impl Iterator<Item = &'static str>) -> AhoCorasick {
    build(patterns, AhoCorasickKind::NoncontiguousNFA)
}

fn build(patterns: impl Iterator<Item = &'static str>, kind: AhoCorasickKind) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(kind))
        .build(patterns)
        .expect("a short list of fixed patterns")
}

#[cfg(test)]
#[path = "mask/tests.rs"]
mod tests;

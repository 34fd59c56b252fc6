//! A checked value as a slice of the text it came in, and ways to walk it.

use std::borrow::Cow;

use super::{
    scan::{Duplicates, JsonError, scan},
    string,
};

/// One strictly valid JSON value: no member twice at any depth, not deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
///
/// Thin and copyable; it walks its text anew on each question. Ask once and keep the answer.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a str);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl<'a> Raw<'a> {
    /// The whole text is one value; blanks around it are allowed.
    pub fn parse(text: &'a str) -> Result<Raw<'a>, JsonError> {
        let scan = scan(text, Duplicates::Find, &mut ())?;
        match scan.flaw {
            Some(flaw) => Err(flaw),
            None => Ok(Raw(&text[scan.span])),
        }
    }

    /// For text that a scan has already passed as one value without blanks around it.
    pub(crate) fn checked(text: &'a str) -> Raw<'a> {
        Raw(text)
    }

    pub fn text(self) -> &'a str {
        self.0
    }

    pub fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The decoded text; `None` when it is not a string or holds a lone surrogate.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let (text, whole) = string::decode(self.string_inner()?);
        whole.then_some(text)
    }

    /// The decoded text of a string with its lone surrogates, in bytes that no two different strings share.
    pub(crate) fn as_exact(self) -> Option<Cow<'a, [u8]>> {
        self.string_inner().map(string::decode_exact)
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number exactly as it was written.
    pub fn as_number(self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then_some(self.0)
    }

    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The member of an object with this decoded name.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        let mut members = self.members();
        while let Some((name, value)) = members.step() {
            if name.is(key) {
                return Some(value);
            }
        }
        None
    }

    /// Names (decoded, lone surrogates as U+FFFD) and values; nothing for a value that is not an object.
    pub fn members(self) -> Members<'a> {
        Members { text: self.0, at: if self.kind() == Kind::Object { 1 } else { self.0.len() } }
    }

    /// Nothing for a value that is not an array.
    pub fn items(self) -> Items<'a> {
        Items { text: self.0, at: if self.kind() == Kind::Array { 1 } else { self.0.len() } }
    }

    fn string_inner(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }
}

/// A member name as it stands between its quotes.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    /// For text that a scan has already passed as the inside of a string.
    pub(super) fn checked(inner: &'a str) -> Name<'a> {
        Name(inner)
    }

    /// `None` when it holds a lone surrogate.
    pub(crate) fn as_str(self) -> Option<Cow<'a, str>> {
        let (text, whole) = string::decode(self.0);
        whole.then_some(text)
    }

    /// As [`Raw::as_exact`].
    pub(crate) fn exact(self) -> Cow<'a, [u8]> {
        string::decode_exact(self.0)
    }

    pub(crate) fn decoded(self) -> Cow<'a, str> {
        string::decode(self.0).0
    }

    pub(crate) fn is(self, key: &str) -> bool {
        // Decoding never makes a name longer.
        self.0 == key || (self.0.len() > key.len() && self.0.contains('\\') && self.decoded() == key)
    }
}

#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Members<'a> {
    #[inline]
    fn step(&mut self) -> Option<(Name<'a>, Raw<'a>)> {
        let name = self.next_name()?;
        Some((name, self.take_value()))
    }

    /// Stops before the value, so that it can be walked instead of skipped: a long list then costs one look at each
    /// byte, where members of items of members would cost three. One of `take_value` and `enter_array` must follow.
    #[inline]
    pub(crate) fn next_name(&mut self) -> Option<Name<'a>> {
        let bytes = self.text.as_bytes();
        self.at = past_separator(bytes, self.at);
        if bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        let open = self.at + 1;
        let close = string::closing_quote(bytes, open);
        let colon = blanks(bytes, close + 1);
        self.at = blanks(bytes, colon + 1);
        Some(Name(&self.text[open..close]))
    }

    #[inline]
    pub(crate) fn take_value(&mut self) -> Raw<'a> {
        let start = self.at;
        self.at = value_end(self.text.as_bytes(), start);
        Raw(&self.text[start..self.at])
    }

    /// Where the walk is, in the text that it began with.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn enter_array(&self) -> Option<Items<'a>> {
        let is_array = self.text.as_bytes().get(self.at) == Some(&b'[');
        is_array.then_some(Items { text: self.text, at: self.at + 1 })
    }

    /// Goes on behind an array that was entered here and walked to its end.
    pub(crate) fn leave_array(&mut self, array: &Items<'a>) {
        self.at = array.at + 1;
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.step().map(|(name, value)| (name.decoded(), value))
    }
}

#[derive(Clone, Debug)]
pub struct Items<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Items<'a> {
    /// Goes to the next item without skipping it. One of `take_item` and `enter_object` must follow.
    #[inline]
    pub(crate) fn seek(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        self.at = past_separator(bytes, self.at);
        !matches!(bytes.get(self.at), None | Some(b']'))
    }

    #[inline]
    pub(crate) fn take_item(&mut self) -> Raw<'a> {
        let start = self.at;
        self.at = value_end(self.text.as_bytes(), start);
        Raw(&self.text[start..self.at])
    }

    /// Where the walk is, in the text that it began with.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn enter_object(&self) -> Option<Members<'a>> {
        let is_object = self.text.as_bytes().get(self.at) == Some(&b'{');
        is_object.then_some(Members { text: self.text, at: self.at + 1 })
    }

    /// Goes on behind an object that was entered here and walked to its end.
    pub(crate) fn leave_object(&mut self, object: &Members<'a>) {
        self.at = object.at + 1;
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        self.seek().then(|| self.take_item())
    }
}

#[inline]
fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn past_separator(bytes: &[u8], at: usize) -> usize {
    let at = blanks(bytes, at);
    if bytes.get(at) == Some(&b',') { blanks(bytes, at + 1) } else { at }
}

/// The end of the valid value that starts at `at`.
#[inline]
pub(super) fn value_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => string::closing_quote(bytes, at + 1) + 1,
        Some(b'{' | b'[') => container_end(bytes, at),
        _ => {
            let rest = &bytes[at..];
            let length = rest
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
            at + length.unwrap_or(rest.len())
        }
    }
}

fn container_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string::closing_quote(bytes, at) + 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    at
}

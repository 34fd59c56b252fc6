//! JSON, TOML and YAML as trees with places, and lossless edits of them as splices.
//!
//! Owns: syntax, layout, comments. Knows no key of any file. Everything that a splice does not name stays byte for byte.
//! Ours are the splices, because the parsers' own editors tidy up around their edits (blank lines, one-line objects), and
//! a file that people keep under version control deserves better.

mod blocks;
mod brackets;
mod comments;
mod cut;
mod draft;
mod json;
mod lines;
mod list;
mod map;
mod piece;
mod quote;
mod splice;
#[cfg(feature = "config-formats")]
mod toml;
mod value;
#[cfg(feature = "config-formats")]
mod yaml;

#[cfg(test)]
mod json_tests;
#[cfg(all(test, feature = "config-formats"))]
mod toml_tests;
#[cfg(all(test, feature = "config-formats"))]
mod yaml_tests;

use std::ops::Range;

pub use blocks::Addition;
pub use brackets::Behind;
pub use comments::texts as comments;
pub use draft::Draft;
pub use json::{ParseError, ParseErrorKind, tree as parse_json};
pub use piece::Piece;
pub use quote::{Literal, quote};
pub use splice::{Crossed, Splice, apply};
pub use value::{NewEntry, NewValue};

/// What some editors put before the text. Some clients cannot read it.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Deeper than any configuration, and shallow enough for every stack that walks the tree.
const DEPTH: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Strict: a comment or a trailing comma makes the client drop the file, so it makes us refuse it.
    Json,
    /// With comments, and strict in all else: a trailing comma makes the client refuse the file.
    Commented,
    /// With comments and trailing commas.
    Jsonc,
    Toml,
    Yaml,
}

impl Syntax {
    fn is_json(self) -> bool {
        matches!(self, Syntax::Json | Syntax::Commented | Syntax::Jsonc)
    }

    pub fn name(self) -> &'static str {
        match self {
            Syntax::Json => "JSON",
            Syntax::Commented | Syntax::Jsonc => "JSON with comments",
            Syntax::Toml => "TOML",
            Syntax::Yaml => "YAML",
        }
    }
}

/// A file that was understood.
#[derive(Clone, Debug)]
pub struct Document {
    pub syntax: Syntax,
    pub text: String,
    pub root: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value stands in the text, quotes and brackets included. For what has no brackets (YAML's blocks, TOML's
    /// tables): from its first part to its last.
    pub span: Range<usize>,
    pub value: Value,
    pub form: Form,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    List(Vec<Node>),
    Map(Vec<Member>),
    Null,
    Bool(bool),
    /// As it is written, as far as the parser tells; TOML's dates, too.
    Number(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub key: String,
    pub key_span: Range<usize>,
    pub value: Node,
}

impl Member {
    pub fn span(&self) -> Range<usize> {
        self.key_span.start..self.value.span.end.max(self.key_span.end)
    }
}

/// How a value is written, as far as edits depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between brackets or quotes, or one word.
    Inline,
    /// Members or elements on lines of their own: YAML's blocks, TOML's tables.
    Lines,
    /// In a way that we neither edit nor move.
    Odd(Oddity),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    Anchor,
    Alias,
    Tag,
    /// YAML's `|` and `>`.
    BlockText,
    /// A YAML text that goes on in the next line.
    ManyLines,
    /// TOML's `a.b = 1` between braces.
    DottedInBraces,
    /// A YAML key that is not text, or that is written with `?`.
    StrangeKey,
    /// The parser's place for it and its text do not agree.
    Unplaced,
}

impl Oddity {
    pub fn words(self) -> &'static str {
        match self {
            Oddity::Anchor => "an anchor (`&`), so it may be used in other places too",
            Oddity::Alias => "an alias (`*`) of another place",
            Oddity::Tag => "a tag (`!`)",
            Oddity::BlockText => "a block of text (`|` or `>`)",
            Oddity::ManyLines => "a text over several lines",
            Oddity::DottedInBraces => "dotted keys between braces",
            Oddity::StrangeKey => "a key that is not plain text",
            Oddity::Unplaced => "a text whose place in the file is unclear",
        }
    }
}

/// Why something is left alone, for a person to read: "its `args` are not a list".
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Odd(pub String);

impl Odd {
    pub fn new(why: impl Into<String>) -> Odd {
        Odd(why.into())
    }
}

/// The end of what is said of a byte order mark.
pub const TAKE_IT_AWAY: &str = "Take it away: callgate clients repair";

/// Why a file is left alone.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unreadable {
    #[error("it is not valid {syntax}: {why} (line {line}, column {column})")]
    Syntax { syntax: &'static str, why: String, line: usize, column: usize },
    #[error("`{key}` stands there twice (line {line}); clients disagree about which one counts")]
    Twice { key: String, line: usize },
    #[error("it begins with a byte order mark, which some clients cannot read. {TAKE_IT_AWAY}")]
    ByteOrderMark,
    #[error("it is not UTF-8 (byte {at})")]
    NotUtf8 { at: usize },
    #[error("it is nested too deeply")]
    Deep,
}

impl Document {
    pub fn parse(syntax: Syntax, bytes: &[u8]) -> Result<Document, Unreadable> {
        if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            return Err(Unreadable::ByteOrderMark);
        }
        let text = std::str::from_utf8(bytes).map_err(|e| Unreadable::NotUtf8 { at: e.valid_up_to() })?;
        let root = match syntax {
            Syntax::Json | Syntax::Commented | Syntax::Jsonc => json::parse(text, syntax)?,
            #[cfg(feature = "config-formats")]
            Syntax::Toml => toml::parse(text)?,
            #[cfg(feature = "config-formats")]
            Syntax::Yaml => yaml::parse(text)?,
            #[cfg(not(feature = "config-formats"))]
            Syntax::Toml | Syntax::Yaml => {
                let (syntax, why) = (syntax.name(), "this program does not read it".to_owned());
                return Err(Unreadable::Syntax { syntax, why, line: 1, column: 1 });
            }
        };
        check(text, &root, 0)?;
        if syntax == Syntax::Json {
            json::check_strict(text)?;
        }
        Ok(Document { syntax, text: text.to_owned(), root })
    }

    /// The text of a value as it stands in the file.
    pub fn source(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The document after an edit, parsed anew.
    pub fn spliced(&self, splices: &[Splice]) -> Result<Document, EditFailed> {
        let text = apply(&self.text, splices)?;
        Ok(Document::parse(self.syntax, text.as_bytes())?)
    }
}

/// An edit that did not give a readable file. It is never written.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum EditFailed {
    #[error(transparent)]
    Crossed(#[from] Crossed),
    #[error("after the edit, {0}")]
    Unreadable(#[from] Unreadable),
}

impl Node {
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn map(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Map(members) => Some(members),
            _ => None,
        }
    }

    pub fn member(&self, key: &str) -> Option<&Member> {
        self.map()?.iter().find(|m| m.key == key)
    }

    /// What is at the end of these keys and positions.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |at, step| match &at.value {
            Value::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => at.member(step).map(|member| &member.value),
        })
    }

    /// Where each part of a list or a map stands, keys included.
    pub fn parts(&self) -> Vec<Range<usize>> {
        match &self.value {
            Value::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            Value::Map(members) => members.iter().map(Member::span).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Vec::new(),
        }
    }

    pub fn oddity(&self) -> Option<Oddity> {
        match self.form {
            Form::Odd(oddity) => Some(oddity),
            Form::Inline | Form::Lines => None,
        }
    }
}

/// Refuses a map that says one key twice (clients read the first, the last, or drop the file), and what no stack is for.
fn check(text: &str, node: &Node, depth: usize) -> Result<(), Unreadable> {
    if depth > DEPTH {
        return Err(Unreadable::Deep);
    }
    match &node.value {
        Value::List(items) => items.iter().try_for_each(|item| check(text, item, depth + 1)),
        Value::Map(members) => {
            let mut seen = std::collections::HashSet::with_capacity(members.len());
            if let Some(twin) = members.iter().find(|m| !seen.insert(m.key.as_str())) {
                let line = lines::position(text, twin.key_span.start).0;
                return Err(Unreadable::Twice { key: twin.key.clone(), line });
            }
            members.iter().try_for_each(|member| check(text, &member.value, depth + 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Ok(()),
    }
}

//! YAML as a tree, from the parser's events.
//!
//! What an edit would have to guess about (anchors, aliases, tags, text over several lines) is marked as odd here; the
//! tree is complete all the same, so that the rest of the file can be read and compared.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::lines::position;
use super::{DEPTH, Form, Member, Node, Oddity, Syntax, Unreadable, Value};

pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    let mut builder = Builder { text, places: Places::new(text), open: Vec::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| {
            let (line, column) = (e.marker().line().max(1), e.marker().col() + 1);
            Unreadable::Syntax { syntax: Syntax::Yaml.name(), why: e.info().to_owned(), line, column }
        })?;
        builder.take(&event, span)?;
    }
    let empty = || wrong(text, 0, "it is empty");
    builder.root.ok_or_else(empty)
}

fn wrong(text: &str, at: usize, why: &str) -> Unreadable {
    let (line, column) = position(text, at);
    Unreadable::Syntax { syntax: Syntax::Yaml.name(), why: why.to_owned(), line, column }
}

/// From lines and columns to bytes. The parser's own index counts characters, and miscounts behind some comments.
struct Places<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// Line, column and byte of the last beginning: the next is mostly near, and a line may be as long as the file.
    last: (usize, usize, usize),
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Places<'a> {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(i, b)| match b {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect();
        Places { text, starts, last: (1, 0, 0) }
    }

    fn byte(&self, mark: &Marker) -> usize {
        let (line, column, byte) = self.last;
        let (start, column) = if mark.line() == line && mark.col() >= column {
            (byte, mark.col() - column)
        } else {
            let start = self.starts.get(mark.line().saturating_sub(1)).copied();
            (start.unwrap_or(self.text.len()), mark.col())
        };
        let rest = &self.text[start..];
        rest.char_indices().nth(column).map_or(self.text.len(), |(i, _)| start + i)
    }

    fn range(&mut self, span: &Span) -> Range<usize> {
        let start = self.byte(&span.start);
        self.last = (span.start.line(), span.start.col(), start);
        start..self.byte(&span.end).max(start)
    }
}

/// A list or a map that has not ended yet.
struct OpenNode {
    start: usize,
    oddity: Option<Oddity>,
    inline: bool,
    parts: Parts,
}

enum Parts {
    List(Vec<Node>),
    Map { members: Vec<Member>, key: Option<Node> },
}

struct Builder<'a> {
    text: &'a str,
    places: Places<'a>,
    open: Vec<OpenNode>,
    root: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: &Event<'_>, span: Span) -> Result<(), Unreadable> {
        let range = self.places.range(&span);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(wrong(self.text, range.start, "it holds several documents"))
            }
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(_) => {
                let form = Form::Odd(Oddity::Alias);
                self.add(Node { span: self.word(range), value: Value::Null, form })
            }
            Event::Scalar(value, style, anchor, tag) => {
                let odd = shared(*anchor, tag.is_some());
                let node = self.scalar(value, *style, range, odd);
                self.add(node)
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(range, '[', shared(*anchor, tag.is_some()), Parts::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                let parts = Parts::Map { members: Vec::new(), key: None };
                self.begin(range, '{', shared(*anchor, tag.is_some()), parts)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(range),
        }
    }

    fn begin(
        &mut self,
        range: Range<usize>,
        bracket: char,
        oddity: Option<Oddity>,
        parts: Parts,
    ) -> Result<(), Unreadable> {
        if self.open.len() >= DEPTH {
            return Err(Unreadable::Deep);
        }
        let inline = self.text[range.start..].starts_with(bracket);
        self.open.push(OpenNode { start: range.start, oddity, inline, parts });
        Ok(())
    }

    fn end(&mut self, range: Range<usize>) -> Result<(), Unreadable> {
        let Some(open) = self.open.pop() else {
            return Err(wrong(self.text, range.start, "something ends that never began"));
        };
        let (value, first, last) = match open.parts {
            Parts::List(items) => {
                let first = items.first().map(|n| n.span.start);
                let last = items.last().map(|n| n.span.end);
                (Value::List(items), first, last)
            }
            Parts::Map { members, .. } => {
                let first = members.first().map(|m| m.key_span.start);
                let last = members.last().map(|m| m.value.span.end.max(m.key_span.end));
                (Value::Map(members), first, last)
            }
        };
        // Between brackets the parser's places are the brackets (the closing one with what follows it); a block ends for
        // it only where the next thing begins.
        let closed = self.text[range.start..].starts_with([']', '}']);
        let (span, form) = if open.inline {
            let end = if closed { range.start + 1 } else { range.end };
            (open.start..end.max(open.start), Form::Inline)
        } else {
            let start = first.unwrap_or(open.start);
            (start..last.unwrap_or(start).max(start), Form::Lines)
        };
        let oddity = open.oddity.or((open.inline && !closed).then_some(Oddity::Unplaced));
        self.add(Node { span, value, form: oddity.map_or(form, Form::Odd) })
    }

    fn add(&mut self, node: Node) -> Result<(), Unreadable> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.parts {
            Parts::List(items) => items.push(node),
            Parts::Map { members, key } => match key.take() {
                None => *key = Some(node),
                Some(name) => {
                    let source = self.text.get(name.span.clone()).unwrap_or_default();
                    // A key may be anything in YAML; one that is not a word can only be looked at.
                    let strange = name.oddity().is_some()
                        || matches!(name.value, Value::List(_) | Value::Map(_))
                        || explicit(self.text, &name.span);
                    if strange {
                        open.oddity.get_or_insert(Oddity::StrangeKey);
                    }
                    let key = name.text().unwrap_or(source).to_owned();
                    members.push(Member { key, key_span: name.span, value: node });
                }
            },
        }
        Ok(())
    }

    fn scalar(&self, value: &str, style: ScalarStyle, range: Range<usize>, odd: Option<Oddity>) -> Node {
        // Behind a quoted scalar the parser's place goes on to the end of a comment.
        let quote = match style {
            ScalarStyle::SingleQuoted => Some('\''),
            ScalarStyle::DoubleQuoted => Some('"'),
            _ => None,
        };
        let found = quote.map(|quote| quoted(self.text, range.start, quote));
        let range = found.clone().flatten().unwrap_or(range);
        let source = self.text.get(range.clone()).unwrap_or_default();
        let one_line = !source.contains(['\n', '\r']);
        let placed = match style {
            ScalarStyle::Plain => !one_line || source == value,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => found.flatten().is_some(),
            ScalarStyle::Literal | ScalarStyle::Folded => true,
        };
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let odd = odd.or(block.then_some(Oddity::BlockText));
        let odd = odd.or((!one_line).then_some(Oddity::ManyLines)).or((!placed).then_some(Oddity::Unplaced));
        let value = match style {
            ScalarStyle::Plain => plain(value),
            _ => Value::Text(value.to_owned()),
        };
        Node { span: range, value, form: odd.map_or(Form::Inline, Form::Odd) }
    }

    /// The word that begins here, for what the parser gives only a beginning.
    fn word(&self, range: Range<usize>) -> Range<usize> {
        let rest = &self.text[range.start..];
        let end = rest.find([' ', '\t', '\n', '\r', ',', ']', '}']).unwrap_or(rest.len());
        range.start..(range.start + end).max(range.end)
    }
}

fn shared(anchor: usize, tag: bool) -> Option<Oddity> {
    if anchor > 0 { Some(Oddity::Anchor) } else { tag.then_some(Oddity::Tag) }
}

/// The quoted scalar that begins at `start`, if one does.
fn quoted(text: &str, start: usize, quote: char) -> Option<Range<usize>> {
    let inside = text.get(start..)?.strip_prefix(quote)?;
    let mut chars = inside.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.next_if(|(_, next)| *next == quote).is_some() {
                continue;
            }
            return Some(start..start + 1 + i + 1);
        }
    }
    None
}

/// Whether a key is written otherwise than `key:` in one line, as in `? key`.
fn explicit(text: &str, key: &Range<usize>) -> bool {
    let colon = text[key.end..].trim_start_matches([' ', '\t']).starts_with(':');
    // No look at the whole line: it may be as long as the file.
    !colon || text[..key.start].trim_end_matches([' ', '\t']).ends_with('?')
}

/// A scalar without quotes, as the core schema of YAML 1.2 reads it.
fn plain(text: &str) -> Value {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let radix = |prefix: &str, digit: fn(&u8) -> bool| {
        text.strip_prefix(prefix).is_some_and(|d| !d.is_empty() && d.as_bytes().iter().all(digit))
    };
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Value::Number(text.to_owned()),
        _ if matches!(unsigned, ".inf" | ".Inf" | ".INF")
            || radix("0x", u8::is_ascii_hexdigit)
            || radix("0o", |b| (b'0'..=b'7').contains(b))
            || decimal(unsigned) =>
        {
            Value::Number(text.to_owned())
        }
        _ => Value::Text(text.to_owned()),
    }
}

/// `12`, `1.5`, `.5`, `1.`, `1e3`.
fn decimal(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let some = !whole.is_empty() || !part.is_empty();
    some && digits(whole) && digits(part) && exponent.is_none_or(|e| !e.is_empty() && digits(e))
}

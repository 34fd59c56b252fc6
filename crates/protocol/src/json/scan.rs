//! The one pass over hostile text: grammar, depth and duplicate members.
//!
//! Iterative, with its own stack: nesting costs a few bytes of heap and never the thread's stack. A duplicate does
//! not end the pass, so that whoever refuses the text still learns what was around it; the same holds for what is nested too deeply.

use std::ops::Range;

use super::{stack::Stack, string};

/// Open arrays and objects beyond which a text is refused.
pub const MAX_DEPTH: usize = 4096;

/// Why a text is not one acceptable JSON value, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (byte {offset})")]
pub struct JsonError {
    pub problem: Problem,
    /// Counted from the start of the text that was given to the parser.
    pub offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the text ends too early")]
    End,
    #[error("a value was expected here")]
    Value,
    #[error("a member name in quotes was expected here")]
    Name,
    #[error("a colon was expected here")]
    Colon,
    #[error("a comma or the end of the array or object was expected here")]
    Separator,
    #[error("this is not a number as JSON writes it")]
    Number,
    #[error("this escape does not exist in JSON")]
    Escape,
    #[error("a control character stands unescaped inside a string")]
    Control,
    #[error("something follows the value")]
    Trailing,
    #[error("arrays and objects are nested too deeply")]
    Deep,
    #[error("an object has the same member twice")]
    Duplicate,
    #[error("the text is too long")]
    Long,
}

/// Hears of the members near the top while the text is checked, so that the envelope need not be walked again.
pub(crate) trait Sink {
    /// Members of objects down to this depth are reported; the top object is depth 1.
    const DEPTH: usize;
    /// `key` is the text between the quotes.
    fn key(&mut self, depth: usize, key: &str, escaped: bool);
    /// The value of the last key at this depth.
    fn value(&mut self, depth: usize, span: Range<usize>);
}

impl Sink for () {
    const DEPTH: usize = 0;
    fn key(&mut self, _: usize, _: &str, _: bool) {}
    fn value(&mut self, _: usize, _: Range<usize>) {}
}

/// Whether the pass looks for members that occur twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Find,
    Ignore,
}

/// What a pass over grammatical text found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    /// The value without the blanks around it.
    pub(crate) span: Range<usize>,
    /// What is wrong with it although its end was found: a member twice, or too deep a nesting.
    pub(crate) flaw: Option<JsonError>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    object: bool,
    /// Where this object's keys begin on the key stack.
    keys: u32,
}

/// A member name seen in an open object.
#[derive(Clone, Copy, Debug, Default)]
struct Key {
    /// Differs only if the names differ; most comparisons end here.
    sign: u64,
    start: u32,
    /// Top bit: the name had escapes, and `start` points into the decoded names.
    len: u32,
}

const DECODED: u32 = 1 << 31;
/// Objects up to this many members compare each pair; larger ones are sorted.
const FEW: usize = 12;
/// Levels that a Sink may ask for.
const SINK_LEVELS: usize = 2;

struct Scanner<'a, 's, S> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    duplicates: Duplicates,
    frames: Stack<Frame, 24>,
    keys: Stack<Key, 32>,
    decoded: String,
    flaw: Option<JsonError>,
    starts: [usize; SINK_LEVELS + 1],
    sink: &'s mut S,
}

/// Checks that `text` is one JSON value.
pub(crate) fn scan<S: Sink>(text: &str, duplicates: Duplicates, sink: &mut S) -> Result<Scan, JsonError> {
    const { assert!(S::DEPTH <= SINK_LEVELS) };
    if text.len() >= DECODED as usize {
        return Err(JsonError { problem: Problem::Long, offset: text.len() });
    }
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        duplicates,
        frames: Stack::new(),
        keys: Stack::new(),
        decoded: String::new(),
        flaw: None,
        starts: [0; SINK_LEVELS + 1],
        sink,
    };
    scanner.blanks();
    let start = scanner.at;
    scanner.run()?;
    let span = start..scanner.at;
    scanner.blanks();
    if scanner.at < text.len() {
        return Err(JsonError { problem: Problem::Trailing, offset: scanner.at });
    }
    Ok(Scan { span, flaw: scanner.flaw })
}

/// Checks grammar and depth only: for a text whose parts will each be scanned on their own.
pub(crate) fn structure(text: &str) -> Result<Scan, JsonError> {
    scan(text, Duplicates::Ignore, &mut ())
}

impl<S: Sink> Scanner<'_, '_, S> {
    fn run(&mut self) -> Result<(), JsonError> {
        'value: loop {
            match self.peek() {
                Some(b'"') => {
                    let (close, _) = self.string()?;
                    self.at = close + 1;
                }
                Some(b'{' | b'[') if self.frames.len() >= MAX_DEPTH => self.skip_deep()?,
                Some(b'{') => {
                    self.open(true);
                    if self.peek() == Some(b'}') {
                        self.close();
                    } else {
                        self.member()?;
                        continue 'value;
                    }
                }
                Some(b'[') => {
                    self.open(false);
                    if self.peek() == Some(b']') {
                        self.close();
                    } else {
                        continue 'value;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                _ => return Err(self.wrong(Problem::Value)),
            }
            loop {
                let Some(top) = self.frames.last() else { return Ok(()) };
                let depth = self.frames.len();
                if depth <= S::DEPTH && top.object {
                    self.sink.value(depth, self.starts[depth]..self.at);
                }
                self.blanks();
                match (self.peek(), top.object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.blanks();
                        self.member()?;
                        continue 'value;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        self.blanks();
                        continue 'value;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => self.close(),
                    _ => return Err(self.wrong(Problem::Separator)),
                }
            }
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn wrong(&self, problem: Problem) -> JsonError {
        let problem = if self.at < self.bytes.len() { problem } else { Problem::End };
        JsonError { problem, offset: self.at }
    }

    #[inline]
    fn open(&mut self, object: bool) {
        self.frames.push(Frame { object, keys: self.keys.len() as u32 });
        self.at += 1;
        self.blanks();
    }

    /// Finds the end of a value that is too deep by counting brackets. The text is refused in any case; this only
    /// lets its envelope be read, so that the refusal can be addressed.
    #[cold]
    fn skip_deep(&mut self) -> Result<(), JsonError> {
        self.flaw.get_or_insert(JsonError { problem: Problem::Deep, offset: self.at });
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.at = self.string()?.0,
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
        Err(self.wrong(Problem::End))
    }

    #[inline]
    fn close(&mut self) {
        self.at += 1;
        let Some(frame) = self.frames.last() else { return };
        self.frames.pop();
        if frame.object && self.keys.len() > frame.keys as usize {
            self.find_duplicates(frame.keys as usize);
            self.keys.truncate(frame.keys as usize);
            if self.keys.len() == 0 {
                self.decoded.clear();
            }
        }
    }

    /// A member name, its colon and the blanks after it.
    #[inline]
    fn member(&mut self) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong(Problem::Name));
        }
        let start = self.at + 1;
        let (close, escaped) = self.string()?;
        let depth = self.frames.len();
        if depth <= S::DEPTH {
            self.sink.key(depth, &self.text[start..close], escaped);
        }
        if self.duplicates == Duplicates::Find {
            self.note_key(start, close, escaped);
        }
        self.at = close + 1;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.wrong(Problem::Colon));
        }
        self.at += 1;
        self.blanks();
        if depth <= S::DEPTH {
            self.starts[depth] = self.at;
        }
        Ok(())
    }

    #[inline]
    fn note_key(&mut self, start: usize, close: usize, escaped: bool) {
        let key = if escaped {
            let (name, _) = string::decode(&self.text[start..close]);
            let start = self.decoded.len();
            self.decoded.push_str(&name);
            Key {
                sign: sign(name.as_bytes(), name.len()),
                start: start as u32,
                len: name.len() as u32 | DECODED,
            }
        } else {
            Key {
                sign: sign(&self.bytes[start..], close - start),
                start: start as u32,
                len: (close - start) as u32,
            }
        };
        self.keys.push(key);
    }

    #[inline]
    fn string(&self) -> Result<(usize, bool), JsonError> {
        string::check(self.bytes, self.at + 1)
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), JsonError> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.wrong(Problem::Value));
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Result<(), JsonError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        match self.peek() {
            // Would be taken for a missing comma; it is `01`, `1.2.3` or `0x1`.
            Some(b'0'..=b'9' | b'.' | b'x' | b'_') => Err(self.wrong(Problem::Number)),
            _ => Ok(()),
        }
    }

    #[inline]
    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.wrong(Problem::Number)) } else { Ok(()) }
    }

    #[inline]
    fn find_duplicates(&mut self, from: usize) {
        let keys = self.keys.tail_mut(from);
        let names = Names { text: self.bytes, decoded: self.decoded.as_bytes() };
        let found = if keys.len() <= FEW { among_few(keys, names) } else { among_many(keys, names) };
        if let Some(key) = found {
            // The place of a decoded name in the text is not kept; the end of its object is near enough.
            let place = if key.len & DECODED == 0 { key.start as usize } else { self.at };
            self.flaw.get_or_insert(JsonError { problem: Problem::Duplicate, offset: place });
        }
    }
}

#[derive(Clone, Copy)]
struct Names<'a> {
    text: &'a [u8],
    decoded: &'a [u8],
}

impl<'a> Names<'a> {
    fn of(self, key: Key) -> &'a [u8] {
        let (source, len) =
            if key.len & DECODED == 0 { (self.text, key.len) } else { (self.decoded, key.len & !DECODED) };
        &source[key.start as usize..][..len as usize]
    }
}

#[inline]
fn among_few(keys: &[Key], names: Names<'_>) -> Option<Key> {
    for (place, key) in keys.iter().enumerate() {
        for earlier in &keys[..place] {
            if earlier.sign == key.sign && names.of(*earlier) == names.of(*key) {
                return Some(*key);
            }
        }
    }
    None
}

#[cold]
fn among_many(keys: &mut [Key], names: Names<'_>) -> Option<Key> {
    keys.sort_unstable_by(|a, b| a.sign.cmp(&b.sign).then_with(|| names.of(*a).cmp(names.of(*b))));
    keys.array_windows().find_map(|&[a, b]| {
        (a.sign == b.sign && names.of(a) == names.of(b)).then_some(if a.start < b.start { b } else { a })
    })
}

/// Length and both ends of a name in one word. `rest` begins with the name.
#[inline]
fn sign(rest: &[u8], len: usize) -> u64 {
    let ends = match rest.first_chunk::<8>() {
        // Shorter than a word: read the whole word and blot out what follows the name.
        Some(first) if len < 8 => u64::from_le_bytes(*first) & !(u64::MAX << (8 * len)),
        Some(first) => {
            let last = rest[..len].last_chunk::<8>().unwrap_or(first);
            u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
        }
        None => rest[..len].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    ends ^ (len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name near the end of the text, or one that was decoded, must look the same as one in its middle.
    #[test]
    fn the_sign_of_a_name_does_not_depend_on_what_follows() {
        let name = b"abcdefghijkl";
        for len in 0..=name.len() {
            let alone = sign(&name[..len], len);
            for follow in [&b"\""[..], b"\":1", b"\":1234567890", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
                assert_eq!(sign(&[&name[..len], follow].concat(), len), alone, "{len}");
            }
        }
    }
}

//! What is wrong, or odd, in a policy file, told to the person who wrote it.
//!
//! Owns the words' shape and the way from a byte offset to a line and a column. Knows nothing of the grammar.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The policy cannot be used.
    Error,
    /// The policy is used, but may not mean what its writer thinks.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One remark about one place of a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// JSON pointer of the place; empty for the whole file.
    pub pointer: String,
    pub message: String,
    /// What to write instead, when that can be said.
    pub fix: Option<String>,
}

impl Problem {
    /// The byte offset of its place in the text that it was found in.
    pub fn offset(&self, text: &str) -> usize {
        offset_of(text, self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}: {}", self.line, self.column, self.severity, self.message)?;
        if !self.pointer.is_empty() {
            write!(f, " (at {})", self.pointer)?;
        }
        if let Some(fix) = &self.fix {
            write!(f, "; {fix}")?;
        }
        Ok(())
    }
}

/// Why a text is no policy: every error at once, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub problems: Vec<Problem>,
}

impl Report {
    /// The first error in one sentence, for places with room for only one.
    pub fn headline(&self) -> String {
        let mut errors = self.problems.iter().filter(|p| p.severity == Severity::Error);
        let Some(first) = errors.next() else { return "the policy is broken".to_owned() };
        match errors.count() {
            0 => format!("line {}, column {}: {}", first.line, first.column, first.message),
            more => {
                format!("line {}, column {}: {} (and {more} more)", first.line, first.column, first.message)
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// Where something stands in a policy file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte offset in the text.
    pub offset: usize,
    pub pointer: String,
}

/// A JSON pointer one step deeper (RFC 6901 escapes).
pub(crate) fn below(pointer: &str, key: &str) -> String {
    let mut out = String::with_capacity(pointer.len() + key.len() + 1);
    out.push_str(pointer);
    out.push('/');
    for c in key.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
    out
}

/// Collects problems and gives each its line and column.
#[derive(Debug)]
pub(crate) struct Problems<'t> {
    text: &'t str,
    found: Vec<Problem>,
}

impl<'t> Problems<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Problems { text, found: Vec::new() }
    }

    pub(crate) fn error(
        &mut self,
        place: &Place,
        message: impl Into<String>,
        fix: impl Into<Option<String>>,
    ) {
        self.push(Severity::Error, place, message.into(), fix.into());
    }

    pub(crate) fn warn(&mut self, place: &Place, message: impl Into<String>, fix: impl Into<Option<String>>) {
        self.push(Severity::Warning, place, message.into(), fix.into());
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.found.iter().any(|p| p.severity == Severity::Error)
    }

    /// In the order of the file; of equal places, in the order they were found.
    pub(crate) fn into_sorted(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|p| (p.line, p.column));
        self.found
    }

    fn push(&mut self, severity: Severity, place: &Place, message: String, fix: Option<String>) {
        let (line, column) = line_and_column(self.text, place.offset);
        self.found.push(Problem { severity, line, column, pointer: place.pointer.clone(), message, fix });
    }
}

/// Line and column from 1; LF, CRLF and a lone CR end a line; a byte order mark takes no column.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let (mut line, mut column) = (1, 1);
    let mut chars = before.strip_prefix('\u{feff}').unwrap_or(before).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => (line, column) = (line + 1, 1),
            '\r' if chars.peek() != Some(&'\n') => (line, column) = (line + 1, 1),
            '\r' => {}
            _ => column += 1,
        }
    }
    (line, column)
}

/// The way back: the byte offset of a line and a column, at most the end of that line.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = text.len() - body.len();
    let (mut at_line, mut at_column) = (1, 1);
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = c == '\n' || c == '\r';
        if at_line == line && (at_column >= column || ends) {
            return mark + at;
        }
        match c {
            '\n' => (at_line, at_column) = (at_line + 1, 1),
            '\r' if chars.peek().is_none_or(|(_, next)| *next != '\n') => {
                (at_line, at_column) = (at_line + 1, 1);
            }
            '\r' => {}
            _ => at_column += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again_by_its_line_and_column() {
        for text in ["", "a", "\u{feff}ab\r\nc\rd\n\n\te😀f", "\r\r\n😀\n", "x\u{feff}y"] {
            let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
            for (offset, c) in text.char_indices().chain([(text.len(), ' ')]) {
                // Nothing stands within a line end of two characters.
                if c == '\n' && text[..offset].ends_with('\r') {
                    continue;
                }
                let (line, column) = line_and_column(text, offset);
                assert_eq!(offset_of(text, line, column), offset.max(mark), "{text:?} at {offset}");
            }
        }
    }
}

//! Collects what is wrong and what is worth knowing while a text is read, and where it stands.

use std::cell::Cell;
use std::collections::HashSet;

use callgate_policy::{Problem, Report, Severity};

use crate::note::{Difference, Note};

/// A place of the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
}

impl SourcePosition {
    pub(crate) const START: SourcePosition = SourcePosition { line: 1, column: 1 };
}

/// From byte offsets to places. Goes on from the last one asked for: who asks in order pays for the text once.
#[derive(Debug)]
pub(crate) struct PositionIndex<'t> {
    text: &'t str,
    last: Cell<(usize, SourcePosition)>,
}

impl<'t> PositionIndex<'t> {
    pub(crate) fn new(text: &'t str) -> PositionIndex<'t> {
        PositionIndex { text, last: Cell::new((0, SourcePosition::START)) }
    }

    /// LF, CRLF and a lone CR end a line; a byte order mark takes no column.
    pub(crate) fn at(&self, offset: usize) -> SourcePosition {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let (mut from, mut place) = self.last.get();
        if from > end {
            (from, place) = (0, SourcePosition::START);
        }
        for (i, c) in self.text[from..end].char_indices() {
            let at = from + i;
            let ends = c == '\n' || (c == '\r' && !self.text[at + 1..].starts_with('\n'));
            if ends {
                place = SourcePosition { line: place.line + 1, column: 1 };
            } else if c != '\r' && !(c == '\u{feff}' && at == 0) {
                place.column += 1;
            }
        }
        self.last.set((end, place));
        place
    }
}

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    problems: Vec<Problem>,
    notes: Vec<Note>,
}

impl Ledger {
    pub(crate) fn problem(
        &mut self,
        place: SourcePosition,
        pointer: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.problems.push(Problem {
            severity: Severity::Error,
            line: place.line,
            column: place.column,
            pointer: pointer.to_owned(),
            message: message.into(),
            fix: Some(fix.into()),
        });
    }

    pub(crate) fn note(
        &mut self,
        line: impl Into<Option<usize>>,
        severity: Difference,
        text: impl Into<String>,
    ) {
        self.notes.push(Note { line: line.into(), severity, text: text.into() });
    }

    pub(crate) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// In the order of the file, each once; what is about the whole comes first.
    pub(crate) fn into_notes(self) -> Vec<Note> {
        let mut seen = HashSet::new();
        let mut notes: Vec<Note> = self.notes.into_iter().filter(|note| seen.insert(note.clone())).collect();
        notes.sort_by_key(|note| note.line);
        notes
    }

    pub(crate) fn into_report(mut self) -> Report {
        self.problems.sort_by_key(|p| (p.line, p.column));
        Report { problems: self.problems }
    }
}

/// One step deeper into a document, as policy problems are addressed.
pub(crate) fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::{PositionIndex, SourcePosition};

    #[test]
    fn offsets_become_lines_and_columns() {
        for (text, offset, line, column) in [
            ("ab\ncd", 4, 2, 2),
            ("a\r\nb", 3, 2, 1),
            ("a\rb", 2, 2, 1),
            ("\u{feff}x", 3, 1, 1),
            ("ü!", 1, 1, 1),
            ("", 9, 1, 1),
        ] {
            assert_eq!(
                PositionIndex::new(text).at(offset),
                SourcePosition { line, column },
                "{text:?} {offset}"
            );
        }
    }
    #[test]
    fn places_can_be_asked_for_in_any_order() {
        let text = "ab\r\nc\nü\rd";
        let places = PositionIndex::new(text);
        for offset in [9, 0, 4, 4, 2, 7, 8, 3, 100, 1] {
            assert_eq!(places.at(offset), PositionIndex::new(text).at(offset), "{offset}");
        }
    }
}

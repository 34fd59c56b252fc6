//! Pieces of another text that are to be written into this one: as they stand there, comments included, with this
//! text's indentation and line ends.

use std::ops::Range;

use super::lines::indent;
use super::value::Layout;
use super::{Document, NewEntry, NewValue, Node, comments};

/// A value or a comment cut out of a JSON text.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Lines end in `\n`; each but the first starts with one tab a step of indentation, counted from the entry's own.
    pub(super) text: String,
    /// Not to be touched: a line end in it belongs to a text in quotes.
    verbatim: bool,
}

impl Document {
    pub fn piece(&self, span: Range<usize>) -> Piece {
        let (indent, unit) = (indent(&self.text, span.start), self.unit());
        let slice = self.source(&span);
        if comments::has_broken_string(slice) {
            return Piece { text: slice.to_owned(), verbatim: true };
        }
        let mut out = String::with_capacity(slice.len());
        for (i, line) in slice.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if i == 0 {
                out.push_str(line);
                continue;
            }
            out.push('\n');
            let content = line.trim_start_matches([' ', '\t']);
            let mut deeper = line[..line.len() - content.len()].strip_prefix(indent).unwrap_or("");
            while let Some(rest) = deeper.strip_prefix(unit.as_str()).filter(|_| !unit.is_empty()) {
                out.push('\t');
                deeper = rest;
            }
            out.push_str(deeper);
            out.push_str(content);
        }
        Piece { text: out, verbatim: false }
    }

    /// An entry of a map or a list of this text, to be written into another; of its comments those that are wanted.
    pub fn entry(&self, whole: &Node, position: usize, wanted: &dyn Fn(&str) -> bool) -> Option<NewEntry> {
        let (key, value) = match (whole.map(), whole.list()) {
            (Some(members), _) => members.get(position).map(|m| (Some(m.key.clone()), &m.value))?,
            (_, items) => (None, items?.get(position)?),
        };
        let attached = self.attached(whole, position);
        let carried = |ranges: Vec<Range<usize>>| {
            let kept = ranges.into_iter().filter(|range| wanted(self.source(range).trim_end()));
            kept.map(|range| self.piece(range)).collect()
        };
        Some(NewEntry {
            key,
            value: NewValue::Piece(self.piece(value.span.clone())),
            lead: carried(attached.lead),
            trail: carried(attached.trail),
        })
    }
}

impl Piece {
    /// The same text, where it is to stand now.
    pub(super) fn render(&self, layout: &Layout<'_>) -> String {
        if self.verbatim || !self.text.contains('\n') {
            return self.text.clone();
        }
        let has_line_comment = comments::texts(&self.text).into_iter().any(comments::is_line_comment);
        if layout.one_line && !has_line_comment {
            let lines: Vec<&str> = self.text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            return lines.join(" ");
        }
        let mut out = String::with_capacity(self.text.len());
        for (i, line) in self.text.split('\n').enumerate() {
            if i == 0 {
                out.push_str(line);
                continue;
            }
            out.push_str(layout.eol);
            let content = line.trim_start_matches('\t');
            if !content.is_empty() {
                out.push_str(&layout.lead);
                out.push_str(&layout.unit.repeat(line.len() - content.len()));
                out.push_str(content);
            }
        }
        out
    }
}

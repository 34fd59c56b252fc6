//! Pieces of another text that are to be written into this one: as they stand there, comments included, with this
//! text's indentation and line ends.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;

use super::comments::{self, Attached};
use super::draft::{New, items, members};
use super::layout::{self, Container, Style};

/// A value cut out of a text.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Lines end in `\n`; each but the first starts with one tab a step of indentation, counted from the entry's own.
    text: String,
    /// Not to be touched: a line end in it belongs to a text in quotes.
    verbatim: bool,
}

/// The text that pieces are cut out of, and how it is written.
#[derive(Debug)]
pub(super) struct Origin<'t> {
    pub(super) text: &'t str,
    style: Style,
}

impl<'t> Origin<'t> {
    pub(super) fn of(text: &'t str) -> Origin<'t> {
        Origin { text, style: Style::of(text) }
    }

    pub(super) fn cut(&self, start: usize, end: usize) -> Source {
        let (text, style) = (self.text, &self.style);
        let slice = text.get(start..end).unwrap_or("");
        if comments::has_broken_string(slice) {
            return Source { text: slice.to_owned(), verbatim: true };
        }
        let indent = layout::indent_at(text, start);
        let mut out = String::with_capacity(slice.len());
        for (i, line) in slice.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if i == 0 {
                out.push_str(line);
                continue;
            }
            out.push('\n');
            let content = line.trim_start_matches([' ', '\t']);
            let blanks = &line[..line.len() - content.len()];
            let mut deeper = blanks.strip_prefix(indent.as_str()).unwrap_or("");
            while let Some(rest) = deeper.strip_prefix(style.unit()).filter(|_| !style.unit().is_empty()) {
                out.push('\t');
                deeper = rest;
            }
            out.push_str(deeper);
            out.push_str(content);
        }
        Source { text: out, verbatim: false }
    }
}

impl Source {
    /// One text, number or word, without comments?
    pub(super) fn is_plain(&self) -> bool {
        !self.text.starts_with(['{', '['])
    }

    /// The same text, where it is to stand now.
    pub(super) fn written(&self, style: &Style, indent: &str, inline: bool) -> String {
        if self.verbatim || !self.text.contains('\n') {
            return self.text.clone();
        }
        let has_line_comment = comments::texts(&self.text).into_iter().any(comments::is_line_comment);
        if inline && !has_line_comment {
            let lines: Vec<&str> = self.text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            return lines.join(" ");
        }
        let mut out = String::with_capacity(self.text.len());
        for (i, line) in self.text.split('\n').enumerate() {
            if i == 0 {
                out.push_str(line);
                continue;
            }
            out.push_str(style.newline());
            let content = line.trim_start_matches('\t');
            if !content.is_empty() {
                out.push_str(indent);
                out.push_str(&style.unit().repeat(line.len() - content.len()));
                out.push_str(content);
            }
        }
        out
    }
}

/// A new entry with the comments that come with it.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    pub(super) key: Option<String>,
    pub(super) value: New,
    pub(super) lead: Vec<Source>,
    pub(super) trail: Vec<Source>,
}

impl Fresh {
    pub(super) fn new(key: Option<&str>, value: New) -> Fresh {
        Fresh { key: key.map(str::to_owned), value, lead: Vec::new(), trail: Vec::new() }
    }

    /// A member of an object of another text; of its comments those that are wanted.
    pub(super) fn member(
        from: &Origin<'_>,
        object: &Object<'_>,
        position: usize,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Option<Fresh> {
        let property = object.properties.get(position)?;
        let key = Some(property.name.as_str());
        Some(Fresh::cut(from, &members(object), position, key, &property.value, wanted))
    }

    /// An item of a list of another text.
    pub(super) fn item(
        from: &Origin<'_>,
        array: &Array<'_>,
        position: usize,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Option<Fresh> {
        let value = array.elements.get(position)?;
        Some(Fresh::cut(from, &items(array), position, None, value, wanted))
    }

    fn cut(
        from: &Origin<'_>,
        container: &Container,
        position: usize,
        key: Option<&str>,
        value: &Value<'_>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Fresh {
        let text = from.text;
        let attached = Attached::to(text, container, position);
        let carried = |ranges: Vec<std::ops::Range<usize>>| {
            let kept = ranges.into_iter().filter(|r| wanted(text[r.clone()].trim_end()));
            kept.map(|r| from.cut(r.start, r.end)).collect()
        };
        Fresh {
            key: key.map(str::to_owned),
            value: New::Source(from.cut(value.start(), value.end())),
            lead: carried(attached.lead),
            trail: carried(attached.trail),
        }
    }

    /// Does it need lines of its own?
    pub(super) fn needs_lines(&self) -> bool {
        self.lead.iter().chain(&self.trail).any(|c| comments::is_line_comment(&c.text))
    }

    /// Must a line end follow it?
    pub(super) fn ends_in_line_comment(&self) -> bool {
        self.trail.last().is_some_and(|c| comments::is_line_comment(&c.text))
    }
}

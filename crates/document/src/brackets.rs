//! Entries added to what stands between brackets, and taken out again: where commas, line breaks and blanks go.

use std::ops::Range;

use super::comments::{self, is_line_comment, opens_bracket};
use super::lines::{
    after_break, blank, comma, eol, has_comment, indent, lead, line_end, line_ends, line_start, trimmed,
};
use super::value::Layout;
use super::{Document, NewEntry, NewValue, Node, Splice};

/// Behind which comments a new last entry comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Those in the line of the entry before it.
    Line,
    /// All of them: they are about what stands before them.
    All,
}

/// Whether the entries of a map or a list stand on lines of their own, and how far in.
struct Rows<'a> {
    many: bool,
    /// It was so before.
    before: bool,
    layout: Layout<'a>,
}

impl Rows<'_> {
    fn gap(&self) -> String {
        if self.many { format!("{}{}", self.layout.eol, self.layout.lead) } else { " ".to_owned() }
    }
}

impl Document {
    /// Adds entries before the one that stands at this position now, or at the end.
    pub fn insert(&self, whole: &Node, at: usize, entries: &[NewEntry], behind: Behind) -> Vec<Splice> {
        let parts = whole.parts();
        match (parts.last(), parts.get(at)) {
            _ if entries.is_empty() => Vec::new(),
            (None, _) => vec![self.insert_first(whole, entries)],
            (Some(_), Some(next)) => vec![self.insert_before(whole, &parts, at, next, entries)],
            (Some(last), None) => self.insert_last(whole, &parts, last, entries, behind),
        }
    }

    fn insert_last(
        &self,
        whole: &Node,
        parts: &[Range<usize>],
        last: &Range<usize>,
        entries: &[NewEntry],
        behind: Behind,
    ) -> Vec<Splice> {
        let text = &self.text;
        let gap = last.end..whole.span.end - 1;
        // With no comment in the way, a comma that is there stays behind the last.
        let commented =
            has_comment(self.syntax, self.source(&gap)) || entries.iter().any(|e| !e.trail.is_empty());
        let comma = self.comma(gap.clone()).filter(|_| commented);
        let after = comma.map_or(last.end, |at| at + 1);
        let rows = self.rows(whole, parts, entries);
        let at = match behind {
            _ if !commented => last.end,
            Behind::All => last.end + trimmed(self.source(&gap)).len(),
            Behind::Line if rows.many => end_of_line_comments(text, after),
            Behind::Line => after,
        };
        // A comment that ends with its line.
        let broken = !rows.many && at > after && self.source(&gap).contains(['\n', '\r']);
        let mut added = String::new();
        for (i, entry) in entries.iter().enumerate() {
            added.push_str(&match broken {
                true => format!("{}{}", eol(text, last.end), indent(text, whole.span.start)),
                false => rows.gap(),
            });
            added.push_str(&self.written(entry, &rows, comma.is_some() || i + 1 < entries.len()));
        }
        if must_break(entries, text, at) || (rows.many && !rows.before) {
            added.push_str(&format!("{}{}", rows.layout.eol, indent(text, whole.span.start)));
        }
        let own_comma = comma.is_none().then(|| Splice::insert(last.end, ","));
        own_comma.into_iter().chain([Splice::insert(at, added)]).collect()
    }

    fn insert_before(
        &self,
        whole: &Node,
        parts: &[Range<usize>],
        at: usize,
        next: &Range<usize>,
        entries: &[NewEntry],
    ) -> Splice {
        let rows = self.rows(whole, parts, entries);
        let spot = self.behind_previous(whole, parts, at);
        let written = |entry| self.written(entry, &rows, true);
        if !rows.many {
            let entries = entries.iter().map(written).collect::<Vec<_>>().join(" ");
            // The first one takes the blanks that stood before the old first one.
            return match at {
                0 => Splice::insert(next.start, format!("{entries} ")),
                _ => Splice::insert(spot, format!(" {entries}")),
            };
        }
        let behind = end_of_line_comments(&self.text, spot);
        let spot = if line_ends(&self.text[behind..]) { behind } else { spot };
        let mut added: String =
            entries.iter().map(|entry| format!("{}{}", rows.gap(), written(entry))).collect();
        if must_break(entries, &self.text, spot) {
            added.push_str(&rows.gap());
        }
        Splice::insert(spot, added)
    }

    fn insert_first(&self, whole: &Node, entries: &[NewEntry]) -> Splice {
        let (text, open, close) = (&self.text, whole.span.start + 1, whole.span.end - 1);
        let inside = self.source(&(open..close));
        let around = indent(text, whole.span.start);
        let in_list = entries.iter().all(|entry| entry.key.is_none());
        let plain_list = in_list && entries.iter().all(|entry| entry.value.is_plain());
        let needs_lines = entries.iter().any(NewEntry::needs_lines);
        let inline = !self.spreads() || opens_bracket(lead(text, whole.span.start));
        let room = self.spreads() && inside.contains('\n');
        let one_line = blank(inside) && !needs_lines && (inline || plain_list) && !room;
        let many = !one_line && (self.syntax.is_json() || !blank(inside));
        let layout = Layout {
            one_line: !self.syntax.is_json(),
            ..self.layout(&format!("{around}{}", self.unit()), close)
        };
        let rows = Rows { many, before: many, layout };
        let commas = |i: usize| i + 1 < entries.len();
        let written = entries.iter().enumerate().map(|(i, entry)| self.written(entry, &rows, commas(i)));
        if !many {
            let entries = written.collect::<Vec<_>>().join(" ");
            return Splice::replace(open..close, if in_list { entries } else { format!(" {entries} ") });
        }
        let added: String = written.map(|entry| format!("{}{entry}", rows.gap())).collect();
        // Comments stay, and so does the line of the bracket if it has one.
        let at = open + trimmed(inside).len();
        match !blank(inside) && text[at..close].contains(['\n', '\r']) {
            true => Splice::insert(at, added),
            false => Splice::replace(at..close, format!("{added}{}{around}", rows.layout.eol)),
        }
    }

    /// Takes an entry out, with its comma, and with its line when nothing else stands there. Comments stay.
    pub fn remove(&self, whole: &Node, position: usize) -> Vec<Splice> {
        let (text, open, close) = (&self.text, whole.span.start + 1, whole.span.end - 1);
        let parts = whole.parts();
        let Some(Range { start, end }) = parts.get(position).cloned() else { return Vec::new() };
        let next = parts.get(position + 1);
        let comma = self.comma(end..next.map_or(close, |next| next.start));
        let own_comma = comma.filter(|at| blank(&text[end..*at]));
        let stop = own_comma.map_or(end, |at| at + 1);
        if parts.len() == 1 && blank(&text[open..start]) && blank(&text[stop..close]) {
            return vec![Splice::remove(open..close)];
        }
        let previous = position.checked_sub(1).and_then(|i| parts.get(i));
        let before = previous.map_or(open, |previous| previous.end)..start;
        let commented = has_comment(self.syntax, self.source(&before));
        let line = line_start(text, start)..after_break(text, line_end(text, stop));
        let begins_line = blank(&text[line.start..start]);
        let ends_line = line_ends(&text[stop..]);
        let comment_behind = has_comment(self.syntax, &text[stop..next.map_or(stop, |next| next.start)]);
        if previous.is_some() && !commented && !(begins_line && comment_behind) {
            // The comma before it goes, and its own stays in that one's place.
            return vec![Splice::remove(before.start..end)];
        }
        // Of the commas around it one goes: its own, even behind comments, or that of the one before it.
        let other = match comma {
            Some(_) => comma.filter(|_| own_comma.is_none()),
            None => self.comma(before.clone()),
        };
        let from = before.start + trimmed(self.source(&before)).len();
        let cut = if next.is_some() && begins_line && ends_line {
            line
        } else if next.is_some() {
            start..stop + text[stop..].len() - text[stop..].trim_start_matches([' ', '\t']).len()
        } else if ends_line || !self.ends_in_line_comment(&(before.start..from)) {
            from..stop
        } else {
            text[..start].trim_end_matches([' ', '\t']).len().max(open)..stop
        };
        other.map(|at| Splice::remove(at..at + 1)).into_iter().chain([Splice::remove(cut)]).collect()
    }

    /// Takes a comment out, with its line when nothing else stands there.
    pub(super) fn remove_comment(&self, comment: &Range<usize>) -> Splice {
        let text = &self.text;
        let line = line_start(text, comment.start)..after_break(text, line_end(text, comment.end));
        let before = &text[line.start..comment.start];
        if blank(before) && blank(&text[comment.end..line.end]) && line.end < text.len() {
            return Splice::remove(line);
        }
        Splice::remove(line.start + before.trim_end_matches([' ', '\t']).len()..comment.end)
    }

    /// A new value in place of an old one, whose entry starts here; comments of the old one that are kept move before it.
    pub fn replace_value(
        &self,
        start: usize,
        old: &Node,
        new: &NewValue,
        kept: &dyn Fn(&str) -> bool,
    ) -> Vec<Splice> {
        let own_line = blank(lead(&self.text, start)) && line_start(&self.text, start) > 0;
        let mut layout = self.layout(indent(&self.text, start), start);
        layout.one_line |= !own_line;
        let mut moved = String::new();
        for comment in comments::texts(self.source(&old.span)).into_iter().filter(|c| kept(c)) {
            moved.push_str(comment);
            if is_line_comment(comment) || own_line {
                moved.push_str(layout.eol);
                moved.push_str(&layout.lead);
            } else {
                moved.push(' ');
            }
        }
        let moved = (!moved.is_empty()).then(|| Splice::insert(start, moved));
        let value = Splice::replace(old.span.clone(), new.render(self.syntax, &layout));
        moved.into_iter().chain([value]).collect()
    }

    /// An entry with its comments, and with a comma where one has to follow.
    fn written(&self, entry: &NewEntry, rows: &Rows<'_>, comma: bool) -> String {
        let layout = Layout { one_line: rows.layout.one_line || !rows.many, ..rows.layout.clone() };
        let mut out = String::new();
        for comment in &entry.lead {
            out.push_str(&comment.render(&layout));
            out.push_str(&rows.gap());
        }
        out.push_str(&entry.render(self.syntax, &layout));
        out.push_str(if comma { "," } else { "" });
        for comment in &entry.trail {
            out.push(' ');
            out.push_str(&comment.render(&layout));
        }
        out
    }

    fn rows(&self, whole: &Node, parts: &[Range<usize>], entries: &[NewEntry]) -> Rows<'_> {
        let text = &self.text;
        let first = parts.first().map_or(whole.span.end - 1, |part| part.start);
        let before = text[whole.span.start..first].contains(['\n', '\r']);
        let many = before || entries.iter().any(NewEntry::needs_lines);
        let around = indent(text, whole.span.start);
        let lead = if before { indent(text, first).to_owned() } else { format!("{around}{}", self.unit()) };
        let mut layout = self.layout(&lead, first);
        if let Some(unit) = layout.lead.strip_prefix(around).filter(|unit| before && !unit.is_empty()) {
            layout.unit = unit.to_owned();
        }
        layout.one_line &= !(before && self.syntax.is_json());
        Rows { many, before, layout }
    }

    /// How a value is laid out whose line begins like this, near this place.
    pub(super) fn layout(&self, lead: &str, near: usize) -> Layout<'_> {
        let one_line = !self.syntax.is_json() || !self.spreads();
        Layout { lead: lead.to_owned(), unit: self.unit(), eol: eol(&self.text, near), one_line }
    }

    /// Where the comma of a gap is.
    fn comma(&self, gap: Range<usize>) -> Option<usize> {
        comma(self.syntax, self.source(&gap)).map(|at| gap.start + at)
    }

    /// Would what follows this gap fall into a comment of it?
    fn ends_in_line_comment(&self, gap: &Range<usize>) -> bool {
        let gap = self.source(gap);
        match comments::all(gap).last() {
            Some(last) if self.syntax.is_json() => last.end == gap.len() && is_line_comment(&gap[last]),
            _ => !self.syntax.is_json() && has_comment(self.syntax, gap),
        }
    }

    /// Behind the entry before this position and its comma, or behind the bracket.
    pub(super) fn behind_previous(&self, whole: &Node, parts: &[Range<usize>], position: usize) -> usize {
        let Some(before) = position.checked_sub(1).and_then(|i| parts.get(i)) else {
            return whole.span.start + 1;
        };
        let until = parts.get(position).map_or(whole.span.end - 1, |part| part.start);
        self.comma(before.end..until).map_or(before.end, |at| at + 1)
    }

    /// Whether this JSON has its members in lines of their own.
    fn spreads(&self) -> bool {
        let first = self.root.map().and_then(|members| members.first());
        first.is_none_or(|first| {
            blank(lead(&self.text, first.key_span.start)) && self.text.contains(['\n', '\r'])
        })
    }

    /// What one level of this JSON is indented by.
    pub(super) fn unit(&self) -> String {
        let first = self.root.map().and_then(|members| members.first());
        match first.map(|first| lead(&self.text, first.key_span.start)) {
            Some(lead) if blank(lead) => lead.to_owned(),
            _ if self.text.contains("\n\t") => "\t".to_owned(),
            _ => "  ".to_owned(),
        }
    }
}

/// Would what follows fall into a line comment at the end of what is added?
fn must_break(entries: &[NewEntry], text: &str, at: usize) -> bool {
    entries.last().is_some_and(NewEntry::ends_in_line_comment) && !line_ends(&text[at..])
}

/// The end of the comments that stand on the same line after a place, or the place itself.
fn end_of_line_comments(text: &str, from: usize) -> usize {
    let (mut at, mut end) = (from, from);
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        at += rest.len() - trimmed.len();
        let Some(length) = comments::length(trimmed) else { return end };
        at += length;
        end = at;
    }
}

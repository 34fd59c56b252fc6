//! Where commas, line breaks and blanks go when something is added to or taken out of an object or a list.

use std::ops::Range;

use super::comments::{self, comma_after, line_ends};
use super::draft::{New, Splice};
use super::source::Fresh;
use callgate_protocol::json::write_string;

/// How a file is written.
#[derive(Clone, Debug)]
pub(super) struct Style {
    newline: &'static str,
    /// One step of indentation.
    unit: String,
    multiline: bool,
}

/// An object or list: where its brackets stand, and each entry.
pub(super) struct Container {
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) entries: Vec<(usize, usize)>,
}

impl Style {
    pub(super) fn of(text: &str) -> Style {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        // The first line that starts with a name shows one step.
        let first = text.lines().skip(1).find(|line| line.trim_start().starts_with('"'));
        let unit = match first {
            Some(line) => line[..line.len() - line.trim_start().len()].to_owned(),
            None => "  ".to_owned(),
        };
        Style { newline, unit, multiline: text.trim_end().contains('\n') }
    }

    pub(super) fn newline(&self) -> &'static str {
        self.newline
    }

    pub(super) fn unit(&self) -> &str {
        &self.unit
    }
}

/// Adds entries before the one that stands at this position now, or at the end.
pub(super) fn insert(text: &str, into: &Container, at: usize, fresh: &[Fresh], style: &Style) -> Vec<Splice> {
    let splices = match (into.entries.as_slice(), into.entries.get(at)) {
        _ if fresh.is_empty() => Vec::new(),
        ([], _) => vec![insert_first(text, into, fresh, style)],
        (_, Some(next)) => vec![insert_before(text, into, at, *next, fresh, style)],
        ([.., last], None) => insert_after(text, into, *last, fresh, style),
    };
    // Two splices at one place would have no order: make them one.
    match splices.as_slice() {
        [comma, addition] if comma.start == addition.start => {
            let text = format!("{}{}", comma.text, addition.text);
            vec![Splice { start: comma.start, end: comma.end, text }]
        }
        _ => splices,
    }
}

fn insert_after(
    text: &str,
    into: &Container,
    last: (usize, usize),
    fresh: &[Fresh],
    style: &Style,
) -> Vec<Splice> {
    let comma = comma_after(text, last.1);
    let after = comma.map_or(last.1, |at| at + 1);
    let mut splices = Vec::new();
    if comma.is_none() {
        splices.push(Splice { start: last.1, end: last.1, text: ",".to_owned() });
    }
    let lines = Lines::of(text, into, fresh, style);
    let at = if lines.many { end_of_line_comments(text, after) } else { after };
    let mut added = String::new();
    for (i, entry) in fresh.iter().enumerate() {
        let trailing = comma.is_some() || i + 1 < fresh.len();
        added.push_str(&lines.gap(style));
        added.push_str(&written(entry, style, &lines, trailing));
    }
    if must_break(fresh, text, at) || (lines.many && !lines.before) {
        added.push_str(&format!("{}{}", style.newline, indent_at(text, into.open)));
    }
    splices.push(Splice { start: at, end: at, text: added });
    splices
}

fn insert_before(
    text: &str,
    into: &Container,
    at: usize,
    next: (usize, usize),
    fresh: &[Fresh],
    style: &Style,
) -> Splice {
    let lines = Lines::of(text, into, fresh, style);
    let before = at.checked_sub(1).and_then(|i| into.entries.get(i));
    let mut spot = match before {
        Some((_, end)) => comma_after(text, *end).map_or(*end, |comma| comma + 1),
        None => into.open + 1,
    };
    if !lines.many {
        let entries: Vec<String> = fresh.iter().map(|entry| written(entry, style, &lines, true)).collect();
        let entries = entries.join(" ");
        // The first one takes the blanks that stood before the old first one.
        let (spot, text) = match before {
            Some(_) => (spot, format!(" {entries}")),
            None => (next.0, format!("{entries} ")),
        };
        return Splice { start: spot, end: spot, text };
    }
    let behind = end_of_line_comments(text, spot);
    if line_ends(&text[behind..]) {
        spot = behind;
    }
    let mut added = String::new();
    for entry in fresh {
        added.push_str(&lines.gap(style));
        added.push_str(&written(entry, style, &lines, true));
    }
    if must_break(fresh, text, spot) {
        added.push_str(&lines.gap(style));
    }
    Splice { start: spot, end: spot, text: added }
}

fn insert_first(text: &str, into: &Container, fresh: &[Fresh], style: &Style) -> Splice {
    let inside = &text[into.open + 1..into.close];
    let outer = indent_at(text, into.open);
    let plain_list = fresh.iter().all(|f| f.key.is_none() && f.value.is_plain());
    let blank = inside.trim().is_empty();
    let needs_lines = fresh.iter().any(Fresh::needs_lines);
    let inline = !style.multiline || within_a_line(text, into.open);
    if blank && !needs_lines && (inline || plain_list) && (!style.multiline || !inside.contains('\n')) {
        let lines = Lines { many: false, before: false, indent: String::new() };
        let entries: Vec<String> = fresh
            .iter()
            .enumerate()
            .map(|(i, entry)| written(entry, style, &lines, i + 1 < fresh.len()))
            .collect();
        let entries = entries.join(" ");
        let in_object = fresh.iter().any(|f| f.key.is_some());
        let text = if in_object { format!(" {entries} ") } else { entries };
        return Splice { start: into.open + 1, end: into.close, text };
    }
    let lines = Lines { many: true, before: true, indent: format!("{outer}{}", style.unit) };
    let mut added = String::new();
    for (i, entry) in fresh.iter().enumerate() {
        added.push_str(&lines.gap(style));
        added.push_str(&written(entry, style, &lines, i + 1 < fresh.len()));
    }
    if blank {
        added.push_str(&format!("{}{outer}", style.newline));
        return Splice { start: into.open + 1, end: into.close, text: added };
    }
    // Only comments inside: they stay, the entries come after them.
    let kept = inside.trim_end();
    let at = into.open + 1 + kept.len();
    if !inside[kept.len()..].contains('\n') {
        added.push_str(&format!("{}{outer}", style.newline));
    }
    Splice { start: at, end: at, text: added }
}

/// Is something else open already on the line of this bracket?
fn within_a_line(text: &str, open: usize) -> bool {
    let mut rest = &text[text[..open].rfind('\n').map_or(0, |at| at + 1)..open];
    while let Some(at) = rest.find(['"', '{', '[']) {
        if !rest[at..].starts_with('"') {
            return true;
        }
        rest = &rest[at + comments::string_length(&rest[at..])..];
    }
    false
}

/// Whether entries of a container stand on lines of their own, and how far in.
struct Lines {
    many: bool,
    /// It was so before.
    before: bool,
    indent: String,
}

impl Lines {
    fn of(text: &str, into: &Container, fresh: &[Fresh], style: &Style) -> Lines {
        let first = into.entries.first().map_or(into.close, |e| e.0);
        let before = text[into.open..first].contains('\n');
        let many = before || fresh.iter().any(Fresh::needs_lines);
        let indent = match (before, many) {
            (true, _) => indent_at(text, first),
            (false, true) => format!("{}{}", indent_at(text, into.open), style.unit),
            (false, false) => String::new(),
        };
        Lines { many, before, indent }
    }

    fn gap(&self, style: &Style) -> String {
        if self.many { format!("{}{}", style.newline, self.indent) } else { " ".to_owned() }
    }
}

/// An entry with its comments, and with a comma where one has to follow.
fn written(fresh: &Fresh, style: &Style, lines: &Lines, comma: bool) -> String {
    let mut out = String::new();
    for comment in &fresh.lead {
        out.push_str(&comment.written(style, &lines.indent, !lines.many));
        out.push_str(&lines.gap(style));
    }
    out.push_str(&entry(fresh.key.as_deref(), &fresh.value, style, &lines.indent, !lines.many));
    if comma {
        out.push(',');
    }
    for comment in &fresh.trail {
        out.push(' ');
        out.push_str(&comment.written(style, &lines.indent, !lines.many));
    }
    out
}

/// Would what follows fall into a line comment at the end of what is added?
fn must_break(fresh: &[Fresh], text: &str, at: usize) -> bool {
    fresh.last().is_some_and(Fresh::ends_in_line_comment) && !line_ends(&text[at..])
}

/// Takes an entry out, with its comma, and with its line when nothing else stands there. Comments stay.
pub(super) fn remove(text: &str, from: &Container, position: usize) -> Vec<Splice> {
    let Some(&(start, end)) = from.entries.get(position) else { return Vec::new() };
    let comma = comma_after(text, end);
    let own_comma = comma.filter(|at| text[end..*at].trim().is_empty());
    let stop = own_comma.map_or(end, |at| at + 1);
    let rest_is_blank =
        text[from.open + 1..start].trim().is_empty() && text[stop..from.close].trim().is_empty();
    if from.entries.len() == 1 && rest_is_blank {
        return vec![Splice { start: from.open + 1, end: from.close, text: String::new() }];
    }
    let mut splices = Vec::new();
    if comma.is_some() && own_comma.is_none() {
        splices.extend(comma.map(|at| Splice { start: at, end: at + 1, text: String::new() }));
    }
    let is_last = position + 1 == from.entries.len();
    let before = position.checked_sub(1).and_then(|i| from.entries.get(i));
    if is_last
        && comma.is_none()
        && let Some(at) = before.and_then(|(_, end)| comma_after(text, *end))
    {
        splices.push(Splice { start: at, end: at + 1, text: String::new() });
    }
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[stop..].find('\n').map_or(text.len(), |at| stop + at + 1);
    let alone = text[line_start..start].trim().is_empty() && text[stop..line_end].trim().is_empty();
    let (from_at, to_at) = if alone && line_end < text.len() {
        (line_start, line_end)
    } else if is_last {
        // The blanks before it belong to it.
        let blanks = text[..start].trim_end_matches([' ', '\t']).len();
        (blanks.max(from.open + 1), stop)
    } else {
        let blanks = text[stop..].len() - text[stop..].trim_start_matches([' ', '\t']).len();
        (start, stop + blanks)
    };
    splices.push(Splice { start: from_at, end: to_at, text: String::new() });
    splices
}

/// Takes a comment out, with its line when nothing else stands there.
pub(super) fn remove_comment(text: &str, comment: Range<usize>) -> Splice {
    let line_start = text[..comment.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[comment.end..].find('\n').map_or(text.len(), |at| comment.end + at + 1);
    let (before, after) = (&text[line_start..comment.start], &text[comment.end..line_end]);
    if before.trim().is_empty() && after.trim().is_empty() && line_end < text.len() {
        return Splice { start: line_start, end: line_end, text: String::new() };
    }
    let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
    Splice { start: comment.start - blanks, end: comment.end, text: String::new() }
}

/// A value as text, one line or several.
pub(super) fn render(value: &New, style: &Style, indent: &str, inline: bool) -> String {
    let inline = inline || !style.multiline;
    match value {
        New::Text(text) => quoted(text),
        New::Number(number) => number.to_string(),
        New::Flag(flag) => flag.to_string(),
        New::Source(source) => source.written(style, indent, inline),
        New::Object(members) if members.is_empty() => "{}".to_owned(),
        New::Object(members) if inline => {
            let members: Vec<_> = members.iter().map(|(k, v)| entry(Some(k), v, style, "", true)).collect();
            format!("{{ {} }}", members.join(", "))
        }
        New::Object(members) => {
            let inner = format!("{indent}{}", style.unit);
            let members = members.iter().map(|(k, v)| entry(Some(k), v, style, &inner, false));
            block('{', '}', members, style, indent, &inner)
        }
        New::List(items) => {
            let plain = items.iter().all(New::is_plain);
            if inline || plain {
                let items: Vec<_> = items.iter().map(|item| render(item, style, "", true)).collect();
                return format!("[{}]", items.join(", "));
            }
            let inner = format!("{indent}{}", style.unit);
            block(
                '[',
                ']',
                items.iter().map(|item| render(item, style, &inner, false)),
                style,
                indent,
                &inner,
            )
        }
    }
}

fn block(
    open: char,
    close: char,
    entries: impl Iterator<Item = String>,
    style: &Style,
    outer: &str,
    inner: &str,
) -> String {
    let newline = style.newline;
    let entries: Vec<String> = entries.map(|entry| format!("{newline}{inner}{entry}")).collect();
    format!("{open}{}{newline}{outer}{close}", entries.join(","))
}

fn entry(key: Option<&str>, value: &New, style: &Style, indent: &str, inline: bool) -> String {
    let value = render(value, style, indent, inline);
    match key {
        Some(key) => format!("{}: {value}", quoted(key)),
        None => value,
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// The blanks at the start of the line of this place.
pub(super) fn indent_at(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let rest = &text[line..];
    rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()].to_owned()
}

/// The end of the comments that stand on the same line after a place, or the place itself.
fn end_of_line_comments(text: &str, from: usize) -> usize {
    let (mut at, mut end) = (from, from);
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        at += rest.len() - trimmed.len();
        match comments::length(trimmed) {
            Some(length) => {
                at += length;
                end = at;
            }
            None => return end,
        }
    }
}

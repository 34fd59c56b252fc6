//! Where commas, line breaks and blanks go when something is added to or taken out of an object or a list.

use super::draft::{New, Splice};
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
}

/// Adds an entry at the end of a container.
pub(super) fn insert(
    text: &str,
    into: &Container,
    key: Option<&str>,
    value: &New,
    style: &Style,
) -> Vec<Splice> {
    match into.entries.as_slice() {
        [] => insert_first(text, into, key, value, style),
        [.., last] => insert_after(text, into, *last, key, value, style),
    }
}

fn insert_after(
    text: &str,
    into: &Container,
    last: (usize, usize),
    key: Option<&str>,
    value: &New,
    style: &Style,
) -> Vec<Splice> {
    let first = into.entries.first().map_or(last.0, |e| e.0);
    let comma = comma_after(text, last.1);
    let after = comma.map_or(last.1, |at| at + 1);
    let trailing = if comma.is_some() { "," } else { "" };
    let mut splices = Vec::new();
    if comma.is_none() {
        splices.push(Splice { start: last.1, end: last.1, text: ",".to_owned() });
    }
    if text[into.open..first].contains('\n') {
        let indent = indent_at(text, first);
        let at = end_of_line_comments(text, after);
        let entry = entry(key, value, style, &indent, false);
        splices.push(Splice {
            start: at,
            end: at,
            text: format!("{}{indent}{entry}{trailing}", style.newline),
        });
    } else {
        let entry = entry(key, value, style, "", true);
        splices.push(Splice { start: after, end: after, text: format!(" {entry}{trailing}") });
    }
    // Two splices at one place would have no order: make them one.
    if let [comma, addition] = splices.as_slice()
        && comma.start == addition.start
    {
        let text = format!("{}{}", comma.text, addition.text);
        return vec![Splice { start: comma.start, end: comma.end, text }];
    }
    splices
}

fn insert_first(text: &str, into: &Container, key: Option<&str>, value: &New, style: &Style) -> Vec<Splice> {
    let inside = &text[into.open + 1..into.close];
    let outer = indent_at(text, into.open);
    let list_of_plain = key.is_none() && matches!(value, New::Text(_) | New::Number(_));
    if inside.trim().is_empty() {
        let plain = !style.multiline || (list_of_plain && !inside.contains('\n'));
        let new = if plain {
            let entry = entry(key, value, style, "", true);
            if key.is_some() { format!(" {entry} ") } else { entry }
        } else {
            let indent = format!("{outer}{}", style.unit);
            let entry = entry(key, value, style, &indent, false);
            format!("{}{indent}{entry}{}{outer}", style.newline, style.newline)
        };
        return vec![Splice { start: into.open + 1, end: into.close, text: new }];
    }
    // Only comments inside: they stay, the entry comes after them.
    let kept = inside.trim_end();
    let at = into.open + 1 + kept.len();
    let indent = format!("{outer}{}", style.unit);
    let entry = entry(key, value, style, &indent, false);
    let closing =
        if inside[kept.len()..].contains('\n') { String::new() } else { format!("{}{outer}", style.newline) };
    vec![Splice { start: at, end: at, text: format!("{}{indent}{entry}{closing}", style.newline) }]
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

/// A value as text, one line or several.
pub(super) fn render(value: &New, style: &Style, indent: &str, inline: bool) -> String {
    let inline = inline || !style.multiline;
    match value {
        New::Text(text) => quoted(text),
        New::Number(number) => number.to_string(),
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
            let plain = items.iter().all(|item| matches!(item, New::Text(_) | New::Number(_)));
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

/// The comma that follows, past blanks and comments.
fn comma_after(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with(',') {
            return Some(at);
        }
        at += comment_length(trimmed)?;
    }
}

/// The end of the comments that stand on the same line after a place, or the place itself.
fn end_of_line_comments(text: &str, from: usize) -> usize {
    let (mut at, mut end) = (from, from);
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        at += rest.len() - trimmed.len();
        match comment_length(trimmed) {
            Some(length) => {
                at += length;
                end = at;
            }
            None => return end,
        }
    }
}

/// The length of the comment that starts here; a line comment's without its line end.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    text.strip_prefix("/*")?.find("*/").map(|at| at + 4)
}

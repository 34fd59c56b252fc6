//! Secrets in plain text: shapes, literals, and assignments (`password=…`, `--token …`, `Cookie: …`).

use std::ops::Range;

use super::{LONGEST_SECRET, Masked, Masker, marker, shapes};

/// The text with its secrets masked; `None` if it has none. Of a text whose end was cut off, what might be the start
/// of a secret is left out.
pub(super) fn mask(masker: &Masker, text: &str, whole: bool) -> Option<Masked> {
    let end =
        if whole { text.len() } else { text.floor_char_boundary(text.len().saturating_sub(LONGEST_SECRET)) };
    let secrets = find(masker, text);
    if secrets.is_empty() && whole {
        return None;
    }
    let mut out = String::with_capacity(end);
    let mut from = 0;
    let mut changed = false;
    for secret in secrets {
        if secret.start >= end {
            break;
        }
        changed = true;
        out.push_str(&text[from..secret.start]);
        out.push_str(&marker(&text[secret.clone()]));
        from = secret.end;
    }
    if from < end {
        out.push_str(&text[from..end]);
    }
    Some(Masked { text: out, changed })
}

/// Where secrets are: in order, not overlapping.
fn find(masker: &Masker, text: &str) -> Vec<Range<usize>> {
    let mut found = shapes::find(text);
    if let Some(literals) = &masker.literals {
        found.extend(literals.find_iter(text).map(|found| found.range()));
    }
    assignments(masker, text, &mut found);
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn assignments(masker: &Masker, text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let value = match byte {
            b'=' => assigned(masker, text, at, name_before(text, at)),
            b':' if !text[at..].starts_with("://") => assigned(masker, text, at, name_before(text, at)),
            b'-' if text[at..].starts_with("--") && (at == 0 || bytes[at - 1].is_ascii_whitespace()) => {
                after_flag(masker, text, at)
            }
            _ => None,
        };
        found.extend(value);
    }
}

/// The name that an assignment at `at` assigns to.
fn name_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_end_matches([' ', '"', '\'', '\\', '`', '*']);
    let start = before
        .char_indices()
        .rev()
        .take(64)
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        .last()
        .map_or(before.len(), |(start, _)| start);
    &before[start..]
}

/// The value of an assignment, if its name is secret.
fn assigned(masker: &Masker, text: &str, at: usize, name: &str) -> Option<Range<usize>> {
    if name.is_empty() || !masker.is_secret(name) {
        return None;
    }
    let rest = &text[at + 1..];
    let skipped = rest.len() - rest.trim_start_matches(['=', ' ', '\t']).len();
    let start = at + 1 + skipped;
    let rest = &text[start..];
    let header = name.to_ascii_lowercase();
    if text.as_bytes()[at] == b':' && (header.ends_with("cookie") || header.ends_with("authorization")) {
        // A header goes on to the end of its line.
        let end = rest.find(['\n', '\r', '"']).unwrap_or(rest.len());
        return (end > 0).then_some(start..start + end);
    }
    let quoted = |open: &str| {
        let inside = rest.strip_prefix(open)?;
        let end = inside.find(open).unwrap_or(inside.len());
        Some(start + open.len()..start + open.len() + end)
    };
    let value = quoted("\\\"").or_else(|| quoted("\"")).or_else(|| quoted("'")).or_else(|| quoted("`"));
    let value = value.unwrap_or_else(|| {
        let end = rest
            .find(|c: char| {
                c.is_whitespace() || matches!(c, ',' | ';' | '&' | '"' | '\'' | '<' | '>' | ')' | '}' | ']')
            })
            .unwrap_or(rest.len());
        start..start + end
    });
    // Words of a sentence after a colon ("token: a word") are mostly short.
    let shortest = if text.as_bytes()[at] == b'=' { 1 } else { 4 };
    (value.len() >= shortest && !text[value.clone()].starts_with("[masked")).then_some(value)
}

/// `--password hunter2`
fn after_flag(masker: &Masker, text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let end = rest.find(char::is_whitespace)?;
    if !masker.is_secret(&rest[..end]) {
        return None;
    }
    let start = at + end + (rest[end..].len() - rest[end..].trim_start().len());
    let value = &text[start..];
    let end = value.find(char::is_whitespace).unwrap_or(value.len());
    (end > 0 && !value.starts_with('-')).then_some(start..start + end)
}

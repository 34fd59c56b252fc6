//! Secrets in plain text: shapes, literals, command lines, assignments (`password=…`, `--token …`, `Cookie: …`), and what a
//! script or a sentence types into a secret field.

use std::ops::Range;

use crate::literals::find_brief;
use crate::masker::{LONGEST_SECRET, Masked, Pass, is_path, marker};
use crate::{commands, names, shapes};

/// How far before what is typed its field is named.
const NEARBY: usize = 160;

/// The text with its secrets masked; `None` if it has none. Of a text whose end was cut off, what might be the start
/// of a secret is left out.
pub(crate) fn mask(pass: &mut Pass<'_>, text: &str, whole: bool) -> Option<Masked> {
    let end =
        if whole { text.len() } else { text.floor_char_boundary(text.len().saturating_sub(LONGEST_SECRET)) };
    let secrets = find(pass, text);
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
fn find(pass: &mut Pass<'_>, text: &str) -> Vec<Range<usize>> {
    let mut found = shapes::find(text);
    commands::find(text, &mut found);
    typed(pass, text, &mut found);
    found.iter().for_each(|range| pass.note(&text[range.clone()], true));
    assignments(pass, text, &mut found);
    pass.literals.find(pass.which, text, &mut found);
    find_brief(pass.brief, text, &mut found);
    found.retain(|range| !range.is_empty());
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

/// Where the line ends and where the word ends, as far as was looked: a text may be one long line of beginnings.
#[derive(Default)]
struct Ends {
    line: usize,
    word: usize,
}

impl Ends {
    fn of_line(&mut self, text: &str, start: usize) -> usize {
        next(&mut self.line, text, start, |c| matches!(c, '\n' | '\r' | '"'))
    }

    fn of_word(&mut self, text: &str, start: usize) -> usize {
        next(&mut self.word, text, start, |c| {
            c.is_whitespace() || matches!(c, ',' | ';' | '&' | '"' | '\'' | '<' | '>' | ')' | '}' | ']')
        })
    }
}

/// The next such character, or the end of the text. Places are asked for in order, so what was found before holds until it
/// is passed.
fn next(known: &mut usize, text: &str, start: usize, is: impl Fn(char) -> bool) -> usize {
    if *known <= start {
        *known = text[start..].find(is).map_or(text.len(), |end| start + end);
    }
    *known
}

fn assignments(pass: &mut Pass<'_>, text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut ends = Ends::default();
    for (at, byte) in bytes.iter().enumerate() {
        let value = match byte {
            b'=' => assigned(pass, text, at, &mut ends),
            b':' if !text[at..].starts_with("://") => assigned(pass, text, at, &mut ends),
            b'-' if text[at..].starts_with("--") && (at == 0 || bytes[at - 1].is_ascii_whitespace()) => {
                after_flag(pass, text, at)
            }
            _ => None,
        };
        if let Some(value) = value {
            // After a colon it may be a sentence that speaks of one.
            pass.note(&text[value.clone()], *byte != b':');
            found.push(value);
        }
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
fn assigned(pass: &Pass<'_>, text: &str, at: usize, ends: &mut Ends) -> Option<Range<usize>> {
    let name = name_before(text, at);
    if name.is_empty() || !pass.is_secret(name) {
        return None;
    }
    let rest = &text[at + 1..];
    let skipped = rest.len() - rest.trim_start_matches(['=', ' ', '\t']).len();
    let start = at + 1 + skipped;
    let rest = &text[start..];
    let header = name.to_ascii_lowercase();
    if text.as_bytes()[at] == b':' && (header.ends_with("cookie") || header.ends_with("authorization")) {
        // A header goes on to the end of its line.
        let end = ends.of_line(text, start);
        return (end > start).then_some(start..end);
    }
    let quoted = |open: &str| {
        let inside = rest.strip_prefix(open)?;
        let end = inside.find(open).unwrap_or(inside.len());
        Some(start + open.len()..start + open.len() + end)
    };
    let value = quoted("\\\"").or_else(|| quoted("\"")).or_else(|| quoted("'")).or_else(|| quoted("`"));
    let value = value.unwrap_or_else(|| start..ends.of_word(text, start));
    // Words of a sentence after a colon ("token: a word") are mostly short.
    let shortest = if text.as_bytes()[at] == b'=' { 1 } else { 4 };
    let said = &text[value.clone()];
    let folder = names::is_working_folder(name) && is_path(said);
    (value.len() >= shortest && !said.starts_with("[masked") && !folder).then_some(value)
}

/// `--password hunter2`
fn after_flag(pass: &Pass<'_>, text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let end = rest.find(char::is_whitespace)?;
    if !pass.is_secret(&rest[..end]) {
        return None;
    }
    let start = at + end + (rest[end..].len() - rest[end..].trim_start().len());
    let value = &text[start..];
    let end = value.find(char::is_whitespace).unwrap_or(value.len());
    (end > 0 && !value.starts_with('-')).then_some(start..start + end)
}

/// What is typed into a secret field: `page.fill('#pin', '1234')`, `locator('#pin').fill('1234')`,
/// `querySelector('#pin').value = '1234'`, and `Filled #pin with: 1234`.
fn typed(pass: &Pass<'_>, text: &str, found: &mut Vec<Range<usize>>) {
    for verb in [".fill(", ".type(", ".pressSequentially(", ".send_keys(", ".sendKeys(", ".setValue("] {
        for (at, _) in text.match_indices(verb) {
            let Some(first) = literal(text, at + verb.len()) else { continue };
            let second = text[first.end..].find(',').and_then(|comma| {
                let quote = &text[first.end..first.end + comma];
                (quote.len() <= 2).then(|| literal(text, first.end + comma + 1)).flatten()
            });
            let named = |name: &str| pass.names_a_secret(name);
            match second {
                Some(second) if named(&text[first.clone()]) => found.push(second),
                Some(_) => {}
                None if literal_before(text, at).is_some_and(named) => found.push(first),
                None => {}
            }
        }
    }
    for (at, _) in text.match_indices(".value") {
        let rest = text[at + ".value".len()..].trim_start();
        let Some(rest) = rest.strip_prefix('=').filter(|rest| !rest.starts_with('=')) else { continue };
        if literal_before(text, at).is_some_and(|name| pass.names_a_secret(name)) {
            found.extend(literal(text, text.len() - rest.len()));
        }
    }
    for (at, with) in text.match_indices(" with: ") {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let field = text[line..at].split_once(' ').map_or("", |(_, field)| field);
        if pass.names_a_secret(field) {
            let start = at + with.len();
            let end = text[start..].find(['\n', '\r']).map_or(text.len(), |end| start + end);
            found.push(start..end);
        }
    }
}

/// What stands in quotes at this place, but for blanks before it.
fn literal(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let open = at + (rest.len() - rest.trim_start().len());
    let quote = ["\\\"", "\\'", "\"", "'", "`"].into_iter().find(|quote| text[open..].starts_with(quote))?;
    let start = open + quote.len();
    let mut from = start;
    loop {
        let end = from + text[from..].find(quote)?;
        // A quote of the text's own has a stroke before it; two strokes are one of the text.
        let strokes = text[start..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
        if strokes % 2 == 0 {
            return Some(start..end);
        }
        from = end + quote.len();
    }
}

/// The last thing in quotes shortly before this place, on the same line: what `locator('…')` names.
fn literal_before(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end_matches(['!', '?']).strip_suffix(')')?;
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(NEARBY))..];
    let near = near.rsplit('\n').next().unwrap_or_default();
    let end = near.rfind(['"', '\'', '`'])?;
    let quote = near.as_bytes()[end];
    let inside = near[..end].trim_end_matches('\\');
    let open = inside.as_bytes().iter().rposition(|byte| *byte == quote)?;
    Some(&inside[open + 1..])
}

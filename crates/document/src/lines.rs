//! Where lines begin and end, and what stands between two values. Bytes only: a `\r\n` stays one.

use super::Syntax;

/// Line and column as an editor shows them, both from 1.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    (line, before[line_start(before, before.len())..].chars().count() + 1)
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |i| i + 1)
}

/// Where the line of `at` ends: before its line break, or the end of the text.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |i| at + i)
}

/// What stands before `at` in its line.
pub(super) fn lead(text: &str, at: usize) -> &str {
    &text[line_start(text, at)..at]
}

/// The blanks that the line of `at` begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let lead = lead(text, at);
    &lead[..lead.len() - lead.trim_start_matches([' ', '\t']).len()]
}

pub(super) fn blank(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Without the blanks at its end. Only those that every syntax takes for blanks: others may be part of a comment.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_end_matches([' ', '\t', '\r', '\n'])
}

/// The line break at `at`, if there is one.
fn break_at(text: &str, at: usize) -> Option<&str> {
    let rest = &text[at..];
    ["\r\n", "\n", "\r"].into_iter().find(|eol| rest.starts_with(eol))
}

/// The line break to use near `at`: that of its line, else that of the line before, else the file's first.
pub(super) fn eol(text: &str, at: usize) -> &str {
    let before = line_start(text, at);
    let previous = if text[..before].ends_with("\r\n") { before - 2 } else { before.saturating_sub(1) };
    break_at(text, line_end(text, at))
        .or_else(|| break_at(text, previous))
        .or_else(|| break_at(text, line_end(text, 0)))
        .unwrap_or("\n")
}

/// Where the line break before the line of `at` begins; `at`'s line start if it is the first line.
pub(super) fn before_break(text: &str, at: usize) -> usize {
    let start = line_start(text, at);
    if text[..start].ends_with("\r\n") { start - 2 } else { start.saturating_sub(1) }
}

/// Where the line break at `at` ends; `at`, if there is none.
pub(super) fn after_break(text: &str, at: usize) -> usize {
    at + break_at(text, at).map_or(0, str::len)
}

/// Is there nothing more on this line?
pub(super) fn line_ends(text: &str) -> bool {
    let rest = text.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', '\r'])
}

/// Whether a gap between two values has a comment in it. A gap holds blanks, commas and comments only.
pub(super) fn has_comment(syntax: Syntax, gap: &str) -> bool {
    gap.contains(match syntax {
        Syntax::Json | Syntax::Commented | Syntax::Jsonc => '/',
        Syntax::Toml | Syntax::Yaml => '#',
    })
}

/// Where the comma of a gap is, comments set aside.
pub(super) fn comma(syntax: Syntax, gap: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = gap[at..].chars().next() {
        let rest = &gap[at..];
        let comment = match syntax {
            Syntax::Toml | Syntax::Yaml if c == '#' => rest.find(['\n', '\r']),
            _ if c == ',' => return Some(at),
            Syntax::Toml | Syntax::Yaml => Some(c.len_utf8()),
            _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            _ if rest.starts_with("//") => rest.find(['\n', '\r']),
            _ => Some(c.len_utf8()),
        };
        at += comment?;
    }
    None
}

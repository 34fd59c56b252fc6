//! Text of others in TypeScript: as a literal, or in a comment, and never as anything else.

use std::fmt::Write as _;

/// A double-quoted literal in the escapes that JSON and JavaScript share, so that both read back exactly the text.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push(&mut out, c);
    }
    out.push('"');
    out
}

/// The inside of a JSON string that is no Unicode text (half of a pair): as it is spelled, in plain characters.
pub(super) fn spelled(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        if is_plain(c) || matches!(c, '"' | '\\') {
            out.push(c)
        } else {
            escape(&mut out, c)
        }
        out
    })
}

/// One line, whatever the text. Line ends of JavaScript are among what is escaped.
pub(super) fn in_comment(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if is_plain(c) || matches!(c, '"' | '\\') {
            out.push(c)
        } else {
            push(&mut out, c)
        }
        out
    })
}

fn push(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_plain(c) => out.push(c),
        c => escape(out, c),
    }
}

/// Shows as what it is: no control, no line end, nothing invisible, nothing that turns the writing direction.
fn is_plain(c: char) -> bool {
    match c {
        '"' | '\\' => false,
        ' '..='~' => true,
        // Letters to Unicode, but they show as nothing.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' => false,
        c => c.is_alphanumeric(),
    }
}

fn escape(out: &mut String, c: char) {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

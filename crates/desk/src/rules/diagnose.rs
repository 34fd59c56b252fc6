//! What is wrong in a policy text, at its place, as editors count.
//!
//! The words and places are the policy's own: what is fine here is fine for the gate.

use callgate_policy::lint::{ServerTools, diagnose};
use callgate_policy::{Problem, Severity};

use crate::view;
use crate::view::Diagnostic;

/// `tools`: what is known of the server that the text is for.
pub(super) fn check(text: &str, tools: Option<&ServerTools>, now_ms: i64) -> Vec<Diagnostic> {
    of(text, &diagnose(text, tools, now_ms))
}

pub(super) fn of(text: &str, problems: &[Problem]) -> Vec<Diagnostic> {
    problems.iter().map(|problem| one(text, problem)).collect()
}

fn one(text: &str, problem: &Problem) -> Diagnostic {
    let from = problem.offset(text);
    let to = from + token_length(&text[from..]);
    let message = match &problem.fix {
        Some(fix) => format!("{}; {fix}", problem.message),
        None => problem.message.clone(),
    };
    Diagnostic {
        from: utf16_offset(text, from),
        to: utf16_offset(text, to),
        line: u32::try_from(problem.line).unwrap_or(u32::MAX),
        severity: match problem.severity {
            Severity::Error => view::Severity::Error,
            Severity::Warning => view::Severity::Warning,
        },
        message,
        pointer: (!problem.pointer.is_empty()).then(|| problem.pointer.clone()),
    }
}

/// UTF-16 units before a byte offset.
pub(super) fn utf16_offset(text: &str, offset: usize) -> u32 {
    let units = text.get(..offset).map_or(0, |before| before.encode_utf16().count());
    u32::try_from(units).unwrap_or(u32::MAX)
}

/// The byte offset after so many UTF-16 units; into the middle of a character: before it.
pub(super) fn byte_offset(text: &str, units: u32) -> usize {
    let mut left = units as usize;
    for (at, c) in text.char_indices() {
        if left < c.len_utf16() {
            return at;
        }
        left -= c.len_utf16();
    }
    text.len()
}

/// Of what stands here: a text in quotes, a word or number, else one character; nothing at the end of a line.
fn token_length(text: &str) -> usize {
    let line = text.find(['\n', '\r']).map_or(text, |end| &text[..end]);
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
    match line.chars().next() {
        None => 0,
        Some('"') => {
            let mut escaped = false;
            for (at, byte) in line.bytes().enumerate().skip(1) {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => return at + 1,
                    _ => {}
                }
            }
            line.len()
        }
        Some(c) if word(c) => line.find(|c| !word(c)).unwrap_or(line.len()),
        Some(c) => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the text that a diagnostic points at, found as an editor finds it.
    fn marked(text: &str, diagnostic: &Diagnostic) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        String::from_utf16_lossy(&units[diagnostic.from as usize..diagnostic.to as usize])
    }

    #[test]
    fn every_problem_is_marked_where_it_stands() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("{\"version\": \"1\", \"default\": \"alow\"}", &[("\"alow\"", "did you mean \"allow\"?")]),
            (
                "{\t\"version\": \"1\", /* 😀😀 */ \"defalt\": \"allow\"}",
                &[("{", "`default` is missing"), ("\"defalt\"", "unknown key")],
            ),
            (
                "\u{feff}{\r\n\t\"version\": \"😀\",\r\n\t\"default\": 5}",
                &[("\"😀\"", "version"), ("5", "default")],
            ),
            ("{\"version\": \"1\" \"default\": \"deny\"}", &[(" ", "comma")]),
            ("{\"version\": \"1\", \"default\": \"deny\"", &[("{", "never closed")]),
            ("", &[("", "empty")]),
            (
                "{\"version\": \"1\", \"default\": \"deny\", \"tools\": {\"x\": {\"reason\": \"y\"}}}",
                &[("\"x\"", "reason")],
            ),
        ];
        for (text, expected) in cases {
            let found = check(text, None, 0);
            let shown: Vec<(String, &str)> =
                found.iter().map(|d| (marked(text, d), d.message.as_str())).collect();
            assert_eq!(shown.len(), expected.len(), "{text}: {shown:?}");
            for ((mark, message), (wanted, words)) in shown.iter().zip(*expected) {
                assert_eq!(mark, wanted, "{text}: {message}");
                assert!(message.contains(words), "{text}: {message}");
            }
        }
    }

    #[test]
    fn offsets_count_as_editors_do() {
        let text = "a😀\té";
        for (units, byte) in [(0, 0), (1, 1), (2, 1), (3, 5), (4, 6), (5, 8), (9, 8)] {
            assert_eq!(byte_offset(text, units), byte, "{units}");
        }
        for (at, _) in text.char_indices() {
            assert_eq!(byte_offset(text, utf16_offset(text, at)), at);
        }
    }
}

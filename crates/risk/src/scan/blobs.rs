//! Text that is written so that nobody reads it.

use super::{ScanFinding, Text, finding};

/// Shorter ones are digests, ids and examples.
const BASE64: usize = 72;
const HEX: usize = 96;

pub(super) fn scan(text: &Text<'_>, findings: &mut Vec<ScanFinding>) {
    let is_inside = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=' | '_' | '-' | '%' | '\\')
    };
    for run in text.text.split(|letter: char| !is_inside(letter)) {
        if run.len() >= HEX && run.bytes().all(|byte| byte.is_ascii_hexdigit())
            || is_base64(run)
            || is_escaped(run)
        {
            findings.push(finding(
                "encoded-text",
                text,
                run,
                "A long encoded piece: a definition explains a tool, and has no need of text that cannot be read.",
            ));
            return;
        }
    }
}

/// Long, of mixed letters and digits, and no path or word with dashes.
fn is_base64(run: &str) -> bool {
    let run = run.trim_end_matches('=');
    run.len() >= BASE64
        && run.bytes().filter(|byte| matches!(byte, b'/' | b'-' | b'_' | b'+')).count() * 12 < run.len()
        && run.bytes().any(|byte| byte.is_ascii_digit())
        && run.bytes().any(|byte| byte.is_ascii_lowercase())
        && run.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// `\u0049\u0067…`, `%49%67…`, `\x49\x67…`: letters that could have been written as such.
fn is_escaped(run: &str) -> bool {
    ["\\u00", "\\x", "%"].iter().any(|mark| run.matches(mark).count() >= 12)
}

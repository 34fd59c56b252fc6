//! Characters that a person does not see and a model reads.

use super::{ScanFinding, Text, finding};

/// A kind of characters, and what is said of it.
struct CharacterKind {
    code: &'static str,
    holds: fn(char) -> bool,
    explanation: &'static str,
}

const KINDS: &[CharacterKind] = &[
    CharacterKind {
        code: "tag-characters",
        holds: is_tag,
        explanation: "Unicode tag characters: a second text that no screen shows and that a model can read.",
    },
    CharacterKind {
        code: "bidi-control",
        holds: is_bidi,
        explanation: "Characters that turn the direction of writing: what is shown is not what is there.",
    },
    CharacterKind {
        code: "ansi-escape",
        holds: |letter| letter == '\u{1b}' || letter == '\u{9b}',
        explanation: "An escape sequence for terminals: it can hide or overwrite what a person reads there.",
    },
    CharacterKind {
        code: "control-character",
        holds: |letter| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t' | '\u{1b}' | '\u{9b}'),
        explanation: "A control character, which has no place in a text for people.",
    },
];

pub(super) fn scan(text: &Text<'_>, findings: &mut Vec<ScanFinding>) {
    if text.text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\r' | b'\t')) {
        return;
    }
    for kind in KINDS {
        if let Some(at) = text.text.find(kind.holds) {
            if kind.code == "tag-characters" && is_flag(text.text, at) {
                continue;
            }
            findings.push(finding(kind.code, text, around(text.text, at), kind.explanation));
        }
    }
    if let Some(at) = invisible(text.text) {
        findings.push(finding(
            "invisible-characters",
            text,
            around(text.text, at),
            "Characters without width between visible ones: they hide words from a person or break them up for a filter.",
        ));
    }
}

/// Flags of regions are written with tags after a black flag.
fn is_flag(text: &str, at: usize) -> bool {
    text[..at].ends_with('\u{1f3f4}')
}

fn is_tag(letter: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&letter)
}

fn is_bidi(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

fn is_zero_width(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{180e}' | '\u{115f}'
        | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}' | '\u{fff9}'..='\u{fffb}')
}

pub(super) fn is_hidden(letter: char) -> bool {
    is_tag(letter) || is_bidi(letter) || is_zero_width(letter)
}

/// The first that joins no emoji and no letters of a script that needs it, and is no mark at the very start.
fn invisible(text: &str) -> Option<usize> {
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let is_joiner = matches!(letter, '\u{200d}' | '\u{200c}');
        let joins =
            is_joiner && before.is_some_and(|before: char| !before.is_ascii() && !is_zero_width(before));
        if is_zero_width(letter) && !joins && !(at == 0 && letter == '\u{feff}') {
            return Some(at);
        }
        before = Some(letter);
    }
    None
}

/// The piece around a place.
fn around(text: &str, at: usize) -> &str {
    let start = text[..at].char_indices().rev().take(24).last().map_or(at, |(start, _)| start);
    let end = text[at..].char_indices().nth(24).map_or(text.len(), |(end, _)| at + end);
    &text[start..end]
}

//! Comments of a JSON text: where they stand, and to which entry of a map or a list they belong.

use std::ops::Range;

use super::lines::line_ends;
use super::{Document, Node};

/// The texts in quotes and the comments, a line comment without its line end. Total: any text has an answer.
fn lexemes(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text.get(at..)?.find(['"', '/'])?;
            let rest = &text[at..];
            let length = if rest.starts_with('"') { Some(string_length(rest)) } else { length(rest) };
            let start = at;
            at += length.unwrap_or(1);
            if length.is_some() {
                return Some(start..at);
            }
        }
    })
}

pub(super) fn all(text: &str) -> impl Iterator<Item = Range<usize>> {
    lexemes(text).filter(|range| text[range.start..].starts_with('/'))
}

/// The words of the comments, as they are written.
pub fn texts(text: &str) -> Vec<&str> {
    all(text).map(|range| text[range].trim_end()).collect()
}

/// The length of the comment that starts here; a line comment's without its line end.
pub(super) fn length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    text.strip_prefix("/*")?.find("*/").map(|at| at + 4)
}

pub(super) fn is_line_comment(comment: &str) -> bool {
    comment.starts_with("//")
}

/// Does a text in quotes go over the end of a line? The grammar forbids it, the parser below it does not.
pub(super) fn has_broken_string(text: &str) -> bool {
    lexemes(text).any(|range| text[range.start..].starts_with('"') && text[range].contains(['\n', '\r']))
}

/// Is a bracket open in this text?
pub(super) fn opens_bracket(text: &str) -> bool {
    let mut from = 0;
    let opens = |between: &str| between.contains(['{', '[']);
    lexemes(text).any(|range| opens(&text[std::mem::replace(&mut from, range.end)..range.start]))
        || opens(&text[from..])
}

/// The length of the text in quotes that starts here.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The comments that go where their entry goes.
#[derive(Debug, Default)]
pub(super) struct Attached {
    /// Above it or right before it, without a blank line between.
    pub(super) lead: Vec<Range<usize>>,
    /// After it on the same line.
    pub(super) trail: Vec<Range<usize>>,
}

impl Document {
    pub(super) fn attached(&self, whole: &Node, position: usize) -> Attached {
        let parts = whole.parts();
        let Some(part) = parts.get(position) else { return Attached::default() };
        let from = self.behind_previous(whole, &parts, position);
        Attached {
            lead: lead(&self.text, from, part.start),
            trail: trail(&self.text, part.end, whole.span.end - 1),
        }
    }
}

fn lead(text: &str, from: usize, start: usize) -> Vec<Range<usize>> {
    let between = text.get(from..start).unwrap_or("");
    let mut found: Vec<Range<usize>> = all(between).map(|r| r.start + from..r.end + from).collect();
    // On the line of what comes before, with the entry on a later line: that one's comment.
    found.retain(|c| text[from..c.start].contains('\n') || !text[c.end..start].contains('\n'));
    let mut next = start;
    let mut kept = found.len();
    for (i, comment) in found.iter().enumerate().rev() {
        if text[comment.end..next].matches('\n').count() > 1 {
            break;
        }
        (next, kept) = (comment.start, i);
    }
    found.split_off(kept)
}

fn trail(text: &str, end: usize, close: usize) -> Vec<Range<usize>> {
    let (mut at, mut comma) = (end, false);
    let mut found: Vec<Range<usize>> = Vec::new();
    // How many of them stand before the comma: these are the entry's in any case.
    let mut own = 0;
    while at < close {
        let rest = &text[at..close];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        at += rest.len() - trimmed.len();
        if trimmed.starts_with(',') && !comma {
            (comma, own) = (true, found.len());
            at += 1;
        } else if let Some(length) = length(trimmed).filter(|l| !trimmed[..*l].contains('\n')) {
            found.push(at..at + length);
            at += length;
        } else {
            break;
        }
    }
    let to_the_end = at >= close || line_ends(&text[at..]);
    if comma && !to_the_end {
        found.truncate(own);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_between_strings_that_look_like_them() {
        let text = "{ // one\r\n \"a//\\\"/*\": \"/* no */\", /* two\n */ \"b\": 1 } // three";
        assert_eq!(texts(text), ["// one", "/* two\n */", "// three"]);
        assert_eq!(texts("\"open // no"), Vec::<&str>::new());
        assert_eq!(texts("/* open"), Vec::<&str>::new());
        assert_eq!(texts("/ // x"), ["// x"]);
    }

    #[test]
    fn a_comment_belongs_to_the_entry_above_or_beside_it() {
        let text =
            "[ // open\n  // section\n\n  // about 1\n  1, // one\n  2 /* two */, /* three */ 3\n  // end\n]";
        let Ok(document) = Document::parse(crate::Syntax::Jsonc, text.as_bytes()) else { panic!("no JSON") };
        let shown = |i| {
            let attached = document.attached(&document.root, i);
            let words = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|r| &text[r]).collect::<Vec<_>>();
            (words(attached.lead), words(attached.trail))
        };
        assert_eq!(shown(0), (vec!["// about 1"], vec!["// one"]));
        assert_eq!(shown(1), (vec![], vec!["/* two */"]));
        assert_eq!(shown(2), (vec!["/* three */"], vec![]));
        assert_eq!(shown(3), (vec![], vec![]));
    }
}

//! Comments of a text: where they stand, and to which entry of an object or a list they belong.

use std::ops::Range;

use super::layout::Container;

/// Every comment, without the line end of a line comment. Total: any text has an answer.
pub(super) fn all(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = text.get(at..).and_then(|rest| rest.find(['"', '/'])) {
        at += step;
        let rest = &text[at..];
        at += if rest.starts_with('"') {
            string_length(rest)
        } else if let Some(length) = length(rest) {
            found.push(at..at + length);
            length
        } else {
            1
        };
    }
    found
}

/// The words of the comments, as they are written.
pub(super) fn texts(text: &str) -> Vec<&str> {
    all(text).into_iter().map(|range| text[range].trim_end()).collect()
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
    let mut at = 0;
    while let Some(step) = text.get(at..).and_then(|rest| rest.find(['"', '/'])) {
        at += step;
        let rest = &text[at..];
        let length = if rest.starts_with('"') { string_length(rest) } else { length(rest).unwrap_or(1) };
        if rest.starts_with('"') && rest[..length].contains(['\n', '\r']) {
            return true;
        }
        at += length;
    }
    false
}

/// The length of the text in quotes that starts here.
pub(super) fn string_length(text: &str) -> usize {
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

/// The comma that follows, past blanks and comments.
pub(super) fn comma_after(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with(',') {
            return Some(at);
        }
        at += length(trimmed)?;
    }
}

/// Is there nothing more on this line?
pub(super) fn line_ends(text: &str) -> bool {
    let rest = text.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', '\r'])
}

/// The comments that go where their entry goes.
#[derive(Debug, Default)]
pub(super) struct Attached {
    /// Above it or right before it, without a blank line between.
    pub(super) lead: Vec<Range<usize>>,
    /// After it on the same line.
    pub(super) trail: Vec<Range<usize>>,
}

impl Attached {
    pub(super) fn to(text: &str, container: &Container, position: usize) -> Attached {
        let Some(&(start, end)) = container.entries.get(position) else { return Attached::default() };
        let before = position.checked_sub(1).and_then(|i| container.entries.get(i));
        let from = match before {
            Some((_, end)) => comma_after(text, *end).map_or(*end, |comma| comma + 1),
            None => container.open + 1,
        };
        Attached { lead: lead(text, from, start), trail: trail(text, end, container.close) }
    }
}

fn lead(text: &str, from: usize, start: usize) -> Vec<Range<usize>> {
    let between = text.get(from..start).unwrap_or("");
    let mut found: Vec<Range<usize>> =
        all(between).into_iter().map(|r| r.start + from..r.end + from).collect();
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
        let at = |s: &str| text.find(s).unwrap_or(0);
        let (one, two, three) = (at("\n  1,") + 3, at("2 /*"), at("3\n"));
        let entries = vec![(one, one + 1), (two, two + 1), (three, three + 1)];
        let container = Container { open: 0, close: text.len() - 1, entries };
        let shown = |i| {
            let attached = Attached::to(text, &container, i);
            let words = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|r| &text[r]).collect::<Vec<_>>();
            (words(attached.lead), words(attached.trail))
        };
        assert_eq!(shown(0), (vec!["// about 1"], vec!["// one"]));
        assert_eq!(shown(1), (vec![], vec!["/* two */"]));
        assert_eq!(shown(2), (vec!["/* three */"], vec![]));
        assert_eq!(shown(3), (vec![], vec![]));
    }
}

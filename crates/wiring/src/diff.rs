//! Two texts line by line, in the form that every reader of patches knows; and word by word, for texts of few lines.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// How long the shortest way is looked for. A longer one is as true.
const SEARCH: Duration = Duration::from_millis(500);

/// A unified diff; empty when the texts are equal. `names` stand in its head.
pub fn unified(before: &str, after: &str, names: (&str, &str)) -> String {
    // Cut here: the library takes a bare CR for the end of a line, and JSON does not.
    let (old, new) = (lines(before), lines(after));
    let diff = TextDiff::configure().newline_terminated(true).timeout(SEARCH).diff_slices(&old, &new);
    diff.unified_diff().header(names.0, names.1).to_string()
}

/// A stretch of two texts that were held against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffSpan {
    Same(String),
    /// Of the first text alone.
    Gone(String),
    /// Of the second text alone.
    Added(String),
}

/// What leads from one text to the other, words at a time.
pub fn by_words(before: &str, after: &str) -> Vec<DiffSpan> {
    let diff = TextDiff::configure().timeout(SEARCH).diff_words(before, after);
    let mut parts: Vec<DiffSpan> = Vec::new();
    for change in diff.iter_all_changes() {
        let word = change.value();
        match (change.tag(), parts.last_mut()) {
            (ChangeTag::Equal, Some(DiffSpan::Same(text)))
            | (ChangeTag::Delete, Some(DiffSpan::Gone(text)))
            | (ChangeTag::Insert, Some(DiffSpan::Added(text))) => text.push_str(word),
            (ChangeTag::Equal, _) => parts.push(DiffSpan::Same(word.to_owned())),
            (ChangeTag::Delete, _) => parts.push(DiffSpan::Gone(word.to_owned())),
            (ChangeTag::Insert, _) => parts.push(DiffSpan::Added(word.to_owned())),
        }
    }
    parts
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_unified_diff_shows_changes_with_three_lines_around() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
        let after = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\nl\nm\nn";
        let head = "--- before\n+++ after\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n";
        let end = "@@ -11,3 +11,4 @@\n k\n l\n m\n+n\n\\ No newline at end of file\n";
        assert_eq!(unified(before, after, ("before", "after")), format!("{head}{end}"));
        for (before, after, said) in [
            ("x\n", "x\n", ""),
            ("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n"),
            ("x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n"),
            ("x\r\n", "x\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\r\n+x\n"),
            ("x\ry\n", "x\rz\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\ry\n+x\rz\n"),
        ] {
            assert_eq!(unified(before, after, ("a", "b")), said);
        }
    }

    #[test]
    fn words_that_are_added_stand_by_themselves() {
        let same = |text: &str| DiffSpan::Same(text.to_owned());
        let parts = by_words("Reads a page.\n", "Reads a whole page.\n");
        assert_eq!(parts, [same("Reads a "), DiffSpan::Added("whole ".to_owned()), same("page.\n")]);
        assert_eq!(by_words("x", "x"), [same("x")]);
    }

    proptest! {
        #[test]
        fn the_parts_are_both_texts(a in "[ab .\n]{0,40}", b in "[abc .\n]{0,40}") {
            let (mut before, mut after) = (String::new(), String::new());
            for part in by_words(&a, &b) {
                match part {
                    DiffSpan::Same(text) => { before.push_str(&text); after.push_str(&text); }
                    DiffSpan::Gone(text) => before.push_str(&text),
                    DiffSpan::Added(text) => after.push_str(&text),
                }
            }
            prop_assert_eq!((before, after), (a, b));
        }

        #[test]
        fn a_unified_diff_leads_from_one_text_to_the_other(a in "([ab]?\n){0,12}[ab]?", b in "([abc]?\r?\n){0,12}[ab]?") {
            prop_assert_eq!(patched(&a, &unified(&a, &b, ("a", "b"))), b);
        }
    }

    /// Applies a diff that was made by `unified`.
    fn patched(before: &str, diff: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut out, mut done) = (String::new(), 0);
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            if let Some(head) = line.strip_prefix("@@ -") {
                let span: Vec<usize> =
                    head.split(' ').next().unwrap().split(',').map(|n| n.parse().unwrap()).collect();
                let start = if span.get(1) == Some(&0) { span[0] } else { span[0] - 1 };
                old[done..start].iter().for_each(|line| out.push_str(line));
                done = start;
                continue;
            }
            let (sign, mut rest) = line.split_at(1);
            if lines.next_if(|l| l.starts_with('\\')).is_some() {
                rest = rest.strip_suffix('\n').unwrap();
            }
            if sign != "+" {
                assert_eq!(old[done], rest);
                done += 1;
            }
            if sign != "-" {
                out.push_str(rest);
            }
        }
        old[done..].iter().for_each(|line| out.push_str(line));
        out
    }
}

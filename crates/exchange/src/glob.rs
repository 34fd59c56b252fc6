//! Patterns with `*` (any text) and `?` (one character): what is left of them below a prefix, and whether two can match one name.

use std::collections::BTreeSet;

pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// What the pattern still wants after it has matched `prefix`; empty when it cannot begin like that.
pub(crate) fn rests(pattern: &str, prefix: &str) -> Vec<String> {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut at = with_skips(&pattern, BTreeSet::from([0]));
    for c in prefix.chars() {
        let mut next = BTreeSet::new();
        for &p in &at {
            match pattern.get(p) {
                Some('*') => next.insert(p),
                Some(&want) if want == '?' || want == c => next.insert(p + 1),
                _ => false,
            };
        }
        at = with_skips(&pattern, next);
    }
    // A rest behind a `*` is part of the one before it.
    let covered = |p: &usize| *p > 0 && pattern[p - 1] == '*' && at.contains(&(p - 1));
    at.iter().filter(|p| !covered(p)).map(|&p| pattern[p..].iter().collect()).collect()
}

fn with_skips(pattern: &[char], mut at: BTreeSet<usize>) -> BTreeSet<usize> {
    for (p, c) in pattern.iter().enumerate() {
        if *c == '*' && at.contains(&p) {
            at.insert(p + 1);
        }
    }
    at
}

/// How much of a name it spells out: of two patterns that match, the one with more of it counts.
pub(crate) fn literals(pattern: &str) -> usize {
    pattern.chars().filter(|c| !matches!(c, '*' | '?')).count()
}

/// Is there a name that both match?
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    if !a.contains('*') && !b.contains('*') {
        let alike = |(x, y): (char, char)| x == y || x == '?' || y == '?';
        return a.chars().zip(b.chars()).all(alike) && a.chars().count() == b.chars().count();
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // `row[j]`: can what is left of `a` and `b[j..]` meet? From the end to the beginning, a row for each place in `a`.
    let mut below = vec![false; b.len() + 1];
    for i in (0..=a.len()).rev() {
        let mut row = vec![false; b.len() + 1];
        for j in (0..=b.len()).rev() {
            row[j] = match (a.get(i), b.get(j)) {
                (None, None) => true,
                (Some('*'), Some('*')) => below[j] || row[j + 1],
                (Some('*'), other) => below[j] || (other.is_some() && row[j + 1]),
                (other, Some('*')) => row[j + 1] || (other.is_some() && below[j]),
                (Some(x), Some(y)) => (x == y || *x == '?' || *y == '?') && below[j + 1],
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::{overlap, rests};

    #[test]
    fn rests_are_what_remains_below_a_prefix() {
        assert_eq!(rests("mcp__s__get_*", "mcp__s__"), ["get_*"]);
        assert_eq!(rests("mcp__*", "mcp__s__"), ["*"]);
        assert_eq!(rests("mcp__*__x", "mcp__s__"), ["*__x", "_x", "x"]);
        assert_eq!(rests("mcp__*delete*", "mcp__s__"), ["*delete*"]);
        assert!(rests("mcp__t__x", "mcp__s__").is_empty());
    }

    #[test]
    fn overlap_finds_a_common_name() {
        for (a, b) in [("get_*", "*_x"), ("*", "a"), ("a?", "?b"), ("a*b", "ab"), ("", "*"), ("a?c", "?bc")] {
            assert!(overlap(a, b) && overlap(b, a), "{a} {b}");
        }
        for (a, b) in [("get_*", "set_*"), ("a", "b"), ("a?", "a"), ("*x", "*y"), ("a?c", "abd")] {
            assert!(!overlap(a, b) && !overlap(b, a), "{a} {b}");
        }
    }
}

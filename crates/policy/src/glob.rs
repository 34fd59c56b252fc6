//! Names with wildcards: `*` stands for any run of characters, `?` for one.
//!
//! Besides matching it answers what comparing two policies needs: does one pattern cover another, can both match one name.

use std::cmp::Reverse;

use crate::name;

/// Does the pattern, or the plain name, speak of this tool?
pub fn fits(pattern: &str, tool: &str) -> bool {
    pattern == tool || (name::is_pattern(pattern) && Glob::new(pattern).matches(tool))
}

#[derive(Clone, Debug)]
pub(crate) struct Glob {
    text: String,
    pattern: Vec<char>,
    folded: Vec<char>,
    /// Folding changes nothing about it.
    plain: bool,
    /// How many of its characters stand for themselves.
    literals: usize,
}

impl Glob {
    pub(crate) fn new(text: &str) -> Glob {
        let folded = name::folded(text);
        Glob {
            pattern: compile(text),
            folded: compile(&folded),
            plain: folded == text,
            literals: text.chars().filter(|c| !is_wild(*c)).count(),
            text: text.to_owned(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The more of a name a pattern spells out, the sooner it counts; of equals, the text decides.
    pub(crate) fn rank(&self) -> (Reverse<usize>, &str) {
        (Reverse(self.literals), &self.text)
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        matches(&self.pattern, name)
    }

    /// Would a careless reader take this folded name for one that the pattern speaks of?
    pub(crate) fn matches_folded(&self, folded: &str) -> bool {
        matches(&self.folded, folded)
    }

    /// Matches the name only as a careless reader sees it.
    pub(crate) fn is_imitated_by(&self, name: &str, folded: &str) -> bool {
        // Most names and patterns are in folded form already, and then both readings are one.
        let same = self.plain && folded == name;
        !same && self.matches_folded(folded) && !self.matches(name)
    }

    /// Matches every name there is.
    pub(crate) fn is_everything(&self) -> bool {
        self.pattern == ['*']
    }

    /// How much work it is to compare it with another one, in units of a plain name's.
    pub(crate) fn effort(&self, other: &Glob) -> usize {
        1 + self.pattern.len() * other.pattern.len() / 256
    }

    /// Every name that `other` matches, this one matches too. May miss some odd pairs, never claims too much.
    pub(crate) fn covers(&self, other: &Glob) -> bool {
        covers(&self.pattern, &other.pattern)
    }

    /// Is there a name that both match?
    pub(crate) fn meets(&self, other: &Glob) -> bool {
        meets(&self.pattern, &other.pattern)
    }

    pub(crate) fn covers_folded(&self, other: &Glob) -> bool {
        covers(&self.folded, &other.folded)
    }

    pub(crate) fn meets_folded(&self, other: &Glob) -> bool {
        meets(&self.folded, &other.folded)
    }
}

fn is_wild(c: char) -> bool {
    matches!(c, '*' | '?')
}

/// A run of wildcards means the same in any order; written in one order, equal meanings look equal.
fn compile(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut star = false;
    for c in text.chars() {
        match c {
            '*' => star = true,
            '?' => out.push('?'),
            c => {
                out.extend(std::mem::take(&mut star).then_some('*'));
                out.push(c);
            }
        }
    }
    out.extend(star.then_some('*'));
    out
}

/// Linear in practice: on a mismatch only the last `*` is tried again.
fn matches(pattern: &[char], name: &str) -> bool {
    let (mut p, mut rest) = (0, name.chars());
    let mut retry = None;
    loop {
        let before = rest.clone();
        let Some(c) = rest.next() else { break };
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                retry = Some((p, before.clone()));
                rest = before;
            }
            Some(wanted) if *wanted == '?' || *wanted == c => p += 1,
            _ => match &mut retry {
                Some((after_star, from)) => {
                    from.next();
                    (p, rest) = (*after_star, from.clone());
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// As `matches`, over a pattern's own characters: its `*` can only be matched by a `*`, its `?` by either wildcard.
fn covers(pattern: &[char], other: &[char]) -> bool {
    let (mut p, mut o) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(c) = other.get(o) {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                retry = Some((p, o));
            }
            Some(wanted) if wanted == c || (*wanted == '?' && *c != '*') => {
                p += 1;
                o += 1;
            }
            _ => match &mut retry {
                Some((after_star, from)) => {
                    *from += 1;
                    (p, o) = (*after_star, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// From the ends to the beginnings: can the rest of both match the same text?
fn meets(a: &[char], b: &[char]) -> bool {
    // Literal beginnings that differ settle nearly every pair.
    let differ = |(x, y): (&char, &char)| !is_wild(*x) && !is_wild(*y) && x != y;
    let literal = |(x, y): &(&char, &char)| !is_wild(**x) && !is_wild(**y);
    if a.iter().zip(b).take_while(literal).any(differ)
        || a.iter().rev().zip(b.iter().rev()).take_while(literal).any(differ)
    {
        return false;
    }
    let mut below = vec![false; b.len() + 1];
    for i in (0..=a.len()).rev() {
        let mut row = vec![false; b.len() + 1];
        for j in (0..=b.len()).rev() {
            row[j] = match (a.get(i), b.get(j)) {
                (None, None) => true,
                (Some('*'), other) => below[j] || (other.is_some() && row[j + 1]),
                (_, Some('*')) => row[j + 1] || (i < a.len() && below[j]),
                (Some(x), Some(y)) => (*x == '?' || *y == '?' || x == y) && below[j + 1],
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::Glob;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).matches(name)
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "x"),
            ("a*", "a"),
            ("a*c", "abc"),
            ("a*c", "abcbc"),
            ("?b", "ab"),
            ("?", "é"),
            ("*é*", "größé!"),
            ("*_get_*", "x_get_y"),
            ("a*b*c", "a-b-b-c"),
            ("*?", "x"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a*", "ba"), ("a*c", "abcd"), ("?", ""), ("?", "ab"), ("", "a"), ("a?c", "ac"), ("*?", "")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_not() {
        assert!(!matches(&"*a".repeat(400), &format!("{}b", "a".repeat(1000))));
    }

    #[test]
    fn an_imitation_matches_only_in_another_spelling() {
        let glob = Glob::new("get_*");
        let imitated = |name: &str| glob.is_imitated_by(name, &crate::name::folded(name));
        for name in ["GET_x", "get\u{200b}_x", "ｇet_x", " get_x"] {
            assert!(imitated(name), "{name:?}");
        }
        for name in ["get_x", "get_X", "get", "forget_x", "Forget"] {
            assert!(!imitated(name), "{name:?}");
        }
    }

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        for (wide, narrow) in [
            ("*", "a*"),
            ("a*", "ab*"),
            ("a*", "abc"),
            ("?*", "a?"),
            ("*_x", "a*_x"),
            ("a?*", "a*?"),
            ("*", ""),
        ] {
            assert!(Glob::new(wide).covers(&Glob::new(narrow)), "{wide} {narrow}");
        }
        for (wide, narrow) in [("a*", "*"), ("a?", "a*"), ("ab*", "a*"), ("?", "*"), ("*a", "a*")] {
            assert!(!Glob::new(wide).covers(&Glob::new(narrow)), "{wide} {narrow}");
        }
    }

    #[test]
    fn patterns_meet_when_one_name_fits_both() {
        for (a, b) in [("a*", "*b"), ("*", "x"), ("a*c", "ab*"), ("?x", "y?"), ("*a*", "*b*"), ("a*", "a")] {
            assert!(Glob::new(a).meets(&Glob::new(b)) && Glob::new(b).meets(&Glob::new(a)), "{a} {b}");
        }
        for (a, b) in [("a*", "b*"), ("*a", "*b"), ("a?", "a"), ("ab", "a"), ("a*b", "a*c"), ("?", "ab")] {
            assert!(!Glob::new(a).meets(&Glob::new(b)) && !Glob::new(b).meets(&Glob::new(a)), "{a} {b}");
        }
    }
}

//! A list of fixed words that is looked for in any case. Every session starts with one, so it is ready at once: an automaton of the
//! same words takes longer to build than all the texts of a start take to read.

pub(crate) struct Words {
    words: Vec<&'static str>,
    /// Which pairs of bytes a word begins with, by their mark; others may have the same.
    beginnings: [u64; MARKS / 64],
}

const MARKS: usize = 4096;

fn mark(one: u8, two: u8) -> usize {
    let (one, two) = (one.to_ascii_lowercase(), two.to_ascii_lowercase());
    (usize::from(one) * 61 + usize::from(two)) % MARKS
}

impl Words {
    /// Words have two bytes at least.
    pub(crate) fn new(words: impl Iterator<Item = &'static str>) -> Words {
        let words: Vec<&str> = words.collect();
        let mut beginnings = [0; MARKS / 64];
        for word in &words {
            debug_assert!(word.len() >= 2, "{word:?} is too short");
            if let [one, two, ..] = word.as_bytes() {
                let mark = mark(*one, *two);
                beginnings[mark / 64] |= 1 << (mark % 64);
            }
        }
        Words { words, beginnings }
    }

    /// Where which of them stands, by its number.
    pub(crate) fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
        let bytes = text.as_bytes();
        let may_begin = |pair: &[u8]| {
            let mark = mark(pair[0], pair[1]);
            self.beginnings[mark / 64] & 1 << (mark % 64) != 0
        };
        let places = bytes.windows(2).enumerate().filter(move |(_, pair)| may_begin(pair)).map(|(at, _)| at);
        places.flat_map(move |at| {
            let begins = move |word: &&str| {
                let there = bytes.get(at..at + word.len());
                there.is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()))
            };
            let all = self.words.iter().enumerate();
            all.filter(move |(_, word)| begins(word)).map(move |(number, _)| (at, number))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_stand_and_whatever_their_case() {
        let words = Words::new(["pass", "://", "assword"].into_iter());
        let found = |text: &str| words.find(text).collect::<Vec<_>>();
        assert_eq!(found("my PassWord"), [(3, 0), (4, 2)]);
        assert_eq!(found("http://ü://"), [(4, 1), (9, 1)]);
        assert_eq!(found("pas"), []);
        assert_eq!(found("p"), []);
        assert_eq!(found(""), []);
    }
}

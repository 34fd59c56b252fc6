//! Words: how a text is cut into them, the same for what is indexed, for what is not yet, and for what is asked.
//!
//! A word is a run of letters and digits, in lower case; signs only separate. A name in camel case counts as a whole and
//! by its parts, and each sign of a script that is written without blanks is a word. So `start_codegen` finds
//! `start_codegen_session`, `user` finds `getUserName`, and `serna` finds neither: words match from their beginning.

/// Longer words are cut, in the index and in questions alike.
const LONGEST: usize = 64;

/// Words of a question that count; more do not find better, and each costs.
const ASKED: usize = 64;

/// What somebody asks for: all of these words, the last of them perhaps only begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub(super) whole: Vec<String>,
    pub(super) begun: Option<String>,
}

/// A text to look for words in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SearchedText<'t> {
    Plain(&'t str),
    /// JSON, perhaps cut: escapes stand for other characters.
    Json(&'t str),
}

impl Words {
    /// `None` if the text has no word at all.
    pub fn of(text: &str) -> Option<Words> {
        let mut whole: Vec<String> = Vec::new();
        let mut last = String::new();
        cut(SearchedText::Plain(text), NameParts::Whole, &mut |word| {
            last.clear();
            last.push_str(word);
            if whole.len() < ASKED && !whole.iter().any(|known| known == word) {
                whole.push(word.to_owned());
            }
        });
        // A word that something follows is done.
        let begun = text.chars().next_back().is_some_and(char::is_alphanumeric).then_some(last);
        if let Some(begun) = &begun {
            whole.retain(|word| word != begun);
        }
        (!whole.is_empty() || begun.is_some()).then_some(Words { whole, begun })
    }

    /// Are all of them in these texts together?
    pub(crate) fn are_in(&self, texts: &[SearchedText<'_>]) -> bool {
        let mut missing: Vec<&str> = self.whole.iter().map(String::as_str).collect();
        let mut begun = self.begun.as_deref();
        for text in texts {
            if missing.is_empty() && begun.is_none() {
                break;
            }
            cut(*text, NameParts::Also, &mut |word| {
                missing.retain(|missing| *missing != word);
                if begun.is_some_and(|begun| word.starts_with(begun)) {
                    begun = None;
                }
            });
        }
        missing.is_empty() && begun.is_none()
    }

    /// The same for one plain text.
    pub fn are_in_text(&self, text: &str) -> bool {
        self.are_in(&[SearchedText::Plain(text)])
    }
}

/// What becomes of names in camel case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameParts {
    Whole,
    Also,
}

/// Calls `each` with every word, in order, also more than once.
pub(super) fn cut(text: SearchedText<'_>, parts: NameParts, each: &mut dyn FnMut(&str)) {
    let mut cutter = Cutter { word: String::new(), part: 0, split: false, small: false, parts, each };
    match text {
        SearchedText::Plain(text) => text.chars().for_each(|c| cutter.take(c)),
        SearchedText::Json(text) => unescaped(text, &mut |c| cutter.take(c)),
    }
    cutter.end();
}

struct Cutter<'e> {
    word: String,
    /// Where its last part begins.
    part: usize,
    split: bool,
    /// The last character was no capital.
    small: bool,
    parts: NameParts,
    each: &'e mut dyn FnMut(&str),
}

impl Cutter<'_> {
    fn take(&mut self, c: char) {
        if !c.is_alphanumeric() {
            return self.end();
        }
        if is_written_without_blanks(c) {
            self.end();
            return (self.each)(c.encode_utf8(&mut [0; 4]));
        }
        if self.word.len() + 4 > LONGEST {
            return;
        }
        let capital = c.is_uppercase();
        if capital && self.small && self.parts == NameParts::Also && !self.word.is_empty() {
            (self.each)(&self.word[self.part..]);
            self.part = self.word.len();
            self.split = true;
        }
        self.small = !capital;
        // Some capitals have more than one small letter, and a mark among them would end the word.
        self.word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
    }

    fn end(&mut self) {
        if self.word.is_empty() {
            return;
        }
        if self.split {
            (self.each)(&self.word[self.part..]);
        }
        (self.each)(&self.word);
        self.word.clear();
        self.part = 0;
        self.split = false;
        self.small = false;
    }
}

/// Chinese, Japanese and Korean.
fn is_written_without_blanks(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The characters that JSON means, with a blank for what is no letter anyway.
fn unescaped(text: &str, each: &mut dyn FnMut(char)) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            each(c);
            continue;
        }
        let Some('u') = chars.next() else {
            each(' ');
            continue;
        };
        let rest = chars.as_str();
        let (meant, length) = match (unit(rest), rest.get(4..).and_then(|rest| rest.strip_prefix("\\u"))) {
            (Some(high @ 0xd800..0xdc00), Some(low)) => match unit(low) {
                Some(low @ 0xdc00..0xe000) => {
                    (char::from_u32(0x10000 + ((high - 0xd800) << 10) + low - 0xdc00), 10)
                }
                _ => (None, 4),
            },
            (Some(unit), _) => (char::from_u32(unit), 4),
            (None, _) => (None, 0),
        };
        each(meant.unwrap_or(' '));
        chars = rest[length..].chars();
    }
}

fn unit(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: SearchedText<'_>) -> Vec<String> {
        let mut found = Vec::new();
        cut(text, NameParts::Also, &mut |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn texts_are_cut_at_every_sign() {
        let cases: &[(&str, &[&str])] = &[
            ("start_codegen_session", &["start", "codegen", "session"]),
            ("https://Example.com/a?b=1", &["https", "example", "com", "a", "b", "1"]),
            ("getUserName", &["get", "user", "name", "getusername"]),
            ("HTTPServer", &["httpserver"]),
            ("Größe äh", &["größe", "äh"]),
            ("日本 x", &["日", "本", "x"]),
            ("!?", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(SearchedText::Plain(text)), *expected, "{text}");
        }
    }

    #[test]
    fn escapes_are_what_they_mean() {
        let cases: &[(&str, &[&str])] = &[
            (r#"{"a":"one\ntwo"}"#, &["a", "one", "two"]),
            (r#""gr\u00fcn""#, &["grün"]),
            (r#""\ud83d\ude00x""#, &["x"]),
            (r#""\ud800x \u12""#, &["x", "12"]),
            (r#""C:\\new""#, &["c", "new"]),
            (r"\u", &[]),
            (r"\", &[]),
            (r"\uéé12", &["éé12"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(SearchedText::Json(text)), *expected, "{text}");
        }
        assert_eq!(words(SearchedText::Plain(r"C:\new")), ["c", "new"]);
    }

    #[test]
    fn all_words_must_be_there_and_the_last_may_be_begun() {
        let is_in = |asked: &str, text: &str| Words::of(asked).is_some_and(|words| words.are_in_text(text));
        assert!(is_in("navig", "playwright_navigate"));
        assert!(!is_in("navig ", "playwright_navigate"), "a blank ends the word");
        assert!(is_in("navigate playwr", "playwright_navigate"));
        assert!(!is_in("vigate", "playwright_navigate"), "words match from their beginning");
        assert!(is_in("file:", "file:///etc/passwd"));
        assert!(!is_in("file other", "file"));
        assert!(is_in("a a", "a"));
        assert!(Words::of("\"*()-").is_none());
    }
}

//! Words of names and of sentences, and the verb behind an inflected form.

use std::borrow::Cow;

/// How a word was written in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// delete
    Base,
    /// deletes
    ThirdPerson,
    /// deleting
    Gerund,
    /// deleted
    Past,
}

/// A word of a sentence, in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// A comma, colon, bracket, slash or dash stands before it.
    pub(crate) after_break: bool,
    /// Written in capitals: an HTTP method or a keyword of SQL, perhaps.
    pub(crate) is_upper: bool,
}

/// `playwright_get`, `listApis`, `qdrant-find`, `API.post.search`, `getHTTPStatus` as words in lower case.
pub(crate) fn split_name(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().take(200).collect();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            flush(&mut word, &mut words);
            continue;
        }
        if letter.is_uppercase() {
            let before = at.checked_sub(1).map(|before| letters[before]);
            let next_is_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
            let after_lower = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
            let ends_acronym = before.is_some_and(char::is_uppercase) && next_is_lower;
            if after_lower || ends_acronym {
                flush(&mut word, &mut words);
            }
        }
        word.extend(letter.to_lowercase());
    }
    flush(&mut word, &mut words);
    words
}

fn flush(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// How much of a description is read for its verbs. What decides stands at the beginning.
const READ_UP_TO: usize = 6_000;

/// The sentences of a description.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let text = cut(text, READ_UP_TO);
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let ends = match byte {
            b'\n' | b';' => true,
            // Not in "v1.2", "e.g." or ".env".
            b'.' | b'!' | b'?' => {
                bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace) && !is_abbreviation(&text[start..at])
            }
            _ => false,
        };
        if ends {
            push_sentence(&text[start..=at], &mut found);
            start = at + 1;
        }
    }
    push_sentence(&text[start..], &mut found);
    found
}

fn push_sentence<'a>(piece: &'a str, found: &mut Vec<&'a str>) {
    let piece = piece.trim().trim_end_matches(';');
    if piece.chars().any(char::is_alphanumeric) {
        found.push(piece);
    }
}

fn is_abbreviation(before: &str) -> bool {
    let last =
        before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    matches!(last.to_ascii_lowercase().as_str(), "e.g" | "i.e" | "etc" | "vs" | "incl" | "approx")
}

/// The first bytes of a text, whole characters only.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The words of one sentence. "read-only", "don't" and "/etc/passwd" are one word each; "create/update" is two.
pub(crate) fn split_sentence(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut after_break = false;
    for piece in sentence.split_whitespace() {
        let starts_broken = piece.starts_with(['(', '[', '—', '–', '"', '“', ':', '-', '*', '•']);
        after_break |= starts_broken;
        let inner = piece.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '/');
        let is_path = inner.starts_with('/') || inner.contains("://") || inner.contains("/.");
        let parts: Vec<&str> =
            if is_path { vec![inner] } else { inner.split(['/', '|', '—', ',']).collect() };
        for (nth, part) in parts.iter().enumerate() {
            let part = part.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '/');
            if part.is_empty() {
                continue;
            }
            words.push(Word {
                text: part.to_lowercase().replace('’', "'"),
                after_break: after_break || nth > 0,
                is_upper: part.len() > 1 && part.chars().all(|letter| letter.is_uppercase()),
            });
            after_break = false;
        }
        after_break =
            piece.ends_with([',', ':', ')', ']', '—', '–', '"', '”']) || (inner.is_empty() && piece != "&");
        if piece == "&" {
            words.push(Word { text: "and".to_owned(), after_break: false, is_upper: false });
        }
    }
    words
}

/// Forms that a word may be of, with the verb each would come from, the likeliest first.
pub(crate) fn lemmas(word: &str) -> impl Iterator<Item = (Cow<'_, str>, Form)> {
    let american = american(word);
    let base = american.clone();
    let strip = move |end: &str| base.strip_suffix(end).map(str::to_owned);
    let mut found: Vec<(Cow<'_, str>, Form)> = vec![(american, Form::Base)];
    let mut add = |stem: String, form| found.push((Cow::Owned(stem), form));
    if let Some(stem) = strip("ies") {
        add(format!("{stem}y"), Form::ThirdPerson);
    }
    if let Some(stem) = strip("es") {
        add(format!("{stem}e"), Form::ThirdPerson);
        add(stem, Form::ThirdPerson);
    } else if let Some(stem) = strip("s") {
        add(stem, Form::ThirdPerson);
    }
    for (end, form) in [("ing", Form::Gerund), ("ied", Form::Past), ("ed", Form::Past)] {
        let Some(stem) = strip(end) else { continue };
        if end == "ied" {
            add(format!("{stem}y"), form);
            continue;
        }
        add(format!("{stem}e"), form);
        let mut letters = stem.chars().rev();
        if let (Some(last), Some(before)) = (letters.next(), letters.next())
            && last == before
            && last.is_ascii()
        {
            add(stem[..stem.len() - 1].to_owned(), form);
        }
        add(stem, form);
    }
    found.into_iter()
}

/// "analyse", "organise", "initialises" in the spelling of the tables.
fn american(word: &str) -> Cow<'_, str> {
    const KEPT: &[&str] = &[
        "raise",
        "advise",
        "revise",
        "promise",
        "exercise",
        "noise",
        "precise",
        "otherwise",
        "likewise",
        "enterprise",
        "expertise",
        "wise",
        "rise",
        "franchise",
        "merchandise",
        "exercises",
        "raises",
        "supervise",
    ];
    if word.len() < 6 || KEPT.contains(&word) {
        return Cow::Borrowed(word);
    }
    for (british, spelled) in [
        ("yse", "yze"),
        ("ise", "ize"),
        ("ises", "izes"),
        ("yses", "yzes"),
        ("ising", "izing"),
        ("ysing", "yzing"),
        ("ised", "ized"),
    ] {
        if let Some(stem) = word.strip_suffix(british) {
            return Cow::Owned(format!("{stem}{spelled}"));
        }
    }
    Cow::Borrowed(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words_however_they_are_written() {
        for (name, words) in [
            ("playwright_get_visible_text", "playwright get visible text"),
            ("qdrant-find", "qdrant find"),
            ("runSEOAudit", "run seo audit"),
            ("API-post-search", "api post search"),
            ("browser.tabs.closeAll", "browser tabs close all"),
            ("getHTTPStatus2", "get http status2"),
            ("", ""),
            ("___", ""),
        ] {
            assert_eq!(split_name(name).join(" "), words, "{name}");
        }
    }

    #[test]
    fn a_dot_inside_a_word_ends_no_sentence() {
        assert_eq!(sentences("Reads .env files, e.g. v1.2. Then stops!\nNext").len(), 3);
    }

    #[test]
    fn inflected_verbs_lead_back_to_their_verb() {
        for (word, verb) in [
            ("deletes", "delete"),
            ("running", "run"),
            ("copies", "copy"),
            ("organises", "organize"),
            ("fetches", "fetch"),
            ("creating", "create"),
        ] {
            assert!(lemmas(word).any(|(lemma, _)| lemma == verb), "{word}");
        }
    }
}

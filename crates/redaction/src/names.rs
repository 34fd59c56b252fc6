//! Which names say that what they name is secret. Decided by the words in a name, however it is spelled
//! (`apiKey`, `API_KEY`, `api-key`), because lists of whole names are never complete.
//!
//! One table for two questions. The record asks [`class`]: a mask may hide too much. A client's file asks
//! [`is_offered`]: an offer to move something into the keychain must be right, so there the last word decides.

use std::sync::OnceLock;

use crate::vocabulary::{
    ABOUT, COUNTS, DOCUMENTS, HOLDING, IN_NAMES, JOINED, NAMING, NO_TOKEN, NOT_OFFERED, OPEN_KEYS, PHRASES,
    Reach, SETTINGS, Values, WORDS, Word,
};
use crate::words::Words;

/// A longer text is no name.
pub(crate) const LONGEST: usize = 128;
/// A longer text is no selector and no label.
const LONGEST_LABEL: usize = 512;

fn is_worth_a_look(name: &str) -> bool {
    static IN_ANY: OnceLock<Words> = OnceLock::new();
    IN_ANY.get_or_init(|| Words::new(IN_NAMES.iter().copied())).find(name).next().is_some()
}

/// Does a value under this name need masking?
pub(crate) fn is_secret(name: &str) -> bool {
    class(name) != Class::Plain
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Plain,
    /// Texts are secret, numbers are not.
    Text,
    TextAndNumbers,
    /// Whatever is there.
    Everything,
}

/// Does a value under this name need masking, and which values?
pub(crate) fn class(name: &str) -> Class {
    if name.len() > LONGEST || !is_worth_a_look(name) {
        return Class::Plain;
    }
    let words = words(name);
    if words.last().is_some_and(|last| words.len() > 1 && ABOUT.contains(&last.as_str())) {
        return Class::Plain;
    }
    let counted = words.iter().any(|word| NO_TOKEN.contains(&word.as_str()));
    let telling = |word: &String| {
        known(word)
            .filter(|known| matches!(known.reach, Reach::Everywhere | Reach::Names))
            .filter(|known| !(counted && matches!(known.word, "token" | "tokens")))
            .map(|known| known.values)
    };
    let squeezed = squeezed(name);
    let joined = JOINED.iter().find(|joined| squeezed.contains(**joined));
    let values = words.iter().filter_map(telling).chain(phrases(&words)).chain(joined.map(|joined| {
        if joined.contains("pass") || joined.contains("wort") { Values::Numbers } else { Values::Texts }
    }));
    values.fold(Class::Plain, |class, values| match (class, values) {
        (Class::TextAndNumbers, _) | (_, Values::Numbers) => Class::TextAndNumbers,
        _ => Class::Text,
    })
}

/// Is a variable, a flag or a header of this name a secret of a client's file? The last word decides: `GITHUB_TOKEN` is, `TOKEN_FILE` is not.
pub fn is_offered(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let before = words.len().checked_sub(2).and_then(|at| words.get(at)).map(String::as_str);
    if before.is_some_and(|before| COUNTS.contains(&before)) || is_working_folder(name) {
        return false;
    }
    match before {
        Some(before) if last == "key" && OPEN_KEYS.contains(&before) => false,
        Some(before) if SETTINGS.contains(&[before, last]) => true,
        _ => {
            let word = known(last).filter(|word| word.reach != Reach::Selectors);
            word.is_some_and(|word| !NOT_OFFERED.contains(&word.word))
                || JOINED.iter().any(|joined| last.ends_with(joined))
        }
    }
}

/// Every shell sets these two, and there "PWD" is where one works, not a password; in a connection string it is one.
pub(crate) fn is_working_folder(name: &str) -> bool {
    matches!(name, "PWD" | "OLDPWD")
}

fn known(word: &str) -> Option<&'static Word> {
    WORDS.iter().find(|known| known.word == word)
}

/// What the phrases in these words are secret for.
fn phrases(words: &[String]) -> impl Iterator<Item = Values> {
    let spelled = |phrase: &[&str]| {
        words.windows(phrase.len()).any(|words| words.iter().eq(phrase))
            || words.iter().any(|word| {
                let rest = phrase.iter().try_fold(word.as_str(), |rest, part| rest.strip_prefix(part));
                rest == Some("")
            })
    };
    PHRASES.iter().filter(move |(phrase, _)| spelled(phrase)).map(|(_, values)| *values)
}

/// The letters and digits of a name, in lower case.
pub(crate) fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Does this text name a secret field, as a selector, a label or a header would?
pub(crate) fn names_a_secret(text: &str) -> bool {
    if text.len() > LONGEST_LABEL || !is_worth_a_look(text) {
        return false;
    }
    let words = words(text);
    let one_word = !text.contains(char::is_whitespace);
    let selects = is_selector(text);
    let telling = |word: &String| {
        known(word).is_some_and(|known| {
            known.reach == Reach::Everywhere || (selects && known.reach == Reach::Selectors)
        })
    };
    phrases(&words).next().is_some()
        || words.iter().any(telling)
        || JOINED.iter().any(|joined| words.iter().any(|word| word.contains(joined)))
        || (one_word && is_secret(text))
}

/// `#cc`, `.cc`, `[name=cc]`, `input[name="cc"]`, `//input[@id='cc']`.
pub(crate) fn is_selector(text: &str) -> bool {
    text.trim_start().starts_with(['#', '.', '[', '/']) || text.contains(['[', '='])
}

pub(crate) fn is_naming(key: &str) -> bool {
    NAMING.iter().any(|name| is_squeezed(key, name))
}

pub(crate) fn is_holding(key: &str) -> bool {
    HOLDING.iter().any(|name| is_squeezed(key, name))
}

/// What it holds is the value of a field, not the text of a document that speaks of one.
pub(crate) fn is_entry(key: &str) -> bool {
    is_holding(key) && !DOCUMENTS.iter().any(|name| is_squeezed(key, name))
}

/// Is the key this name, but for case and separators?
fn is_squeezed(key: &str, name: &str) -> bool {
    let mut letters = key.bytes().filter(u8::is_ascii_alphanumeric);
    key.len() >= name.len()
        && key.len() <= name.len() + 4
        && name.bytes().all(|byte| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&byte)))
        && letters.next().is_none()
}

/// The words of a name: `userAPIKey` → user, api, key.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else {
            let after_lower = before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit());
            let starts_word = c.is_uppercase()
                && (after_lower
                    || (before.is_some_and(char::is_uppercase)
                        && chars.peek().is_some_and(|n| n.is_lowercase())));
            if starts_word && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;

//! Folding of names: the form under which a lenient reader might take two for one.
//!
//! Readers exist that ignore case (with Unicode's long s and Kelvin sign), cut at NUL, trim, normalise, or drop what
//! cannot be seen. Names that are equal only to such a reader are told apart from names that are equal to all.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// More than any name that is compared with the head of another.
const HEAD: usize = 96;

/// NFKC, case-folded, trimmed, without control and invisible characters; backslash, U+2215 and U+2044 read as a
/// slash, repeated slashes as one. Borrowed when the name has that form already.
pub fn fold(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return Cow::Borrowed(name);
    }
    let folded = to_fixed_point(name);
    if folded == name { Cow::Borrowed(name) } else { Cow::Owned(folded) }
}

/// Which of `reserved` (ASCII) a lenient reader could take `name` for, itself included.
///
/// Of words like `inputRequests`, `input_requests` too: models exist that also take a member under the name that it
/// has in their own language.
pub(crate) fn resembles(name: &str, reserved: &[&'static str]) -> Option<&'static str> {
    if let Some(start) = before_nul(name) {
        return resembles(start, reserved).or_else(|| resembles(&name.replace('\0', ""), reserved));
    }
    let folded = if is_simple(name) { Cow::Borrowed(name.trim_matches(' ')) } else { head(name) };
    reserved.iter().copied().find(|word| {
        word.eq_ignore_ascii_case(&folded) || folded.contains('_') && is_snake_case(&folded, word)
    })
}

/// Whether `name` is what a camel-case word becomes in a language that writes words apart.
fn is_snake_case(name: &str, word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word
            .bytes()
            .map(|byte| byte.to_ascii_lowercase())
            .eq(name.bytes().filter(|&byte| byte != b'_').map(|byte| byte.to_ascii_lowercase()))
}

/// What a reader that ends names at NUL would see, if there is one.
pub(crate) fn before_nul(name: &str) -> Option<&str> {
    name.split_once('\0').map(|(start, _)| start)
}

/// The folded beginning of a name. Bounded, because a hostile name may be as long as a line may be, and folding can
/// make it many times longer; blanks and invisible padding do not use the bound up.
pub(crate) fn head(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return Cow::Borrowed(name);
    }
    if is_simple(name) {
        return Cow::Owned(
            name.trim_matches(' ').chars().take(HEAD).map(|c| c.to_ascii_lowercase()).collect(),
        );
    }
    let mut last = ' ';
    let significant = name.chars().filter(|&c| !is_invisible(c)).filter(|&c| {
        let repeated = is_slash(c) && is_slash(last) || c.is_whitespace() && last.is_whitespace();
        last = c;
        !repeated
    });
    Cow::Owned(to_fixed_point(&significant.take(HEAD).collect::<String>()))
}

/// Printable ASCII without anything that folding would change.
fn is_plain(name: &str) -> bool {
    is_simple(name)
        && !name.bytes().any(|byte| byte.is_ascii_uppercase())
        && !name.starts_with(' ')
        && !name.ends_with(' ')
}

/// Printable ASCII in which folding changes at most case and outer blanks.
fn is_simple(name: &str) -> bool {
    let mut last = 0;
    name.bytes().all(|byte| {
        let simple = (0x20..0x7f).contains(&byte) && byte != b'\\' && (byte != b'/' || last != b'/');
        last = byte;
        simple
    })
}

fn to_fixed_point(name: &str) -> String {
    // Two steps settle everything that Unicode holds today; the bound is there for what it may hold tomorrow.
    let mut current = step(name);
    for _ in 0..4 {
        let next = step(&current);
        if next == current {
            break;
        }
        current = next;
    }
    current
}

fn step(name: &str) -> String {
    let folded: String = name
        .chars()
        .filter(|&c| !is_invisible(c))
        .nfkc()
        // Up and down again: reaches final sigma, sharp s and the dotless i, which lower-casing alone does not.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .filter(|&c| !is_invisible(c))
        .map(|c| if is_slash(c) { '/' } else { c })
        .collect();
    let mut merged = String::with_capacity(folded.len());
    for character in folded.trim().chars() {
        if character != '/' || !merged.ends_with('/') {
            merged.push(character);
        }
    }
    merged
}

fn is_slash(character: char) -> bool {
    matches!(character, '/' | '\\' | '\u{2215}' | '\u{2044}')
}

/// Control, format and default-ignorable characters: those that a person does not see and a reader may drop.
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_control()
        || character >= '\u{ad}'
            && matches!(character,
                '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
                | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn look_alikes_fold_to_the_name_they_imitate() {
        for (name, folded) in [
            ("METHOD", "method"),
            ("param\u{17f}", "params"),
            ("tas\u{212a}", "task"),
            ("name\0", "name"),
            ("name ", "name"),
            ("\u{a0}name\u{3000}", "name"),
            ("na\u{200b}me", "name"),
            ("\u{feff}name", "name"),
            ("n\u{ad}a\u{e0061}me", "name"),
            ("ｔｏｏｌｓ／ｃａｌｌ", "tools/call"),
            ("tools//call", "tools/call"),
            ("tools\\call", "tools/call"),
            ("tools\\/call", "tools/call"),
            ("tools\u{2215}call", "tools/call"),
            ("tools\u{2044}call", "tools/call"),
            ("TOOLS/CALL", "tools/call"),
            ("straße", "strasse"),
            ("ΣΑΣ", "σασ"),
        ] {
            assert_eq!(fold(name), folded, "{name:?}");
            assert_eq!(head(name), folded, "{name:?}");
        }
    }

    #[test]
    fn other_letters_stay_other_letters() {
        // Cyrillic a: a different name to every reader that we know.
        assert_ne!(fold("d\u{430}nger"), "danger");
        assert_ne!(fold("danger-2"), fold("danger_2"));
    }

    #[test]
    fn a_plain_name_is_borrowed() {
        for name in ["tools/call", "name", "read_file", "a b", "grün", ""] {
            assert!(matches!(fold(name), Cow::Borrowed(_)), "{name}");
        }
    }

    #[test]
    fn padding_does_not_hide_a_name_from_a_bounded_comparison() {
        for pad in ["\u{200b}", " ", "\0", "\u{3000}"] {
            let name = format!("na{}me", pad.repeat(10_000));
            let seen = resembles(&name, &["name"]);
            assert_eq!(seen.is_some(), is_invisible(pad.chars().next().unwrap_or('x')), "{pad:?}");
            assert_eq!(resembles(&format!("name{}", pad.repeat(10_000)), &["name"]), Some("name"), "{pad:?}");
        }
        assert_eq!(
            resembles(&format!("tools{}call", "/".repeat(10_000)), &["tools/call"]),
            Some("tools/call")
        );
        assert_eq!(resembles(&"\u{fdfa}".repeat(1_000_000), &["name"]), None);
    }

    #[test]
    fn a_camel_case_word_is_seen_in_snake_case() {
        let words = ["inputRequests", "name", "_meta"];
        for name in [
            "input_requests",
            "INPUT_REQUESTS",
            "Input_Requests ",
            "input\u{ff3f}requests",
            "input_requests\0",
        ] {
            assert_eq!(resembles(name, &words), Some("inputRequests"), "{name:?}");
        }
        for name in ["input-requests", "na_me", "meta", "input_request", "_", ""] {
            assert_eq!(resembles(name, &words), None, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(name in ".*") {
            let once = fold(&name).into_owned();
            prop_assert_eq!(fold(&once), once.as_str());
        }

        #[test]
        fn the_head_of_a_short_name_is_its_fold(name in ".{0,20}") {
            prop_assert_eq!(head(&name), fold(&name));
        }
    }
}

//! Skeleton of a name (confusables): what is left of it for whoever only glances at it, its letters as they look.
//!
//! For names of which only few are good, like those of methods: there another name that looks the same, or becomes the same for
//! a dispatcher that decodes, normalises or splits names before it takes them, is no name of anything else. Names that anybody
//! may choose are compared by their [`fold`](crate::fold) instead: of them, two may be this similar by right.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::fold;

/// What is encoded more often than this is decoded by nobody.
const ROUNDS: usize = 3;
/// Where dispatchers end a name that is written like an address or a command.
const ENDS: [char; 4] = ['?', '#', ';', ','];

/// The names that a careless dispatcher may see in this one, as skeletons of up to `most` letters and digits.
pub(crate) fn readings(name: &str, most: usize) -> impl Iterator<Item = String> {
    let decoded = decoded(name);
    let ends = |c: char| c == '\0' || c.is_whitespace() || ENDS.contains(&c);
    let start = decoded.trim_start().split(ends).next().unwrap_or_default();
    let mut readings = vec![of(&decoded, most)];
    if start.len() < decoded.len() {
        readings.push(of(start, most));
    }
    if decoded.contains("..") {
        readings.push(of(&resolved(start), most));
    }
    readings.into_iter()
}

/// The skeleton of what stands before the first slash of any kind, those at the beginning left out.
pub(crate) fn first_segment(name: &str, most: usize) -> Option<String> {
    let decoded = decoded(name);
    let folded = fold::head(&decoded);
    let (first, _) = folded.trim_start_matches(|c: char| !c.is_alphanumeric()).split_once('/')?;
    Some(of(first, most))
}

/// Letters and digits alone, without case and accents, each as the Latin one that it looks like. What is left out does not use up
/// the bound, be there ever so much of it.
pub(crate) fn of(name: &str, most: usize) -> String {
    if name.is_ascii() {
        let letters = name.chars().map(|c| latin(c.to_ascii_lowercase()));
        return letters.filter(char::is_ascii_alphanumeric).take(most).collect();
    }
    let letters = name.chars().filter(|&c| !fold::is_invisible(c)).nfkd();
    let folded = letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkd();
    folded.map(latin).filter(|c| c.is_alphanumeric()).take(most).collect()
}

/// With `%2F`, `%u002F` and `\u002F` as what they stand for.
fn decoded(name: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(name);
    for _ in 0..ROUNDS {
        if !text.contains(['%', '\\']) {
            break;
        }
        text = Cow::Owned(decode(&text));
    }
    text
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '\\']) {
        let (before, escape) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let (length, code) = escaped(escape).unwrap_or((1, None));
        match code {
            // A byte of a longer character, perhaps.
            Some(Code::Byte(byte)) => bytes.push(byte),
            Some(Code::Character(c)) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => bytes.extend_from_slice(&escape.as_bytes()[..length]),
        }
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

enum Code {
    Byte(u8),
    Character(char),
}

/// The escape that a text begins with, and how long it is.
fn escaped(text: &str) -> Option<(usize, Option<Code>)> {
    let hex = |from: usize, to: usize| {
        let digits = text.get(from..to).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let short = || hex(1, 3).and_then(|code| u8::try_from(code).ok()).map(Code::Byte);
    match (text.as_bytes().first()?, text.as_bytes().get(1)?) {
        (_, b'u' | b'U') => Some((6, Some(Code::Character(char::from_u32(hex(2, 6)?)?)))),
        (b'%', _) => Some((3, Some(short()?))),
        _ => None,
    }
}

/// As an address is resolved: `a/../b` is `b`.
fn resolved(name: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in name.split(['/', '\\']) {
        match segment {
            ".." => drop(segments.pop()),
            "." | "" => {}
            _ => segments.push(segment),
        }
    }
    segments.join("/")
}

/// The Latin letter that a folded one cannot be told from.
fn latin(letter: char) -> char {
    match letter {
        'а' | 'α' | 'ɑ' | 'ᴀ' => 'a',
        'в' | 'β' | 'ь' => 'b',
        'с' | 'ϲ' | 'ᴄ' => 'c',
        'ԁ' | 'ժ' | 'ᴅ' => 'd',
        'е' | 'ε' | 'є' | 'ҽ' | 'ᴇ' => 'e',
        'ɡ' | 'ց' | 'ԍ' => 'g',
        'һ' | 'н' | 'հ' | 'ʜ' => 'h',
        'і' | 'ι' | 'ı' | 'ɪ' => 'i',
        'ј' | 'ϳ' | 'յ' | 'ᴊ' => 'j',
        'к' | 'κ' | 'ᴋ' => 'k',
        'ӏ' | 'ʟ' | 'ǀ' | '1' => 'l',
        'м' | 'μ' | 'ᴍ' => 'm',
        'η' | 'п' | 'ո' | 'ռ' | 'ɴ' => 'n',
        'о' | 'ο' | 'օ' | 'ჿ' | 'ᴏ' | '0' => 'o',
        'р' | 'ρ' | 'ᴘ' => 'p',
        'ԛ' | 'գ' | 'զ' => 'q',
        'г' | 'ʀ' | 'ᴦ' => 'r',
        'ѕ' | 'ꜱ' | 'ƽ' => 's',
        'т' | 'τ' | 'ᴛ' => 't',
        'υ' | 'ս' | 'ᴜ' => 'u',
        'ν' | 'ѵ' | 'ᴠ' => 'v',
        'ԝ' | 'ѡ' | 'ω' | 'ᴡ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' | 'ү' | 'ʏ' => 'y',
        'ᴢ' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_the_same_has_one_skeleton() {
        for name in
            ["Tools/Call", "t\u{43e}\u{43e}ls c\u{430}ll", "TO0LS-CA11", "tóóls.cäll", "ＴＯＯＬＳcall"]
        {
            assert_eq!(of(name, 96), "toolscall", "{name}");
        }
        assert_ne!(of("größe世界", 96), of("größe", 96), "other letters are letters");
    }

    #[test]
    fn every_way_of_writing_a_character_is_read() {
        for (name, read) in [
            ("a%2Fb", "a/b"),
            ("a%252fb", "a/b"),
            ("a%25252fb", "a/b"),
            ("a\\u002fb%u002Fc", "a/b/c"),
            ("%d0%b0", "а"),
            ("100%", "100%"),
            ("%zz%2", "%zz%2"),
            ("\\uzzzz\\u12", "\\uzzzz\\u12"),
            ("%ff", "\u{fffd}"),
            ("\\ud800", "\\ud800"),
        ] {
            assert_eq!(decoded(name), read, "{name}");
        }
    }

    #[test]
    fn padding_without_end_does_not_hide_a_name() {
        for pad in ["%20", " ", "\u{200b}", "/", ".", "_", "%2f"] {
            let name = format!("to{}ols/call", pad.repeat(10_000));
            assert!(readings(&name, 96).any(|reading| reading == "toolscall"), "{pad}");
        }
        assert_eq!(of(&"\u{fdfa}".repeat(1_000), 96).chars().count(), 96);
    }

    proptest! {
        #[test]
        fn any_name_has_readings(name in r"(\PC|[%\\u0-9a-f./ ]){0,60}") {
            for reading in readings(&name, 96) {
                prop_assert!(reading.chars().all(char::is_alphanumeric) && reading.chars().count() <= 96);
            }
        }
    }
}

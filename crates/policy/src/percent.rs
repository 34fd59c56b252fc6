//! Percent signs undone, and how often somebody might undo them.

use crate::path::plain_separators;

/// As often as a reader in earnest might decode, and once more. What still changes then was written to confuse.
const MOST: usize = 3;

/// `None` when there is nothing to decode. What decodes to no valid text holds U+FFFD.
pub(crate) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::new();
    // Behind what is in `out` already.
    let mut from = 0;
    for at in memchr::memchr_iter(b'%', bytes) {
        if let (Some(high), Some(low)) = (hex(at + 1), hex(at + 2)) {
            out.extend_from_slice(&bytes[from..at]);
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
            from = at + 3;
        }
    }
    (from > 0).then(|| {
        out.extend_from_slice(&bytes[from..]);
        String::from_utf8_lossy(&out).into_owned()
    })
}

/// The text, decoded once, decoded twice …; an error, to be read after what it is about, when it goes on for longer than
/// anybody means it to, or when readers do not agree on what is encoded.
pub(crate) fn levels(text: &str) -> Result<Vec<String>, &'static str> {
    let mut levels = vec![text.to_owned()];
    loop {
        let last = levels.last().map_or("", String::as_str);
        if hides_ascii(last) {
            return Err("holds escapes that not every reader decodes");
        }
        let Some(next) = decode(last) else { return Ok(levels) };
        if levels.len() > MOST {
            return Err("is encoded too often");
        }
        levels.push(next);
    }
}

/// Some readers take `%u002e`, and bytes that UTF-8 has no use for (`%c0%ae`), for a dot; others do not. Nobody in earnest
/// writes plain characters so.
fn hides_ascii(text: &str) -> bool {
    let byte = |escape: &str| {
        let hex = escape.strip_prefix('%').and_then(|rest| rest.get(..2));
        hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())
    };
    text.match_indices('%').any(|(at, _)| {
        let escape = &text[at..];
        let unit = escape.get(1..6).and_then(|unit| unit.strip_prefix(['u', 'U']));
        let wide = unit.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        let next = || escape.get(3..).and_then(byte);
        let too_long = match byte(escape) {
            Some(0xc0 | 0xc1) => matches!(next(), Some(0x80..=0xbf)),
            Some(0xe0) => matches!(next(), Some(0x80..=0x9f)),
            Some(0xf0) => matches!(next(), Some(0x80..=0x8f)),
            _ => false,
        };
        too_long || wide.is_some_and(|c| plain_separators(&c.to_string()).is_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_of_encoding_is_one_level() {
        assert_eq!(levels("a%zz%").unwrap_or_default(), ["a%zz%"]);
        assert_eq!(levels("%2e").unwrap_or_default(), ["%2e", "."]);
        assert_eq!(levels("%252e").unwrap_or_default(), ["%252e", "%2e", "."]);
        assert_eq!(levels("%25252e").unwrap_or_default(), ["%25252e", "%252e", "%2e", "."]);
        assert_eq!(levels("%2525252e"), Err("is encoded too often"));
        assert_eq!(decode("%ff"), Some("\u{fffd}".to_owned()));
    }

    #[test]
    fn escapes_that_only_some_readers_decode_are_told() {
        for text in [
            "%u002e",
            "%U002F",
            "a%u005c",
            "%uff0e",
            "%c0%ae",
            "%C1%9C",
            "%e0%80%ae",
            "%f0%80%80%af",
            "%25u002e",
        ] {
            assert_eq!(levels(text), Err("holds escapes that not every reader decodes"), "{text}");
        }
        // Words of other languages, as old pages and other code pages write them.
        for text in ["%u4e2d", "%e4%b8%ad", "caf%E9", "%c0", "%c0%20", "%u00", "%uwxyz", "100%u"] {
            assert!(levels(text).is_ok(), "{text}");
        }
    }
}

//! The inside of a JSON string: where it ends, what it says.

use std::borrow::Cow;

use super::scan::{JsonError, Problem};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// Most strings and runs end within this; longer ones are worth looking at in blocks.
const SHORT: usize = 16;
/// What the compiler turns into a handful of vector instructions.
const BLOCK: usize = 32;

/// Marks the lowest byte of `word` that ends a plain run: a quote, a backslash or a control character.
/// Bytes above the lowest marked one may be marked wrongly (a borrow), so only the lowest may be used.
#[inline]
fn stops(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let slash = slash.wrapping_sub(ONES) & !slash;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | slash | control) & HIGHS
}

/// Whether a plain run ends in this block.
#[inline]
fn has_stop(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(false, |found, &byte| found | (byte == b'"') | (byte == b'\\') | (byte < 0x20))
}

/// The first quote, backslash or control character at or after `at`; the end of `bytes` if there is none.
#[inline]
pub(super) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    let mut patience = at.saturating_add(SHORT);
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = stops(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at >= patience {
            while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>())
                && !has_stop(block)
            {
                at += BLOCK;
            }
            // It is in this block, or the text ends.
            patience = usize::MAX;
        }
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            return at;
        }
        at += 1;
    }
    at
}

/// Checks the string whose opening quote is just before `at`. Gives the place of its closing quote, and whether
/// it holds escapes.
#[inline]
pub(super) fn check(bytes: &[u8], at: usize) -> Result<(usize, bool), JsonError> {
    let end = plain_end(bytes, at);
    // Most strings end here. The rest is apart to keep this small enough to be inlined.
    if bytes.get(end) == Some(&b'"') { Ok((end, false)) } else { check_rest(bytes, end) }
}

#[inline(never)]
fn check_rest(bytes: &[u8], mut at: usize) -> Result<(usize, bool), JsonError> {
    let wrong = |problem, offset| Err(JsonError { problem, offset });
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at, true)),
            Some(b'\\') => {
                at += match bytes.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                    Some(b'u') if hex4(bytes, at + 2).is_some() => 6,
                    None => return wrong(Problem::End, bytes.len()),
                    Some(_) => return wrong(Problem::Escape, at),
                };
            }
            Some(_) => return wrong(Problem::Control, at),
            None => return wrong(Problem::End, at),
        }
        at = plain_end(bytes, at);
    }
}

/// The closing quote of a string that is known to be valid.
#[inline]
pub(super) fn closing_quote(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            _ => return at,
        }
    }
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value * 16 + (digit as char).to_digit(16)?))
}

/// What a valid string says; `inner` is the text between its quotes.
///
/// A lone surrogate has no meaning as text. It reads as U+FFFD, and the flag says so; what must not be guessed at
/// (a tool's name, an id) has to look at the flag.
pub(crate) fn decode(inner: &str) -> (Cow<'_, str>, bool) {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return (Cow::Borrowed(inner), true);
    }
    let mut text = String::with_capacity(inner.len());
    let mut whole = true;
    unescape(inner, |piece| match piece {
        Piece::Plain(plain) => text.push_str(plain),
        Piece::Character(character) => text.push(character),
        Piece::LoneSurrogate(_) => {
            whole = false;
            text.push(char::REPLACEMENT_CHARACTER);
        }
    });
    (Cow::Owned(text), whole)
}

/// What a valid string says, to the last bit: lone surrogates are kept, in the three bytes that UTF-8 would give them
/// if it had them (WTF-8). Two strings have the same bytes only if every reader takes them for the same.
pub(crate) fn decode_exact(inner: &str) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner.as_bytes());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    unescape(inner, |piece| match piece {
        Piece::Plain(plain) => bytes.extend_from_slice(plain.as_bytes()),
        Piece::Character(character) => {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Piece::LoneSurrogate(unit) => {
            bytes.extend([0xED, 0x80 | (unit >> 6 & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8]);
        }
    });
    Cow::Owned(bytes)
}

enum Piece<'a> {
    /// A run without escapes.
    Plain(&'a str),
    Character(char),
    LoneSurrogate(u32),
}

#[inline]
fn unescape<'a>(inner: &'a str, mut hear: impl FnMut(Piece<'a>)) {
    let bytes = inner.as_bytes();
    let mut copied = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[copied..]) {
        let at = copied + found;
        hear(Piece::Plain(&inner[copied..at]));
        let (piece, length) = match bytes.get(at + 1) {
            Some(b'b') => (Piece::Character('\u{8}'), 2),
            Some(b'f') => (Piece::Character('\u{c}'), 2),
            Some(b'n') => (Piece::Character('\n'), 2),
            Some(b'r') => (Piece::Character('\r'), 2),
            Some(b't') => (Piece::Character('\t'), 2),
            Some(b'u') => unicode(bytes, at),
            Some(&other) => (Piece::Character(other as char), 2),
            None => return,
        };
        hear(piece);
        copied = at + length;
    }
    hear(Piece::Plain(&inner[copied..]));
}

/// What the `\u` escape at `at` stands for, with its length in the text: 12 for a surrogate pair.
fn unicode<'a>(bytes: &[u8], at: usize) -> (Piece<'a>, usize) {
    // A valid string has four digits here.
    let Some(first) = hex4(bytes, at + 2) else { return (Piece::Plain(""), 2) };
    if (0xD800..0xDC00).contains(&first)
        && bytes.get(at + 6..at + 8) == Some(b"\\u")
        && let Some(second @ 0xDC00..0xE000) = hex4(bytes, at + 8)
        && let Some(pair) = char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    {
        return (Piece::Character(pair), 12);
    }
    (char::from_u32(first).map_or(Piece::LoneSurrogate(first), Piece::Character), 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_every_escape() {
        for (inner, text, whole) in [
            ("plain ü", "plain ü", true),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t", true),
            (r"d\u0061nger", "danger", true),
            (r"\ud83d\ude00", "😀", true),
            (r"\uD83D\uDE00!", "😀!", true),
            (r"a\ud83d", "a\u{fffd}", false),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}", false),
            (r"\ud83dx\ude00", "\u{fffd}x\u{fffd}", false),
            (r"\ud83d\n", "\u{fffd}\n", false),
            (r"\u0000", "\0", true),
        ] {
            assert_eq!(decode(inner), (Cow::Borrowed(text), whole), "{inner}");
            assert_eq!(decode_exact(inner) == text.as_bytes(), whole, "{inner}");
        }
    }

    #[test]
    fn lone_surrogates_stay_apart_from_each_other_and_from_text() {
        let spellings =
            [r"\ud800", r"\ud801", r"\udbff", r"\udc00", r"\udfff", r"\ufffd", r"\ud800x", r"\ud800\ud800"];
        for (place, one) in spellings.iter().enumerate() {
            for other in &spellings[..place] {
                assert_ne!(decode_exact(one), decode_exact(other), "{one} {other}");
            }
        }
        assert_eq!(&*decode_exact(r"\uD800"), [0xED, 0xA0, 0x80]);
        assert_eq!(&*decode_exact(r"\uDFFF"), [0xED, 0xBF, 0xBF]);
    }

    #[test]
    fn every_stop_is_found_at_every_distance() {
        for distance in 0..200 {
            for stop in [b'"', b'\\', 0x1f, 0x00, b'\n'] {
                let mut bytes = vec![b'a'; distance];
                // Neighbours of the stops, to catch a wrong borrow.
                for (place, byte) in bytes.iter_mut().enumerate() {
                    *byte = [b'!', b'#', b'[', b']', 0x20, 0x7f, 0x80, 0xff][place % 8];
                }
                bytes.push(stop);
                bytes.extend_from_slice(b"!!!!!!!!!!!");
                assert_eq!(plain_end(&bytes, 0), distance);
            }
        }
    }
}

//! Writing JSON that every reader splits and reads alike.
//!
//! Some readers end a line at CR, VT, FF, U+0085 or U+2028/9, so none of these may stand raw in a line that we
//! write, wherever JSON would allow it.

use super::{raw::Raw, string};

/// A JSON string with its quotes.
pub fn quoted(text: &str) -> String {
    let mut json = Vec::with_capacity(text.len() + 2);
    write_string(&mut json, text);
    String::from_utf8(json).unwrap_or_default()
}

/// Appends a JSON string with its quotes.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let length = match byte {
            b'"' | b'\\' => 1,
            _ => match unsafe_at(bytes, at) {
                Some((_, length)) => length,
                None => {
                    at += 1;
                    continue;
                }
            },
        };
        out.extend_from_slice(&bytes[copied..at]);
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => escape(out, bytes, at),
        }
        at += length;
        copied = at;
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// Appends the value without blanks between its tokens. Tokens are copied byte for byte, except that characters
/// which some reader takes for a line end or a control are escaped inside strings.
pub fn compact(raw: Raw<'_>, out: &mut Vec<u8>) {
    compact_text(raw.text().as_bytes(), out);
}

/// As [`compact`], for text known to be pieces of valid values put together validly.
pub(crate) fn compact_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let close = string::closing_quote(bytes, at + 1);
                if !is_safe(&bytes[at..close]) {
                    out.extend_from_slice(&bytes[copied..at]);
                    escape_inside(&bytes[at..close], out);
                    copied = close;
                }
                at = close;
            }
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.extend_from_slice(&bytes[copied..at]);
                copied = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.extend_from_slice(&bytes[copied..]);
}

fn escape_inside(string: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for at in 0..string.len() {
        if let Some((_, length)) = unsafe_at(string, at) {
            out.extend_from_slice(&string[copied..at]);
            escape(out, string, at);
            copied = at + length;
        }
    }
    out.extend_from_slice(&string[copied..]);
}

/// The character at `at` if it must not stand raw in a line, with its length in UTF-8.
#[inline]
fn unsafe_at(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    match bytes[at] {
        byte @ (0..0x20 | 0x7f) => Some((byte as u32, 1)),
        0xC2 if bytes.get(at + 1) == Some(&0x85) => Some((0x85, 2)),
        0xE2 if bytes.get(at + 1) == Some(&0x80) => match bytes.get(at + 2) {
            Some(0xA8) => Some((0x2028, 3)),
            Some(0xA9) => Some((0x2029, 3)),
            _ => None,
        },
        _ => None,
    }
}

fn escape(out: &mut Vec<u8>, bytes: &[u8], at: usize) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let Some((character, _)) = unsafe_at(bytes, at) else { return };
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(HEX[(character >> shift & 0xf) as usize]);
    }
}

/// Whether a line may be written as it is: no control character, no DEL, no Unicode line end.
pub(crate) fn is_safe(bytes: &[u8]) -> bool {
    // Everything but printable ASCII is at or above 0x5f after the shift.
    let is_printable =
        |chunk: &[u8]| chunk.iter().fold(0, |most, &byte| byte.wrapping_sub(0x20).max(most)) < 0x5f;
    if bytes.chunks(CHUNK).all(is_printable) {
        return true;
    }
    !any_in_chunks(bytes, |byte| byte < 0x20 || byte == 0x7f) && !has_line_ends(bytes)
}

/// U+0085 is C2 85, U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
fn has_line_ends(bytes: &[u8]) -> bool {
    let ([_, seconds @ ..], [_, _, thirds @ ..]) = (bytes, bytes) else { return bytes == b"\xC2\x85" };
    let in_chunks =
        bytes.chunks(CHUNK).zip(seconds.chunks(CHUNK)).zip(thirds.chunks(CHUNK)).any(|((a, b), c)| {
            a.iter().zip(b).zip(c).fold(false, |found, ((&a, &b), &c)| {
                found | (a == 0xC2) & (b == 0x85) | (a == 0xE2) & (b == 0x80) & (c | 1 == 0xA9)
            })
        });
    in_chunks || bytes.ends_with(b"\xC2\x85")
}

const CHUNK: usize = 1024;

/// Chunks without an early exit inside, which the compiler turns into vector code.
#[inline]
fn any_in_chunks(bytes: &[u8], test: impl Fn(u8) -> bool) -> bool {
    bytes.chunks(CHUNK).any(|chunk| chunk.iter().fold(false, |found, &byte| found | test(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsafe_character_is_seen_at_every_place() {
        for length in [0, 1, 2, 3, 15, 16, 17, 1020, 1022, 1023, 1024, 1025, 2047, 2048, 5000] {
            for filler in ["a", "\u{a9}", "\u{2019}", "\u{e9}\u{203a}"] {
                let before = filler.repeat(length);
                for after in ["", "z", "\u{a8}", "zzzz"] {
                    assert!(is_safe(format!("{before}{after}").as_bytes()));
                    for character in ["\0", "\r", "\n", "\u{1f}", "\u{7f}", "\u{85}", "\u{2028}", "\u{2029}"]
                    {
                        let text = format!("{before}{character}{after}");
                        assert!(!is_safe(text.as_bytes()), "{character:?} after {length} of {filler}");
                    }
                }
            }
        }
    }
}

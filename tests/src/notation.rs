//! How bytes are written in the corpus files: text as it is, and between ‹ › what text cannot say.
//!
//! `␍ ␊ ␀ ␉ ␋` are CR, LF, NUL, TAB and VT; `‹C0 AF›` are raw bytes; `‹70000×ab›` repeats
//! (`№` in it counts); everything else stands for itself.

/// The bytes that a piece of notation means.
pub fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '␍' => out.push(b'\r'),
            '␊' => out.push(b'\n'),
            '␀' => out.push(0),
            '␉' => out.push(b'\t'),
            '␋' => out.push(0x0b),
            '‹' => {
                let (inside, after) =
                    rest.split_once('›').unwrap_or_else(|| panic!("‹ without › in {text:.60}"));
                rest = after;
                special(inside, &mut out);
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

fn special(inside: &str, out: &mut Vec<u8>) {
    if let Some((count, text)) = inside.split_once('×') {
        let count = count.parse().unwrap_or_else(|_| panic!("‹{inside:.60}›: not a count"));
        if text.contains('№') {
            out.extend((0..count).flat_map(|n: usize| text.replace('№', &n.to_string()).into_bytes()));
        } else {
            out.extend_from_slice(&text.as_bytes().repeat(count));
        }
        return;
    }
    for pair in inside.split(' ') {
        out.push(u8::from_str_radix(pair, 16).unwrap_or_else(|_| panic!("‹{inside:.60}›: not hex bytes")));
    }
}

/// Bytes as a person can read them in a failure: control characters visible, long runs cut.
pub fn show(bytes: &[u8]) -> String {
    const KEEP: usize = 600;
    let cut = bytes.len().min(KEEP);
    let mut out = String::new();
    for chunk in bytes[..cut].utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\r' => out.push('␍'),
                '\n' => out.push_str("␊\n"),
                '\0' => out.push('␀'),
                c if c.is_control() => out.push_str(&format!("‹u{:04X}›", u32::from(c))),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("‹{byte:02X}›"));
        }
    }
    if bytes.len() > cut {
        out.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn notation_says_every_byte() {
        assert_eq!(super::bytes("a␍‹C0 AF›‹3×xy›\\u0061"), b"a\r\xc0\xafxyxyxy\\u0061");
    }
}

//! Percent signs undone, and how often somebody might undo them.

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

/// The text, decoded once, decoded twice …; `None` when it goes on for longer than anybody means it to.
pub(crate) fn levels(text: &str) -> Option<Vec<String>> {
    let mut levels = vec![text.to_owned()];
    while let Some(next) = levels.last().and_then(|last| decode(last)) {
        if levels.len() > MOST {
            return None;
        }
        levels.push(next);
    }
    Some(levels)
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
        assert_eq!(levels("%2525252e"), None);
        assert_eq!(decode("%ff"), Some("\u{fffd}".to_owned()));
    }
}

//! Addresses as browsers read them (WHATWG URL): blanks and control characters around them do not count, and neither do tabs and
//! ends of lines anywhere inside. `fi<tab>le:///etc/passwd` is a file of this machine to whoever opens it, and nothing in particular
//! to whoever only looks at it.

use memchr::{memchr, memchr_iter, memchr3};

use crate::path::is_invisible;

/// Dropped wherever they stand.
fn is_dropped(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r')
}

/// The text as an address, the way a browser takes it.
pub(crate) fn as_opened(text: &str) -> String {
    text.trim_matches(|c: char| c <= ' ').replace(is_dropped, "")
}

/// What else the text may be to those who open it, besides what it is letter by letter: as a browser has it, and without what does
/// not show, which some readers drop before they look.
pub(crate) fn other_readings(text: &str) -> Vec<String> {
    let opened = as_opened(text);
    let shown: String = opened.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect();
    let mut readings = vec![opened, shown.trim().to_owned()];
    readings.dedup();
    readings.retain(|reading| reading != text);
    readings
}

/// From the first `file:` in it on, without what browsers drop: as it stands, and as code that writes `\t` for it. Nothing where
/// neither drops anything. Where such an address ends in the text of a program or a page nobody can tell, so it goes to the end.
pub(crate) fn files_opened(text: &str) -> impl Iterator<Item = String> {
    let bytes = text.as_bytes();
    let broken = memchr3(b'\t', b'\n', b'\r', bytes).is_some();
    let escaped = memchr(b'\\', bytes).is_some();
    let plain = (broken || escaped).then(|| text.replace(is_dropped, ""));
    let unescaped = plain.as_deref().filter(|_| escaped).map(|text| {
        ["\\t", "\\n", "\\r"].iter().fold(text.to_owned(), |text, escape| text.replace(escape, ""))
    });
    let unescaped = unescaped.filter(|unescaped| Some(unescaped) != plain.as_ref());
    let plain = plain.filter(|_| broken);
    plain.into_iter().chain(unescaped).filter_map(|text| {
        let bytes = text.as_bytes();
        let named = |colon: &usize| {
            colon.checked_sub(4).is_some_and(|from| bytes[from..*colon].eq_ignore_ascii_case(b"file"))
        };
        let from = memchr_iter(b':', bytes).find(named)? - 4;
        Some(text[from..].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_browsers_read_it() {
        for (text, wanted) in [
            ("file:///x", vec![]),
            ("fi\tle:///x", vec!["file:///x"]),
            ("\r\nf\ni\rl\te\n:\t/\n/x\r\n", vec!["file://x"]),
            ("\u{1} \u{1f}file:///x\0", vec!["file:///x"]),
            ("file:///a b", vec![]),
            // No browser drops these; others do.
            ("fi\u{200b}le:///x", vec!["file:///x"]),
            ("f\u{b}i\tle:///x", vec!["f\u{b}ile:///x", "file:///x"]),
        ] {
            assert_eq!(other_readings(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn addresses_of_files_are_found_inside_of_code() {
        let opened = |text: &str| files_opened(text).collect::<Vec<_>>();
        assert_eq!(opened("goto('FI\nLE:///a\t/b')"), ["FILE:///a/b')"]);
        assert_eq!(opened(r"goto('file:///a\t/\nb')"), ["file:///a/b')"]);
        assert_eq!(opened("x\\ty\nfile:\\t"), ["file:\\t", "file:"]);
        for text in ["file:///a", "fi le:\t", "a\tb", "ile:\n", "\\"] {
            assert_eq!(opened(text), [""; 0], "{text:?}");
        }
    }
}

//! How a value looks where servers repeat it: in JSON, in a script, in an address, on a page, in Base64.

use zeroize::Zeroizing;

/// A shorter part of a Base64 text could be a part of another.
const SHORTEST_BASE64: usize = 8;

type Text = Zeroizing<String>;

/// The forms of this value, itself first, each once.
pub(crate) fn forms(value: &str) -> Vec<Text> {
    let mut forms: Vec<Text> = vec![Zeroizing::new(value.to_owned())];
    let mut add = |form: Text| {
        if !forms.contains(&form) {
            forms.push(form);
        }
    };
    add(json(value));
    // A script in JSON in a log: once more.
    add(json(&json(value)));
    for quote in ['\'', '"', '`'] {
        add(script(value, quote));
    }
    add(Zeroizing::new(value.replace('/', "\\/")));
    add(percent(value, "%20", true, "-_.!~*'()"));
    add(percent(value, "%20", false, "-_.!~*'()"));
    add(percent(value, "+", true, "-_.*"));
    add(percent(value, "%20", true, "-_.~"));
    add(percent(value, "%20", true, "-_.!~*'();/?:@&=+$,#"));
    for apostrophe in ["&#39;", "&#x27;", "&apos;", "'"] {
        add(html(value, apostrophe));
    }
    for offset in 0..3 {
        for alphabet in [STANDARD, URL] {
            let form = base64(value.as_bytes(), offset, alphabet);
            if form.len() >= SHORTEST_BASE64 {
                add(form);
            }
        }
    }
    forms
}

fn json(value: &str) -> Text {
    let quoted = Zeroizing::new(serde_json::to_string(value).unwrap_or_default());
    Zeroizing::new(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned())
}

/// As a literal of a script in these quotes.
fn script(value: &str, quote: char) -> Text {
    let mut out = Zeroizing::new(String::with_capacity(value.len() * 2));
    for c in value.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '$' if quote == '`' => out.push_str("\\$"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn percent(value: &str, space: &str, large: bool, plain: &str) -> Text {
    let digits = if large { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut out = Zeroizing::new(String::with_capacity(value.len() * 3));
    for &byte in value.as_bytes() {
        if byte.is_ascii_alphanumeric() || plain.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else if byte == b' ' {
            out.push_str(space);
        } else {
            out.push('%');
            out.push(char::from(digits[usize::from(byte >> 4)]));
            out.push(char::from(digits[usize::from(byte & 15)]));
        }
    }
    out
}

fn html(value: &str, apostrophe: &str) -> Text {
    let mut out = Zeroizing::new(String::with_capacity(value.len() * 2));
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str(apostrophe),
            c => out.push(c),
        }
    }
    out
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What the bytes are in Base64 whatever stands around them, if `offset` bytes stand before them in their group of three:
/// only the characters that no neighbour has a part in.
fn base64(bytes: &[u8], offset: usize, alphabet: &[u8; 64]) -> Text {
    let mut out = Zeroizing::new(String::with_capacity(bytes.len() * 4 / 3 + 4));
    let bits = offset * 8..(offset + bytes.len()) * 8;
    let first = bits.start.div_ceil(6);
    for group in first..bits.end / 6 {
        let value = (group * 6..group * 6 + 6).fold(0_u8, |value, bit| {
            let byte = bytes[bit / 8 - offset];
            value << 1 | (byte >> (7 - bit % 8) & 1)
        });
        out.push(char::from(alphabet[usize::from(value)]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(value: &str, form: &str) -> bool {
        forms(value).iter().any(|one| one.as_str() == form)
    }

    #[test]
    fn a_value_is_known_in_the_forms_in_which_servers_repeat_it() {
        for (value, form) in [
            ("pa\"ss\\w", "pa\\\"ss\\\\w"),
            ("it's me", "it\\'s me"),
            ("a`b${c", "a\\`b\\${c"),
            ("a/b+c d&e", "a%2Fb%2Bc%20d%26e"),
            ("a/b+c d&e", "a%2fb%2bc%20d%26e"),
            ("a/b+c d&e", "a%2Fb%2Bc+d%26e"),
            ("pässword", "p%C3%A4ssword"),
            ("<a&'b\">", "&lt;a&amp;&#39;b&quot;&gt;"),
            ("a/b/c/d", "a\\/b\\/c\\/d"),
            ("line\nbreak", "line\\nbreak"),
        ] {
            assert!(has(value, form), "{form}");
        }
        assert!(forms("abcdef").len() < 5, "a plain value has few forms");
    }

    #[test]
    fn a_value_is_found_in_base64_whatever_stands_before_it() {
        // me:Sup3r-S3cret, ann:…, x:…
        for encoded in ["bWU6U3VwM3ItUzNjcmV0", "YW5uOlN1cDNyLVMzY3JldA==", "eDpTdXAzci1TM2NyZXQ="] {
            assert!(
                forms("Sup3r-S3cret").iter().any(|form| form.len() >= 8 && encoded.contains(form.as_str())),
                "{encoded}"
            );
        }
    }
}

//! A checked value as a flat run of tokens.
//!
//! For whoever needs every part of a value: one look at each byte and no stack, where walking members of members would
//! skip over the innermost part once for each object around it.

use super::{
    raw::{Name, Raw, value_end},
    string,
};

#[derive(Clone, Copy)]
pub(crate) enum Token<'a> {
    /// An object opens.
    Object,
    /// An array opens.
    Array,
    /// What opened last ends.
    End,
    /// The name of a member; its value follows.
    Name(Name<'a>),
    /// A string, a number or a literal.
    Plain(Raw<'a>),
}

pub(crate) fn tokens(raw: Raw<'_>) -> Tokens<'_> {
    Tokens { text: raw.text(), at: 0 }
}

pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        // The value is known to be valid, so what separates tokens says nothing that their order does not.
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        let token = match bytes.get(start)? {
            b'{' => Token::Object,
            b'[' => Token::Array,
            b'}' | b']' => Token::End,
            b'"' => {
                let close = string::closing_quote(bytes, start + 1);
                self.at = close + 1;
                return Some(self.string(start, close));
            }
            _ => {
                self.at = value_end(bytes, start);
                return Some(Token::Plain(Raw::checked(&self.text[start..self.at])));
            }
        };
        self.at += 1;
        Some(token)
    }
}

impl<'a> Tokens<'a> {
    /// Only a name has a colon behind it.
    fn string(&self, open: usize, close: usize) -> Token<'a> {
        let behind = self.text[close + 1..].trim_start_matches([' ', '\t', '\n', '\r']);
        if behind.starts_with(':') {
            Token::Name(Name::checked(&self.text[open + 1..close]))
        } else {
            Token::Plain(Raw::checked(&self.text[open..=close]))
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_a_token_once() {
        let text = "{\"a\" :\n[1.0, \"x:\\\"\" ,{ }],\"\\u0062\":{\"c\":\tnull}, \"\":\"\"}";
        let said: Vec<String> = tokens(Raw::parse(text).unwrap())
            .map(|token| match token {
                Token::Object => "{".to_owned(),
                Token::Array => "[".to_owned(),
                Token::End => "end".to_owned(),
                Token::Name(name) => format!("{}:", name.decoded()),
                Token::Plain(raw) => raw.text().to_owned(),
            })
            .collect();
        let expected = [
            "{",
            "a:",
            "[",
            "1.0",
            r#""x:\"""#,
            "{",
            "end",
            "end",
            "b:",
            "{",
            "c:",
            "null",
            "end",
            ":",
            r#""""#,
            "end",
        ];
        assert_eq!(said, expected);
        assert_eq!(tokens(Raw::parse(" 7 ").unwrap()).count(), 1);
    }
}

//! Digest of a call: equal for calls that say the same, different for all others.
//!
//! Two spellings of a call are the same call: blanks, the order of members and escapes (`"\u0061"` for `"a"`) do not
//! count. Everything that a server could tell apart does: a number counts as it is written (`1`, `1.0` and `1e0` are
//! three), a lone surrogate is not U+FFFD, and a call without arguments is not one with `{}`. Most servers treat these
//! two alike, but a policy may not: a rule that asks for a member of the arguments sees them differently.
//! What stands beside name and arguments, `_meta` above all, is not part of the call.
//!
//! The form that is hashed: each text with its length before it, each value with its kind before it, members sorted by
//! name, and the digest of an array or object in its place. So no two calls have one form, and a value nested as
//! deeply as [`MAX_DEPTH`](crate::json::MAX_DEPTH) costs one look at each of its bytes and no recursion.

use std::{borrow::Cow, fmt};

use sha2::{Digest as _, Sha256};

use crate::json::{Kind, Raw, Token, tokens};

/// Says what is hashed, and how: another form must begin with other words.
const FORM: &[u8] = b"callgate tool call, form 1";

/// The same of what a server lists.
const DEFINITION_FORM: &[u8] = b"callgate tool definition, form 1";

/// SHA-256 of a call, or of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The digest of a call of `tool` with these arguments.
pub fn digest(tool: &str, args: Option<Raw<'_>>) -> Digest {
    let mut form = Sha256::new();
    put_text(&mut form, b'=', FORM);
    put_text(&mut form, b'"', tool.as_bytes());
    match args {
        None => form.update(b"-"),
        Some(args) => put_value(&mut form, args),
    }
    Digest(form.finalize().into())
}

/// The digest of a tool as its server lists it, every member of the entry counted.
pub fn definition_digest(definition: Raw<'_>) -> Digest {
    let mut form = Sha256::new();
    put_text(&mut form, b'=', DEFINITION_FORM);
    put_value(&mut form, definition);
    Digest(form.finalize().into())
}

/// An array or object that is open, with what was seen of it so far.
enum Open<'a> {
    Array(Sha256),
    Object { name: Cow<'a, [u8]>, members: Vec<(Cow<'a, [u8]>, Part<'a>)> },
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Plain(Raw<'a>),
    /// An array or object that has ended.
    Nested([u8; 32]),
}

fn put_value(form: &mut Sha256, value: Raw<'_>) {
    let mut open = Vec::new();
    for token in tokens(value) {
        let part = match token {
            Token::Object => {
                open.push(Open::Object { name: Cow::Borrowed(b""), members: Vec::new() });
                continue;
            }
            Token::Array => {
                open.push(Open::Array(Sha256::new()));
                continue;
            }
            Token::Name(seen) => {
                if let Some(Open::Object { name, .. }) = open.last_mut() {
                    *name = seen.exact();
                }
                continue;
            }
            Token::Plain(raw) => Part::Plain(raw),
            Token::End => match open.pop() {
                Some(ended) => Part::Nested(ended.close()),
                None => return,
            },
        };
        match open.last_mut() {
            Some(Open::Array(items)) => part.put(items),
            Some(Open::Object { name, members }) => members.push((std::mem::take(name), part)),
            None => return part.put(form),
        }
    }
}

impl Open<'_> {
    fn close(self) -> [u8; 32] {
        match self {
            Open::Array(mut items) => {
                items.update(b"]");
                items.finalize().into()
            }
            Open::Object { mut members, .. } => {
                // No name stands twice in an object, so there is one order.
                members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
                let mut form = Sha256::new();
                for (name, part) in &members {
                    put_text(&mut form, b':', name);
                    part.put(&mut form);
                }
                form.update(b"}");
                form.finalize().into()
            }
        }
    }
}

impl Part<'_> {
    fn put(self, form: &mut Sha256) {
        match self {
            Part::Nested(digest) => {
                form.update(b"{");
                form.update(digest);
            }
            Part::Plain(raw) => match raw.kind() {
                Kind::String => put_text(form, b'"', &raw.as_exact().unwrap_or_default()),
                Kind::Number => put_text(form, b'0', raw.text().as_bytes()),
                // A literal says by its first letter which it is.
                _ => form.update(&raw.text().as_bytes()[..1]),
            },
        }
    }
}

fn put_text(form: &mut Sha256, kind: u8, text: &[u8]) {
    let mut head = [kind; 9];
    head[1..].copy_from_slice(&(text.len() as u64).to_le_bytes());
    form.update(head);
    form.update(text);
}

impl Digest {
    /// 64 digits, in lower case.
    pub fn to_hex(&self) -> String {
        self.to_string()
    }

    /// `None` for anything but 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Digest> {
        let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            for &digit in pair {
                *byte = *byte << 4 | (digit as char).to_digit(16)? as u8;
            }
        }
        Some(Digest(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::json::MAX_DEPTH;

    fn of(args: &str) -> Digest {
        digest("x", Some(Raw::parse(args).unwrap()))
    }

    #[test]
    fn spellings_of_one_call_have_one_digest() {
        for (one, other) in [
            (r#"{"a":1,"b":2}"#, r#" { "b" : 2 , "a" : 1 } "#),
            (r#"{"a":"a/é😀"}"#, r#"{"\u0061":"\u0061\/\u00e9\uD83D\ude00"}"#),
            (r#"{"a":{"c":[{"y":1,"x":2}],"b":null}}"#, r#"{"a":{"b":null,"c":[{"x":2,"y":1}]}}"#),
            (r#"{"a":"\ud800"}"#, r#"{"a":"\uD800"}"#),
            ("{}", "{\n}"),
        ] {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
    }

    /// Each of these is another call than every other one.
    #[test]
    fn different_calls_have_different_digests() {
        let args = [
            "{}",
            r#"{"":0}"#,
            r#"{"a":0}"#,
            r#"{"a":-0}"#,
            r#"{"a":0.0}"#,
            r#"{"a":0e0}"#,
            r#"{"a":0E0}"#,
            r#"{"a":"0"}"#,
            r#"{"a":null}"#,
            r#"{"a":"null"}"#,
            r#"{"a":"n"}"#,
            r#"{"a":true}"#,
            r#"{"a":false}"#,
            r#"{"a":{}}"#,
            r#"{"a":[]}"#,
            r#"{"a":[[]]}"#,
            r#"{"a":[{}]}"#,
            r#"{"a":[],"b":[]}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":[12]}"#,
            r#"{"a":["1",2]}"#,
            r#"{"a":[1,"2"]}"#,
            r#"{"a":["1","2"]}"#,
            r#"{"a":["12",""]}"#,
            r#"{"a":["","12"]}"#,
            r#"{"a":"b","c":"d"}"#,
            r#"{"a":"d","c":"b"}"#,
            r#"{"a":{"b":1},"c":2}"#,
            r#"{"a":{"b":1,"c":2}}"#,
            r#"{"a":{"c":2},"b":1}"#,
            r#"{"A":0}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":"\ud801"}"#,
            r#"{"a":"\udc00"}"#,
            r#"{"a":"\ufffd"}"#,
            r#"{"\ud800":0}"#,
            r#"{"\ufffd":0}"#,
            r#"{"a":"\u0000"}"#,
            r#"{"a":""}"#,
            r#"{"a":"é"}"#,
            r#"{"a":"e\u0301"}"#,
        ];
        let mut digests: Vec<Digest> = args.iter().map(|args| of(args)).collect();
        digests.push(digest("x", None));
        digests.push(digest("y", None));
        digests.push(digest("", None));
        digests.push(digest("y", Some(Raw::parse("{}").unwrap())));
        for (place, one) in digests.iter().enumerate() {
            for (other_place, other) in digests[..place].iter().enumerate() {
                assert_ne!(one, other, "{:?} {:?}", args.get(place), args.get(other_place));
            }
        }
    }

    /// What is on disk must be found again by the next version.
    #[test]
    fn the_form_does_not_change() {
        let args = Raw::parse(r#"{"path":"/a","n":[1,{"b":true}]}"#).unwrap();
        for (args, hex) in [
            (None, "3d9afb8a14b92fc67c3b20c51b413ec34942fee07d9a28f9983434cfefd9556c"),
            (Some(args), "04d8ddbea73cb954897d634fccc06d556c96acc634cccf6365a71ec81b64679f"),
        ] {
            assert_eq!(digest("read_file", args).to_hex(), hex);
        }
    }

    #[test]
    fn hexadecimal_goes_both_ways() {
        let digest = of("{}");
        assert_eq!(digest.to_hex(), digest.to_string());
        assert_eq!(Digest::from_hex(&digest.to_hex()), Some(digest));
        assert_eq!(Digest::from_hex(&digest.to_hex().to_uppercase()), Some(digest));
        assert_eq!(Digest::from(*digest.as_bytes()), digest);
        for text in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(Digest::from_hex(text), None, "{text}");
        }
    }

    #[test]
    fn deep_arguments_need_no_stack() {
        let nested = |inside: &str| {
            let depth = MAX_DEPTH / 2;
            format!("{}{inside}{}", r#"{"a":[0,"#.repeat(depth), "],\"b\":1}".repeat(depth))
        };
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let both = small.spawn(move || (of(&nested("1")), of(&nested("2")))).unwrap().join().unwrap();
        assert_ne!(both.0, both.1);
    }
}

//! Request ids: what may be one, when two are the same, and how one is written back.
//!
//! An id is compared by type and value and echoed as it was written. `1`, `"1"` and `1.0` are three different things
//! to us; the last is not an id at all, because readers that use floating point would merge it with the first.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
};

use crate::{
    cause::Cause,
    json::{Kind, Raw, compact, write_string},
};

/// Longest id, as received and as written back.
pub const MAX_ID: usize = 1024;
/// What one received byte becomes at most: a control character is written as `\u00xx`.
const LONGEST_ESCAPE: usize = 6;

/// An id inside the line that it came in: a string, or an integer of any length. `-0` is refused.
#[derive(Clone, Debug)]
pub struct Id<'a> {
    lexeme: &'a str,
    value: Value<'a>,
}

#[derive(Clone, Debug)]
enum Value<'a> {
    Int(i64),
    Big,
    Text(Cow<'a, str>),
}

impl<'a> Id<'a> {
    pub fn read(raw: Raw<'a>) -> Result<Id<'a>, Cause> {
        let lexeme = raw.text();
        let value = match raw.kind() {
            Kind::Null => return Err(Cause::IdNull),
            Kind::String | Kind::Number if is_too_long(raw) => return Err(Cause::IdTooLong),
            Kind::Number => {
                // The grammar allows a minus sign only in front, or in an exponent, which the `e` gives away.
                if lexeme == "-0" || !lexeme.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                    return Err(Cause::IdKind);
                }
                lexeme.parse().map_or(Value::Big, Value::Int)
            }
            Kind::String => Value::Text(raw.as_str().ok_or(Cause::IdKind)?),
            Kind::Bool | Kind::Array | Kind::Object => return Err(Cause::IdKind),
        };
        Ok(Id { lexeme, value })
    }

    /// Exactly as received.
    pub fn lexeme(&self) -> &'a str {
        self.lexeme
    }

    pub fn as_key(&self) -> IdKey {
        IdKey(match &self.value {
            Value::Int(number) => Key::Int(*number),
            Value::Big => Key::Big(self.lexeme.into()),
            Value::Text(text) => {
                let spelled =
                    self.lexeme.contains('\\').then(|| safe_lexeme(Raw::checked(self.lexeme)).into());
                Key::Text { text: text.as_ref().into(), spelled }
            }
        })
    }
}

/// Also where only the escapes that it is forwarded with make it so: what we write must be an id to the next gate too.
fn is_too_long(raw: Raw<'_>) -> bool {
    let length = raw.text().len();
    length > MAX_ID || (length > MAX_ID / LONGEST_ESCAPE && safe_lexeme(raw).len() > MAX_ID)
}

/// The spelling that goes into a line.
fn safe_lexeme(raw: Raw<'_>) -> String {
    let mut out = Vec::with_capacity(raw.text().len());
    compact(raw, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// An id on its own: the key of a table of pending requests, one table per direction.
///
/// Equal when type and value are equal, however they were spelled; remembers the spelling for the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdKey(Key);

#[derive(Clone, Debug)]
enum Key {
    Int(i64),
    Big(Box<str>),
    Text {
        text: Box<str>,
        /// Kept only where writing `text` plainly would spell it otherwise.
        spelled: Option<Box<str>>,
    },
}

impl IdKey {
    /// The id that this JSON text is.
    pub fn from_lexeme(lexeme: &str) -> Option<IdKey> {
        let raw = Raw::parse(lexeme).ok()?;
        Id::read(raw).ok().map(|id| id.as_key())
    }

    /// Is it a text that begins so, however it was spelled?
    pub fn begins_with(&self, prefix: &str) -> bool {
        matches!(&self.0, Key::Text { text, .. } if text.starts_with(prefix))
    }

    /// The id as it was written, safe to put into a line.
    pub fn to_lexeme(&self) -> Cow<'_, str> {
        match &self.0 {
            Key::Int(number) => Cow::Owned(number.to_string()),
            Key::Big(lexeme) => Cow::Borrowed(lexeme),
            Key::Text { spelled: Some(spelled), .. } => Cow::Borrowed(spelled),
            Key::Text { text, spelled: None } => {
                let mut out = Vec::with_capacity(text.len() + 2);
                write_string(&mut out, text);
                Cow::Owned(String::from_utf8_lossy(&out).into_owned())
            }
        }
    }
}

impl fmt::Display for IdKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_lexeme())
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Key::Int(a), Key::Int(b)) => a == b,
            (Key::Big(a), Key::Big(b)) => a == b,
            (Key::Text { text: a, .. }, Key::Text { text: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Key::Int(number) => (0u8, number).hash(state),
            Key::Big(lexeme) => (1u8, lexeme).hash(state),
            Key::Text { text, .. } => (2u8, text).hash(state),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<IdKey, Cause> {
        Id::read(Raw::parse(text).unwrap()).map(|id| id.as_key())
    }

    #[test]
    fn ids_are_echoed_as_they_were_written() {
        for lexeme in [
            "1",
            "-7",
            "0",
            "9007199254740993",
            "9223372036854775807",
            "123456789012345678901234567890",
            r#""abc""#,
            r#""""#,
            r#""a\u0062\/c""#,
            r#""\"\\""#,
            r#""\u0007""#,
            r#""ü""#,
        ] {
            assert_eq!(read(lexeme).unwrap().to_lexeme(), lexeme);
            assert_eq!(IdKey::from_lexeme(lexeme), Some(read(lexeme).unwrap()));
        }
        assert_eq!(read("\"\u{2028}\u{7f}\"").unwrap().to_lexeme(), r#""\u2028\u007f""#);
        assert_eq!(read("\"\u{2028}\\n\"").unwrap().to_lexeme(), r#""\u2028\n""#);
    }

    #[test]
    fn ids_compare_by_type_and_value() {
        assert_eq!(read(r#""ab""#).unwrap(), read(r#""a\u0062""#).unwrap());
        assert_ne!(read("1").unwrap(), read(r#""1""#).unwrap());
        assert_ne!(read("9007199254740993").unwrap(), read("9007199254740992").unwrap());
        assert_ne!(read("10000000000000000000000").unwrap(), read("10000000000000000000001").unwrap());
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let long = format!("\"{}\"", "x".repeat(MAX_ID));
        for (text, cause) in [
            ("null", Cause::IdNull),
            ("true", Cause::IdKind),
            ("[1]", Cause::IdKind),
            ("{}", Cause::IdKind),
            ("1.0", Cause::IdKind),
            ("1.5", Cause::IdKind),
            ("1e2", Cause::IdKind),
            ("1e-2", Cause::IdKind),
            ("1e400", Cause::IdKind),
            ("-0", Cause::IdKind),
            (r#""\ud800""#, Cause::IdKind),
            (&long, Cause::IdTooLong),
            (&"9".repeat(MAX_ID + 1), Cause::IdTooLong),
        ] {
            assert_eq!(read(text).unwrap_err(), cause, "{text}");
        }
    }

    #[test]
    fn an_id_that_is_too_long_only_as_we_would_write_it_is_refused() {
        let quoted = |text: &str| format!("\"{text}\"");
        let most = (MAX_ID - 2) / LONGEST_ESCAPE;
        let fits = read(&quoted(&"\u{7f}".repeat(most))).unwrap();
        assert!(IdKey::from_lexeme(&fits.to_lexeme()).is_some());
        assert_eq!(read(&quoted(&"\u{7f}".repeat(most + 1))).unwrap_err(), Cause::IdTooLong);
        assert!(read(&quoted(&"x".repeat(MAX_ID - 2))).is_ok(), "letters are written as they are");
    }
}

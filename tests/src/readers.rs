//! Models of how a server might read the bytes it was given. Each model is one way in which a real parser is known
//! to differ from another: where lines end, what bad UTF-8 becomes, which of two members counts, what JSON is.
//!
//! Knows nothing of policy: it says which calls a reader would see.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

use crate::json::{Dialect, Json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Lf,
    /// Universal newlines: LF, CR and CRLF (the Python SDK).
    Cr,
    /// `str.splitlines`: also VT, FF, FS, GS, RS, NEL, LS, PS; and NUL, for readers of C strings.
    Unicode,
    /// No lines at all: one value after another, garbage between them skipped.
    Stream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decode {
    Strict,
    Replace,
    Ignore,
    /// Decodes overlong forms and surrogate pairs (CESU-8) as if they were fine.
    Overlong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    Exact,
    /// NFKC, any case, trimmed, without control and format characters.
    Folded,
    /// As C does it: up to the first NUL.
    NulCut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wins {
    First,
    Last,
}

const SPLITS: [Split; 4] = [Split::Lf, Split::Cr, Split::Unicode, Split::Stream];
const DECODES: [Decode; 4] = [Decode::Strict, Decode::Replace, Decode::Ignore, Decode::Overlong];
const DIALECTS: [Dialect; 2] = [Dialect::Strict, Dialect::Lenient];
pub const LOOKUPS: [Lookup; 6] = [
    Lookup { keys: Keys::Exact, wins: Wins::First },
    Lookup { keys: Keys::Exact, wins: Wins::Last },
    Lookup { keys: Keys::Folded, wins: Wins::First },
    Lookup { keys: Keys::Folded, wins: Wins::Last },
    Lookup { keys: Keys::NulCut, wins: Wins::First },
    Lookup { keys: Keys::NulCut, wins: Wins::Last },
];

/// One way of taking the bytes apart, and the values it found.
#[derive(Debug)]
pub struct Reading {
    pub name: String,
    pub values: Vec<Json>,
}

/// All distinct readings of the bytes. Models that cannot differ on these bytes are read once.
pub fn readings(bytes: &[u8]) -> Vec<Reading> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for decode in DECODES {
        let Some(text) = decoded(bytes, decode) else { continue };
        for split in SPLITS {
            let pieces = pieces(&text, split);
            for dialect in DIALECTS {
                if split == Split::Stream && dialect == Dialect::Strict {
                    continue;
                }
                if !seen.insert((pieces.join("\u{1}\n"), dialect == Dialect::Strict, split == Split::Stream))
                {
                    continue;
                }
                let values = pieces.iter().flat_map(|piece| values(piece, dialect)).collect();
                all.push(Reading {
                    name: format!("{split:?} lines, {decode:?} UTF-8, {dialect:?} JSON"),
                    values,
                });
            }
        }
    }
    all
}

fn pieces(text: &str, split: Split) -> Vec<&str> {
    match split {
        Split::Lf => text.split('\n').collect(),
        Split::Cr => text.split(['\n', '\r']).collect(),
        Split::Unicode => {
            text.split(|c| "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}\0".contains(c)).collect()
        }
        Split::Stream => vec![text],
    }
}

/// The values of one line: exactly one for the strict; for the lenient all that can be found after resynchronising.
fn values(piece: &str, dialect: Dialect) -> Vec<Json> {
    const MAX_TRIES: usize = 3_000;
    if dialect == Dialect::Strict {
        return Json::parse(piece, dialect).into_iter().collect();
    }
    let (mut found, mut rest) = (Vec::new(), piece);
    for _ in 0..MAX_TRIES {
        let Some(start) = rest.find(['{', '[']) else { break };
        rest = &rest[start..];
        match Json::parse_prefix(rest, dialect) {
            Some((value, used)) => {
                found.push(value);
                rest = &rest[used..];
            }
            None => rest = &rest[1..],
        }
    }
    found
}

/// `None`: these bytes stop a strict reader. Whole-text strictness is too harsh, so the strict reader drops bad lines.
fn decoded(bytes: &[u8], decode: Decode) -> Option<String> {
    let clean = std::str::from_utf8(bytes).is_ok();
    match decode {
        Decode::Strict if clean => Some(String::from_utf8_lossy(bytes).into_owned()),
        Decode::Strict => {
            let good = bytes.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
            Some(good.collect::<Vec<_>>().join("\n"))
        }
        _ if clean => None,
        Decode::Replace => Some(String::from_utf8_lossy(bytes).into_owned()),
        Decode::Ignore => Some(bytes.utf8_chunks().map(|chunk| chunk.valid()).collect()),
        Decode::Overlong => Some(overlong(bytes)),
    }
}

/// Decodes by the bit pattern alone, as old C decoders do.
fn overlong(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut high = None;
    let mut at = 0;
    while at < bytes.len() {
        let (length, mask) = match bytes[at] {
            0xc0..=0xdf => (2, 0x1f),
            0xe0..=0xef => (3, 0x0f),
            0xf0..=0xf7 => (4, 0x07),
            _ => (1, 0x7f),
        };
        let tail = bytes.get(at + 1..at + length).filter(|tail| tail.iter().all(|b| b & 0xc0 == 0x80));
        let Some(tail) = tail else {
            at += 1;
            continue;
        };
        let code = tail.iter().fold(u32::from(bytes[at] & mask), |code, b| (code << 6) | u32::from(b & 0x3f));
        at += length;
        match (high.take(), code) {
            (_, 0xd800..=0xdbff) => high = Some(code),
            (Some(high), 0xdc00..=0xdfff) => {
                out.extend(char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00)));
            }
            _ => out.push(char::from_u32(code).unwrap_or('\u{fffd}')),
        }
    }
    out
}

/// Which member counts when a reader asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    pub keys: Keys,
    pub wins: Wins,
}

impl Lookup {
    pub fn get<'a>(&self, value: &'a Json, key: &str) -> Option<&'a Json> {
        let mut fits =
            value.members().iter().filter(|(name, _)| self.norm(name) == key).map(|(_, value)| value);
        match self.wins {
            Wins::First => fits.next(),
            Wins::Last => fits.next_back(),
        }
    }

    /// A name as this reader compares it.
    pub fn norm(&self, name: &str) -> String {
        match self.keys {
            Keys::Exact => name.to_owned(),
            Keys::Folded => fold(name),
            Keys::NulCut => name.split('\0').next().unwrap_or_default().to_owned(),
        }
    }
}

/// A call as some reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The tool's name as that reader takes it; empty when there is none.
    pub tool: String,
    pub has_id: bool,
}

/// The tool calls in a value: itself, or the elements of a batch, however nested.
pub fn calls(value: &Json, lookup: Lookup) -> Vec<Called> {
    if let Json::List(items) = value {
        return items.iter().flat_map(|item| calls(item, lookup)).collect();
    }
    let method = lookup.get(value, "method").and_then(coerced).unwrap_or_default();
    if method_norm(&lookup.norm(&method), lookup.keys) != "tools/call" {
        return Vec::new();
    }
    let decoded;
    let params = match lookup.get(value, "params") {
        Some(Json::Text(text)) => {
            decoded = Json::parse(text, Dialect::Lenient);
            decoded.as_ref()
        }
        Some(Json::List(items)) => items.first(),
        other => other,
    };
    let name = params.and_then(|params| match params {
        Json::Object(_) => lookup.get(params, "name").and_then(coerced),
        other => coerced(other),
    });
    let has_id = lookup.get(value, "id").is_some_and(|id| *id != Json::Null);
    vec![Called { tool: lookup.norm(&name.unwrap_or_default()), has_id }]
}

fn method_norm(method: &str, keys: Keys) -> String {
    if keys == Keys::Exact {
        return method.to_owned();
    }
    let slashed = method.replace(['\\', '\u{2215}', '\u{2044}'], "/");
    slashed.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// What a loosely typed language makes of it when it wants a string.
fn coerced(value: &Json) -> Option<String> {
    match value {
        Json::Text(text) | Json::Number(text) => Some(text.clone()),
        Json::List(items) if items.len() == 1 => coerced(&items[0]),
        _ => None,
    }
}

/// The form under which a forgiving reader takes two names for one.
pub fn fold(name: &str) -> String {
    let visible =
        name.nfkc().filter(|c| !is_invisible(*c)).flat_map(char::to_lowercase).nfkc().collect::<String>();
    visible.trim().to_owned()
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f)
        || matches!(u32::from(c), 0xfe00..=0xfe0f | 0xfeff | 0xfff9..=0xfffb | 0xe_0000..=0xe_01ef)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_readers_meet_all_spellings() {
        for name in ["NAME", "name ", "na\u{200b}me", "name\0", "\u{ff4e}ame"] {
            assert_eq!(fold(name), "name", "{name:?}");
        }
        assert_eq!(fold("param\u{17f}"), "params");
        assert_eq!(fold("tas\u{212a}"), "task");
    }

    #[test]
    fn overlong_bytes_become_what_they_hide() {
        assert_eq!(overlong(b"tools\xc0\xafcall"), "tools/call");
        assert_eq!(overlong(b"\xed\xa0\xbd\xed\xb8\x80"), "\u{1f600}");
    }
}

//! Names of sessions and calls, short enough to be read aloud and typed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Lower case without look-alikes (no `i l o u`).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 6;

/// One run of a shim: six characters, random.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId([u8; LENGTH]);

/// One call: its session and its number there, `k3v9qa-1z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    pub session: SessionId,
    pub seq: u64,
}

/// Text that is not the name of a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a session id: it looks like k3v9qa, the part of a call's id before the dash")]
pub struct BadSessionId(pub String);

/// Text that is not the name of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a call id: it looks like k3v9qa-1z")]
pub struct BadId(pub String);

impl SessionId {
    /// A new one. Nothing makes it the only one of its name: of two that run at once the second does not get the
    /// lease, and the history tells a session from an earlier one by when it started.
    pub fn random() -> Self {
        let mut bytes = [0u8; LENGTH];
        if getrandom::fill(&mut bytes).is_err() {
            // No random source: the clock and our pid tell sessions apart well enough for a name.
            let nanos = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos() as u64);
            let mixed = nanos.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(std::process::id());
            bytes.copy_from_slice(&mixed.to_le_bytes()[..LENGTH]);
        }
        SessionId(bytes.map(|byte| ALPHABET[usize::from(byte % 32)]))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub fn call(self, seq: u64) -> CallId {
        CallId { session: self, seq }
    }
}

impl FromStr for SessionId {
    type Err = BadSessionId;

    fn from_str(text: &str) -> Result<Self, BadSessionId> {
        let bytes: [u8; LENGTH] = text.as_bytes().try_into().map_err(|_| BadSessionId(text.to_owned()))?;
        if bytes.iter().all(|byte| ALPHABET.contains(byte)) {
            Ok(SessionId(bytes))
        } else {
            Err(BadSessionId(text.to_owned()))
        }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for SessionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for CallId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let mut digits = Vec::with_capacity(13);
        let mut rest = self.seq;
        loop {
            digits.push(DIGITS[(rest % 36) as usize]);
            rest /= 36;
            if rest == 0 {
                break;
            }
        }
        digits.reverse();
        write!(f, "{}-{}", self.session, String::from_utf8_lossy(&digits))
    }
}

impl FromStr for CallId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId(text.to_owned());
        let (session, seq) = text.trim().split_once('-').ok_or_else(bad)?;
        if seq.starts_with('+') {
            return Err(bad());
        }
        Ok(CallId {
            session: session.to_ascii_lowercase().parse().map_err(|_| bad())?,
            seq: u64::from_str_radix(seq, 36).map_err(|_| bad())?,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_survives_being_written_and_read() {
        let session = SessionId::random();
        for seq in [0, 1, 35, 36, 1295, u64::MAX] {
            let id = session.call(seq);
            assert_eq!(id.to_string().parse::<CallId>().unwrap(), id);
        }
    }

    #[test]
    fn text_that_is_no_id_is_refused() {
        for text in ["", "-", "abc", "abcdef", "abcdef-", "abcdef-+1", "iiiiii-1", "../../x-1", "abcdefg-1"] {
            assert!(text.parse::<CallId>().is_err(), "{text}");
        }
    }
}

//! State of a question that a client takes along between the two legs of a call (since revision 2026-07-28): which approval it
//! is about, of which call, until when. Nothing is held meanwhile, so the call that comes again has to prove that it is the one.
//!
//! Sealed with a key that only this process has: what no session of this moment made is no state.

use std::fmt::Write as _;

use callgate_controls::approval::ApprovalId;
use sha2::{Digest as _, Sha256};

/// How every such state begins, by whomever it was made.
pub(crate) const BEGIN: &str = "callgate/1.";

/// Of HMAC-SHA256.
const BLOCK: usize = 64;

/// The key of one session.
pub(crate) struct StateKey([u8; 32]);

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey")
    }
}

/// What a state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) approval: ApprovalId,
    /// Of tool and arguments.
    pub(super) digest: [u8; 32],
    pub(super) expires_ms: i64,
}

impl StateKey {
    pub(super) fn random() -> Option<StateKey> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok().map(|()| StateKey(key))
    }

    /// As it goes to the client.
    pub(super) fn seal(&self, state: &State) -> String {
        let said = format!("{BEGIN}{}.{}.{}", state.approval, state.expires_ms, hex(&state.digest));
        format!("{said}.{}", hex(&hmac(&self.0, said.as_bytes())))
    }

    /// What a text says, if this session has sealed it.
    pub(super) fn open(&self, text: &str) -> Option<State> {
        let (said, mac) = text.rsplit_once('.')?;
        if !equal(hex(&hmac(&self.0, said.as_bytes())).as_bytes(), mac.as_bytes()) {
            return None;
        }
        let mut parts = said.strip_prefix(BEGIN)?.splitn(3, '.');
        let (approval, expires_ms, digest) = (parts.next()?, parts.next()?, parts.next()?);
        Some(State {
            approval: approval.parse().ok()?,
            expires_ms: expires_ms.parse().ok()?,
            digest: unhex(digest)?,
        })
    }
}

/// HMAC-SHA256 (RFC 2104), of a key that is shorter than a block.
fn hmac(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; BLOCK];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// In the same time, wherever they differ.
fn equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a text cannot fail.
        let _done = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hmac_that_everybody_knows() {
        // RFC 4231, test cases 1 and 2, whose keys are filled up with zeros.
        let key = |text: &[u8]| {
            let mut key = [0; 32];
            key[..text.len()].copy_from_slice(text);
            key
        };
        for (of, text, expected) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
        ] {
            assert_eq!(hex(&hmac(&key(of), text)), expected);
        }
    }

    #[test]
    fn a_state_is_read_back_by_its_session_and_by_no_other() {
        let state =
            State { approval: "k3v9qa".parse().unwrap(), digest: [7; 32], expires_ms: 1_772_388_000_000 };
        let (own, other) = (StateKey([1; 32]), StateKey([2; 32]));
        let text = own.seal(&state);
        assert!(text.starts_with(BEGIN));
        assert_eq!(own.open(&text), Some(state));
        assert_eq!(other.open(&text), None, "another session's");
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'0' { b'1' } else { b'0' };
            let forged = String::from_utf8(forged).unwrap();
            assert_eq!(own.open(&forged), None, "{forged}");
        }
        for cut in 0..text.len() {
            assert_eq!(own.open(&text[..cut]), None);
        }
        assert_eq!(own.open(&format!("{text}0")), None);
    }
}

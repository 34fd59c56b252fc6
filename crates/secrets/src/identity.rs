//! For whom a secret was stored.
//!
//! A reference is no secret: it stands in files that others may read, and any other entry could name it. So the keychain's
//! item says for which command it is, and the gate asks before it starts one: the server's name at the gate, the client, the
//! program, and every argument as it stands in the file. An entry that is taken from behind the gate and put back keeps all of
//! these. The environment is not among them, because most of it is the client's; what of it decides which code runs is looked
//! at on its own ([`crate::Surroundings`]).

use std::ffi::OsStr;

use callgate_text::hex;
use sha2::{Digest as _, Sha256};

/// A digest of what is started, as the gate sees it on its own command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(String);

impl Identity {
    /// The program with its arguments, references and all, behind a gate of this name for this client.
    pub fn of<'a>(
        server: &str,
        client: Option<&str>,
        program: &OsStr,
        args: impl IntoIterator<Item = &'a OsStr>,
    ) -> Identity {
        let mut digest = Digest::new(b"callgate start 1");
        digest.part(b's', server.as_bytes());
        client.into_iter().for_each(|client| digest.part(b'c', client.as_bytes()));
        digest.part(b'p', program.as_encoded_bytes());
        args.into_iter().for_each(|arg| digest.part(b'a', arg.as_encoded_bytes()));
        digest.finish()
    }

    /// The entry of a client's file, by whatever tells it from every other.
    pub fn of_place<'a>(parts: impl IntoIterator<Item = &'a OsStr>) -> Identity {
        let mut digest = Digest::new(b"callgate place 1");
        parts.into_iter().for_each(|part| digest.part(b'l', part.as_encoded_bytes()));
        digest.finish()
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn parse(text: &str) -> Option<Identity> {
        let good = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        good.then(|| Identity(text.to_owned()))
    }
}

/// Parts of any content, told apart by their kind and length.
struct Digest(Sha256);

impl Digest {
    fn new(what: &[u8]) -> Digest {
        Digest(Sha256::new_with_prefix(what))
    }

    fn part(&mut self, kind: u8, bytes: &[u8]) {
        self.0.update([kind]);
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn finish(self) -> Identity {
        Identity(hex(&self.0.finalize()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(server: &str, client: Option<&str>, program: &str, args: &[&str]) -> Identity {
        Identity::of(server, client, program.as_ref(), args.iter().map(OsStr::new))
    }

    #[test]
    fn every_part_counts_and_none_runs_into_the_next() {
        let all = [
            of("github", Some("cursor"), "npx", &["-y", "x"]),
            of("github", Some("cursor"), "npx", &["-yx"]),
            of("github", Some("cursor"), "npx", &["-y", "x", ""]),
            of("github", Some("cursor"), "/evil/npx", &["-y", "x"]),
            of("github", Some("zed"), "npx", &["-y", "x"]),
            of("github", None, "npx", &["-y", "x"]),
            of("other", Some("cursor"), "npx", &["-y", "x"]),
            Identity::of_place(["github", "cursor", "npx", "-y", "x"].map(OsStr::new)),
        ];
        for (n, one) in all.iter().enumerate() {
            assert!(all[n + 1..].iter().all(|other| other != one), "{n}");
            assert_eq!(Identity::parse(one.text()).as_ref(), Some(one));
        }
        assert_eq!(all[0], of("github", Some("cursor"), "npx", &["-y", "x"]));
    }
}

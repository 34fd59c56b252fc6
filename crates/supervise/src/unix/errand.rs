//! What the shim tells a keeper that waits: start it now, with this, or do not start it at all.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Larger than any command line that a system takes.
const LARGEST: usize = 64 * 1024 * 1024;

#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) enum Errand {
    Start { args: Vec<OsString>, env: Vec<(OsString, OsString)> },
    Withhold,
}

impl Errand {
    pub(super) fn send(&self, mut pipe: impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        match self {
            Errand::Withhold => bytes.push(b'W'),
            Errand::Start { args, env } => {
                bytes.push(b'S');
                number(&mut bytes, args.len());
                args.iter().for_each(|arg| text(&mut bytes, arg));
                number(&mut bytes, env.len());
                for (name, value) in env {
                    text(&mut bytes, name);
                    text(&mut bytes, value);
                }
            }
        }
        pipe.write_all(&bytes)
    }

    /// The errand; `None` when the shim is gone.
    pub(super) fn receive(mut pipe: impl Read) -> Option<Errand> {
        let mut tag = [0];
        pipe.read_exact(&mut tag).ok()?;
        match tag {
            [b'W'] => Some(Errand::Withhold),
            [b'S'] => {
                let mut args = Vec::new();
                for _ in 0..take_number(&mut pipe)? {
                    args.push(take_text(&mut pipe)?);
                }
                let mut env = Vec::new();
                for _ in 0..take_number(&mut pipe)? {
                    env.push((take_text(&mut pipe)?, take_text(&mut pipe)?));
                }
                Some(Errand::Start { args, env })
            }
            _ => None,
        }
    }
}

fn number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u64).to_le_bytes());
}

fn text(bytes: &mut Vec<u8>, text: &OsString) {
    number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn take_number(pipe: &mut impl Read) -> Option<usize> {
    let mut bytes = [0; 8];
    pipe.read_exact(&mut bytes).ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok().filter(|number| *number <= LARGEST)
}

fn take_text(pipe: &mut impl Read) -> Option<OsString> {
    let mut bytes = vec![0; take_number(pipe)?];
    pipe.read_exact(&mut bytes).ok()?;
    Some(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errands_arrive_as_they_were_sent() {
        let odd = OsString::from_vec(vec![0xff, b'=', b'\n']);
        let all = [
            Errand::Withhold,
            Errand::Start { args: Vec::new(), env: Vec::new() },
            Errand::Start { args: vec!["".into(), odd.clone()], env: vec![("A".into(), odd)] },
        ];
        for errand in all {
            let mut pipe = Vec::new();
            assert!(errand.send(&mut pipe).is_ok());
            assert_eq!(Errand::receive(pipe.as_slice()), Some(errand));
            pipe.pop();
            assert_eq!(Errand::receive(pipe.as_slice()), None, "cut short: the shim is gone");
        }
    }
}

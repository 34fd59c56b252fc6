//! What the keeper tells the shim: five bytes each, so that a write to the pipe is whole or not at all.

use std::io::{self, Read, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Started {
        pid: i32,
    },
    /// The server's command could not be run; the shim finds out why, it has the same view of the disk.
    Failed {
        errno: i32,
    },
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    /// Nothing of the tree is left: the last word about this generation.
    Done,
}

impl Report {
    const LENGTH: usize = 5;

    pub(super) fn send(self, mut pipe: impl Write) -> io::Result<()> {
        let (tag, value) = match self {
            Report::Started { pid } => (b'S', pid),
            Report::Failed { errno } => (b'F', errno),
            Report::Exited { code } => (b'X', code),
            Report::Signalled { signal } => (b'K', signal),
            Report::Done => (b'D', 0),
        };
        let mut bytes = [tag, 0, 0, 0, 0];
        bytes[1..].copy_from_slice(&value.to_le_bytes());
        pipe.write_all(&bytes)
    }

    /// The next report; `None` when the keeper is gone (or speaks nonsense, which comes to the same).
    pub(super) fn receive(mut pipe: impl Read) -> Option<Report> {
        let mut bytes = [0; Report::LENGTH];
        pipe.read_exact(&mut bytes).ok()?;
        let [tag, value @ ..] = bytes;
        let value = i32::from_le_bytes(value);
        match tag {
            b'S' => Some(Report::Started { pid: value }),
            b'F' => Some(Report::Failed { errno: value }),
            b'X' => Some(Report::Exited { code: value }),
            b'K' => Some(Report::Signalled { signal: value }),
            b'D' => Some(Report::Done),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_arrive_as_they_were_sent() {
        let all = [
            Report::Started { pid: 4_194_303 },
            Report::Failed { errno: 2 },
            Report::Exited { code: -1 },
            Report::Signalled { signal: 9 },
            Report::Done,
        ];
        let mut pipe = Vec::new();
        for report in all {
            assert!(report.send(&mut pipe).is_ok());
        }
        let mut reader = pipe.as_slice();
        for report in all {
            assert_eq!(Report::receive(&mut reader), Some(report));
        }
        assert_eq!(Report::receive(&mut reader), None);
    }
}

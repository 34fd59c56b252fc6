//! What the shim tells its keeper: start the server, with these pipes; end it; start nothing at all.
//!
//! Errands go through a socket, because a pipe carries no descriptors. The tag comes first and alone, with the server's ends
//! of its pipes attached where there are any; the rest follows as plain bytes.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// Larger than any command line that a system takes.
const LARGEST: usize = 64 * 1024 * 1024;

/// The server's ends of one generation's pipes.
#[derive(Debug)]
pub(super) struct ServerEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

#[derive(Debug)]
pub(super) enum Errand {
    /// As it was launched, or told last.
    Start(ServerEnds),
    StartWith {
        ends: ServerEnds,
        args: Vec<OsString>,
        env: Vec<(OsString, OsString)>,
    },
    /// End what runs, and wait for the next errand.
    End,
    /// There is nothing to start, now or later.
    Withhold,
}

impl Errand {
    pub(super) fn send(&self, mut socket: &UnixStream) -> io::Result<()> {
        let mut rest = Vec::new();
        match self {
            Errand::End => send_tag(socket, b'E', None)?,
            Errand::Withhold => send_tag(socket, b'W', None)?,
            Errand::Start(ends) => send_tag(socket, b'A', Some(ends))?,
            Errand::StartWith { ends, args, env } => {
                send_tag(socket, b'S', Some(ends))?;
                number(&mut rest, args.len());
                args.iter().for_each(|arg| text(&mut rest, arg));
                number(&mut rest, env.len());
                for (name, value) in env {
                    text(&mut rest, name);
                    text(&mut rest, value);
                }
            }
        }
        socket.write_all(&rest)
    }

    /// The next errand; `None` when the shim is gone (or speaks nonsense, which comes to the same).
    pub(super) fn receive(mut socket: &UnixStream) -> Option<Errand> {
        match receive_tag(socket)? {
            (b'E', _) => Some(Errand::End),
            (b'W', _) => Some(Errand::Withhold),
            (b'A', ends) => ends.map(Errand::Start),
            (b'S', ends) => {
                let mut args = Vec::new();
                for _ in 0..take_number(&mut socket)? {
                    args.push(take_text(&mut socket)?);
                }
                let mut env = Vec::new();
                for _ in 0..take_number(&mut socket)? {
                    env.push((take_text(&mut socket)?, take_text(&mut socket)?));
                }
                Some(Errand::StartWith { ends: ends?, args, env })
            }
            _ => None,
        }
    }
}

fn send_tag(socket: &UnixStream, tag: u8, ends: Option<&ServerEnds>) -> io::Result<()> {
    let fds = ends.map(|ends| [ends.stdin.as_fd(), ends.stdout.as_fd(), ends.stderr.as_fd()]);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if let Some(fds) = &fds
        && !attached.push(SendAncillaryMessage::ScmRights(fds))
    {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    loop {
        match sendmsg(socket, &[IoSlice::new(&[tag])], &mut attached, SendFlags::empty()) {
            Err(Errno::INTR) => {}
            sent => return sent.map(drop).map_err(io::Error::from),
        }
    }
}

fn receive_tag(socket: &UnixStream) -> Option<(u8, Option<ServerEnds>)> {
    let mut tag = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(socket, &mut [IoSliceMut::new(&mut tag)], &mut attached, RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            received => break received.ok()?,
        }
    };
    let mut fds = Vec::new();
    for message in attached.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            fds.extend(passed);
        }
    }
    for fd in &fds {
        // Afterwards, since not every system has a flag for it; the keeper has no thread that could fork in between.
        fcntl_setfd(fd, FdFlags::CLOEXEC).ok()?;
    }
    let ends = <[OwnedFd; 3]>::try_from(fds).ok().map(|[stdin, stdout, stderr]| ServerEnds {
        stdin,
        stdout,
        stderr,
    });
    (received.bytes == 1).then_some((tag[0], ends))
}

fn number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u64).to_le_bytes());
}

fn text(bytes: &mut Vec<u8>, text: &OsString) {
    number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn take_number(socket: &mut impl Read) -> Option<usize> {
    let mut bytes = [0; 8];
    socket.read_exact(&mut bytes).ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok().filter(|number| *number <= LARGEST)
}

fn take_text(socket: &mut impl Read) -> Option<OsString> {
    let mut bytes = vec![0; take_number(socket)?];
    socket.read_exact(&mut bytes).ok()?;
    Some(OsString::from_vec(bytes))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    /// Three pipe ends, and a reader that sees whether what arrived is the server's stdout.
    fn ends() -> (ServerEnds, io::PipeReader) {
        let (stdin, _) = io::pipe().unwrap();
        let (reader, stdout) = io::pipe().unwrap();
        let (_, stderr) = io::pipe().unwrap();
        (ServerEnds { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() }, reader)
    }

    #[test]
    fn errands_arrive_as_they_were_sent_with_their_descriptors() {
        let (shim, keeper) = UnixStream::pair().unwrap();
        let odd = OsString::from_vec(vec![0xff, b'=', b'\n']);
        let (first, mut heard_first) = ends();
        let (second, mut heard_second) = ends();
        let told = (vec![OsString::new(), odd.clone()], vec![("A".into(), odd)]);
        Errand::StartWith { ends: first, args: told.0.clone(), env: told.1.clone() }.send(&shim).unwrap();
        Errand::End.send(&shim).unwrap();
        Errand::Start(second).send(&shim).unwrap();
        Errand::Withhold.send(&shim).unwrap();
        drop(shim);

        let Some(Errand::StartWith { ends, args, env }) = Errand::receive(&keeper) else { panic!() };
        assert_eq!((args, env), told);
        assert_eq!(said_through(ends, &mut heard_first), "first");
        assert!(matches!(Errand::receive(&keeper), Some(Errand::End)));
        let Some(Errand::Start(ends)) = Errand::receive(&keeper) else { panic!() };
        assert_eq!(said_through(ends, &mut heard_second), "first");
        assert!(matches!(Errand::receive(&keeper), Some(Errand::Withhold)));
        assert!(Errand::receive(&keeper).is_none(), "the shim is gone");
    }

    fn said_through(ends: ServerEnds, reader: &mut io::PipeReader) -> String {
        std::fs::File::from(ends.stdout).write_all(b"first").unwrap();
        let mut said = String::new();
        reader.read_to_string(&mut said).unwrap();
        said
    }

    #[test]
    fn an_errand_that_is_cut_short_is_none() {
        let (shim, keeper) = UnixStream::pair().unwrap();
        send_tag(&shim, b'S', Some(&ends().0)).unwrap();
        (&shim).write_all(&[3, 0]).unwrap();
        drop(shim);
        assert!(Errand::receive(&keeper).is_none());
        let (shim, keeper) = UnixStream::pair().unwrap();
        send_tag(&shim, b'A', None).unwrap();
        assert!(Errand::receive(&keeper).is_none(), "a start without pipes");
    }
}

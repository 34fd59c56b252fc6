//! The shim's own ends of the client's pipes, and the signals that a client ends it with.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The client's bytes, unbuffered.
pub(crate) fn stdin() -> File {
    match rustix::io::dup(rustix::stdio::stdin()) {
        Ok(fd) => {
            widen(&fd);
            File::from(fd)
        }
        // Closed from the start: nothing to read is what /dev/null says too.
        Err(_) => File::open("/dev/null").unwrap_or_else(|_| std::process::abort()),
    }
}

/// Takes the way to the client, unbuffered: whole lines are written with one call. What stays behind as our standard
/// output leads nowhere, so that the client's pipe ends when we close it, and no stray print reaches it.
pub(crate) fn take_stdout() -> io::Result<(File, ClientEnd)> {
    let pipe = rustix::io::dup(rustix::stdio::stdout())?;
    widen(&pipe);
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok((File::from(rustix::io::dup(&pipe)?), ClientEnd(pipe)))
}

/// Lets a pipe hold more than the usual 64 KiB, so that a large message takes fewer turns between the processes. Not
/// the largest that is allowed: all pipes of a person share one budget, and other programs need theirs.
#[cfg(target_os = "linux")]
pub(crate) fn widen(pipe: impl AsFd) {
    // Sockets and files cannot, and need not.
    let _as_it_was = rustix::pipe::fcntl_setpipe_size(pipe, 256 * 1024);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn widen(_pipe: impl AsFd) {}

/// Tells whether the client still reads.
#[derive(Debug)]
pub(crate) struct ClientEnd(OwnedFd);

impl ClientEnd {
    /// A pipe or socket without a reader reports an error.
    pub(crate) fn is_read(&self) -> bool {
        let mut asked = [PollFd::new(&self.0, PollFlags::empty())];
        match poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) => !asked[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL),
            Err(_) => true,
        }
    }
}

/// Our error output, for what the server says on its own.
pub(crate) fn stderr() -> io::Result<File> {
    Ok(File::from(rustix::io::dup(rustix::stdio::stderr())?))
}

/// Calls `then` for each signal that means "end".
pub(crate) fn on_signal(then: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .stack_size(128 * 1024)
        .spawn(move || signals.forever().for_each(then))
        .map(drop)
}

/// One line for the person, where clients keep a server's log.
pub(crate) fn complain(text: &str) {
    // Nothing is left to be done when even that cannot be written.
    drop(writeln!(io::stderr(), "callgate: {text}"));
}

//! The shim's own ends of the client's pipes, and the signals that a client ends it with.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a session needs to begin, beside the three that it is given.
const DESCRIPTORS: usize = 20;
/// A lower limit than this is raised to it. Not to the highest that is allowed: the server gets it, too, and there are programs that
/// close all they could have.
const RAISED: u64 = 256;

/// The client's bytes, unbuffered.
pub(crate) fn stdin() -> impl Read + Send {
    widen(rustix::stdio::stdin());
    Stdin
}

/// The descriptor itself: where they are few, one more may be one too many. (Where it was closed from the start, the program's
/// own start has put something in its place that ends at once.)
struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?)
    }
}

/// The way to the client while nothing else uses it.
pub(crate) fn stdout() -> impl Write {
    io::stdout()
}

/// Are there as many file descriptors left as a session needs to begin with? A lower bound that may be raised is.
pub(crate) fn has_descriptors() -> io::Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < RAISED) {
        let current = Some(maximum.map_or(RAISED, |maximum| maximum.min(RAISED)));
        // Whether it is enough is seen next.
        let _raised = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
    // Copies of one: quicker than as many pipes, and each takes a descriptor all the same.
    let (one, _other) = io::pipe()?;
    (2..DESCRIPTORS).map(|_| one.try_clone()).collect::<io::Result<Vec<_>>>().map(drop)
}

/// Takes the way to the client, unbuffered: whole lines are written with one call. What stays behind as our standard
/// output leads nowhere, so that the client's pipe ends when we close it, and no stray print reaches it.
pub(crate) fn take_stdout() -> io::Result<File> {
    let pipe = rustix::io::dup(rustix::stdio::stdout())?;
    widen(&pipe);
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(File::from(pipe))
}

/// Calls `gone` when nobody can read `pipe` any more, also while we neither read from the client nor write to it.
pub(crate) fn watch_reader(pipe: &File, gone: impl FnOnce() + Send + 'static) -> io::Result<ReaderWatch> {
    let pipe = pipe.try_clone()?;
    let (ended, watch) = io::pipe()?;
    let work = move || {
        let mut asked = [PollFd::new(&pipe, PollFlags::empty()), PollFd::new(&ended, PollFlags::empty())];
        while poll(&mut asked, None).is_err() {}
        // A pipe without a reader reports an error, a socket whose other end is closed a hang-up.
        if asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
            gone();
        }
    };
    thread::Builder::new().name("reader-watch".to_owned()).stack_size(128 * 1024).spawn(work)?;
    Ok(ReaderWatch { _ends: watch })
}

/// Who started us, as long as that process lives: then it is somebody else.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Dropping it ends the watch, and lets go of the pipe.
#[derive(Debug)]
pub(crate) struct ReaderWatch {
    _ends: io::PipeWriter,
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

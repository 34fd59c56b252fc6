//! The shim's own ends of the client's pipes. Compiled, not run: see docs/decisions.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::AsHandle;

/// The client's bytes.
pub(crate) fn stdin() -> impl Read + Send {
    io::stdin()
}

/// The way to the client while nothing else uses it.
pub(crate) fn stdout() -> impl Write {
    io::stdout()
}

/// There is no such limit here.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn has_descriptors() -> io::Result<()> {
    Ok(())
}

/// The way to the client, unbuffered. Its pipe ends with this process.
pub(crate) fn take_stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

/// Windows tells a writer only when it writes.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn watch_reader(_pipe: &File, _gone: impl FnOnce() + Send + 'static) -> io::Result<ReaderWatch> {
    Ok(ReaderWatch)
}

#[derive(Debug)]
pub(crate) struct ReaderWatch;

impl Drop for ReaderWatch {
    /// Let go at a moment of its own, as elsewhere.
    fn drop(&mut self) {}
}

/// Windows keeps the number of a parent that is gone.
pub(crate) fn parent() -> Option<u32> {
    None
}

/// Pipes keep the size they were made with.
pub(crate) fn widen(_pipe: impl AsHandle) {}

/// Our error output, for what the server says on its own.
pub(crate) fn stderr() -> io::Result<File> {
    Ok(File::from(io::stderr().as_handle().try_clone_to_owned()?))
}

/// Clients end a process on Windows without asking it; its Job Object ends the tree.
#[expect(clippy::unnecessary_wraps, reason = "one signature on every system")]
pub(crate) fn on_signal(_then: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// One line for the person, where clients keep a server's log.
pub(crate) fn complain(text: &str) {
    drop(writeln!(io::stderr(), "callgate: {text}"));
}

//! The bare relay: starts the server and copies bytes, one thread a direction. It looks at nothing.
//!
//! This is the least that anything between a client and a server can cost. It does not use `io::copy`, which
//! would let the kernel move the pages (`splice`): a gate must see the bytes, so its yardstick reads them too.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().context("usage: callgate-bench-relay SERVER [ARGUMENTS…]")?;
    let mut server = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;

    let to_server = server.stdin.take().context("the server has no stdin")?;
    let from_server = server.stdout.take().context("the server has no stdout")?;
    // Files, not std's handles: those have buffers and locks of their own.
    let from_client = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let to_client = File::from(io::stdout().as_fd().try_clone_to_owned()?);

    let requests = thread::spawn(move || copy(from_client, to_server));
    copy(from_server, to_client)?;
    let status = server.wait()?;
    // The server's end closes its input; a client that still has ours open must not keep us here.
    if requests.is_finished() {
        requests.join().ok();
    }
    std::process::exit(status.code().unwrap_or(1));
}

fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

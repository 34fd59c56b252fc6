//! A relay that looks at nothing: the control that proves the oracle can see.

use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;

fn main() -> anyhow::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().context("usage: bare-pipe COMMAND ARGS…")?;
    let mut server =
        Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) =
        (server.stdin.take().context("no stdin")?, server.stdout.take().context("no stdout")?);
    // Not joined: it may sit in a read of our input when the server is gone already.
    std::thread::spawn(move || copy(std::io::stdin(), input));
    copy(output, std::io::stdout());
    let code = server.wait()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

fn copy(mut from: impl Read, mut to: impl Write) {
    let mut chunk = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        if to.write_all(&chunk[..read]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

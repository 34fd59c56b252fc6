//! A command at a terminal of its own, for what is asked of a person only.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, ExitStatus};

use anyhow::Context as _;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command on a terminal, types a line, and returns how it ended and everything on the screen. The line waits in
/// the terminal until it is asked for.
pub fn at_terminal(command: Command, typed: &str) -> anyhow::Result<(ExitStatus, String)> {
    when_asked(command, "", typed)
}

/// The same, but the line is typed only when this stands on the screen.
pub fn when_asked(command: Command, asked: &str, typed: &str) -> anyhow::Result<(ExitStatus, String)> {
    watched(command, (asked, typed), ("", &mut || ()))
}

/// The line waits in the terminal; this is done once those words stand on the screen.
pub fn at_terminal_until(
    command: Command,
    typed: &str,
    said: &str,
    mut then: impl FnMut(),
) -> anyhow::Result<(ExitStatus, String)> {
    watched(command, ("", typed), (said, &mut then))
}

/// `then` is done once, when the words before it stand on the screen.
fn watched(
    mut command: Command,
    (asked, typed): (&str, &str),
    (said, then): (&str, &mut dyn FnMut()),
) -> anyhow::Result<(ExitStatus, String)> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&controller)?;
    unlockpt(&controller)?;
    let name = ptsname(&controller, Vec::new())?.into_string()?;
    let end = || -> std::io::Result<OwnedFd> {
        File::options().read(true).write(true).open(&name).map(OwnedFd::from)
    };
    command.stdin(end()?).stdout(end()?).stderr(end()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    // Our own copies of the child's end would keep the terminal open.
    drop(command);
    let mut controller = File::from(controller);
    let mut screen = Vec::new();
    let mut chunk = [0; 4096];
    let mut waits = Some(format!("{typed}\n"));
    let mut then = Some(then);
    loop {
        let shown = String::from_utf8_lossy(&screen);
        if shown.contains(asked)
            && let Some(line) = waits.take()
        {
            controller.write_all(line.as_bytes())?;
        }
        if shown.contains(said)
            && let Some(then) = then.take()
        {
            then();
        }
        // The end of a terminal is an error on Linux.
        let Ok(count @ 1..) = controller.read(&mut chunk) else { break };
        screen.extend_from_slice(&chunk[..count]);
    }
    Ok((child.wait()?, String::from_utf8_lossy(&screen).into_owned()))
}

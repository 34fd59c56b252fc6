//! A command at a terminal of its own, for what is asked of a person only: nobody who is there started it, least of all the client of
//! a gate, which the test is.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::Context as _;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::gate::program;

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

/// At a terminal that the test itself opened, as a client's shell tool does.
pub fn at_terminal_of_client(mut command: Command, typed: &str) -> anyhow::Result<(ExitStatus, String)> {
    let mut status = None;
    let screen = screen(&mut command, ("", typed), ("", &mut || ()), |child| {
        status = Some(child.wait()?);
        Ok(())
    })?;
    Ok((status.context("it did not end")?, screen))
}

/// `then` is done once, when the words before it stand on the screen.
fn watched(
    command: Command,
    asked: (&str, &str),
    then: (&str, &mut dyn FnMut()),
) -> anyhow::Result<(ExitStatus, String)> {
    let ended = tempfile::NamedTempFile::new()?;
    let (mut own, what) = (own_terminal(&command, ended.path())?, format!("{command:?}"));
    drop(command);
    // Only the first process of two, which is gone at once.
    let screen = screen(&mut own, asked, then, |child| child.wait().map(drop))?;
    let status = std::fs::read_to_string(ended.path())?;
    let status = status.parse().with_context(|| format!("{what} was not run: {screen}"))?;
    Ok((ExitStatus::from_raw(status), screen))
}

/// The same command, below nobody. One that says itself where programs are found has nothing else in its environment.
fn own_terminal(command: &Command, ended: &Path) -> anyhow::Result<Command> {
    let mut own = Command::new(program("own-terminal")?);
    own.arg(ended).arg("--").arg(command.get_program()).args(command.get_args());
    if command.get_envs().any(|(name, _)| name == "PATH") {
        own.env_clear();
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => own.env(name, value),
            None => own.env_remove(name),
        };
    }
    command.get_current_dir().map(|folder| own.current_dir(folder));
    Ok(own)
}

/// All that stands on the screen in the end.
fn screen(
    command: &mut Command,
    (asked, typed): (&str, &str),
    (said, then): (&str, &mut dyn FnMut()),
    end: impl FnOnce(&mut Child) -> std::io::Result<()>,
) -> anyhow::Result<String> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&controller)?;
    unlockpt(&controller)?;
    let name = ptsname(&controller, Vec::new())?.into_string()?;
    let side = || -> std::io::Result<OwnedFd> {
        File::options().read(true).write(true).open(&name).map(OwnedFd::from)
    };
    command.stdin(side()?).stdout(side()?).stderr(side()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    // Our own copies of the child's side would keep the terminal open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
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
    end(&mut child)?;
    Ok(String::from_utf8_lossy(&screen).into_owned())
}

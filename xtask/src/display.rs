//! A display without a screen and a session bus, for the app when nobody looks. Both end with the value.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::command;

#[derive(Debug)]
pub(crate) struct Display {
    x: Child,
    bus: Child,
    number: String,
    address: String,
}

impl Display {
    pub(crate) fn start(size: &str) -> Result<Display> {
        // Each picks a free place by itself and says which: two runs on one machine do not meet.
        let screen = format!("{size}x24");
        let mut server = command("Xvfb", &["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp"]);
        let (x, number) =
            first_line(server.stderr(Stdio::null())).context("no display to be had from Xvfb")?;
        let mut daemon = command("dbus-daemon", &["--session", "--nofork", "--print-address=1"]);
        match first_line(daemon.stderr(Stdio::null())) {
            Ok((bus, address)) => Ok(Display { x, bus, number: format!(":{number}"), address }),
            Err(error) => {
                end(x);
                Err(error.context("no session bus to be had from dbus-daemon"))
            }
        }
    }

    /// Lets a program show its windows here.
    pub(crate) fn show(&self, program: &mut Command) {
        program.env("DISPLAY", &self.number).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        program.env_remove("WAYLAND_DISPLAY").env("GDK_BACKEND", "x11");
    }

    /// Is there a window that can be seen, with this title?
    pub(crate) fn has_window(&self, title: &str) -> bool {
        let mut question = command("xwininfo", &["-name", title]);
        self.show(&mut question);
        let answer = question.stderr(Stdio::null()).output();
        answer.is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains("IsViewable"))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        for child in [&mut self.bus, &mut self.x] {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn first_line(program: &mut Command) -> Result<(Child, String)> {
    let mut child = program.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    let out = child.stdout.take().context("a piped program has no stdout")?;
    BufReader::new(out).read_line(&mut line)?;
    let said = line.trim().to_owned();
    if said.is_empty() {
        end(child);
        bail!("it ended without a word");
    }
    Ok((child, said))
}

fn end(mut child: Child) {
    drop(child.kill());
    drop(child.wait());
}

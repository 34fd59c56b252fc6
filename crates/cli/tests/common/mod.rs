//! `callgate` as a person runs it: the real binary, a home of its own, and a real terminal where one is needed.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

/// A running command and the terminal it runs on.
#[derive(Debug)]
pub(crate) struct Terminal {
    controller: File,
    child: Child,
    screen: Vec<u8>,
}

impl Terminal {
    pub(crate) fn press(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads on until this is written to the screen, after what was there at the last wait.
    pub(crate) fn wait_for(&mut self, words: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let seen = self.screen.len();
        while !String::from_utf8_lossy(&self.screen[seen..]).contains(words) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{words:?} did not appear in {}", self.shown());
            let left = Timespec::try_from(left).unwrap();
            if poll(&mut [PollFd::new(&self.controller, PollFlags::IN)], Some(&left)).unwrap() > 0 {
                assert!(self.read(), "it ended before {words:?} appeared in {}", self.shown());
            }
        }
    }

    /// Reads to the end; success and everything that was on the screen.
    pub(crate) fn end(mut self) -> (bool, String) {
        while self.read() {}
        (self.child.wait().unwrap().success(), self.shown())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.screen).into_owned()
    }

    /// The last end of the terminal is closed with the child; Linux tells it as an error.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let count = self.controller.read(&mut buffer).unwrap_or(0);
        self.screen.extend_from_slice(&buffer[..count]);
        count > 0
    }
}

#[derive(Debug)]
pub(crate) struct Callgate {
    pub(crate) folder: tempfile::TempDir,
}

impl Callgate {
    pub(crate) fn new() -> Callgate {
        Callgate { folder: tempfile::tempdir().unwrap() }
    }

    /// With servers of these names in Callgate's own list, so that somebody knows them.
    pub(crate) fn knowing(servers: &[&str]) -> Callgate {
        let callgate = Callgate::new();
        callgate.say(&["status"]);
        let entries: serde_json::Map<String, Value> = servers
            .iter()
            .map(|name| ((*name).to_owned(), serde_json::json!({ "command": "true" })))
            .collect();
        let text = serde_json::json!({ "mcpServers": entries }).to_string();
        fs::write(callgate.home().join("servers.json"), text).unwrap();
        callgate
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where clients have their files: none unless a test writes some.
    pub(crate) fn user(&self) -> PathBuf {
        self.folder.path().join("user")
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate-cli"));
        command.args(words).env("CALLGATE_HOME", self.home()).env_remove("CALLGATE_SESSION");
        command.env("HOME", self.user()).env_remove("XDG_CONFIG_HOME");
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs with success and returns what was printed.
    pub(crate) fn say(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs without success and returns the complaint.
    pub(crate) fn fail(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(!output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs on a terminal of its own, types a line, returns success and everything on the screen.
    pub(crate) fn at_terminal(&self, words: &[&str], typed: &str) -> (bool, String) {
        let mut terminal = self.terminal(words);
        terminal.press(&format!("{typed}\n"));
        terminal.end()
    }

    /// Starts on a terminal of its own.
    pub(crate) fn terminal(&self, words: &[&str]) -> Terminal {
        self.terminal_of(120, words)
    }

    /// Starts on a terminal of this width.
    pub(crate) fn terminal_of(&self, columns: u16, words: &[&str]) -> Terminal {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).unwrap();
        let terminal = || -> OwnedFd {
            File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap().into()
        };
        let mut command = self.command(words);
        command.stdin(terminal()).stdout(terminal()).stderr(terminal());
        let child = command.spawn().unwrap();
        drop(command);
        Terminal { controller: File::from(controller), child, screen: Vec::new() }
    }

    pub(crate) fn policy(&self, server: &str) -> String {
        fs::read_to_string(self.folder.path().join(format!("home/policies/{server}.json"))).unwrap()
    }

    pub(crate) fn explain(&self, words: &[&str]) -> Value {
        let mut all = vec!["policy", "explain", "--json"];
        all.extend(words);
        serde_json::from_str(&self.say(&all)).unwrap()
    }
}

//! `callgate` as a person runs it: the real binary, a home of its own, and a real terminal where one is needed.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Callgate {
    pub(crate) folder: tempfile::TempDir,
}

impl Callgate {
    pub(crate) fn new() -> Callgate {
        Callgate { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command
            .args(words)
            .env("CALLGATE_HOME", self.folder.path().join("home"))
            .env_remove("CALLGATE_SESSION");
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
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let terminal = || -> OwnedFd {
            File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap().into()
        };
        let mut command = self.command(words);
        command.stdin(terminal()).stdout(terminal()).stderr(terminal());
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut controller = File::from(controller);
        writeln!(controller, "{typed}").unwrap();
        let mut screen = Vec::new();
        let mut buffer = [0; 4096];
        // The last end of the terminal is closed with the child; Linux tells it as an error.
        while let Ok(count) = controller.read(&mut buffer) {
            if count == 0 {
                break;
            }
            screen.extend_from_slice(&buffer[..count]);
        }
        (child.wait().unwrap().success(), String::from_utf8_lossy(&screen).into_owned())
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

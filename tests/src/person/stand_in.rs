//! A stand-in for a client that writes its whole file back from memory.

use std::fs;
use std::process::{Child, Command, Stdio};

use super::Person;
use crate::gate::program;
use crate::processes::eventually;
use crate::session::PATIENCE;

/// A process that, by where its program lies, is Claude Desktop. It quits when its input ends.
#[derive(Debug)]
pub struct StandIn {
    child: Child,
}

impl StandIn {
    pub fn start(person: &Person) -> StandIn {
        let folder = person.path("usr/lib/claude-desktop");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("claude-desktop");
        fs::copy(program("fake-server").unwrap(), &path).unwrap();
        // Written a moment ago by a process that forks: nobody may still hold it open for writing.
        let child = eventually("the stand-in starts", PATIENCE, || {
            Command::new(&path)
                .env("HOME", person.home.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .ok()
        });
        StandIn { child }
    }

    pub fn quit(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

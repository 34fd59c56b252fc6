//! Somebody with clients and their files, who uses `callgate clients`, and what the commands said to them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::gate::{callgate_binary, program};
use crate::processes::{eventually, pids_in};
use crate::session::PATIENCE;
use crate::terminal::at_terminal;

pub const DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
pub const CURSOR: &str = ".cursor/mcp.json";

/// Where clients keep their files, and one that such a client wrote.
pub const FIXTURES: [(&str, &str); 5] = [
    (DESKTOP, "claude-desktop/app-written.json"),
    (CURSOR, "cursor/mcp.json"),
    (".codex/config.toml", "codex/config.toml"),
    (".config/goose/config.yaml", "goose/config.yaml"),
    (".claude.json", "claude-code/home.json"),
];

pub fn fixture(name: &str) -> Vec<u8> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read(workspace.join("crates/clients/fixtures").join(name)).unwrap()
}

/// Somebody with a home, and nothing else in the environment: clients hand little more to what they start.
#[derive(Debug)]
pub struct Person {
    pub home: TempDir,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Said {
    /// Both outputs: programs for people are not of one mind about which is for what.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

impl Person {
    #[expect(clippy::new_without_default, reason = "a home on the disk is no default value")]
    pub fn new() -> Person {
        Person { home: TempDir::with_prefix("callgate-person-").unwrap() }
    }

    pub fn with_every_fixture() -> Person {
        let person = Person::new();
        for (path, name) in FIXTURES {
            person.write(path, &fixture(name));
        }
        person
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    pub fn callgate(&self, words: &[&str]) -> Command {
        let mut command = self.command(callgate_binary().unwrap());
        command.args(words);
        command
    }

    /// With success; what was printed.
    pub fn does(&self, words: &[&str]) -> String {
        let said: Said = self.callgate(words).output().unwrap().into();
        assert_eq!(said.code, Some(0), "{words:?}: {said:?}");
        said.out
    }

    pub fn clients(&self, words: &[&str]) -> Said {
        self.callgate(&["clients"]).args(words).output().unwrap().into()
    }

    /// `callgate clients`, with success; what was printed.
    pub fn say(&self, words: &[&str]) -> String {
        self.does(&[&["clients"], words].concat())
    }

    pub fn clients_at_terminal(&self, words: &[&str], typed: &str) -> (Option<i32>, String) {
        let mut command = self.callgate(&["clients"]);
        command.args(words);
        let (status, screen) = at_terminal(command, typed).unwrap();
        (status.code(), screen)
    }

    /// Takes the gate away again, as a person who means it.
    pub fn unprotect(&self, client: &str) {
        let (code, screen) = self.clients_at_terminal(&["unprotect", client, "--force"], "unprotect");
        assert_eq!(code, Some(0), "{screen}");
    }

    /// Every entry, as `list --json` tells.
    pub fn entries(&self) -> Vec<Value> {
        objects(&self.say(&["list", "--json"]))
    }

    /// How many entries are in this state.
    pub fn count(&self, state: &str) -> usize {
        self.entries().iter().filter(|entry| entry["state"] == state).count()
    }

    pub fn backups(&self, client: &str) -> Vec<Value> {
        objects(&self.say(&["backups", client, "--json"]))
    }

    /// What the history says about calls, in the order of its words: tool, decision, server, client.
    pub fn calls(&self) -> Vec<[String; 4]> {
        let rows = objects(&self.does(&["log", "--json"]));
        let keys = ["tool", "decision", "server", "client"];
        let mut rows: Vec<_> =
            rows.iter().map(|row| keys.map(|key| row[key].as_str().unwrap_or_default().to_owned())).collect();
        rows.sort_unstable();
        rows
    }

    /// The command of a server that does not want to end and has a grandchild that hides.
    pub fn stubborn_server(&self) -> Vec<String> {
        let (server, pids) = (program("fake-server").unwrap(), self.path("pids"));
        let [server, pids] = [server, pids].map(|path| path.to_str().unwrap().to_owned());
        let words = ["--grandchild", "--ignore-eof", "--ignore-term", "--pids"].map(str::to_owned);
        [server].into_iter().chain(words).chain([pids]).collect()
    }

    /// Every process of so many of those, once they are there.
    pub fn stubborn_processes(&self, servers: usize) -> Vec<(String, u32)> {
        eventually("the processes of stubborn servers", PATIENCE, || {
            let pids = pids_in(&self.path("pids"));
            (pids.iter().filter(|(name, _)| name == "grandchild").count() == servers).then_some(pids)
        })
    }

    pub fn assert_fixtures_untouched(&self) {
        for (path, name) in FIXTURES {
            assert!(self.read(path) == fixture(name), "{path} is not as it was:\n{}", self.text(path));
        }
    }

    /// Every file and folder below the home.
    pub fn everything(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.home.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }
}

/// One object a line.
fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

//! Somebody with AI clients: their files in a home of its own, and `callgate` as they use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fixtures;
mod stand_in;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::gate::{callgate_binary, program};
use crate::keychain::Bus;
use crate::processes::{eventually, pids_in};
use crate::session::{PATIENCE, Session};
use crate::terminal::at_terminal;

pub use fixtures::{CURSOR, DESKTOP, EVERY_CLIENT, FIXTURES, fixture};
pub use stand_in::StandIn;

/// Somebody with a home, and nothing else in the environment: clients hand little more to what they start.
#[derive(Debug)]
pub struct Person {
    pub home: TempDir,
    /// Beside `HOME` and `PATH`.
    variables: Vec<(&'static str, OsString)>,
    /// Never to be seen on a screen.
    secrets: Vec<&'static str>,
}

/// Where what is started looks for the session bus, and the keychain on it.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'a> {
    Address(&'a Bus),
    /// As a client leaves it: no address, only the folder that every session has.
    Folder(&'a Path),
}

/// What a file or folder is: its mode, and what it says or where it leads.
pub type Kind = (u32, Option<Vec<u8>>);

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

impl Default for Person {
    fn default() -> Person {
        Person::new()
    }
}

impl Person {
    pub fn new() -> Person {
        let home = TempDir::with_prefix("callgate-person-").unwrap();
        Person { home, variables: Vec::new(), secrets: Vec::new() }
    }

    pub fn with_every_fixture() -> Person {
        Person::with(&FIXTURES)
    }

    /// With these files, as a client wrote them.
    pub fn with(fixtures: &[(&str, &str)]) -> Person {
        let person = Person::new();
        for (path, name) in fixtures {
            person.write(path, &fixture(name));
        }
        person
    }

    /// For everything that is started from now on.
    pub fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.push((name, value.into()));
    }

    pub fn unset(&mut self, name: &str) {
        self.variables.retain(|(set, _)| *set != name);
    }

    pub fn reach(&mut self, reach: Reach<'_>) {
        for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XDG_RUNTIME_DIR"] {
            self.unset(name);
        }
        match reach {
            Reach::Address(bus) => {
                self.set("DBUS_SESSION_BUS_ADDRESS", bus.address());
                // A display that nobody sees: the time to wait is that for a person, so a slow machine fails no test.
                self.set("DISPLAY", ":60123");
            }
            Reach::Folder(folder) => self.set("XDG_RUNTIME_DIR", folder),
        }
    }

    /// What `callgate` must not show, whatever it is asked: looked for in all that it says from now on.
    pub fn keeps_secret(&mut self, secrets: &[&'static str]) {
        self.secrets.extend(secrets);
    }

    fn assert_discreet(&self, words: &[&str], said: &str) {
        let told = self.secrets.iter().any(|secret| said.contains(secret));
        assert!(!told, "{words:?} shows a secret: {said}");
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

    /// A script that can be started.
    pub fn program(&self, path: &str, text: &str) {
        self.write(path, text.as_bytes());
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    pub fn callgate(&self, words: &[&str]) -> Command {
        let mut command = self.command(callgate_binary().unwrap());
        command.args(words);
        command
    }

    pub fn run(&self, words: &[&str]) -> Said {
        let said: Said = self.callgate(words).output().unwrap().into();
        self.assert_discreet(words, &said.all());
        said
    }

    /// With this on its standard input.
    pub fn piped(&self, words: &[&str], input: &str) -> Said {
        let mut command = self.callgate(words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let said: Said = child.wait_with_output().unwrap().into();
        self.assert_discreet(words, &said.all());
        said
    }

    /// At a terminal, where this is typed: how it ended, and all that was on the screen.
    pub fn typed(&self, words: &[&str], typed: &str) -> (Option<i32>, String) {
        let (status, screen) = at_terminal(self.callgate(words), typed).unwrap();
        self.assert_discreet(words, &screen);
        (status.code(), screen)
    }

    /// With success; what was printed.
    pub fn does(&self, words: &[&str]) -> String {
        let said = self.run(words);
        assert_eq!(said.code, Some(0), "{words:?}: {said:?}");
        said.out
    }

    /// Takes the gate away again, as a person who means it.
    pub fn unprotect(&self, client: &str) {
        let (code, screen) = self.clients_at_terminal(&["unprotect", client, "--force"], "unprotect");
        assert_eq!(code, Some(0), "{screen}");
    }

    /// An entry of a file in JSON, as its client reads it.
    pub fn entry(&self, path: &str, name: &str) -> Value {
        let file: Value = serde_json::from_str(&self.text(path)).unwrap();
        file["mcpServers"][name].clone()
    }

    /// Its server as its client would start it: its words and variables, and little else.
    pub fn starting(&self, entry: &Value) -> Command {
        let mut command = self.command(entry["command"].as_str().unwrap());
        command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        for (name, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap());
        }
        command
    }

    pub fn start(&self, entry: &Value) -> Session {
        Session::start(self.starting(entry)).unwrap()
    }

    /// What a client hears in place of an answer from a server that was not started.
    pub fn refused(&self, mut session: Session) -> String {
        session.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#).unwrap();
        let answer = session.answer("1").unwrap().to_text();
        let finished = session.finish().unwrap();
        assert!(answer.contains("error") && answer.contains("the server was not started: "), "{answer}");
        assert_eq!(finished.status.code(), Some(127), "{}", finished.err);
        self.assert_discreet(&["run"], &format!("{answer}{}", finished.err));
        answer
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

    pub fn clients(&self, words: &[&str]) -> Said {
        self.run(&[&["clients"], words].concat())
    }

    /// With success; what was printed.
    pub fn say(&self, words: &[&str]) -> String {
        self.does(&[&["clients"], words].concat())
    }

    pub fn clients_at_terminal(&self, words: &[&str], typed: &str) -> (Option<i32>, String) {
        self.typed(&[&["clients"], words].concat(), typed)
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

    pub fn assert_fixtures_untouched(&self) {
        for (path, name) in FIXTURES {
            assert!(self.read(path) == fixture(name), "{path} is not as it was:\n{}", self.text(path));
        }
    }

    /// Every file and folder below the home.
    pub fn everything(&self) -> Vec<PathBuf> {
        self.tree().into_keys().collect()
    }

    /// The same with all that is in them. Of SQLite's shared memory only that it is there: every reader signs in there. What
    /// our programs log is no change: a command that refuses to make one logs that.
    pub fn tree(&self) -> BTreeMap<PathBuf, Kind> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![self.home.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let shared = path.extension() == Some(OsStr::new("db-shm"));
                let says = match () {
                    () if meta.is_symlink() => {
                        Some(fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
                    }
                    () if meta.is_file() && !shared => Some(fs::read(&path).unwrap()),
                    () => None,
                };
                if meta.is_dir() && !path.ends_with(".callgate/diagnostics") {
                    folders.push(path.clone());
                }
                found.insert(path, (meta.permissions().mode(), says));
            }
        }
        found
    }
}

/// One object a line.
pub fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

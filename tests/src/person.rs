//! Somebody with AI clients: their files in a home of its own, and `callgate` as they use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

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

/// The same for every client that is known.
pub const EVERY_CLIENT: [(&str, &str); 21] = [
    FIXTURES[0],
    FIXTURES[1],
    FIXTURES[2],
    FIXTURES[3],
    FIXTURES[4],
    (".config/Code/User/mcp.json", "vscode/mcp.json"),
    (".config/Code - Insiders/User/mcp.json", "vscode-insiders/mcp.json"),
    (".codeium/windsurf/mcp_config.json", "windsurf/mcp_config.json"),
    (".cline/data/settings/cline_mcp_settings.json", "cline/cline_mcp_settings.json"),
    (".config/zed/settings.json", "zed/settings.json"),
    (".gemini/settings.json", "gemini/settings.json"),
    (".qwen/settings.json", "qwen/settings.json"),
    (".config/opencode/opencode.jsonc", "opencode/opencode.jsonc"),
    (".copilot/mcp-config.json", "copilot/mcp-config.json"),
    (".continue/config.yaml", "continue/config.yaml"),
    (".lmstudio/mcp.json", "lmstudio/mcp.json"),
    (".junie/mcp/mcp.json", "junie/mcp.json"),
    (".kiro/settings/mcp.json", "kiro/mcp.json"),
    (".warp/.mcp.json", "warp/mcp.json"),
    (".gemini/config/mcp_config.json", "antigravity/mcp_config.json"),
    (".aws/amazonq/agents/default.json", "amazon-q/default.json"),
];

pub fn fixture(name: &str) -> Vec<u8> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read(workspace.join("crates/clients/fixtures").join(name)).unwrap()
}

/// Somebody with a home, and nothing else in the environment: clients hand little more to what they start.
#[derive(Debug)]
pub struct Person {
    pub home: TempDir,
    /// Beside `HOME` and `PATH`.
    variables: Vec<(&'static str, OsString)>,
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
        Person { home: TempDir::with_prefix("callgate-person-").unwrap(), variables: Vec::new() }
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
        self.callgate(words).output().unwrap().into()
    }

    /// At a terminal, where this is typed: how it ended, and all that was on the screen.
    pub fn typed(&self, words: &[&str], typed: &str) -> (Option<i32>, String) {
        let (status, screen) = at_terminal(self.callgate(words), typed).unwrap();
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

    /// The same with all that is in them. Of SQLite's shared memory only that it is there: every reader signs in there.
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
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path, (meta.permissions().mode(), says));
            }
        }
        found
    }
}

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

/// One object a line.
fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

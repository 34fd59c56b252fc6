//! The clients: where npm put them, how their file looks, and how they are started.

use std::path::PathBuf;
use std::process::Command;

use callgate_tests::installed::{installed, ours};
use callgate_tests::person::{Person, Said};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    Gemini,
    Qwen,
    OpenCode,
}

/// What a test writes into a client's file.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) program: String,
    /// Nothing at all, or a list that may be empty.
    pub(crate) args: Option<Vec<String>>,
}

impl Server {
    pub(crate) fn new(name: &'static str, words: &[impl AsRef<str>]) -> Server {
        let mut words = words.iter().map(|word| word.as_ref().to_owned());
        Server { name, program: words.next().unwrap(), args: Some(words.collect()) }
    }

    pub(crate) fn without_args(name: &'static str, program: &str) -> Server {
        Server { args: None, ..Server::new(name, &[program]) }
    }
}

impl Client {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Qwen => "qwen",
            Client::OpenCode => "opencode",
        }
    }

    pub(crate) fn file(self) -> &'static str {
        match self {
            Client::ClaudeCode => ".claude.json",
            Client::Codex => ".codex/config.toml",
            Client::Gemini => ".gemini/settings.json",
            Client::Qwen => ".qwen/settings.json",
            Client::OpenCode => ".config/opencode/opencode.jsonc",
        }
    }

    /// The program itself. The package of Claude Code puts it into place by a script, which is not run: it lies in another
    /// package, which is for this kind of machine only.
    fn program(self) -> PathBuf {
        installed(&modules(match self {
            Client::ClaudeCode => "@anthropic-ai/claude-code-linux-x64/claude",
            Client::Codex => ".bin/codex",
            Client::Gemini => ".bin/gemini",
            Client::Qwen => ".bin/qwen",
            Client::OpenCode => "opencode-linux-x64/bin/opencode",
        }))
    }

    /// The client at work for a person. It reaches this machine and nobody else.
    pub(crate) fn command(self, person: &Person, words: &[&str]) -> Command {
        let mut command = person.command(self.program());
        // Node 22 lies beside the clients that need it.
        let mut folders = vec![installed(&modules(".bin"))];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        command
            .args(words)
            .env("PATH", std::env::join_paths(folders).unwrap())
            .envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, "http://127.0.0.1:1")))
            .env("NO_PROXY", "127.0.0.1");
        match self {
            Client::ClaudeCode => command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            Client::Gemini => command.env("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            Client::Codex | Client::Qwen | Client::OpenCode => &mut command,
        };
        command
    }

    /// With success; what was printed.
    pub(crate) fn does(self, person: &Person, words: &[&str]) -> String {
        let said: Said = self.command(person, words).output().unwrap().into();
        assert_eq!(said.code, Some(0), "{self:?} {words:?}: {said:?}");
        said.all()
    }

    /// A file with these servers, and with what a person has in there besides.
    pub(crate) fn file_with(self, servers: &[Server]) -> String {
        let entries: Vec<_> = servers.iter().map(|server| self.entry(server)).collect();
        if self == Client::Codex {
            return format!("# settings\nmodel = \"gpt-5\"\n{}", entries.concat());
        }
        let key = if self == Client::OpenCode { "mcp" } else { "mcpServers" };
        // Claude Code takes a comment for a broken file.
        let comment = if self == Client::ClaudeCode { "" } else { " // mine" };
        format!("{{{comment}\n  \"{key}\": {{\n{}\n  }}\n}}\n", entries.join(",\n"))
    }

    fn entry(self, server: &Server) -> String {
        let Server { name, program, args } = server;
        let entry = match (self, args) {
            (Client::Codex, args) => {
                let args = args.as_ref().map_or_else(String::new, |args| format!("args = {}\n", json!(args)));
                return format!("\n[mcp_servers.{name}] # mine\ncommand = {}\n{args}", json!(program));
            }
            (Client::OpenCode, args) => {
                let words: Vec<_> = [program].into_iter().chain(args.iter().flatten()).collect();
                json!({ "type": "local", "command": words })
            }
            (_, Some(args)) => json!({ "command": program, "args": args }),
            (_, None) => json!({ "command": program }),
        };
        format!("    \"{name}\": {entry}")
    }

    /// A person whose client starts our server on the TypeScript SDK, and others, behind the gate; `danger` is blocked.
    pub(crate) fn protected(self, others: &[Server]) -> Person {
        let person = Person::new();
        let servers = [&[notes(&person)], others].concat();
        person.write(self.file(), self.file_with(&servers).as_bytes());
        person.say(&["protect", self.id()]);
        person.does(&["block", "notes", "danger", "--reason", "not from an agent"]);
        person
    }
}

/// Our server, which says in a file what ran.
pub(crate) fn notes(person: &Person) -> Server {
    let paths = [ours("node/server.mjs"), installed("node"), person.path("marks")];
    let [server, packages, marks] = &paths.map(|path| path.to_str().unwrap().to_owned());
    Server::new("notes", &["node", server, packages, "1", marks])
}

fn modules(path: &str) -> String {
    format!("real-clients/node_modules/{path}")
}

/// The names of the entries in this state.
pub(crate) fn names(person: &Person, state: &str) -> Vec<String> {
    let entries = person.entries();
    let of = |entry: &&Value| entry["state"] == state;
    entries.iter().filter(of).map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

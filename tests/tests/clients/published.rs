//! Published clients that read Claude Desktop's file.

use std::process::Command;

use callgate_tests::installed::{installed, ours};
use callgate_tests::person::{DESKTOP, Person, Said};
use serde_json::json;

/// A person whose Claude Desktop starts our server on the Python SDK, protected, with a policy for it.
fn protected() -> Person {
    let person = Person::new();
    let file = json!({ "mcpServers": { "notes": {
        "command": installed("py2/bin/python"),
        "args": [ours("python/server.py"), person.path("marks")],
    } } });
    person.write(DESKTOP, serde_json::to_string_pretty(&file).unwrap().as_bytes());
    person.say(&["protect", "claude-desktop", "--force"]);
    person.does(&["block", "notes", "danger", "--reason", "not from an agent"]);
    person
}

/// Lists tools, makes a call that is allowed and one that is not.
fn assert_works(person: &Person, client: &dyn Fn(&[&str]) -> Command, calls: [&[&str]; 3]) {
    let [list, safe, danger] = calls.map(|words| Said::from(client(words).output().unwrap()));
    assert_eq!(list.code, Some(0), "{list:?}");
    assert!(list.out.contains("safe") && list.out.contains("picture"), "{list:?}");
    assert_eq!(safe.code, Some(0), "{safe:?}");
    assert!(safe.out.contains("safe ran"), "{safe:?}");
    assert!(danger.all().contains("not from an agent"), "{danger:?}");
    assert!(!person.path("marks").exists(), "it ran: {}", person.text("marks"));

    assert_eq!(
        person.calls(),
        [["danger", "denied", "notes", "claude-desktop"], ["safe", "allowed", "notes", "claude-desktop"]],
    );
}

#[test]
fn mcp_inspector_works_through_the_gate_and_is_refused_by_it() {
    let person = protected();
    let inspector = installed("clients-node/node_modules/@modelcontextprotocol/inspector");
    let client = |words: &[&str]| {
        let mut command = person.command("node");
        command
            .arg(inspector.join("clients/launcher/build/index.js"))
            .args(["--cli", "--server", "notes", "--config"])
            .arg(person.path(DESKTOP))
            .arg("--method")
            .args(words)
            .env("MCP_INSPECTOR_SECRET_STORE", "memory");
        command
    };
    assert_works(
        &person,
        &client,
        [
            &["tools/list"],
            &["tools/call", "--tool-name", "safe", "--tool-arg", "x=1"],
            &["tools/call", "--tool-name", "danger", "--tool-arg", "x=1"],
        ],
    );
}

#[test]
fn fastmcp_works_through_the_gate_and_is_refused_by_it() {
    let person = protected();
    let client = |words: &[&str]| {
        let mut command = person.command(installed("pyfastmcp/bin/fastmcp"));
        command.args(words).env("COLUMNS", "400");
        command
    };
    // It finds Claude Desktop's file by itself.
    let found: Said = client(&["discover"]).output().unwrap().into();
    assert!(found.out.contains("claude-desktop") && found.out.contains("notes"), "{found:?}");
    assert_works(
        &person,
        &client,
        [&["list", "notes"], &["call", "notes", "safe", "x=1"], &["call", "notes", "danger", "x=1"]],
    );
}

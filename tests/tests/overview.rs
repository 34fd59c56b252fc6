//! What agents can call, as a person finds it out in a terminal: before anything ran, from a server that is started for it once, and
//! with rules from the first start behind the gate on.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::person::{CURSOR, Person};
use callgate_tests::session::is_refusal;
use serde_json::{Value, json};

/// Lists two tools on two pages, and answers every call.
const SERVER: &str = r#"#!/bin/sh
echo started >> "$RAN"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) r='{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}}}' ;;
    *'"cursor"'*) r='{"tools":[{"name":"delete_note","description":"Delete a note for good","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/list"'*) r='{"tools":[{"name":"get_note","description":"Get a note","inputSchema":{"type":"object"}}],"nextCursor":"x"}' ;;
    *) r='{"content":[{"type":"text","text":"done"}]}' ;;
  esac
  case "$line" in
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r" ;;
  esac
done
"#;

/// Somebody with one client and two servers: one that the catalogue has, and one that nobody knows.
fn somebody() -> Person {
    let person = Person::new();
    person.program("server.sh", SERVER);
    let ran = person.path("ran").to_str().unwrap().to_owned();
    let servers = json!({ "mcpServers": {
        "play": { "command": "npx", "args": ["-y", "@playwright/mcp@0.0.83"] },
        "notes": { "command": person.path("server.sh"), "env": { "RAN": ran } },
    } });
    person.write(CURSOR, servers.to_string().as_bytes());
    person
}

fn overview(person: &Person) -> Value {
    serde_json::from_str(&person.does(&["overview", "--json"])).unwrap()
}

fn server<'v>(view: &'v Value, name: &str) -> &'v Value {
    let mut all =
        view["clients"].as_array().unwrap().iter().flat_map(|one| one["servers"].as_array().unwrap());
    all.find(|one| one["name"] == name).unwrap()
}

#[test]
fn everything_is_told_without_starting_anything_and_the_next_step_is_a_command() {
    let person = somebody();
    let view = overview(&person);
    let play = server(&view, "play");
    assert_eq!((&play["from"], &play["known"]), (&"catalogue".into(), &"Playwright MCP".into()));
    assert_eq!((&play["state"], &server(&view, "notes")["from"]), (&"open".into(), &"nothing".into()));
    assert_eq!((&view["open"], &view["unknown"]), (&2.into(), &1.into()));
    let said = person.does(&["overview"]);
    assert!(said.contains("not gated") && said.contains("not known yet what it can do"), "{said}");
    assert!(said.contains("Next: callgate clients protect --all --start recommended"), "{said}");
    assert!(!person.path("ran").exists(), "nothing was started");
}

#[test]
fn a_server_that_nobody_knows_is_started_once_when_a_person_says_so_and_then_begins_with_rules() {
    let person = somebody();
    let shown = person.does(&["clients", "protect", "cursor", "notes", "--start", "read-only", "--dry-run"]);
    assert!(shown.contains("would refuse more than it says"), "{shown}");

    let said = person.does(&["overview", "--scan", "notes"]);
    assert!(said.contains("Starting notes as Cursor would") && said.contains("it lists 2 tools"), "{said}");
    assert_eq!(person.text("ran").lines().count(), 1, "once");
    assert_eq!(server(&overview(&person), "notes")["classes"]["critical"], 1);

    let said = person.does(&["clients", "protect", "cursor", "notes", "--start", "read-only"]);
    assert!(said.contains("notes begins with “Read-only”"), "{said}");
    assert!(said.contains("1 tool changes state"), "{said}");
    let mut session = person.start(&person.entry(CURSOR, "notes"));
    let read = session.ask("1", "get_note", "{}").unwrap();
    assert!(!is_refusal(&read), "{}", read.to_text());
    let refused = session.ask("2", "delete_note", "{}").unwrap().to_text();
    assert!(!refused.contains("done"), "{refused}");
    session.finish().unwrap();

    // What a person chose stays.
    person.unprotect("cursor");
    let said = person.run(&["clients", "protect", "cursor", "notes", "--start", "locked"]);
    assert!(said.all().contains("has rules of its own, which stay"), "{said:?}");
    assert!(person.text(".callgate/policies/notes.json").contains("get_note"));
}

#[test]
fn a_known_server_begins_with_rules_before_it_ever_ran() {
    let person = somebody();
    let said = person.does(&["clients", "protect", "cursor", "play", "--start", "recommended"]);
    assert!(said.contains("from the catalogue: Playwright MCP"), "{said}");
    let policy = person.text(".callgate/policies/play.json");
    assert!(
        policy.contains("\"browser_snapshot\": {}") && policy.contains("browser_evaluate_rate"),
        "{policy}"
    );
    assert!(person.does(&["policy", "check", "play"]).contains("play"));

    let said = person.does(&[
        "add",
        "fetch",
        "--start",
        "recommended",
        "--client",
        "cursor",
        "--",
        "uvx",
        "mcp-server-fetch",
    ]);
    assert!(said.contains("fetch begins with “Recommended”"), "{said}");
    assert!(person.text(".callgate/policies/fetch.json").contains("\"fetch\": {}"));
}

#[test]
fn the_catalogue_is_searched_and_says_what_adds_a_server() {
    let person = somebody();
    let said = person.does(&["catalogue", "playwright", "browser_snapshot"]);
    assert!(said.contains("Playwright MCP") && said.contains("here as play in Cursor"), "{said}");
    assert!(
        said.contains("callgate add playwright --start recommended -- npx -y @playwright/mcp@"),
        "{said}"
    );
    let slack = person.does(&["catalogue", "slack", "--json"]);
    let slack: Value = serde_json::from_str(slack.lines().next().unwrap()).unwrap();
    assert_eq!(slack["variables"], json!(["SLACK_BOT_TOKEN", "SLACK_TEAM_ID"]));
    assert!(person.run(&["catalogue", "no-such-thing"]).all().contains("no server of the catalogue fits"));
}

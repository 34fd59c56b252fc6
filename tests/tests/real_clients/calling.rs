//! Clients with a stand-in for their model: what it asks for runs, or is refused in our words.

use std::process::Command;

use callgate_tests::model::{Model, Turn};
use callgate_tests::person::{Person, Said};
use serde_json::json;

use crate::client::Client;

/// Claude Code with that model, and with every tool of these servers allowed, as far as the client goes.
pub(crate) fn claude_code(person: &Person, model: &Model, words: &[&str]) -> Command {
    let words = [words, &["--allowedTools", "mcp__notes mcp__stubborn"]].concat();
    let mut command = Client::ClaudeCode.command(person, &words);
    command
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "none")
        // All tools at once, and no question before the servers are there.
        .env("ENABLE_TOOL_SEARCH", "false")
        .env("MCP_CONNECTION_NONBLOCKING", "0");
    command
}

/// One question, which that model answers.
pub(crate) fn asked(client: Client, person: &Person, model: &Model) -> Command {
    let mut command;
    match client {
        Client::ClaudeCode => command = claude_code(person, model, &["-p", "go"]),
        Client::OpenCode => {
            let there = json!({ "baseURL": format!("{}/v1", model.url()), "apiKey": "none" });
            let settings = json!({ "provider": { "anthropic": { "options": there } } });
            command = client.command(person, &["run", "--model", "anthropic/claude-sonnet-4-5", "go"]);
            command.env("OPENCODE_CONFIG_CONTENT", settings.to_string());
        }
        Client::Codex | Client::Gemini | Client::Qwen => panic!("{client:?} speaks with other models"),
    }
    command
}

/// A model that asks for `slow`, then for `danger`, both by the client's names for them.
fn assert_slow_runs_and_danger_does_not(client: Client, slow: &'static str, danger: &'static str) {
    let person = client.protected(&[]);
    let turns = vec![Turn::Call(slow), Turn::Call(danger), Turn::Say("that was all")];
    let model = Model::start(turns).unwrap();
    let said: Said = asked(client, &person, &model).output().unwrap().into();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("that was all"), "{said:?}");

    let results = model.results();
    let [(slow, slow_failed), (danger, danger_failed)] = &results[..] else {
        panic!("{results:?}\n{said:?}")
    };
    assert!(slow.contains("slow ran") && !slow_failed, "{results:?}");
    assert!(danger.contains("Callgate: ") && danger.contains("not from an agent"), "{results:?}");
    assert!(*danger_failed, "{results:?}");
    assert_eq!(person.text("marks"), "slow\n", "what ran");
    assert_eq!(
        person.calls(),
        [["danger", "denied", "notes", client.id()], ["slow", "allowed", "notes", client.id()]]
    );
}

#[test]
fn a_call_of_claude_code_passes_and_a_denied_one_is_refused_in_our_words() {
    assert_slow_runs_and_danger_does_not(Client::ClaudeCode, "mcp__notes__slow", "mcp__notes__danger");
}

#[test]
fn a_call_of_opencode_passes_and_a_denied_one_is_refused_in_our_words() {
    assert_slow_runs_and_danger_does_not(Client::OpenCode, "notes_slow", "notes_danger");
}

#[test]
fn a_hidden_tool_is_never_offered_to_the_model() {
    for client in [Client::ClaudeCode, Client::OpenCode] {
        let person = client.protected(&[]);
        person.does(&["hide", "notes", "hidden_one"]);
        let model = Model::start(vec![Turn::Say("nothing to do")]).unwrap();
        let said: Said = asked(client, &person, &model).output().unwrap().into();
        assert_eq!(said.code, Some(0), "{said:?}");
        let offered: String = model.asked().iter().map(|request| request["tools"].to_string()).collect();
        assert!(offered.contains("notes_") && offered.contains("_safe\""), "{client:?}: {offered}");
        assert!(!offered.contains("hidden_one"), "{client:?}: {offered}");
    }
}

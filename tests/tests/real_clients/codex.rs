//! Codex by the protocol of its editors: a thread that calls tools without a model.

use callgate_tests::json::Json;
use callgate_tests::session::{Session, result_text};
use serde_json::{Value, json};

use crate::client::Client;

/// Asks and waits for the answer.
fn ask(session: &mut Session, id: u32, method: &str, params: &Value) -> Json {
    session.send(&json!({ "id": id, "method": method, "params": params }).to_string()).unwrap();
    session.answer(&id.to_string()).unwrap_or_else(|error| panic!("{error:#}\n{}", session.err.text()))
}

#[test]
fn a_call_of_codex_passes_and_a_denied_one_is_refused_in_our_words() {
    let person = Client::Codex.protected(&[]);
    person.does(&["hide", "notes", "hidden_one"]);
    let mut session = Session::start(Client::Codex.command(&person, &["app-server"])).unwrap();
    ask(&mut session, 1, "initialize", &json!({ "clientInfo": { "name": "test", "version": "1" } }));
    session.send(r#"{"method":"initialized"}"#).unwrap();

    let status = ask(&mut session, 2, "mcpServerStatus/list", &json!({})).to_text();
    assert!(status.contains("\"safe\"") && !status.contains("hidden_one"), "{status}");

    let started = ask(&mut session, 3, "thread/start", &json!({ "cwd": person.home.path() }));
    let thread = started.at(&["result", "thread", "id"]).and_then(Json::as_text).unwrap().to_owned();
    let mut call = |id: u32, tool: &str| {
        let call = json!({ "threadId": thread, "server": "notes", "tool": tool, "arguments": {} });
        ask(&mut session, id, "mcpServer/tool/call", &call)
    };
    assert_eq!(result_text(&call(4, "slow")), Some("slow ran"));
    let refused = call(5, "danger").to_text();
    assert!(refused.contains("Callgate: ") && refused.contains("not from an agent"), "{refused}");
    session.finish().unwrap();

    assert_eq!(person.text("marks"), "slow\n", "what ran");
    assert_eq!(
        person.calls(),
        [["danger", "denied", "notes", "codex"], ["slow", "allowed", "notes", "codex"]]
    );
}

//! The self-check notices what it is there for, and a gate that moved is renewed in place.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::samples::{CLAUDE, GOOSE, OPENCODE, document, gated, the_gate, ungated};
use super::{Broken, Gate, ServerId, ValueCheck, gate, servers, verify};
use callgate_document::Syntax::{Json, Jsonc, Yaml};

const BEFORE: &str = r#"{"n": 1.0, "mcpServers": {"s": {"command": "npx", "args": ["-y"], "env": {"A": "b"}, "timeout": 5}, "t": {"command": "uvx"}}}"#;

#[test]
fn an_edit_that_does_something_else_is_refused() {
    let start = || Err(Broken::Start { name: "s".into() });
    let table = [
        ("1.0", "1", Err(Broken::Elsewhere)),
        ("\"n\"", "\"m\"", Err(Broken::Elsewhere)),
        ("\"n\": 1.0, ", "", Err(Broken::Elsewhere)),
        ("\"uvx\"", "\"uv\"", Err(Broken::Elsewhere)),
        ("\"uvx\"", "\"uv\\u0078\"", Err(Broken::Elsewhere)),
        ("\"timeout\": 5", "\"timeout\": 6", Err(Broken::Elsewhere)),
        (", \"timeout\": 5", "", Err(Broken::Elsewhere)),
        ("\"uvx\"", "\"uvx\", \"args\": []", Err(Broken::Elsewhere)),
        ("\"npx\"", "\"npm\"", start()),
        ("[\"-y\"]", "[\"-y\", \"\"]", start()),
        ("[\"-y\"]", "\"-y\"", start()),
        ("\"b\"", "\"c\"", start()),
        ("\"b\"", "1", start()),
        ("\"s\": {", "\"x\": {", Err(Broken::Gone { name: "s".into() })),
        (
            "\"npx\", \"args\": [\"-y\"]",
            "\"/x/callgate\", \"args\": [\"run\", \"--\", \"npx\", \"-y\"]",
            Ok(()),
        ),
        ("\"npx\"", "\"n\\u0070x\"", Ok(())),
    ];
    let before = document(Json, BEFORE);
    let id = [ServerId { within: None, name: "s".into() }];
    for (old, new, want) in table {
        let after = document(Json, &BEFORE.replace(old, new));
        assert_eq!(verify(&before, &after, &CLAUDE, &id, ValueCheck::Same), want, "{old} → {new}");
    }
}

#[test]
fn a_gate_that_moved_is_renewed_in_place() {
    let table = [
        (Json, CLAUDE, BEFORE),
        (Jsonc, OPENCODE, "{\"mcp\": {\"--\": {\"command\": [ /*a*/ \"npx\", \"--server\", \"x\"]}}}"),
        (Yaml, GOOSE, "extensions:\n  s:\n    cmd: npx # c\n"),
    ];
    for (syntax, shape, text) in table {
        let before = document(syntax, &gated(syntax, &shape, text));
        let mut splices = Vec::new();
        let listing = servers(&before, &shape);
        for server in &listing.servers {
            let moved = Gate {
                binary: "C:\\new\\callgate.exe".into(),
                server: "re \"named\"".into(),
                client: "other".into(),
            };
            splices.extend(gate(&before, &shape, server, &moved).unwrap().splices);
        }
        assert_eq!(splices.len(), 3 * listing.servers.len());
        let after = before.spliced(&splices).unwrap();
        let ids: Vec<ServerId> = listing.servers.iter().map(|s| s.id.clone()).collect();
        verify(&before, &after, &shape, &ids, ValueCheck::Same).unwrap();
        for server in servers(&after, &shape).servers {
            let found = server.gated.unwrap();
            assert_eq!(found.binary, "C:\\new\\callgate.exe");
            assert_eq!(
                (found.server.as_deref(), found.client.as_deref()),
                (Some("re \"named\""), Some("other"))
            );
        }
        assert_eq!(ungated(syntax, &shape, &after.text), text);
    }
}

#[test]
fn a_gate_without_a_name_is_not_guessed_at() {
    let text = r#"{"mcpServers":{"s":{"command":"/x/callgate","args":["run","--","npx"]}}}"#;
    let before = document(Json, text);
    let listing = servers(&before, &CLAUDE);
    assert!(gate(&before, &CLAUDE, &listing.servers[0], &the_gate("s")).is_err());
    assert_eq!(ungated(Json, &CLAUDE, text), r#"{"mcpServers":{"s":{"command":"npx","args":[]}}}"#);
}

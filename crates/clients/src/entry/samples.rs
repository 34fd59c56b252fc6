//! What the tests of entries share: the shapes of real clients, a gate, and the way there and back.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::{Gate, How, Listing, ServerId, Undo, ValueCheck, comes_back, gate, servers, ungate, verify};
use crate::table::{CommandShape, Entries, Shape};
use callgate_document::{Document, Syntax};

const SPLIT: CommandShape = CommandShape::Split { command: "command", args: "args" };

pub(super) const CLAUDE: Shape = Shape {
    section: &["mcpServers"],
    entries: Entries::ByName,
    start: SPLIT,
    env: "env",
    remote: &["url", "serverUrl"],
    besides: &[],
    named: false,
    call_timeout: None,
};
pub(super) const PROJECTS: Shape = Shape { section: &["projects", "*", "mcpServers"], ..CLAUDE };
pub(super) const ZED: Shape = Shape { section: &["context_servers"], ..CLAUDE };
pub(super) const CODEX: Shape = Shape { section: &["mcp_servers"], ..CLAUDE };
pub(super) const CONTINUE: Shape = Shape { entries: Entries::List, named: true, ..CLAUDE };
pub(super) const OPENCODE: Shape =
    Shape { section: &["mcp"], start: CommandShape::Array("command"), env: "environment", ..CLAUDE };
pub(super) const GOOSE: Shape = Shape {
    section: &["extensions"],
    start: CommandShape::Split { command: "cmd", args: "args" },
    env: "envs",
    remote: &["uri"],
    ..CLAUDE
};

pub(super) fn document(syntax: Syntax, text: &str) -> Document {
    Document::parse(syntax, text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub(super) fn the_gate(name: &str) -> Gate {
    Gate { binary: "/opt/cg/callgate".into(), server: name.into(), client: "test".into() }
}

/// Gates every local entry that is not gated, checks what must hold, and gives the text back.
pub(super) fn gated(syntax: Syntax, shape: &Shape, text: &str) -> String {
    let before = document(syntax, text);
    let listing = servers(&before, shape);
    let ids = locals(&listing);
    assert!(!ids.is_empty(), "nothing to gate in\n{text}\n{listing:?}");
    let mut splices = Vec::new();
    let mut exact = true;
    for id in &ids {
        let edit = gate(&before, shape, listing.find(id).unwrap(), &the_gate(&id.name)).unwrap();
        exact &= edit.undo == Undo::FromFile;
        splices.extend(edit.splices);
    }
    let after = before.spliced(&splices).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&before, &after, shape, &ids, ValueCheck::Same).unwrap_or_else(|e| panic!("{e}\n{}", after.text));
    assert_eq!(comes_back(&before, &after, shape, &ids), exact, "\n{text}\n{}", after.text);
    let again = servers(&after, shape);
    for id in &ids {
        let server = again.find(id).unwrap();
        assert_eq!(server.gated.as_ref().unwrap().server.as_deref(), Some(id.name.as_str()));
        let twice = gate(&after, shape, server, &the_gate(&id.name)).unwrap();
        assert_eq!(twice.splices, [], "gating twice is gating once");
    }
    after.text
}

pub(super) fn ungated(syntax: Syntax, shape: &Shape, text: &str) -> String {
    let document = document(syntax, text);
    let splices = servers(&document, shape)
        .servers
        .iter()
        .flat_map(|server| ungate(&document, shape, server, None).unwrap())
        .collect::<Vec<_>>();
    document.spliced(&splices).unwrap().text
}

pub(super) fn locals(listing: &Listing) -> Vec<ServerId> {
    let local = |s: &&super::Server| matches!(s.how, How::Local(_)) && s.gated.is_none();
    listing.servers.iter().filter(local).map(|s| s.id.clone()).collect()
}

/// Why the only entry of a document is left alone.
pub(super) fn why_odd(syntax: Syntax, shape: &Shape, text: &str) -> String {
    let listing = servers(&document(syntax, text), shape);
    match listing.servers.as_slice() {
        [super::Server { how: How::Odd(odd), .. }] => odd.to_string(),
        other => panic!("not odd: {other:?}"),
    }
}

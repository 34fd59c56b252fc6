//! Gating and ungating in YAML.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::samples::{CONTINUE, GOOSE, document, gated, the_gate, ungated, why_odd};
use super::{ServerId, Undo, ValueCheck, comes_back, gate, servers, ungate, verify};
use callgate_document::Syntax::Yaml;

/// What `@` and `%` stand for: the gate's words in a list of their own lines, and between brackets.
fn words(want: &str, indent: &str, eol: &str) -> String {
    let lines: Vec<String> =
        ["run", "--server", "s", "--client", "test"].map(|w| format!("- \"{w}\"")).into();
    let flow = r#""run", "--server", "s", "--client", "test""#;
    want.replace('@', &lines.join(&format!("{eol}{indent}"))).replace('%', flow)
}

#[test]
fn an_entry_of_goose_keeps_its_own_style() {
    let table = [
        (
            "    cmd: npx # run\n    args: # these\n      # first\n      - -y\n      - \"a\" # b\n",
            "    cmd: \"/opt/cg/callgate\" # run\n    args: # these\n      # first\n      @\n      - \"--\"\n      - npx\n      - -y\n      - \"a\" # b\n",
        ),
        (
            "    args:\n    - a\n    cmd: 'it''s'\n",
            "    args:\n    @\n    - \"--\"\n    - 'it''s'\n    - a\n    cmd: \"/opt/cg/callgate\"\n",
        ),
        (
            "    cmd: npx\n    args: [-y, 'b'] # c\n",
            "    cmd: \"/opt/cg/callgate\"\n    args: [%, \"--\", npx, -y, 'b'] # c\n",
        ),
        (
            "    cmd: \"npx\"\n    args: []\n",
            "    cmd: \"/opt/cg/callgate\"\n    args: [%, \"--\", \"npx\"]\n",
        ),
        ("    cmd: npx\n    args: [ ]", "    cmd: \"/opt/cg/callgate\"\n    args: [%, \"--\", npx ]"),
        (
            "    cmd: npx\n    args: [\n      a, # x\n      b,\n    ]\n",
            "    cmd: \"/opt/cg/callgate\"\n    args: [\n      %, \"--\", npx,\n      a, # x\n      b,\n    ]\n",
        ),
        (
            "    cmd: C:\\n.exe # c\n    description: |\n      text\n    envs: {A: b}\n",
            "    cmd: \"/opt/cg/callgate\" # c\n    args:\n      @\n      - \"--no-args\"\n      - \"--\"\n      - C:\\n.exe\n    description: |\n      text\n    envs: {A: b}\n",
        ),
        (
            "    name: n\n    cmd: npx",
            "    name: n\n    cmd: \"/opt/cg/callgate\"\n    args:\n      @\n      - \"--no-args\"\n      - \"--\"\n      - npx",
        ),
        ("    {cmd: npx}\n", "    {cmd: \"/opt/cg/callgate\", args: [%, \"--no-args\", \"--\", npx]}\n"),
        (
            "    {\"cmd\":\"npx\", # c\n     \"x\":1}\n",
            "    {\"cmd\":\"/opt/cg/callgate\", # c\n     \"args\":[%, \"--no-args\", \"--\", \"npx\"],\n     \"x\":1}\n",
        ),
    ];
    for (entry, want) in table {
        for eol in ["\n", "\r\n"] {
            let indent = if entry.contains("\n    - ") { "    " } else { "      " };
            let file = |entry: &str| {
                format!("# ✓ top\n---\na: 1\nextensions:\n  s: # é\n{entry}").replace('\n', eol)
            };
            let after = gated(Yaml, &GOOSE, &file(entry));
            assert_eq!(after, words(&file(want), indent, eol));
            assert_eq!(ungated(Yaml, &GOOSE, &after), file(entry));
        }
    }
}

#[test]
fn entries_of_a_list_are_known_by_their_name() {
    let text = "mcpServers:\n  - name: s\n    command: npx\n    args:\n      - x\n  - command: uvx # c\n    name: é.t/u\n  -   name: v\n      command: w\n  - name: web\n    url: https://x\nmodels: []\n";
    let after = gated(Yaml, &CONTINUE, text);
    assert!(after.contains("  - command: \"/opt/cg/callgate\" # c\n    args:\n      - \"run\"\n"), "{after}");
    assert_eq!(ungated(Yaml, &CONTINUE, &after), text);
    let nameless = servers(&document(Yaml, "mcpServers:\n- command: x\n"), &CONTINUE);
    assert_eq!(nameless.left_out, ["`mcpServers.0` has no name"]);
}

#[test]
fn a_program_that_must_be_quoted_comes_back_with_its_text() {
    let text = "extensions:\n  s:\n    cmd: /opt/{a},b # c\n    args: [x]\n";
    let before = document(Yaml, text);
    let listing = servers(&before, &GOOSE);
    let edit = gate(&before, &GOOSE, &listing.servers[0], &the_gate("s")).unwrap();
    assert_eq!(edit.undo, Undo::NeedsText("/opt/{a},b".into()));
    let after = before.spliced(&edit.splices).unwrap();
    let id = [ServerId { within: None, name: "s".into() }];
    verify(&before, &after, &GOOSE, &id, ValueCheck::Same).unwrap();
    assert!(!comes_back(&before, &after, &GOOSE, &id));
    assert_eq!(ungated(Yaml, &GOOSE, &after.text), text.replace("/opt/{a},b", "\"/opt/{a},b\""));
    let listing = servers(&after, &GOOSE);
    let splices = ungate(&after, &GOOSE, &listing.servers[0], Some("/opt/{a},b")).unwrap();
    assert_eq!(after.spliced(&splices).unwrap().text, text);
}

#[test]
fn what_reaches_beyond_the_entry_is_left_alone() {
    let table = [
        ("s: &x\n    cmd: a\n", "it is written with an anchor (`&`), so it may be used in other places too"),
        ("s:\n    cmd: &x a\n", "it is written with an anchor (`&`), so it may be used in other places too"),
        ("s:\n    cmd: !t a\n", "it is written with a tag (`!`)"),
        ("s:\n    cmd: a\n    args: [!!str 1]\n", "it is written with a tag (`!`)"),
        ("s:\n    cmd: |\n      a\n", "its `cmd` is written with a block of text (`|` or `>`)"),
        ("s:\n    cmd: a\n      b\n", "its `cmd` is written with a text over several lines"),
        (
            "s:\n    cmd: a\n    args:\n      - >\n        b\n",
            "an element of its `args` is written with a block of text (`|` or `>`)",
        ),
        ("s:\n    cmd: a\n    args:\n", "its `args` is not a list"),
        ("s:\n    cmd: a\n    args: [1]\n", "an element of its `args` is not a text"),
        ("s:\n    cmd: 7\n", "its `cmd` is not a text"),
        ("s:\n    ? cmd\n    : a\n", "it is written with a key that is not plain text"),
        ("s: 1\n", "the entry is not a map"),
        ("s:\n    type: builtin\n", "it is of type `builtin` and starts no program (no `cmd`)"),
    ];
    for (entry, want) in table {
        assert_eq!(why_odd(Yaml, &GOOSE, &format!("extensions:\n  {entry}")), want);
    }
    let above = "extensions: &x\n  s:\n    cmd: a\n";
    assert_eq!(why_odd(Yaml, &GOOSE, above), "it is part of something that other places may use too");
    let merged = "b: &b {cmd: x}\nextensions:\n  s:\n    <<: *b\n    cmd: a\n";
    assert_eq!(why_odd(Yaml, &GOOSE, merged), "it is written with an alias (`*`) of another place");
    let alias = servers(&document(Yaml, "b: &b {s: {cmd: x}}\nextensions: *b\n"), &GOOSE);
    assert_eq!(alias.left_out, ["`extensions` is not a map"]);
}

/// Clients that rewrite their files turn every list into lines, and sort.
#[test]
fn a_gate_comes_off_after_the_client_rewrote_the_file() {
    let table = [
        (
            "extensions:\n  s:\n    args: # c\n    - run\n    - --server\n    - s\n    - --\n    - npx\n    cmd: /x/callgate\n",
            "extensions:\n  s:\n    args: [] # c\n    cmd: npx\n",
        ),
        (
            "extensions:\n  s:\n    args:\n    - run\n    - --no-args\n    - --\n    - npx\n    cmd: /x/callgate\n",
            "extensions:\n  s:\n    cmd: npx\n",
        ),
    ];
    for (text, want) in table {
        assert_eq!(ungated(Yaml, &GOOSE, text), want);
    }
    let list =
        "mcpServers:\n- args:\n  - run\n  - --no-args\n  - --\n  - npx\n  command: callgate\n  name: s\n";
    assert_eq!(ungated(Yaml, &CONTINUE, list), "mcpServers:\n- command: npx\n  name: s\n");
}

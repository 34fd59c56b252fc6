//! What a new entry looks like in each client's own writing.

use super::samples::{CLAUDE, CODEX, CONTINUE, GOOSE, OPENCODE, document, the_gate};
use super::{NewServer, cut, place, servers};
use crate::table::Shape;
use callgate_document::{Document, Syntax};

fn notes() -> NewServer {
    NewServer {
        name: "notes".into(),
        program: "npx".into(),
        args: vec!["-y".into(), "notes mcp".into()],
        env: vec![("KEY".into(), "v".into())],
    }
}

fn bare() -> NewServer {
    NewServer { args: Vec::new(), env: Vec::new(), ..notes() }
}

fn added(syntax: Syntax, shape: &Shape, text: &str, server: &NewServer) -> String {
    let before = if text.is_empty() { Document::blank(syntax) } else { document(syntax, text) };
    let splices =
        place(&before, shape, server, Some(&the_gate("notes"))).unwrap_or_else(|odd| panic!("{odd}"));
    before.spliced(&splices).unwrap_or_else(|e| panic!("{e}")).text
}

/// Why it is left alone.
fn refused(syntax: Syntax, shape: &Shape, text: &str) -> String {
    let before = document(syntax, text);
    match place(&before, shape, &notes(), None) {
        Err(odd) => odd.to_string(),
        Ok(splices) => panic!("{splices:?}"),
    }
}

/// Without the entry, and without any note of how the file was.
fn cut_out(syntax: Syntax, shape: &Shape, text: &str) -> String {
    let before = document(syntax, text);
    let listing = servers(&before, shape);
    let server = listing.servers.iter().find(|server| server.id.name == "notes");
    let splices = server.map(|server| cut(&before, server));
    let splices = splices.and_then(Result::ok).unwrap_or_else(|| panic!("{listing:?}"));
    before.spliced(&splices).unwrap_or_else(|e| panic!("{e}")).text
}

#[test]
fn json_keeps_the_style_of_its_file() {
    let gate = r#""args": ["run", "--server", "notes", "--client", "test", "--", "npx", "-y", "notes mcp"]"#;
    let tabs = "{\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"a\" }\n\t},\n\t\"x\": 1\n}";
    assert_eq!(
        added(Syntax::Json, &CLAUDE, tabs, &notes()),
        format!(
            "{{\n\t\"mcpServers\": {{\n\t\t\"a\": {{ \"command\": \"a\" }},\n\t\t\"notes\": {{\n\t\t\t\"command\": \"/opt/cg/callgate\",\n\
             \t\t\t{gate},\n\t\t\t\"env\": {{\n\t\t\t\t\"KEY\": \"v\"\n\t\t\t}}\n\t\t}}\n\t}},\n\t\"x\": 1\n}}"
        )
    );
    let line = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    assert_eq!(
        added(Syntax::Json, &CLAUDE, line, &notes()),
        format!(
            r#"{{"mcpServers":{{"a":{{"command":"a"}}, "notes": {{ "command": "/opt/cg/callgate", {gate}, "env": {{ "KEY": "v" }} }}}}}}"#
        )
    );
    let crlf = "{\r\n    \"mcpServers\": {}\r\n}\r\n";
    let after = added(Syntax::Json, &CLAUDE, crlf, &bare());
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert!(
        after.starts_with("{\r\n    \"mcpServers\": {\r\n        \"notes\": {\r\n            \"command\""),
        "{after}"
    );
    assert!(after.ends_with("\r\n        }\r\n    }\r\n}\r\n"), "{after}");
    assert_eq!(cut_out(Syntax::Json, &CLAUDE, &after), crlf);
}

#[test]
fn a_new_file_is_plain() {
    insta::assert_snapshot!(added(Syntax::Json, &CLAUDE, "", &notes()), @r#"
    {
      "mcpServers": {
        "notes": {
          "command": "/opt/cg/callgate",
          "args": ["run", "--server", "notes", "--client", "test", "--", "npx", "-y", "notes mcp"],
          "env": {
            "KEY": "v"
          }
        }
      }
    }
    "#);
    insta::assert_snapshot!(added(Syntax::Toml, &CODEX, "", &notes()), @r#"
    [mcp_servers.notes]
    command = "/opt/cg/callgate"
    args = ["run", "--server", "notes", "--client", "test", "--", "npx", "-y", "notes mcp"]
    env = { KEY = "v" }
    "#);
    insta::assert_snapshot!(added(Syntax::Yaml, &GOOSE, "", &notes()), @r#"
    extensions:
      notes:
        cmd: "/opt/cg/callgate"
        args: ["run", "--server", "notes", "--client", "test", "--", "npx", "-y", "notes mcp"]
        envs:
          KEY: "v"
    "#);
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let text =
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" } // mine\n    // more to come\n  }\n}";
    let after = added(Syntax::Jsonc, &CLAUDE, text, &bare());
    assert!(
        after.contains("{ \"command\": \"a\" }, // mine\n    // more to come\n    \"notes\": {\n"),
        "{after}"
    );
    assert_eq!(cut_out(Syntax::Jsonc, &CLAUDE, &after), text);

    let trailing = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }, // mine\n  },\n}";
    let after = added(Syntax::Jsonc, &CLAUDE, trailing, &bare());
    assert!(after.contains("}, // mine\n    \"notes\": {\n") && after.contains("    },\n  },\n}"), "{after}");
    assert_eq!(cut_out(Syntax::Jsonc, &CLAUDE, &after), trailing);

    let empty = "{\n  \"mcpServers\": { /* none */ }\n}";
    let after = added(Syntax::Jsonc, &CLAUDE, empty, &bare());
    assert!(after.contains("{ /* none */\n    \"notes\": {"), "{after}");
    assert!(cut_out(Syntax::Jsonc, &CLAUDE, &after).contains("/* none */"));
}

#[test]
fn opencode_has_one_list() {
    insta::assert_snapshot!(added(Syntax::Jsonc, &OPENCODE, "{\n  \"mcp\": {}\n}\n", &notes()), @r#"
    {
      "mcp": {
        "notes": {
          "command": ["/opt/cg/callgate", "run", "--server", "notes", "--client", "test", "--", "npx", "-y", "notes mcp"],
          "environment": {
            "KEY": "v"
          }
        }
      }
    }
    "#);
}

#[test]
fn toml_gets_a_table_at_the_end_or_a_member_between_braces() {
    let text = "model = \"x\"\n\n[mcp_servers.a]\ncommand = \"a\"\n";
    let after = added(Syntax::Toml, &CODEX, text, &bare());
    assert!(after.starts_with(&format!("{text}\n[mcp_servers.notes]\ncommand = ")), "{after}");
    assert!(after.ends_with("\"npx\"]\n"), "{after}");
    assert_eq!(cut_out(Syntax::Toml, &CODEX, &after), text);

    let inline = "mcp_servers = { a = { command = \"a\" } } # all\nmodel = \"x\"\n";
    let after = added(Syntax::Toml, &CODEX, inline, &notes());
    assert!(
        after.starts_with("mcp_servers = { a = { command = \"a\" }, notes = { command = \"/opt"),
        "{after}"
    );
    assert!(after.contains("env = { KEY = \"v\" } } } # all\n"), "{after}");
    assert_eq!(cut_out(Syntax::Toml, &CODEX, &after), inline);

    // As the client itself writes it, with a table for the variables, and something after it.
    let rewritten =
        "[mcp_servers.notes]\ncommand = \"x\"\n\n[mcp_servers.notes.env]\nKEY = \"v\"\n\n[z]\ny = 1\n";
    assert_eq!(cut_out(Syntax::Toml, &CODEX, rewritten), "\n[z]\ny = 1\n");
}

#[test]
fn yaml_gets_lines_below_the_key() {
    let text = "# goose\nextensions: # all of them\n  # the browser\n  a:\n    cmd: a\nlast: x\n";
    let after = added(Syntax::Yaml, &GOOSE, text, &bare());
    assert!(
        after.starts_with(
            "# goose\nextensions: # all of them\n  notes:\n    cmd: \"/opt/cg/callgate\"\n    args: ["
        ),
        "{after}"
    );
    assert!(after.ends_with("]\n  # the browser\n  a:\n    cmd: a\nlast: x\n"), "{after}");
    assert_eq!(cut_out(Syntax::Yaml, &GOOSE, &after), text);

    let list = "mcpServers:\n- name: a\n  command: a\n";
    let after = added(Syntax::Yaml, &CONTINUE, list, &notes());
    assert!(
        after.starts_with("mcpServers:\n- name: \"notes\"\n  command: \"/opt/cg/callgate\"\n  args: ["),
        "{after}"
    );
    assert!(after.contains("\n  env:\n    KEY: \"v\"\n- name: a\n"), "{after}");
    assert_eq!(cut_out(Syntax::Yaml, &CONTINUE, &after), list);

    for (shape, empty) in [(&GOOSE, "extensions: {} # none\nb: 1\n"), (&CONTINUE, "mcpServers:  []\nb: 1\n")]
    {
        let after = added(Syntax::Yaml, shape, empty, &bare());
        assert!(after.contains(":") && !after.contains("{}") && !after.contains("[]"), "{after}");
        assert_eq!(cut_out(Syntax::Yaml, shape, &after).replace("  ", " "), empty.replace("  ", " "));
    }
}

#[test]
fn what_is_no_place_for_servers_is_left_alone() {
    for (syntax, shape, text, word) in [
        (Syntax::Json, &CLAUDE, r#"{"mcpServers": []}"#, "not a map"),
        (Syntax::Json, &CLAUDE, r#"{"mcpServers": null}"#, "not a map"),
        (Syntax::Json, &CLAUDE, "[]", "not a map"),
        (Syntax::Yaml, &GOOSE, "extensions: &all\n  a:\n    cmd: a\n", "anchor"),
        (Syntax::Yaml, &GOOSE, "extensions: text\n", "not a map"),
        (Syntax::Yaml, &CONTINUE, "mcpServers:\n  a: 1\n", "not a list"),
        (Syntax::Yaml, &GOOSE, "a: 1\n...\n", "ends with"),
    ] {
        assert!(refused(syntax, shape, text).contains(word), "{}", refused(syntax, shape, text));
    }
}

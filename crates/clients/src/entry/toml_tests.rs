//! Gating and ungating in TOML.

use super::samples::{CODEX, gated, ungated, why_odd};
use callgate_document::Syntax::Toml;

const FRONT: &str = r#""run", "--server", "s", "--client", "test""#;

#[test]
fn an_entry_keeps_its_own_style() {
    let table = [
        (
            "[mcp_servers.s] # c\ncommand = \"npx\" # d\nargs = [\"-y\"] # e\n",
            "[mcp_servers.s] # c\ncommand = \"/opt/cg/callgate\" # d\nargs = [@, \"--\", \"npx\", \"-y\"] # e\n",
        ),
        (
            "[mcp_servers.\"s\"]\nargs = [ # x\n\t'C:\\a', # y\n\t\"b\",\n\t# z\n]\ncommand = 'C:\\n.exe'\n",
            "[mcp_servers.\"s\"]\nargs = [ # x\n\t@, \"--\", 'C:\\n.exe',\n\t'C:\\a', # y\n\t\"b\",\n\t# z\n]\ncommand = \"/opt/cg/callgate\"\n",
        ),
        (
            "[mcp_servers.s]\n  command=\"npx\"   # why\n\n[mcp_servers.s.env]\nA = \"b\"\n",
            "[mcp_servers.s]\n  command=\"/opt/cg/callgate\"   # why\n  args=[@, \"--no-args\", \"--\", \"npx\"]\n\n[mcp_servers.s.env]\nA = \"b\"\n",
        ),
        (
            "[mcp_servers.s]\ncommand = \"npx\"",
            "[mcp_servers.s]\ncommand = \"/opt/cg/callgate\"\nargs = [@, \"--no-args\", \"--\", \"npx\"]",
        ),
        (
            "[mcp_servers]\ns = { command = \"npx\" } # c\n",
            "[mcp_servers]\ns = { command = \"/opt/cg/callgate\", args = [@, \"--no-args\", \"--\", \"npx\"] } # c\n",
        ),
        (
            "mcp_servers = {s={command='npx',args=[]}}\n",
            "mcp_servers = {s={command=\"/opt/cg/callgate\",args=[@, \"--\", 'npx']}}\n",
        ),
        (
            "[mcp_servers]\ns . command = \"npx\"\ns.env.A = \"b\"\n",
            "[mcp_servers]\ns . command = \"/opt/cg/callgate\"\ns . args = [@, \"--no-args\", \"--\", \"npx\"]\ns.env.A = \"b\"\n",
        ),
        (
            "mcp_servers.s.command = \"\"\"npx\"\"\"\nmcp_servers.s.args = [\n]\n",
            "mcp_servers.s.command = \"/opt/cg/callgate\"\nmcp_servers.s.args = [@, \"--\", \"\"\"npx\"\"\"\n]\n",
        ),
        (
            "[mcp_servers.s]\ncommand = '''\nnpx'''\n",
            "[mcp_servers.s]\ncommand = \"/opt/cg/callgate\"\nargs = [@, \"--no-args\", \"--\", '''\nnpx''']\n",
        ),
        (
            "mcp_servers = { s.command = \"n\\u0070x\", s.args = [\"--\", \"${X}\"] }\n",
            "mcp_servers = { s.command = \"/opt/cg/callgate\", s.args = [@, \"--\", \"n\\u0070x\", \"--\", \"${X}\"] }\n",
        ),
    ];
    for (entry, want) in table {
        for eol in ["\n", "\r\n"] {
            let file = |entry: &str| format!("# é ✓\nmodel = \"o\"\n{entry}").replace('\n', eol);
            let after = gated(Toml, &CODEX, &file(entry));
            assert_eq!(after, file(want).replace('@', FRONT));
            assert_eq!(ungated(Toml, &CODEX, &after), file(entry));
        }
    }
}

#[test]
fn every_name_reads_back_as_itself() {
    for name in [
        "\"a.b\"",
        "'a/b'",
        "\"~\"",
        "\"a\\\"b\"",
        "\"it's\"",
        "\"ünï ✓\"",
        "\"\"",
        "\"--\"",
        "1234",
        "\"\\u0001\"",
    ] {
        let text = format!(
            "[mcp_servers.{name}]\ncommand = \"npx\"\n[mcp_servers.z]\nurl = \"https://x\"\n[[a]]\nb = 1\n[[a]]\n"
        );
        assert_eq!(ungated(Toml, &CODEX, &gated(Toml, &CODEX, &text)), text);
    }
}

#[test]
fn tables_that_do_not_stand_together_are_one_server() {
    let text = "[mcp_servers.s.env]\nA = \"b\"\n\n[other]\nx = 1979-05-27\n\n[mcp_servers.s]\ncommand = \"npx\"\n[last]\n";
    let after = gated(Toml, &CODEX, text);
    assert_eq!(ungated(Toml, &CODEX, &after), text);
}

#[test]
fn what_a_client_would_not_start_is_left_alone() {
    let table = [
        ("[mcp_servers.s.env]\nA = \"b\"", "it starts no program (no `command`)"),
        ("[mcp_servers]\ns = 1", "the entry is not a map"),
        ("[[mcp_servers.s]]\ncommand = \"x\"", "the entry is not a map"),
        ("[mcp_servers.s]\ncommand = 1", "its `command` is not a text"),
        ("[mcp_servers.s]\ncommand = \"x\"\nargs = \"y\"", "its `args` is not a list"),
        ("[mcp_servers.s]\ncommand = \"x\"\nargs = [\"y\", true]", "an element of its `args` is not a text"),
    ];
    for (text, want) in table {
        assert_eq!(why_odd(Toml, &CODEX, text), want);
    }
}

//! Gating and ungating in JSON, with and without comments.

use super::samples::{CLAUDE, OPENCODE, PROJECTS, ZED, gated, ungated, why_odd};
use callgate_document::Syntax::{Json, Jsonc};

const FRONT: &str = r#""run", "--server", "s", "--client", "test""#;

/// Each pair: an entry, and what it becomes, `@` being the gate's words.
#[test]
fn an_entry_keeps_its_own_style() {
    let table = [
        (
            r#"{"command": "npx", "args": ["-y"]}"#,
            r#"{"command": "/opt/cg/callgate", "args": [@, "--", "npx", "-y"]}"#,
        ),
        (r#"{"command":"npx","args":[]}"#, r#"{"command":"/opt/cg/callgate","args":[@, "--", "npx"]}"#),
        (r#"{"command":"npx","args":[ ]}"#, r#"{"command":"/opt/cg/callgate","args":[@, "--", "npx" ]}"#),
        (
            "{\"command\":\"npx\",\"args\":[\n]}",
            "{\"command\":\"/opt/cg/callgate\",\"args\":[@, \"--\", \"npx\"\n]}",
        ),
        (r#"{"args":["a"],"command":"x"}"#, r#"{"args":[@, "--", "x", "a"],"command":"/opt/cg/callgate"}"#),
        (r#"{"command":"npx"}"#, r#"{"command":"/opt/cg/callgate", "args":[@, "--no-args", "--", "npx"]}"#),
        (
            "{\n\t\"command\" : \"npx\"\n}",
            "{\n\t\"command\" : \"/opt/cg/callgate\",\n\t\"args\" : [@, \"--no-args\", \"--\", \"npx\"]\n}",
        ),
        (
            "{\r\n  \"command\": \"npx\",\r\n  \"env\": {}\r\n}",
            "{\r\n  \"command\": \"/opt/cg/callgate\",\r\n  \"args\": [@, \"--no-args\", \"--\", \"npx\"],\r\n  \"env\": {}\r\n}",
        ),
        (
            "{\"command\":\"npx\",\"args\":[\r\n  \"-y\",\r\n  \"a\"\r\n]}",
            "{\"command\":\"/opt/cg/callgate\",\"args\":[\r\n  @, \"--\", \"npx\",\r\n  \"-y\",\r\n  \"a\"\r\n]}",
        ),
        (
            r#"{"command":"np\u0078","args":["--","x"]}"#,
            r#"{"command":"/opt/cg/callgate","args":[@, "--", "np\u0078", "--","x"]}"#,
        ),
        (
            r#"{"command":"C:\\Program Files\\n.exe","args":["${HOME}"]}"#,
            r#"{"command":"/opt/cg/callgate","args":[@, "--", "C:\\Program Files\\n.exe", "${HOME}"]}"#,
        ),
    ];
    for (entry, want) in table {
        for (head, tail) in
            [("{\"mcpServers\": {\"s\": ", "}}"), ("\n{\"a\":1e400,\"mcpServers\":{\"s\":", "},\"z\":[]}\n")]
        {
            let text = format!("{head}{entry}{tail}");
            let after = gated(Json, &CLAUDE, &text);
            assert_eq!(after, format!("{head}{}{tail}", want.replace('@', FRONT)));
            assert_eq!(ungated(Json, &CLAUDE, &after), text);
        }
    }
}

#[test]
fn comments_and_trailing_commas_stay_where_they_are() {
    let table = [
        (r#"{"command":"npx",}"#, r#"{"command":"/opt/cg/callgate", "args":[@, "--no-args", "--", "npx"],}"#),
        (
            r#"{"command":"npx","args":["a",],}"#,
            r#"{"command":"/opt/cg/callgate","args":[@, "--", "npx", "a",],}"#,
        ),
        (
            "{\n  \"command\": \"npx\", // mine, and [not] yours\n  \"env\": {}\n}",
            "{\n  \"command\": \"/opt/cg/callgate\", // mine, and [not] yours\n  \"args\": [@, \"--no-args\", \"--\", \"npx\"],\n  \"env\": {}\n}",
        ),
        (
            "{\n  \"command\": \"npx\" // last\n}",
            "{\n  \"command\": \"/opt/cg/callgate\",\n  \"args\": [@, \"--no-args\", \"--\", \"npx\"] // last\n}",
        ),
        (
            "{/*a*/\"command\"/*b*/:/*c*/\"npx\"/*d*/,/*e*/\"args\"/*f*/:/*g*/[/*h*/\"a\"/*i*/,/*j*/]/*k*/}",
            "{/*a*/\"command\"/*b*/:/*c*/\"/opt/cg/callgate\"/*d*/,/*e*/\"args\"/*f*/:/*g*/[/*h*/@, \"--\", \"npx\", \"a\"/*i*/,/*j*/]/*k*/}",
        ),
        (
            "{\"command\":\"npx\",\"args\":[ // none\n]}",
            "{\"command\":\"/opt/cg/callgate\",\"args\":[@, \"--\", \"npx\" // none\n]}",
        ),
    ];
    for (entry, want) in table {
        let text = format!("// top\n{{\"mcpServers\": {{\"s\": {entry},}},}} // end");
        let after = gated(Jsonc, &CLAUDE, &text);
        assert_eq!(
            after,
            format!("// top\n{{\"mcpServers\": {{\"s\": {},}},}} // end", want.replace('@', FRONT))
        );
        assert_eq!(ungated(Jsonc, &CLAUDE, &after), text);
    }
}

#[test]
fn every_name_reads_back_as_itself() {
    for name in
        ["a.b", "a/b", "~", "~1", "a\\\"b", "it's", "ünïcode ✓ 名", "", " ", "--", "-x", "a\\u0000b", "$ref"]
    {
        let text = format!("{{\"mcpServers\":{{\"{name}\":{{\"command\":\"npx\",\"args\":[\"x\"]}}}}}}");
        assert_eq!(ungated(Json, &CLAUDE, &gated(Json, &CLAUDE, &text)), text);
    }
}

#[test]
fn opencode_has_one_list() {
    let text = "{\"mcp\": {\"s\": {\"type\": \"local\", \"command\": [\"npx\", \"-y\"], // c\n}}}";
    let after = gated(Jsonc, &OPENCODE, text);
    let list = format!("[\"/opt/cg/callgate\", {FRONT}, \"--\", \"npx\", \"-y\"]");
    assert_eq!(after, text.replace("[\"npx\", \"-y\"]", &list));
    assert_eq!(ungated(Jsonc, &OPENCODE, &after), text);
}

#[test]
fn older_zed_entries_have_a_map_as_command() {
    let text = "{\"context_servers\": {\"s\": {\"command\": {\n  \"path\": \"npx\",\n  \"env\": {\"A\": \"b\"}\n}}}}";
    let after = gated(Jsonc, &ZED, text);
    assert!(after.contains("\"--no-args\", \"--\", \"npx\"],\n  \"env\""), "{after}");
    assert_eq!(ungated(Jsonc, &ZED, &after), text);
}

#[test]
fn every_project_of_claude_code_is_gated() {
    let text = r#"{"projects":{"/a":{"mcpServers":{"s":{"command":"x","args":[]}}},"/b":{"n":1},"/c":{"mcpServers":{"s":{"command":"y"}}}}}"#;
    let after = gated(Json, &PROJECTS, text);
    assert_eq!(after.matches("/opt/cg/callgate").count(), 2);
    assert_eq!(ungated(Json, &PROJECTS, &after), text);
}

#[test]
fn what_a_client_would_not_start_is_left_alone() {
    let table = [
        ("[]", "the entry is not a map"),
        ("{}", "it starts no program (no `command`)"),
        (r#"{"type":"builtin"}"#, "it is of type `builtin` and starts no program (no `command`)"),
        (r#"{"command":1}"#, "its `command` is not a text"),
        (r#"{"command":null}"#, "its `command` is not a text"),
        (r#"{"command":""}"#, "its `command` names no program"),
        (r#"{"command":"x","args":null}"#, "its `args` is not a list"),
        (r#"{"command":"x","args":"-y"}"#, "its `args` is not a list"),
        (r#"{"command":"x","args":["a",1]}"#, "an element of its `args` is not a text"),
        (r#"{"command":"x","url":"http://h"}"#, "it has both a program to start and an address"),
        (r#"{"command":{"args":[]}}"#, "its `command` has no `path`"),
        (
            r#"{"command":"/x/callgate","args":["run","--server","s"]}"#,
            "it starts Callgate in a way that Callgate does not write: nothing stands behind `--`",
        ),
    ];
    for (entry, want) in table {
        assert_eq!(why_odd(Json, &CLAUDE, &format!("{{\"mcpServers\":{{\"s\":{entry}}}}}")), want);
    }
}

/// Clients that rewrite their files reorder and reformat; what comes back then is the meaning.
#[test]
fn a_gate_comes_off_after_the_client_rewrote_the_file() {
    let table = [
        (r#"{"args":[@,"--no-args","--","npx"],"command":"/x/callgate"}"#, r#"{"command":"npx"}"#),
        (r#"{"args":[@,"--no-args","--","npx",],"command":"/x/callgate",}"#, r#"{"command":"npx",}"#),
        (r#"{"command":"/x/callgate","args":[@,"--","npx",]}"#, r#"{"command":"npx","args":[]}"#),
        (
            r#"{"command":"/x/callgate","args":[@,"--no-args","--","npx","new"]}"#,
            r#"{"command":"npx","args":["new"]}"#,
        ),
        (
            r#"{"command":"C:\\x\\Callgate.EXE","args":[@,"--verbose","--","npx"]}"#,
            r#"{"command":"npx","args":[]}"#,
        ),
        (
            "{\"command\":\"/x/callgate\",/*a*/\"args\":[@,\"--no-args\",\"--\",\"npx\"]/*b*/,\"env\":{}}",
            "{\"command\":\"npx\",/*a*//*b*/\"env\":{}}",
        ),
        (
            "{\"command\":\"/x/callgate\",/*a*/\"args\":[@,\"--no-args\",\"--\",\"npx\"]/*b*/}",
            "{\"command\":\"npx\"/*a*//*b*/}",
        ),
    ];
    for (entry, want) in table {
        let text = format!("{{\"mcpServers\":{{\"s\":{}}}}}", entry.replace('@', FRONT));
        assert_eq!(ungated(Jsonc, &CLAUDE, &text), format!("{{\"mcpServers\":{{\"s\":{want}}}}}"));
    }
}

/// Claude Code and Gemini CLI write a list one element a line whenever they write their file.
#[test]
fn a_list_that_was_empty_and_that_its_client_wrote_anew_is_empty_again_without_a_blank_line() {
    for (args, want) in [
        ("[\n  @,\n  \"--\",\n  \"npx\"\n]", "[]"),
        ("[\r\n\t@,\r\n\t\"--\",\r\n\t\"npx\",\r\n]", "[]"),
        // As it was put there: what stands behind it is the person's.
        ("[@, \"--\", \"npx\" ]", "[ ]"),
        ("[@, \"--\", \"npx\"\n]", "[\n]"),
        // Nobody's words are thrown away.
        ("[ /* mine */ @, \"--\", \"npx\" ]", "[ /* mine */  ]"),
        ("[\n  @, \"--\", \"npx\" // mine\n]", "[\n   // mine\n]"),
    ] {
        let entry = |command: &str, args: &str| {
            format!(r#"{{"mcpServers":{{"s":{{"command":"{command}","args":{args}}}}}}}"#)
        };
        let text = entry("/x/callgate", &args.replace('@', FRONT));
        assert_eq!(ungated(Jsonc, &CLAUDE, &text), entry("npx", want));
    }
}

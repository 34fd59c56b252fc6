//! What is read out of a file: who is there, where, and what may be touched.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::samples::{CLAUDE, CODEX, CONTINUE, GOOSE, PROJECTS, ZED, document};
use super::{Gated, How, Local, ServerId, ValueCheck, is_callgate, servers, verify};
use crate::table::Shape;
use callgate_document::Syntax::{self, Json, Jsonc, Toml, Yaml};

fn local(syntax: Syntax, shape: &Shape, text: &str) -> Local {
    match servers(&document(syntax, text), shape).servers.remove(0).how {
        How::Local(local) => local,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_address_means_that_nothing_is_started() {
    let table = [
        (Json, CLAUDE, r#"{"mcpServers":{"s":{"type":"http","url":"https://x"}}}"#),
        (Json, CLAUDE, r#"{"mcpServers":{"s":{"serverUrl":"https://x"}}}"#),
        (Toml, CODEX, "[mcp_servers.s]\nurl = \"https://x\"\n"),
        (Yaml, GOOSE, "extensions:\n  s:\n    uri: &a https://x\n"),
    ];
    for (syntax, shape, text) in table {
        assert_eq!(servers(&document(syntax, text), &shape).servers[0].how, How::Remote, "{text}");
    }
    // Some clients write both, one of them empty.
    assert_eq!(local(Json, &CLAUDE, r#"{"mcpServers":{"s":{"command":"x","url":""}}}"#).program.value, "x");
}

#[test]
fn a_project_is_part_of_who_a_server_is() {
    let text = r#"{"projects":{"/a b":{"mcpServers":{"s":{"command":"x"}}},"C:\\c":{"mcpServers":{"s":{"command":"y"},"t":[]}}}}"#;
    let listing = servers(&document(Json, text), &PROJECTS);
    let ids: Vec<(Option<&str>, &str)> =
        listing.servers.iter().map(|s| (s.id.within.as_deref(), s.id.name.as_str())).collect();
    assert_eq!(ids, [(Some("/a b"), "s"), (Some("C:\\c"), "s"), (Some("C:\\c"), "t")]);
    let id = ServerId { within: Some("C:\\c".into()), name: "s".into() };
    assert!(matches!(&listing.find(&id).unwrap().how, How::Local(l) if l.program.value == "y"));
}

#[test]
fn what_stands_where_servers_should_be_is_told() {
    let told = |syntax, shape: &Shape, text: &str| servers(&document(syntax, text), shape).left_out;
    let nothing: [&str; 0] = [];
    assert_eq!(told(Json, &CLAUDE, "[]"), ["the file is not a map"]);
    assert_eq!(told(Json, &CLAUDE, "{\"mcpServers\":[]}"), ["`mcpServers` is not a map"]);
    assert_eq!(
        told(Json, &PROJECTS, "{\"projects\":{\"/a\":{\"mcpServers\":\"x\"}}}"),
        ["`projects./a.mcpServers` is not a map"]
    );
    assert_eq!(told(Yaml, &CONTINUE, "mcpServers: {a: 1}"), ["`mcpServers` is not a list"]);
    for empty in ["{}", "{\"mcpServers\":null}", "{\"mcpServers\":{}}", "null"] {
        assert_eq!(told(Json, &CLAUDE, empty), nothing, "{empty}");
    }
}

#[test]
fn two_entries_of_one_name_are_left_alone() {
    let listing = servers(
        &document(
            Yaml,
            "mcpServers:\n- {name: a, command: x}\n- {name: a, command: y}\n- {name: b, command: z}\n",
        ),
        &CONTINUE,
    );
    let odd: Vec<bool> = listing.servers.iter().map(|s| matches!(s.how, How::Odd(_))).collect();
    assert_eq!(odd, [true, true, false]);
}

#[test]
fn a_value_of_the_environment_can_be_replaced_where_it_stands() {
    let table = [
        (
            Json,
            CLAUDE,
            r#"{"mcpServers":{"s":{"command":"x","env":{"N":1,"A":"s\u0065cret"}}}}"#,
            r#""s\u0065cret""#,
        ),
        (
            Jsonc,
            ZED,
            "{\"context_servers\":{\"s\":{\"command\":{\"path\":\"x\",\"env\":{\"A\":\"secret\"}}}}}",
            "\"secret\"",
        ),
        (
            Toml,
            CODEX,
            "[mcp_servers.s]\ncommand = \"x\"\n[mcp_servers.s.env]\nN = 1\nA = 'secret' # c\n",
            "'secret'",
        ),
        (Toml, CODEX, "[mcp_servers.s]\ncommand = \"x\"\nenv.A = '''secret'''\n", "'''secret'''"),
        (
            Yaml,
            GOOSE,
            "extensions:\n  s:\n    cmd: x\n    envs:\n      N: 1\n      A: secret # c\n",
            "secret",
        ),
        (Yaml, GOOSE, "extensions:\n  s: {cmd: x, envs: {A: 'secret'}}\n", "'secret'"),
    ];
    for (syntax, shape, text, literal) in table {
        let before = document(syntax, text);
        let local = local(syntax, &shape, text);
        let [(key, value)] = local.env.as_slice() else {
            panic!("{local:?}");
        };
        assert_eq!(
            (key.as_str(), value.value.as_str(), before.source(&value.span)),
            ("A", "secret", literal)
        );
        let splice = before.replace(&value.span, "keychain://callgate/s/A").unwrap();
        let after = before.spliced(&[splice]).unwrap();
        assert_eq!(after.text, text.replace(literal, "\"keychain://callgate/s/A\""));
        let id = [ServerId { within: None, name: "s".into() }];
        assert_eq!(verify(&before, &after, &shape, &id, ValueCheck::MayDiffer), Ok(()));
        assert!(verify(&before, &after, &shape, &id, ValueCheck::Same).is_err());
        assert!(verify(&before, &after, &shape, &[], ValueCheck::MayDiffer).is_err());
    }
}

#[test]
fn a_gate_is_known_by_the_name_of_the_program_and_its_first_word() {
    for ours in [
        "callgate",
        "/a b/callgate",
        "C:\\x\\callgate.exe",
        "C:/x/Callgate.EXE",
        "/h/bin/callgate-cli-0123456789abcdef",
    ] {
        assert!(is_callgate(ours), "{ours}");
    }
    for other in ["", "callgate2", "/callgate/npx", "mycallgate", "callgate.sh", "callgate-evil", "Callgate"]
    {
        assert!(!is_callgate(other), "{other}");
    }
    let read = |entry: &str| {
        servers(&document(Json, &format!("{{\"mcpServers\":{{\"s\":{entry}}}}}")), &CLAUDE).servers.remove(0)
    };
    let gated = read(
        r#"{"command":"/x/callgate","args":["run","--server","--","--client","c","--no-args","--","npx","--","y"]}"#,
    );
    let want = Gated {
        binary: "/x/callgate".into(),
        server: Some("--".into()),
        client: Some("c".into()),
        no_args: true,
        demo: false,
        words: 7,
        server_at: 2,
        client_at: 4,
    };
    assert_eq!(gated.gated, Some(want));
    assert!(matches!(gated.how, How::Local(l) if l.words().eq(["npx", "--", "y"])));
    let other = read(r#"{"command":"/x/callgate","args":["doctor"]}"#);
    assert_eq!(other.gated, None);
    assert!(matches!(other.how, How::Local(l) if l.words().eq(["/x/callgate", "doctor"])));
}

/// A line as long as the file, and a file with many entries. Read once per value they would take longer than any test may.
#[test]
fn large_files_are_read_in_one_go() {
    let flow: String = (0..40_000).map(|i| format!("s{i}: {{cmd: \"x\", args: [é, b]}}, ")).collect();
    assert_eq!(servers(&document(Yaml, &format!("extensions: {{{flow}}}\n")), &GOOSE).servers.len(), 40_000);
    let json: String = (0..40_000).map(|i| format!(",\"s{i}\":{{\"command\":\"x\"}}")).collect();
    assert_eq!(
        servers(&document(Json, &format!("{{\"mcpServers\":{{{}}}}}", &json[1..])), &CLAUDE).servers.len(),
        40_000
    );
    let toml: String = (0..10_000).map(|i| format!("[mcp_servers.s{i}]\ncommand = \"x\"\n")).collect();
    assert_eq!(servers(&document(Toml, &toml), &CODEX).servers.len(), 10_000);
}

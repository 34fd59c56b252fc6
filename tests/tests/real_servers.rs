//! Published servers and the official SDKs behind the gate: ordinary clients notice nothing, hostile bytes run nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use callgate_tests::corpus::{Case, Close, Step, chosen};
use callgate_tests::gate::{Bench, DENY_POLICY, Gate, OPEN_POLICY};
use callgate_tests::installed::{installed, ours};
use callgate_tests::notation;
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::walk::{Question, greet, walk};

/// How long a server without the gate may take to run what it was sent.
const TO_RUN: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sdk {
    Python1,
    Python2,
    TypeScript1,
    TypeScript2,
}

impl Sdk {
    /// The command line of our server on this SDK, which marks in `marks` what ran.
    fn command(self, marks: &Path) -> Vec<OsString> {
        let python = |venv: &str| vec![installed(venv).into(), ours("python/server.py").into(), marks.into()];
        let node = |generation: &str| {
            vec![
                "node".into(),
                ours("node/server.mjs").into(),
                installed("node").into(),
                generation.into(),
                marks.into(),
            ]
        };
        match self {
            Sdk::Python1 => python("py1/bin/python"),
            Sdk::Python2 => python("py2/bin/python"),
            Sdk::TypeScript1 => node("1"),
            Sdk::TypeScript2 => node("2"),
        }
    }
}

/// The same walk directly and through the gate, on equal scratch directories.
fn assert_walks_equal(server: &[OsString], questions: &[Question<'_>]) {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut runs = [Gate::Direct, Gate::Callgate].map(|gate| {
        let mut session = Session::start(bench.command(gate, server).unwrap()).unwrap();
        walk(&mut session, questions)
            .unwrap_or_else(|error| panic!("{gate:?}: {error:#}\n{}", session.err.text()))
    });
    let through = std::mem::take(&mut runs[1]);
    for (direct, through) in runs[0].iter().zip(&through) {
        assert_eq!(direct, through);
    }
    assert_eq!(through.len(), questions.len() + 1);
}

#[test]
fn everything_server_is_the_same_through_the_gate() {
    let entry = installed("node").join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert_walks_equal(
        &["node".into(), entry.into()],
        &[
            ("ping", "{}"),
            ("tools/list", "{}"),
            ("tools/call", r#"{"name":"echo","arguments":{"message":"żółć 🦀 \u0000"}}"#),
            ("tools/call", r#"{"name":"get-sum","arguments":{"a":1.5,"b":9007199254740991}}"#),
            ("tools/call", r#"{"name":"get-sum","arguments":{"a":"no number"}}"#),
            ("tools/call", r#"{"name":"get-tiny-image","arguments":{}}"#),
            ("tools/call", r#"{"name":"get-structured-content","arguments":{"location":"New York"}}"#),
            (
                "tools/call",
                r#"{"name":"get-annotated-message","arguments":{"messageType":"error","includeImage":true}}"#,
            ),
            ("tools/call", r#"{"name":"get-resource-links","arguments":{"count":3}}"#),
            ("tools/call", r#"{"name":"no-such-tool","arguments":{}}"#),
            (
                "tools/call",
                r#"{"name":"trigger-long-running-operation","arguments":{"duration":1,"steps":4},"_meta":{"progressToken":"p"}}"#,
            ),
            ("resources/list", "{}"),
            ("resources/templates/list", "{}"),
            ("resources/read", r#"{"uri":"demo://resource/static/document/features.md"}"#),
            ("resources/read", r#"{"uri":"demo://resource/dynamic/text/1"}"#),
            ("resources/read", r#"{"uri":"demo://no/such"}"#),
            ("prompts/list", "{}"),
            ("prompts/get", r#"{"name":"simple-prompt"}"#),
            ("prompts/get", r#"{"name":"args-prompt","arguments":{"city":"Łódź"}}"#),
            (
                "completion/complete",
                r#"{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}"#,
            ),
            ("no/such/method", "{}"),
        ],
    );
}

#[test]
fn filesystem_server_is_the_same_through_the_gate() {
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("a.txt"), "line one\r\nline two\u{2028}\u{85}\0 end").unwrap();
    let at = |name: &str| format!(r#"{{"path":"{}"}}"#, files.path().join(name).display());
    let call = |tool: &str, arguments: &str| format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    let calls = [
        call("list_allowed_directories", "{}"),
        call("read_text_file", &at("a.txt")),
        call("list_directory", &at("")),
        call("read_text_file", &at("missing.txt")),
        call("read_text_file", r#"{"path":"/etc/hostname"}"#),
        call("read_text_file", "{}"),
        call("directory_tree", &at("")),
    ];
    let mut questions = vec![("tools/list", "{}")];
    questions.extend(calls.iter().map(|params| ("tools/call", params.as_str())));
    let entry = installed("node").join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    assert_walks_equal(&["node".into(), entry.into(), files.path().into()], &questions);
}

#[test]
fn sdk_servers_are_the_same_through_the_gate() {
    for sdk in [Sdk::Python1, Sdk::Python2, Sdk::TypeScript1, Sdk::TypeScript2] {
        let marks = tempfile::NamedTempFile::new().unwrap();
        assert_walks_equal(
            &sdk.command(marks.path()),
            &[
                ("ping", "{}"),
                ("tools/list", "{}"),
                ("tools/call", r#"{"name":"safe","arguments":{"x":[1.0,null,"é"]}}"#),
                ("tools/call", r#"{"name":"danger"}"#),
                ("tools/call", r#"{"name":"numbers","arguments":{}}"#),
                ("tools/call", r#"{"name":"picture","arguments":{}}"#),
                ("tools/call", r#"{"name":"fails","arguments":{}}"#),
                ("tools/call", r#"{"name":"nope","arguments":{}}"#),
                ("resources/list", "{}"),
                ("resources/read", r#"{"uri":"corpus://text"}"#),
                ("prompts/list", "{}"),
                ("prompts/get", r#"{"name":"greet","arguments":{"name":"Ada"}}"#),
                ("no/such/method", "{}"),
            ],
        );
    }
}

#[test]
fn stateless_revision_works_through_the_gate_without_a_handshake() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let marks = bench.path("marks");
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"walker","version":"1.0"}}"#;
    let lines = [
        ("0", format!(r#"{{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{{{meta}}}}}"#)),
        (
            "1",
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"safe","arguments":{{}},{meta}}}}}"#
            ),
        ),
        (
            "2",
            format!(
                r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"danger","arguments":{{}},{meta}}}}}"#
            ),
        ),
    ];
    let mut session =
        Session::start(bench.command(Gate::Callgate, &Sdk::Python2.command(&marks)).unwrap()).unwrap();
    let answers = lines.map(|(id, line)| {
        session.send(&line).unwrap();
        session.answer_within(id, PATIENCE * 2).unwrap()
    });
    assert!(answers[0].get("result").is_some(), "{}", answers[0].to_text());
    assert!(answers[1].to_text().contains("safe ran"), "{}", answers[1].to_text());
    assert!(callgate_tests::session::is_refusal(&answers[2]));
    assert!(!marks.exists());
}

/// A session of the corpus policy with our server on this SDK, after the handshake.
fn greeted(bench: &Bench, gate: Gate, sdk: Sdk) -> Session {
    let server = sdk.command(&bench.path("marks"));
    let mut session = Session::start(bench.command(gate, &server).unwrap()).unwrap();
    greet(&mut session).unwrap_or_else(|error| panic!("{sdk:?}: {error:#}\n{}", session.err.text()));
    session
}

/// Sends a case with ids of its own, so that many cases can share a session: `turn` goes in front of the plain ones.
fn send_case(session: &mut Session, case: &Case, turn: usize) {
    for step in &case.steps {
        if let Step::Send(text) = step {
            let text = ["1", "2"].iter().fold(text.clone(), |text, id| {
                text.replace(&format!("\"id\":{id},"), &format!("\"id\":{}{id},", turn + 10))
            });
            session.send_bytes(&notation::bytes(&text)).unwrap();
        }
    }
}

/// Those that end the input last.
fn in_order(cases: &[Case]) -> Vec<&Case> {
    let (open, ending): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.close == Close::Probe);
    open.into_iter().chain(ending).collect()
}

fn marks(bench: &Bench) -> Vec<String> {
    std::fs::read_to_string(bench.path("marks")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// What the server ran of these cases behind the gate; it has ended before we look.
fn ran_behind_the_gate(sdk: Sdk, cases: &[Case]) -> Vec<String> {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = greeted(&bench, Gate::Callgate, sdk);
    for (turn, case) in in_order(cases).into_iter().enumerate() {
        send_case(&mut session, case, turn);
        if case.close == Close::Probe {
            let id = format!("\"probe-{turn}\"");
            session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).unwrap();
            session.answer(&id).unwrap_or_else(|error| panic!("{sdk:?}, {}: {error:#}", case.id));
        }
    }
    session.close_input();
    session.ended(PATIENCE).unwrap();
    marks(&bench)
}

/// The control, with nobody between: which of the cases run nothing.
fn tame_without_the_gate(sdk: Sdk, cases: &[Case]) -> Vec<String> {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = greeted(&bench, Gate::Direct, sdk);
    let mut tame = Vec::new();
    for (turn, case) in in_order(cases).into_iter().enumerate() {
        let before = marks(&bench).len();
        send_case(&mut session, case, turn);
        if case.close == Close::Eof {
            session.close_input();
        }
        let deadline = Instant::now() + TO_RUN;
        while marks(&bench).len() == before && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(5));
        }
        if marks(&bench).len() == before {
            tame.push(case.id.clone());
        }
    }
    tame
}

/// Cases that real servers act on when nobody stands between, and which of them do.
const PYTHON: &[&str] = &[
    "b01", "b04", "b06", "b08", "b09", "b11", "b12", "b16", "b18", "b20", "c01", "c02", "c03", "c04", "c05",
    "c06", "c08", "c09", "d17", "e43", "e55", "f02", "f04", "f05", "f07", "f08", "f09", "f10", "f11", "f26",
    "f40", "f44", "f45", "f50", "h06", "h07", "h10", "h15", "i14",
];
const TYPESCRIPT: &[&str] = &[
    "b01", "b04", "b06", "b08", "b09", "b11", "b12", "b16", "c01", "c02", "c03", "c04", "c05", "c06", "c08",
    "c09", "e55", "f02", "f04", "f05", "f44", "f45", "f50", "h08", "h10", "h15",
];

fn assert_runs_only_without_the_gate(sdk: Sdk, ids: &[&str]) {
    let cases = chosen(ids);
    let ran = ran_behind_the_gate(sdk, &cases);
    if !ran.is_empty() {
        // One by one, to name them.
        let alone = |case: &&Case| !ran_behind_the_gate(sdk, std::slice::from_ref(*case)).is_empty();
        let escaped: Vec<_> = cases.iter().filter(alone).map(|case| &case.id).collect();
        panic!("{sdk:?} ran {ran:?} behind the gate, through {escaped:?}");
    }
    let tame = tame_without_the_gate(sdk, &cases);
    assert!(
        tame.is_empty(),
        "{sdk:?} no longer runs these without the gate (the control is out of date): {tame:?}"
    );
}

#[test]
fn python_1_runs_smuggled_calls_only_without_the_gate() {
    assert_runs_only_without_the_gate(Sdk::Python1, PYTHON);
}

#[test]
fn python_2_runs_smuggled_calls_only_without_the_gate() {
    assert_runs_only_without_the_gate(Sdk::Python2, PYTHON);
}

#[test]
fn typescript_1_runs_smuggled_calls_only_without_the_gate() {
    assert_runs_only_without_the_gate(Sdk::TypeScript1, TYPESCRIPT);
}

#[test]
fn typescript_2_runs_smuggled_calls_only_without_the_gate() {
    assert_runs_only_without_the_gate(Sdk::TypeScript2, TYPESCRIPT);
}

/// Servers with the name of a tool that is hidden, and whether the handshake tells which SDK they speak with.
fn servers_with_a_tool_to_hide(marks: &Path, files: &Path) -> Vec<(Vec<OsString>, &'static str, bool)> {
    let node = |entry: &str| installed("node").join("node_modules").join(entry);
    let entry = |path: &str| vec!["node".into(), node(path).into()];
    let mut filesystem: Vec<OsString> = entry("@modelcontextprotocol/server-filesystem/dist/index.js");
    filesystem.push(files.into());
    vec![
        (filesystem, "move_file", true),
        (entry("@modelcontextprotocol/server-everything/dist/index.js"), "get-env", true),
        (entry("@executeautomation/playwright-mcp-server/dist/index.js"), "playwright_evaluate", true),
        (Sdk::TypeScript1.command(marks), "hidden_one", true),
        // Its handshake is that of the version before.
        (Sdk::TypeScript2.command(marks), "hidden_one", false),
        (Sdk::Python1.command(marks), "hidden_one", true),
        (Sdk::Python2.command(marks), "hidden_one", true),
    ]
}

/// The answer to this id, as it came.
fn line_of(session: &mut Session, id: &str, tool: &str) -> String {
    session.call(id, tool, "{}").unwrap();
    session.answer_within(id, PATIENCE).unwrap();
    session.line_with(&format!("\"id\":{id}")).unwrap()
}

#[test]
fn a_hidden_tool_cannot_be_told_from_one_that_the_server_does_not_have() {
    let files = tempfile::tempdir().unwrap();
    for (server, tool, told_by_handshake) in
        servers_with_a_tool_to_hide(&files.path().join("marks"), files.path())
    {
        let policy = format!(r#"{{ "version": "1", "default": "allow", "hide": ["{tool}"] }}"#);
        let bench = Bench::new(&policy).unwrap();
        let direct = {
            let mut session = Session::start(bench.command(Gate::Direct, &server).unwrap()).unwrap();
            greet(&mut session).unwrap();
            line_of(&mut session, "71", "no_such_tool")
        };
        let absent =
            |id: &str| direct.replace("no_such_tool", tool).replace("\"id\":71", &format!("\"id\":{id}"));
        let open = || {
            let mut session = Session::start(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
            greet(&mut session).unwrap();
            session
        };
        let mut session = open();
        let before = line_of(&mut session, "72", tool);
        if told_by_handshake {
            assert_eq!(before, absent("72"), "{server:?}: before anything was seen");
        }
        session.send(r#"{"jsonrpc":"2.0","id":73,"method":"tools/list"}"#).unwrap();
        session.answer_within("73", PATIENCE).unwrap();
        // Only what the server is known not to list teaches how it answers.
        callgate_tests::processes::eventually("the list is read", PATIENCE, || {
            bench.home().join("tools").join("corpus.json").exists().then_some(())
        });
        assert_eq!(line_of(&mut session, "71", "no_such_tool"), direct, "{server:?}: passed on as it is");
        let after_one = line_of(&mut session, "76", tool);
        assert_eq!(
            after_one,
            before.replace("\"id\":72", "\"id\":76"),
            "{server:?}: one name tells nothing yet"
        );
        line_of(&mut session, "77", "missing_thing");
        assert_eq!(line_of(&mut session, "74", tool), absent("74"), "{server:?}: after two were seen");
        session.finish().unwrap();
        let mut later = open();
        assert_eq!(line_of(&mut later, "75", tool), absent("75"), "{server:?}: in a later session");
        later.finish().unwrap();
        let decisions: Vec<String> = callgate_tests::history::rows(&bench)
            .unwrap()
            .iter()
            .filter(|row| row.tool() == tool)
            .map(|row| row.decision().to_owned())
            .collect();
        assert_eq!(decisions, ["hidden"; 4], "{server:?}: the person sees what it was");
    }
}

#[test]
fn a_hidden_resource_or_prompt_cannot_be_told_from_one_that_the_server_does_not_have() {
    let policy = r#"{ "version": "1", "default": "allow",
        "resources": { "hide": ["corpus://text"] }, "prompts": { "hide": ["greet"] } }"#;
    let things = [
        ("resources/read", "uri", ["corpus://no_such", "corpus://other", "corpus://text"]),
        ("prompts/get", "name", ["no_such", "missing", "greet"]),
    ];
    // The handshake of TypeScript's second version is that of the one before.
    let told_by_handshake = |sdk| sdk != Sdk::TypeScript2;
    for sdk in [Sdk::Python1, Sdk::Python2, Sdk::TypeScript1, Sdk::TypeScript2] {
        let bench = Bench::new(policy).unwrap();
        let line_of = |session: &mut Session, id: u32, method: &str, params: &str| {
            session
                .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
                .unwrap();
            session.answer_within(&id.to_string(), PATIENCE).unwrap();
            session.line_with(&format!("\"id\":{id}")).unwrap()
        };
        let mut direct = greeted(&bench, Gate::Direct, sdk);
        let mut session = greeted(&bench, Gate::Callgate, sdk);
        let mut absent = Vec::new();
        for (n, (method, key, [no_such, _, hidden])) in (0..).zip(things) {
            let params = |name: &str| format!(r#"{{"{key}":"{name}"}}"#);
            let line = line_of(&mut direct, 100 + n, method, &params(no_such));
            let as_hidden = move |id: u32| {
                line.replace(no_such, hidden).replace(&format!("\"id\":{}", 100 + n), &format!("\"id\":{id}"))
            };
            if told_by_handshake(sdk) {
                let said = line_of(&mut session, 200 + n, method, &params(hidden));
                assert_eq!(said, as_hidden(200 + n), "{sdk:?}: before anything was seen");
            }
            absent.push(as_hidden);
        }
        for (n, list) in (300..).zip(["tools", "resources", "resources/templates", "prompts"]) {
            line_of(&mut session, n, &format!("{list}/list"), "{}");
        }
        for (n, ((method, key, [no_such, other, hidden]), absent)) in (0..).zip(things.iter().zip(&absent)) {
            let params = |name: &str| format!(r#"{{"{key}":"{name}"}}"#);
            line_of(&mut session, 400 + n, method, &params(no_such));
            line_of(&mut session, 500 + n, method, &params(other));
            let said = line_of(&mut session, 600 + n, method, &params(hidden));
            assert_eq!(said, absent(600 + n), "{sdk:?}: after two were seen");
        }
        session.finish().unwrap();
        let mut later = greeted(&bench, Gate::Callgate, sdk);
        for (n, ((method, key, [_, _, hidden]), absent)) in (700..).zip(things.iter().zip(&absent)) {
            let said = line_of(&mut later, n, method, &format!(r#"{{"{key}":"{hidden}"}}"#));
            assert_eq!(said, absent(n), "{sdk:?}: in a later session");
        }
        later.finish().unwrap();
    }
}

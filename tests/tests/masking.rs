//! A value that was masked once is nowhere in the home: not where the server repeats it, not in its log, not in what is
//! made of the record.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_tests::gate::{Bench, Gate, OPEN_POLICY};
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session, is_refusal};
use serde_json::{Value, json};

/// With all that is written in other ways in JSON, in a script, in an address and on a page. `quark` stays in each.
const PASSWORD: &str = "Zx9'quark\"77/K &q";
const PIN: &str = "Q4Z8";
/// What the server is started with.
const TOKEN: &str = "tok-quark-of-the-shop-7731";
/// The last is of the password in Base64.
const TRACES: [&str; 3] = ["quark", PIN, "OSdxdWFy"];

/// What `page.fill` of the servers' generated tests looks like.
fn in_script(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// A server that repeats what is typed, as servers with codegen sessions do.
fn echoing() -> String {
    let answer = |text: &str| {
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
        format!("send {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{result}}}\n")
    };
    let code = format!(
        "test('login', async ({{ page }}) => {{\n  await page.fill('#password', '{}');\n  await page.fill('#code', '{PIN}');\n}});",
        in_script(PASSWORD)
    );
    let actions = json!({ "id": "S1", "actions": [
        { "toolName": "playwright_fill", "parameters": { "selector": "#field", "value": PASSWORD } },
        { "toolName": "playwright_fill", "parameters": { "selector": "#code", "value": format!("'{PIN}'") } },
    ] });
    let mut script = format!("on start_codegen_session\n{}", answer("{\"sessionId\":\"S1\"}"));
    script += &format!(
        "on playwright_fill 1\nstderr typed {PASSWORD} with {TOKEN}\nsend typing {PASSWORD} now\n{}",
        answer(&format!("Filled #password with: {PASSWORD}"))
    );
    script += &format!(
        "on playwright_fill 2\n{}",
        answer(&format!("Filled #pin with: {PIN}\nand once more: {PIN}"))
    );
    script += &format!("on get_codegen_session\n{}", answer(&actions.to_string()));
    script += &format!("on end_codegen_session\n{}", answer(&code));
    script += &format!(
        "on playwright_get_visible_html\nstderr GET /?q=Zx9%27quark%2277%2FK%20%26q\n{}",
        answer("<b>Zx9&#39;quark&quot;77/K &amp;q</b> YW5uOlp4OSdxdWFyayI3Ny9LICZx")
    );
    script += &format!(
        "on playwright_evaluate\nsend {}\n",
        json!({ "jsonrpc": "2.0", "id": "$id", "error": { "code": -32000, "message": format!("no {PASSWORD}") } })
            .to_string()
            .replace("\"$id\"", "$id")
    );
    script
}

fn started(bench: &Bench) -> Session {
    let server = bench.fake_server(&echoing(), &[]).unwrap();
    let mut command = bench.command(Gate::Callgate, &server).unwrap();
    command.env("SHOP_TOKEN", TOKEN);
    Session::start(command).unwrap()
}

fn ask(session: &mut Session, id: usize, tool: &str, args: &Value) -> String {
    session.call(&id.to_string(), tool, &args.to_string()).unwrap();
    let answer = session.answer_within(&id.to_string(), PATIENCE * 2).unwrap();
    assert!(!is_refusal(&answer), "{}", answer.to_text());
    answer.to_text()
}

/// Fills in, looks, and ends; the client gets everything as it is.
fn flow(session: &mut Session) {
    ask(session, 1, "start_codegen_session", &json!({}));
    let said = ask(session, 2, "playwright_fill", &json!({ "selector": "#password", "value": PASSWORD }));
    assert!(said.contains("quark"), "the client's answer is not touched: {said}");
    let said =
        ask(session, 3, "playwright_fill", &json!({ "selector": "[data-testid=pin-input]", "value": PIN }));
    assert!(said.contains(PIN), "{said}");
    for (id, tool) in (4..).zip(["get_codegen_session", "end_codegen_session", "playwright_get_visible_html"])
    {
        ask(session, id, tool, &json!({ "sessionId": "S1" }));
    }
    ask(session, 7, "playwright_evaluate", &json!({ "script": format!("log({})", json!(PASSWORD)) }));
    ask(session, 8, "safe", &json!({ "note": format!("{PASSWORD} and {TOKEN}") }));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(self::files(&entry.path())),
            _ => files.push(entry.path()),
        }
    }
    files
}

/// No byte of any file of the home, as it is at this moment.
fn assert_nowhere(bench: &Bench) {
    for file in files(&bench.home()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for trace in TRACES {
            let at = bytes.windows(trace.len()).position(|window| window == trace.as_bytes());
            let around = at.map(|at| {
                let near = &bytes[at.saturating_sub(80)..(at + 80).min(bytes.len())];
                String::from_utf8_lossy(near).into_owned()
            });
            assert!(around.is_none(), "{trace} in {}: {}", file.display(), around.unwrap_or_default());
        }
    }
}

fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{wrong}");
    said.into_owned()
}

#[test]
fn a_typed_password_is_in_no_file_of_the_home() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = started(&bench);
    flow(&mut session);
    let log = bench.home().join("logs/corpus.log");
    eventually("the server's words are in its log", PATIENCE, || {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        said.contains("GET /?q=[masked, ").then_some(())
    });
    assert_nowhere(&bench);
    session.finish().unwrap();
    assert_nowhere(&bench);

    // The index of words is made by whoever searches.
    let said = printed(bench.callgate(["log", "--search", "Filled"]).unwrap());
    assert!(said.contains("playwright_fill"), "{said}");
    for trace in TRACES {
        let found = printed(bench.callgate(["log", "--grep", trace, "--json"]).unwrap());
        assert_eq!(found, "", "{trace}");
    }
    let test = printed(bench.callgate(["codegen", "export", "S1"]).unwrap());
    assert!(test.contains("page.fill(\"#password\", process.env."), "{test}");
    assert!(TRACES.iter().all(|trace| !test.contains(trace)), "{test}");
    let rows = printed(bench.callgate(["log", "--json"]).unwrap());
    assert!(rows.contains("await page.fill('#password', '[masked, "), "the rest can be read: {rows}");
    let events = printed(bench.callgate(["events", "--json"]).unwrap());
    assert!(TRACES.iter().all(|trace| !events.contains(trace)), "{events}");
    assert_nowhere(&bench);
}

#[test]
fn a_typed_password_is_in_no_export_of_the_calls() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = started(&bench);
    flow(&mut session);
    session.finish().unwrap();
    for format in ["--jsonl", "--csv", "--html", "--md"] {
        let file = bench.path(&format!("calls{format}"));
        let said = printed(bench.callgate(["export", format]).unwrap());
        printed(bench.callgate(["export", format, "--out", file.to_str().unwrap()]).unwrap());
        for text in [said, std::fs::read_to_string(file).unwrap()] {
            // Markdown escapes what it would heed.
            let plain = text.replace('\\', "");
            assert!(plain.contains("playwright_fill") && plain.contains("[masked, "), "{format}: {text}");
            for trace in TRACES {
                assert!(!plain.contains(trace), "{trace} in {format}: {text}");
            }
        }
    }
}

#[test]
fn a_typed_password_is_not_in_what_a_killed_gate_leaves() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = started(&bench);
    flow(&mut session);
    session.signal(rustix::process::Signal::KILL);
    session.ended(PATIENCE).unwrap();
    assert_nowhere(&bench);
    printed(bench.callgate(["log", "--json"]).unwrap());
    assert_nowhere(&bench);
}

#[test]
fn a_password_in_arguments_that_are_not_kept_is_in_no_log_either() {
    let policy =
        r#"{ "version": "1", "default": "allow", "tools": { "playwright_fill": { "record": "keys" } } }"#;
    let bench = Bench::new(policy).unwrap();
    let mut session = started(&bench);
    flow(&mut session);
    session.finish().unwrap();
    assert_nowhere(&bench);
}

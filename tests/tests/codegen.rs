//! Codegen sessions through the gate: what the rules about them refuse, what is said of a session that a server lost, and
//! a whole flow with a published server and a real browser.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use callgate_tests::gate::{Bench, Gate, SERVER};
use callgate_tests::installed::installed;
use callgate_tests::json::Json;
use callgate_tests::page::Page;
use callgate_tests::playwright::{Project, chromium};
use callgate_tests::processes::{children, eventually, signal};
use callgate_tests::session::{PATIENCE, Session, is_refusal, result_text};
use callgate_tests::walk::greet;
use serde_json::{Value, json};

const RULES: &str = r#"{ "version": "1", "default": "allow",
  "codegen": { "one_open_session": true, "own_sessions_only": true, "keep_unfinished": true } }"#;

/// A server that starts sessions `S1`, `S2`, … and does everything that it is asked to.
fn script(starts: usize) -> String {
    let answer = |text: &str, error: bool| {
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": error });
        format!("send {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{result}}}\n")
    };
    let mut script = String::new();
    for n in 1..=starts {
        let started = answer(&format!("{{\"sessionId\":\"S{n}\"}}"), false);
        script += &format!("on start_codegen_session {n}\n{started}");
    }
    for tool in ["playwright_fill", "end_codegen_session", "clear_codegen_session"] {
        script += &format!("on {tool}\n{}", answer("{}", false));
    }
    script + &format!("on get_codegen_session\n{}", answer("Session not found", true))
}

/// Calls, and gives the text of the answer and whether it is a refusal of ours.
fn ask(session: &mut Session, id: usize, tool: &str, args: &Value) -> (String, bool) {
    session.call(&id.to_string(), tool, &args.to_string()).unwrap();
    let answer: Json = session.answer_within(&id.to_string(), PATIENCE * 2).unwrap();
    (result_text(&answer).unwrap_or_default().to_owned(), is_refusal(&answer))
}

fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{wrong}");
    said.into_owned()
}

/// `callgate codegen list --json`, the newest first.
fn sessions(bench: &Bench) -> Vec<Value> {
    let lines = printed(bench.callgate(["codegen", "list", "--json"]).unwrap());
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn exported(bench: &Bench, id: &str) -> String {
    printed(bench.callgate(["codegen", "export", id]).unwrap())
}

#[test]
fn rules_about_codegen_sessions_hold_at_the_gate() {
    let bench = Bench::new(RULES).unwrap();
    let mut session = bench.session(&script(2), &[]).unwrap();
    let named = |id: &str| json!({ "sessionId": id });
    let mut steps =
        (1..).map(|id| move |session: &mut Session, tool: &str, args: &Value| ask(session, id, tool, args));
    let mut step = |tool: &str, args: Value| steps.next().unwrap()(&mut session, tool, &args);

    assert!(!step("start_codegen_session", json!({})).1);
    let (words, refused) = step("start_codegen_session", json!({}));
    assert!(
        refused && words.contains("a codegen session is open already: S1, with 0 recorded actions"),
        "{words}"
    );
    step("playwright_fill", json!({ "selector": "#a", "value": "b" }));
    let (words, refused) = step("clear_codegen_session", named("S1"));
    assert!(refused && words.contains("holds 1 recorded action; end it to keep them"), "{words}");
    let (words, refused) = step("end_codegen_session", named("S9"));
    assert!(refused && words.contains("this client started no codegen session"), "{words}");
    assert!(!step("end_codegen_session", named("S1")).1);
    assert!(!step("clear_codegen_session", named("S1")).1, "its test was written");
    assert!(!step("start_codegen_session", json!({})).1, "none is open any more");
    assert!(!step("clear_codegen_session", named("S2")).1, "it holds nothing");
    session.finish().unwrap();

    let told: Vec<_> =
        sessions(&bench).iter().map(|one| (one["session"].clone(), one["state"].clone())).collect();
    assert_eq!(told, [(json!("S2"), json!("cleared")), (json!("S1"), json!("ended"))]);
}

#[test]
fn two_starts_at_once_are_one_session() {
    let bench = Bench::new(RULES).unwrap();
    let mut session = bench.session(&script(2), &[]).unwrap();
    let both =
        [1, 2].map(|id| callgate_tests::session::call_line(&id.to_string(), "start_codegen_session", "{}"));
    session.send(&both.join("\n")).unwrap();
    assert!(!is_refusal(&session.answer("1").unwrap()));
    let second = session.answer("2").unwrap();
    assert!(is_refusal(&second), "{}", second.to_text());
    session.finish().unwrap();
}

#[test]
fn a_session_that_its_server_lost_is_named_with_what_is_saved_of_it() {
    let bench = Bench::new(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let mut first = bench.session(&script(1), &[]).unwrap();
    ask(&mut first, 1, "start_codegen_session", &json!({}));
    for id in 2..4 {
        ask(&mut first, id, "playwright_fill", &json!({ "selector": "#a", "value": id }));
    }
    // An answer of the server that is no good for another reason is left as it is.
    let (words, _) = ask(&mut first, 4, "get_codegen_session", &json!({ "sessionId": "S1" }));
    assert_eq!(words, "Session not found");
    first.finish().unwrap();

    let mut second = bench.session(&script(1), &[]).unwrap();
    let (words, refused) = ask(&mut second, 1, "get_codegen_session", &json!({ "sessionId": "S1" }));
    assert!(refused, "{words}");
    assert!(words.starts_with("Callgate: server ended at "), "{words}");
    assert!(words.contains("; session S1 with 2 actions is saved in Callgate; start a new one"), "{words}");
    let (words, _) = ask(&mut second, 2, "get_codegen_session", &json!({ "sessionId": "never" }));
    assert_eq!(words, "Session not found", "nothing is known of it");
    second.finish().unwrap();
    let lost = &sessions(&bench)[0];
    assert_eq!(
        (&lost["state"], &lost["actions"], &lost["thrown_away"]),
        (&json!("lost"), &json!(2), &json!(true))
    );
}

#[test]
fn a_session_from_before_a_restart_is_named_with_what_is_saved_of_it() {
    let bench = Bench::new(RULES).unwrap();
    let mut session = bench.session(&script(1), &[]).unwrap();
    greet(&mut session).unwrap();
    ask(&mut session, 1, "start_codegen_session", &json!({}));
    for id in 2..14 {
        ask(&mut session, id, "playwright_fill", &json!({ "selector": "#a", "value": id }));
    }
    eventually("all are on record", PATIENCE, || {
        sessions(&bench).first().filter(|one| one["actions"] == json!(12)).map(drop)
    });
    let said = printed(bench.callgate(["restart", SERVER]).unwrap());
    let lost = "is open: the server loses it; its 12 actions stay saved in Callgate";
    assert!(said.contains("Ends with it: the codegen session S1") && said.contains(lost), "{said}");
    let (words, refused) = ask(&mut session, 20, "get_codegen_session", &json!({ "sessionId": "S1" }));
    assert!(refused && words.starts_with("Callgate: server restarted at "), "{words}");
    assert!(words.contains("; session S1 with 12 actions is saved in Callgate; start a new one"), "{words}");
    assert!(!ask(&mut session, 21, "start_codegen_session", &json!({})).1, "none is open in the new one");
    let told =
        eventually("the record has both", PATIENCE, || Some(sessions(&bench)).filter(|all| all.len() == 2));
    assert_eq!((&told[0]["state"], &told[1]["state"]), (&json!("open"), &json!("lost")));
    assert_eq!((&told[0]["actions"], &told[1]["actions"]), (&json!(0), &json!(12)));
    session.finish().unwrap();
}

#[test]
fn an_action_for_a_session_that_a_restart_lost_is_not_done_as_if_nothing_had_happened() {
    let bench = Bench::new(RULES).unwrap();
    let mut session = bench.session(&script(1), &[]).unwrap();
    greet(&mut session).unwrap();
    ask(&mut session, 1, "start_codegen_session", &json!({}));
    ask(&mut session, 2, "playwright_fill", &json!({ "selector": "#a", "value": 1 }));
    printed(bench.callgate(["restart", SERVER]).unwrap());
    let click = json!({ "selector": "#lost" });
    let (words, refused) = ask(&mut session, 3, "playwright_click", &click);
    assert!(refused && words.starts_with("Callgate: server restarted at "), "{words}");
    assert!(words.contains("; session S1 with 1 action is saved in Callgate; start a new one"), "{words}");
    assert!(!bench.server_lines().iter().any(|line| line.contains("#lost")), "it was not sent");
    assert!(!ask(&mut session, 4, "playwright_click", &click).1, "whoever knows may go on without");
    session.finish().unwrap();
    let decided: Vec<String> = callgate_tests::history::rows(&bench)
        .unwrap()
        .iter()
        .filter(|row| row.tool() == "playwright_click")
        .map(|row| row.decision().to_owned())
        .collect();
    assert_eq!(decided, ["stopped", "allowed"]);
}

#[test]
fn an_agent_that_goes_on_clicking_through_a_restart_hears_of_it_before_the_next_server_gets_a_click() {
    let rules = r#"{ "version": "1", "default": "allow", "hide": ["hidden_one"] }"#;
    let bench = Bench::new(rules).unwrap();
    let mut session = bench.session(&script(1), &[]).unwrap();
    greet(&mut session).unwrap();
    ask(&mut session, 1, "start_codegen_session", &json!({}));
    let mut restarting = bench.callgate(["restart", SERVER]).unwrap();
    let mut restarting = restarting.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut told = Vec::new();
    let mut id = 100;
    while restarting.try_wait().unwrap().is_none() || told.is_empty() {
        session.call(&format!("{}", id + 10_000), "hidden_one", "{}").unwrap();
        let hidden = session.answer(&format!("{}", id + 10_000)).unwrap();
        assert!(!is_refusal(&hidden), "{}", hidden.to_text());
        if ask(&mut session, id, "playwright_fill", &json!({ "n": id })).0.contains("server restarted at ") {
            told.push(id);
        }
        id += 1;
        assert!(id < 10_000, "nobody told of the restart");
    }
    ask(&mut session, id, "playwright_fill", &json!({ "n": id }));
    let lines = bench.server_lines();
    let second = lines.iter().rposition(|line| line.contains("\"initialize\"")).unwrap();
    let clicks: Vec<&String> =
        lines[second..].iter().filter(|line| line.contains("playwright_fill")).collect();
    let expected: Vec<usize> = (told[0] + 1..=id).collect();
    assert_eq!((told.len(), clicks.len()), (1, expected.len()), "{lines:#?}");
    for (line, id) in clicks.iter().zip(expected) {
        assert!(line.contains(&format!("\"n\":{id}")), "{line}");
    }
    session.finish().unwrap();
}

#[test]
fn a_server_that_crashes_with_an_open_session_is_not_started_again_by_itself() {
    let policy = r#"{ "version": "1", "default": "allow", "process": { "restart": "always" } }"#;
    for (recording, lives) in [(true, false), (false, true)] {
        let bench = Bench::new(policy).unwrap();
        let mut session = bench.session(&format!("{}on die\nabort\n", script(1)), &[]).unwrap();
        greet(&mut session).unwrap();
        if recording {
            ask(&mut session, 1, "start_codegen_session", &json!({}));
        }
        session.call("2", "die", "{}").unwrap();
        session.answer("2").unwrap();
        if lives {
            session.call("3", "safe", "{}").unwrap();
            session.answer("3").unwrap();
            session.finish().unwrap();
        } else {
            session.ended(PATIENCE).unwrap();
        }
    }
}

/// Texts that end strings, lines, comments, templates or tags somewhere.
const NASTY: &[&str] = &[
    "x'); console.log('INJECTED'); ('",
    "x\"); process.exit(9); (\"",
    "`${process.exit(9)}`",
    "line\nbreak\r\n\u{2028}separators\u{2029}\u{85}",
    "back\\slash\\",
    "*/ process.exit(9); /*",
    "// comment",
    "</script><!--",
    "\u{0}\u{1f}\u{7f}\u{200b}\u{202e}turned\u{feff}",
    "\u{1d306}astral \u{10ffff}",
    "__proto__",
];

#[test]
fn playwright_reads_an_export_of_any_texts_and_runs_none_of_them() {
    let bench = Bench::new(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let mut session = bench.session(&script(1), &[]).unwrap();
    ask(
        &mut session,
        1,
        "start_codegen_session",
        &json!({ "options": { "testNamePrefix": NASTY.concat() } }),
    );
    for (index, text) in NASTY.iter().enumerate() {
        ask(&mut session, index + 2, "playwright_fill", &json!({ "selector": text, "value": text }));
    }
    session.finish().unwrap();
    let test = exported(&bench, "S1");
    // What JSON reads back as the text, JavaScript does too.
    let fills: Vec<&str> =
        test.lines().filter_map(|line| line.trim().strip_prefix("await page.fill(")).collect();
    let read: Vec<Value> = fills
        .iter()
        .map(|line| serde_json::from_str(&format!("[{}]", line.strip_suffix(");").unwrap())).unwrap())
        .collect();
    let expected: Vec<Value> = NASTY.iter().map(|text| json!([text, text])).collect();
    assert_eq!(read, expected);
    let folder = bench.path("project");
    let listed = Project::around(&folder, &test).unwrap().list().unwrap();
    assert!(listed.contains("Total: 1 test in 1 file"), "{listed}");
    assert!(!listed.contains("INJECTED\n"), "{listed}");
}

const HTML: &str = r##"<!doctype html><title>Hello</title>
<input id="name"><input id="password" type="password">
<select id="colour"><option>red<option>blue</select>
<button id="go" onclick="document.querySelector('#out').textContent = 'Hello ' + document.querySelector('#name').value">Go</button>
<p id="out"></p>"##;

/// The published server behind the gate, with a browser that shows nothing.
fn published(bench: &Bench) -> Session {
    let entry = "node_modules/@executeautomation/playwright-mcp-server/dist/index.js";
    let server: Vec<OsString> = vec!["node".into(), installed("node").join(entry).into()];
    let mut command = bench.command(Gate::Callgate, &server).unwrap();
    // It keeps a log of its own in the home directory.
    std::fs::create_dir_all(bench.path("person")).unwrap();
    command.env("CHROME_EXECUTABLE_PATH", chromium()).env("HOME", bench.path("person"));
    command.current_dir(bench.path("person"));
    let mut session = Session::start(command).unwrap();
    greet(&mut session).unwrap_or_else(|error| panic!("{error:#}\n{}", session.err.text()));
    session
}

/// Starts a session into `folder` and works on the page.
fn work(session: &mut Session, page: &Page, folder: &std::path::Path, name: &str) -> String {
    let options = json!({ "options": { "outputPath": folder, "testNamePrefix": "Flow" } });
    let (said, _) = ask(session, 10, "start_codegen_session", &options);
    let id = serde_json::from_str::<Value>(&said).unwrap()["sessionId"].as_str().unwrap().to_owned();
    let steps = [
        ("playwright_navigate", json!({ "url": page.url(), "headless": true })),
        ("playwright_fill", json!({ "selector": "#name", "value": name })),
        ("playwright_fill", json!({ "selector": "#password", "value": "correct horse battery" })),
        ("playwright_select", json!({ "selector": "#colour", "value": "blue" })),
        ("playwright_click", json!({ "selector": "#go" })),
    ];
    for (index, (tool, args)) in steps.iter().enumerate() {
        let (said, refused) = ask(session, 11 + index, tool, args);
        assert!(!refused && !said.contains("rror"), "{tool}: {said}\n{}", session.err.text());
    }
    id
}

#[test]
fn a_whole_flow_with_a_published_server_and_a_real_browser() {
    let page = Page::serve(HTML).unwrap();
    let bench = Bench::new(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let folder = bench.path("e2e");
    bench
        .write_policy(
            &json!({
                "version": "1", "default": "allow", "hide": ["clear_codegen_session"],
                "codegen": { "one_open_session": true, "own_sessions_only": true },
                "tools": {
                    "start_codegen_session": { "require": [
                        { "path": "args.options.outputPath", "op": "inside", "value": folder } ] },
                    "playwright_navigate": { "require": [
                        { "path": "args.url", "op": "regex", "value": "^(?i:https?)://" } ] },
                },
            })
            .to_string(),
        )
        .unwrap();
    let mut session = published(&bench);
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#).unwrap();
    let listed = session.answer("1").unwrap().to_text();
    assert!(listed.contains("\"end_codegen_session\"") && !listed.contains("\"clear_codegen_session\""));
    let elsewhere = json!({ "options": { "outputPath": bench.path("elsewhere") } });
    assert!(ask(&mut session, 2, "start_codegen_session", &elsewhere).1);
    assert!(!bench.path("elsewhere").exists());
    assert!(ask(&mut session, 3, "playwright_navigate", &json!({ "url": "file:///etc/passwd" })).1);

    let injection = "x'); console.log('INJECTED'); ('";
    let id = work(&mut session, &page, &folder, injection);
    let (said, _) = ask(&mut session, 20, "playwright_get_visible_text", &json!({}));
    assert!(said.contains(&format!("Hello {injection}")), "{said}");
    let (said, _) = ask(&mut session, 21, "get_codegen_session", &json!({ "sessionId": id }));
    let recorded = serde_json::from_str::<Value>(&said).unwrap()["actions"].as_array().unwrap().len();
    session.call("22", "clear_codegen_session", &json!({ "sessionId": id }).to_string()).unwrap();
    let hidden = session.answer("22").unwrap();
    assert_eq!(result_text(&hidden), Some("Unknown tool: clear_codegen_session"), "{}", hidden.to_text());
    let (said, _) = ask(&mut session, 23, "end_codegen_session", &json!({ "sessionId": id }));
    let written: PathBuf = serde_json::from_str::<Value>(&said).unwrap()["filePath"].as_str().unwrap().into();
    assert!(written.starts_with(&folder));
    let live = std::fs::read_to_string(&written).unwrap();
    assert!(
        live.contains("console.log('INJECTED');"),
        "the server's own test holds the text as code: {live}"
    );

    // The same as the record has it, while the session of the gate goes on.
    let ended = eventually("the record has the end", PATIENCE, || {
        Some(sessions(&bench).remove(0)).filter(|one| one["state"] == "ended")
    });
    assert_eq!(ended["session"], json!(id));
    assert_eq!(ended["server"], json!(SERVER));
    assert_eq!(ended["file"], json!(written));
    assert_eq!(ended["actions"].as_u64().unwrap(), recorded as u64, "as many as the server recorded");
    let test = exported(&bench, &id);
    assert!(test.contains("\"x'); console.log('INJECTED'); ('\""), "{test}");
    assert!(!test.contains("correct horse battery") && test.contains("process.env.TEST_PASSWORD!"), "{test}");
    session.finish().unwrap();
}

/// Every process below this one.
fn below(pid: u32) -> Vec<u32> {
    children(pid).into_iter().flat_map(|child| [vec![child], below(child)].concat()).collect()
}

fn is_server(pid: &u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| String::from_utf8_lossy(&line).contains("playwright-mcp-server/dist/index.js"))
}

#[test]
fn what_a_killed_server_recorded_is_exported_and_runs() {
    let page = Page::serve(HTML).unwrap();
    let bench = Bench::new(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let mut session = published(&bench);
    let id = work(&mut session, &page, &bench.path("e2e"), "Ada");
    let server = below(session.pid()).into_iter().rfind(is_server).expect("the server runs");
    signal(server, rustix::process::Signal::KILL);
    session.ended(PATIENCE).unwrap();

    let lost = sessions(&bench).remove(0);
    assert_eq!((&lost["session"], &lost["state"], &lost["actions"]), (&json!(id), &json!("lost"), &json!(5)));
    let (folder, test) = (bench.path("project"), exported(&bench, &id));
    let project = Project::around(&folder, &test).unwrap();
    assert!(project.list().unwrap().contains("Total: 1 test in 1 file"), "{test}");
    let ran = project.run(&[("TEST_PASSWORD", "secret")]).unwrap_or_else(|error| panic!("{error:#}\n{test}"));
    assert!(ran.contains("1 passed"), "{ran}");

    let mut again = published(&bench);
    let (words, refused) = ask(&mut again, 2, "end_codegen_session", &json!({ "sessionId": id }));
    assert!(
        refused && words.contains(&format!("session {id} with 5 actions is saved in Callgate")),
        "{words}"
    );
    again.finish().unwrap();
}

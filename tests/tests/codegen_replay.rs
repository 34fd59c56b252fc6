//! A session with every action that RunAutomation records: what Callgate exports of it compiles, runs, and does what the
//! session did.
//!
//! The server is a stand-in: it answers as RunAutomation answers, and has no browser. `CALLGATE_RUNAUTOMATION` names the
//! `dist/index.js` of a real one; then the test also holds what its browser did against what the exported test does.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use callgate_tests::gate::{Bench, Gate};
use callgate_tests::playwright::{Project, chromium};
use callgate_tests::session::{PATIENCE, Session, result_text};
use callgate_tests::site::{Answer, Asked, Site};
use callgate_tests::walk::greet;
use serde_json::{Value, json};

/// Everything that happens on it is told to its server, one after the other.
const HTML: &str = r##"<!doctype html><title>Every action</title>
<style>
  body { margin: 0; user-select: none } #box, #goal { position: absolute; top: 300px; width: 40px; height: 40px }
  #box { left: 10px; background: rgb(1, 2, 3) } #goal { left: 200px; background: silver }
</style>
<script>
  function seen(what) {
    const request = new XMLHttpRequest();
    request.open("POST", "/seen?" + encodeURIComponent(what), false);
    request.send();
  }
  addEventListener("DOMContentLoaded", () => seen("shown " + location.pathname));
  let held = false;
  addEventListener("mouseup", (event) => {
    if (held) seen("dropped at " + Math.round(event.clientX) + " " + Math.round(event.clientY));
    held = false;
  });
</script>
<input id="name" oninput="seen('name ' + value)"><input id="fixed" readonly value="x"><input id="tick" type="checkbox" checked>
<select id="colour" onchange="seen('colour ' + value)"><option>red<option>blue</select>
<button id="go" class="big red" onclick="seen('go')">Go now</button><button disabled id="off">Off</button>
<p id="hover" onmouseenter="seen('hover')">Hover here</p><p hidden id="gone">gone</p>
<input id="key" onkeydown="seen('key ' + event.key)"><input id="file" type="file" onchange="seen('file ' + files[0].name)">
<button id="sure" onclick="seen('confirm ' + confirm('Are you sure?'))">Sure</button>
<button id="who" onclick="seen('prompt ' + prompt('Who are you?'))">Who</button>
<button id="load" onclick="fetch('/api/data')">Load</button>
<a id="tab" href="/tab" target="_blank">Tab</a> <a id="get" href="/report" download="report.csv">Report</a>
<iframe id="frame" srcdoc="<button onclick='parent.seen(`frame go`)'>In</button><input oninput='parent.seen(`frame ` + value)'>"></iframe>
<div id="box" onmousedown="held = true"></div><div id="goal"></div>"##;

fn answer(asked: &Asked) -> (Answer, String) {
    let path = asked.path.split('?').next().unwrap_or_default();
    let told = match path {
        "/seen" => asked.path.replace("/seen?", "").replace("%20", " ").replace("%2F", "/"),
        _ => format!("{} {path} {} {}", asked.method, asked.header("content-type"), asked.body),
    };
    let told = match asked.path.as_str() {
        "/seen?agent" => format!("agent {}", asked.header("user-agent").contains("Pixel 5")),
        _ => told.trim_end().to_owned(),
    };
    let page = "text/html; charset=utf-8";
    let answer = match path {
        "/api/missing" => Answer(404, "application/json", "", "{}".to_owned()),
        // Not as compact as the servers compare it.
        path if path.starts_with("/api") => Answer(200, "application/json", "", r#"{ "n": 1 }"#.to_owned()),
        "/report" => Answer(
            200,
            "text/csv",
            "Content-Disposition: attachment; filename=\"report.csv\"\r\n",
            "a,b\n".to_owned(),
        ),
        _ => Answer(200, page, "", HTML.to_owned()),
    };
    (answer, told)
}

/// How the stand-in answers a call.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Done,
    No,
    /// `Status: …` of a request.
    Status(u16),
}
use Says::{Done, No, Status};

/// Tool, arguments (`{site}`, `{folder}`), and how the server answers.
fn steps() -> Vec<(&'static str, Value, Says)> {
    let at = |path: &str| json!(format!("{{site}}{path}"));
    vec![
        (
            "playwright_navigate",
            json!({ "url": at("/"), "headless": true, "width": 1000, "height": 700 }),
            Done,
        ),
        // Refused once a page is open.
        ("playwright_custom_user_agent", json!({ "userAgent": "Nobody/1.0" }), No),
        ("playwright_fill", json!({ "selector": "#name", "value": "O'Neil \"x\" `${1}` \u{2028}" }), Done),
        ("playwright_select", json!({ "selector": "#colour", "value": "blue" }), Done),
        ("playwright_hover", json!({ "selector": "#hover" }), Done),
        ("playwright_click", json!({ "selector": "#go" }), Done),
        ("playwright_press_key", json!({ "key": "a", "selector": "#key" }), Done),
        ("playwright_press_key", json!({ "key": "b" }), Done),
        ("playwright_upload_file", json!({ "selector": "#file", "filePath": "{folder}/upload.txt" }), Done),
        ("playwright_iframe_click", json!({ "iframeSelector": "#frame", "selector": "button" }), Done),
        (
            "playwright_iframe_fill",
            json!({ "iframeSelector": "#frame", "selector": "input", "value": "in" }),
            Done,
        ),
        ("playwright_drag", json!({ "sourceSelector": "#box", "targetSelector": "#goal" }), Done),
        (
            "playwright_drag_to_position",
            json!({ "sourceSelector": "#box", "targetX": 600, "targetY": 600 }),
            Done,
        ),
        // Dialogs: told before, and waited for.
        ("playwright_handle_dialog", json!({ "action": "accept" }), Done),
        ("playwright_click", json!({ "selector": "#sure" }), Done),
        ("playwright_handle_dialog", json!({ "action": "dismiss" }), Done),
        ("playwright_click", json!({ "selector": "#sure" }), Done),
        ("playwright_handle_dialog", json!({ "action": "accept", "promptText": "Ada" }), Done),
        ("playwright_click", json!({ "selector": "#who" }), Done),
        (
            "playwright_evaluate",
            json!({ "script": "void setTimeout(() => seen('late ' + confirm('Really?')), 400)" }),
            Done,
        ),
        ("playwright_expect_dialog", json!({ "expectedMessage": "Really?", "timeout": 5000 }), Done),
        ("playwright_evaluate", json!({ "script": "new Promise((done) => setTimeout(done, 300))" }), Done),
        (
            "playwright_download_file",
            json!({ "triggerSelector": "#get", "expectedFileName": "report.csv", "savePath": "{folder}/r.csv" }),
            Done,
        ),
        (
            "playwright_download_and_extract_pdf",
            json!({ "triggerSelector": "#get", "savePath": "{folder}/r2.csv", "extractText": false }),
            Done,
        ),
        ("playwright_copy_to_clipboard", json!({ "text": "copied \"text\"" }), Done),
        (
            "playwright_evaluate",
            json!({ "script": "navigator.clipboard.readText().then((text) => seen('clipboard ' + text))" }),
            Done,
        ),
        ("playwright_read_clipboard", json!({}), Done),
        // Requests of the page.
        ("playwright_expect_response", json!({ "id": "one", "url": "**/api/data" }), Done),
        ("playwright_click", json!({ "selector": "#load" }), Done),
        ("playwright_assert_response", json!({ "id": "one", "value": "\"n\":1" }), Done),
        (
            "playwright_evaluate",
            json!({ "script": "void setTimeout(() => fetch('/api/later', { method: 'POST' }), 400)" }),
            Done,
        ),
        (
            "playwright_assert_request_made",
            json!({ "urlPattern": "/api/later", "method": "POST", "timeout": 5000 }),
            Done,
        ),
        // Requests beside it.
        ("playwright_get", json!({ "url": at("/api/one") }), Status(200)),
        ("playwright_get", json!({ "url": at("/api/missing") }), Status(404)),
        ("playwright_post", json!({ "url": at("/api/two"), "value": "{\"a\": [1, \"b\"]}" }), Status(200)),
        ("playwright_put", json!({ "url": at("/api/three"), "value": "{\"c\":1}" }), Status(200)),
        ("playwright_patch", json!({ "url": at("/api/four"), "value": "text" }), Status(200)),
        ("playwright_delete", json!({ "url": at("/api/five") }), Status(200)),
        // Assertions, one of which failed.
        ("playwright_assert_element_state", json!({ "selector": "#gone", "state": "hidden" }), Done),
        ("playwright_assert_element_state", json!({ "selector": "#fixed", "state": "readonly" }), Done),
        ("playwright_assert_element_state", json!({ "selector": "#tick", "state": "checked" }), Done),
        (
            "playwright_assert_element_state",
            json!({ "selector": "#off", "state": "enabled", "timeout": 100 }),
            No,
        ),
        (
            "playwright_assert_element_count",
            json!({ "selector": "option", "count": 2, "timeout": 2000 }),
            Done,
        ),
        (
            "playwright_assert_element_count",
            json!({ "selector": "input", "count": 3, "comparison": "atLeast", "timeout": 2000 }),
            Done,
        ),
        (
            "playwright_assert_text_content",
            json!({ "selector": "#go", "expectedText": "GO", "caseSensitive": false }),
            Done,
        ),
        (
            "playwright_assert_text_content",
            json!({ "selector": "#go", "expectedText": "Go n", "matchType": "startsWith" }),
            Done,
        ),
        (
            "playwright_assert_text_content",
            json!({ "selector": "#go", "expectedText": "^Go .+w$", "matchType": "regex" }),
            Done,
        ),
        (
            "playwright_assert_attribute",
            json!({ "selector": "#go", "attribute": "class", "expectedValue": "red", "matchType": "contains" }),
            Done,
        ),
        (
            "playwright_assert_attribute",
            json!({ "selector": "#go", "attribute": "title", "matchType": "notExists" }),
            Done,
        ),
        (
            "playwright_assert_css_property",
            json!({ "selector": "#box", "property": "background-color", "expectedValue": "RGB(1, 2, 3)" }),
            Done,
        ),
        // RunAutomation lists these and does not have them; others do.
        ("playwright_wait_smart", json!({ "selector": "#go", "interactive": true, "hasText": "Go" }), Done),
        ("playwright_wait_network_idle", json!({ "timeout": 5000 }), Done),
        (
            "playwright_wait_element_count",
            json!({ "selector": "option", "count": 3, "comparison": "lessThan" }),
            Done,
        ),
        (
            "playwright_wait_attribute",
            json!({ "selector": "#tick", "attribute": "type", "value": "checkbox" }),
            Done,
        ),
        ("playwright_wait_element_hidden", json!({ "selector": "#gone" }), Done),
        ("playwright_wait_url", json!({ "urlPattern": "**/" }), Done),
        // Pictures and papers.
        (
            "playwright_screenshot",
            json!({ "name": "shot", "downloadsDir": "{folder}", "fullPage": true }),
            Done,
        ),
        ("playwright_create_baseline", json!({ "outputPath": "{folder}/base.png", "selector": "#go" }), Done),
        (
            "playwright_visual_compare",
            json!({ "baseline": "{folder}/other.png", "regions": [{ "selector": "#go" }] }),
            Done,
        ),
        ("playwright_save_as_pdf", json!({ "outputPath": "{folder}", "filename": "page.pdf" }), Done),
        // What only looks.
        ("playwright_get_visible_text", json!({}), Done),
        ("playwright_get_visible_html", json!({ "selector": "#go" }), Done),
        ("playwright_console_logs", json!({ "type": "all" }), Done),
        ("playwright_get_element_position", json!({ "selector": "#go" }), Done),
        ("playwright_list_devices", json!({ "filter": "Pixel 5" }), Done),
        ("playwright_collect_locators", json!({ "outputDir": "{folder}/locators" }), Done),
        // Where the browser goes.
        ("playwright_navigate", json!({ "url": at("/second"), "waitUntil": "domcontentloaded" }), Done),
        ("playwright_go_back", json!({}), Done),
        ("playwright_go_forward", json!({}), Done),
        ("playwright_emulate_device", json!({ "device": "Pixel 5" }), Done),
        ("playwright_evaluate", json!({ "script": "seen('agent'), seen('width ' + innerWidth)" }), Done),
        ("playwright_click_and_switch_tab", json!({ "selector": "#tab" }), Done),
        ("playwright_click", json!({ "selector": "#go" }), Done),
        // What is not done on this page, in the order of the list.
        ("playwright_batch_visual_compare", json!({ "comparisons": [] }), Done),
        ("playwright_run_across_browsers", json!({ "url": at("/across"), "browsers": ["webkit"] }), No),
        (
            "playwright_cross_browser_screenshot",
            json!({ "url": at("/across"), "browsers": ["webkit"], "outputDir": "{folder}/x" }),
            No,
        ),
        ("playwright_check_accessibility", json!({}), No),
        ("playwright_get_aria_snapshot", json!({}), No),
        ("playwright_check_contrast", json!({ "selector": "#go" }), No),
        ("playwright_check_keyboard_navigation", json!({}), No),
        ("playwright_start_coverage", json!({}), No),
        ("playwright_get_coverage", json!({}), No),
        (
            "playwright_generate_coverage_report",
            json!({ "coverageFile": "{folder}/c", "outputFile": "{folder}/d" }),
            No,
        ),
        (
            "playwright_compare_coverage",
            json!({ "baselinePath": "{folder}/c", "currentPath": "{folder}/d" }),
            No,
        ),
        ("playwright_run_tests_parallel", json!({ "tests": [] }), No),
        ("playwright_run_cross_browser", json!({ "test": {} }), No),
        ("playwright_ai_visual_compare", json!({ "baselinePath": "{folder}/base.png" }), No),
        ("playwright_batch_ai_visual_compare", json!({ "comparisons": [] }), No),
        ("playwright_get_resource_usage", json!({}), No),
        ("playwright_update_resource_limits", json!({}), No),
        ("playwright_recover_session", json!({ "sessionId": "x" }), No),
        ("playwright_recover_all_sessions", json!({}), No),
        ("playwright_get_persistence_stats", json!({}), No),
        ("playwright_extract_pdf_text", json!({ "pdfPath": "{folder}/page.pdf" }), Done),
        (
            "playwright_validate_pdf_content",
            json!({ "pdfPath": "{folder}/page.pdf", "expectedText": "Go" }),
            Done,
        ),
        ("playwright_count_pdf_pages", json!({ "pdfPath": "{folder}/page.pdf" }), Done),
        ("playwright_configure_video_settings", json!({ "outputDir": "{folder}/videos" }), Done),
        ("playwright_get_video_status", json!({}), Done),
        // Without the parts of Playwright that record videos both of these fail, and leave no page behind.
        ("playwright_start_video_recording", json!({ "outputPath": "{folder}/videos/v.webm" }), Done),
        ("playwright_add_video_annotation", json!({ "message": "now" }), Done),
        ("playwright_stop_video_recording", json!({}), Done),
        ("playwright_navigate", json!({ "url": at("/last"), "headless": true }), Done),
    ]
}

/// What no server records, in the same session.
const UNRECORDED: [(&str, &str); 4] = [
    ("list_browser_sessions", "{}"),
    ("get_session_info", r#"{"sessionId":"none"}"#),
    ("cleanup_idle_sessions", "{}"),
    ("switch_browser_session", r#"{"sessionId":"none"}"#),
];

/// The script of the stand-in: each tool's answers in their order.
fn script(steps: &[(&'static str, Value, Says)], folder: &Path) -> String {
    let line = |text: &str, error: bool| {
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": error });
        format!("send {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{result}}}\n")
    };
    let mut script = format!("on start_codegen_session\n{}", line(r#"{"sessionId":"S1"}"#, false));
    // Longer than the record keeps of an answer.
    let file = folder.join("e2e/flow_s1.spec.ts");
    let end = json!({ "filePath": file, "testCode": "x".repeat(100_000) }).to_string();
    script += &format!("on end_codegen_session\n{}", line(&end, false));
    script += &format!("on clear_codegen_session\n{}", line(r#"{"success":true}"#, false));
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (tool, _, says) in steps {
        let nth = times.entry(tool).or_insert(0);
        *nth += 1;
        let answer = match says {
            Done => line("done", false),
            No => line("it cannot be done", true),
            Status(status) => line(&format!("Request to x\nStatus: {status} X\nResponse: y"), false),
        };
        script += &format!("on {tool} {nth}\n{answer}");
    }
    for (tool, _) in UNRECORDED {
        script += &format!("on {tool}\n{}", line("none", false));
    }
    script
}

fn real_server() -> Option<PathBuf> {
    std::env::var_os("CALLGATE_RUNAUTOMATION").map(PathBuf::from)
}

fn start(bench: &Bench, steps: &[(&'static str, Value, Says)], folder: &Path) -> Session {
    let Some(real) = real_server() else { return bench.session(&script(steps, folder), &[]).unwrap() };
    let server: Vec<OsString> = vec!["node".into(), real.into()];
    let mut command = bench.command(Gate::Callgate, &server).unwrap();
    command.env("CHROME_EXECUTABLE_PATH", chromium()).env("HOME", folder).current_dir(folder);
    let mut session = Session::start(command).unwrap();
    greet(&mut session).unwrap();
    session
}

/// A dialog that is waited for while another call opens it, sent before and after. How many actions that were.
fn beside_each_other(session: &mut Session) -> usize {
    let expect = ("playwright_expect_dialog", r#"{"expectedMessage":"Are you sure?"}"#);
    let click = ("playwright_click", r##"{"selector":"#sure"}"##);
    for (pair, calls) in [[expect, click], [click, expect]].iter().enumerate() {
        let ids = [format!("first{pair}"), format!("second{pair}")].map(|id| format!("{id:?}"));
        for ((tool, args), id) in calls.iter().zip(&ids) {
            session.call(id, tool, args).unwrap();
        }
        for id in &ids {
            session.answer_within(id, PATIENCE * 4).unwrap();
        }
    }
    4
}

#[test]
fn the_exported_test_of_every_action_compiles_runs_and_does_what_the_session_did() {
    let site = Site::serve(answer).unwrap();
    let bench = Bench::new(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let folder = bench.path("person");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("upload.txt"), "x").unwrap();
    let steps = steps();
    let mut session = start(&bench, &steps, &folder);
    let mut id = 0;
    let mut call = |session: &mut Session, tool: &str, args: &str| {
        id += 1;
        session.call(&id.to_string(), tool, args).unwrap();
        session.answer_within(&id.to_string(), PATIENCE * 4).unwrap()
    };
    let options = json!({ "options": { "outputPath": folder.join("e2e"), "testNamePrefix": "Flow" } });
    let started = call(&mut session, "start_codegen_session", &options.to_string());
    let started: Value = serde_json::from_str(result_text(&started).unwrap()).unwrap();
    let name = started["sessionId"].as_str().unwrap().to_owned();
    let filled = |text: String| {
        text.replace("{site}", site.url("").as_str()).replace("{folder}", folder.to_str().unwrap())
    };
    for (tool, args, _) in &steps {
        // Which of them a real server lacks is its business: what it answers is what counts.
        call(&mut session, tool, &filled(args.to_string()));
    }
    for (tool, args) in UNRECORDED {
        call(&mut session, tool, args);
    }
    let recorded_in_all =
        steps.len() + if real_server().is_some() { beside_each_other(&mut session) } else { 0 };
    let named = json!({ "sessionId": name }).to_string();
    let recorded = call(&mut session, "get_codegen_session", &named);
    let ended = call(&mut session, "end_codegen_session", &named);
    let ended: Value = serde_json::from_str(result_text(&ended).unwrap()).unwrap();
    call(&mut session, "clear_codegen_session", &named);
    session.finish().unwrap();
    let live = site.take_log();

    let listed = bench.callgate(["codegen", "list", "--json"]).unwrap().output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["state"], json!("ended"), "cleared only after it was ended: {listed}");
    assert_eq!((&listed["thrown_away"], &listed["file"]), (&json!(false), &ended["filePath"]));
    assert_eq!(listed["actions"], json!(recorded_in_all), "as many as the server records");
    if real_server().is_some() {
        let recorded: Value = serde_json::from_str(result_text(&recorded).unwrap()).unwrap();
        assert_eq!(recorded["actions"].as_array().unwrap().len(), recorded_in_all);
    }

    let out = bench.path("not/there/yet");
    let out_name = out.to_str().unwrap();
    let exported =
        bench.callgate(["codegen", "export", &name, "--out", out_name, "--json"]).unwrap().output();
    let exported: Value = serde_json::from_slice(&exported.unwrap().stdout).unwrap();
    let test = std::fs::read_to_string(exported["path"].as_str().unwrap()).unwrap();
    assert!(!test.contains("userAgent:"), "it was refused: {test}");
    let project_folder = bench.path("project");
    let project = Project::around(&project_folder, &test).unwrap();
    // Each takes seconds and needs nothing of the other.
    let (compiled, ran) = std::thread::scope(|scope| {
        let compiling = scope.spawn(|| project.compile());
        let ran = project.run(&[]);
        (compiling.join().unwrap(), ran)
    });
    compiled.unwrap_or_else(|error| panic!("{error:#}\n{test}"));
    let ran = ran.unwrap_or_else(|error| panic!("{error:#}\n{test}"));
    assert!(ran.contains("1 passed"), "{ran}");
    let replayed = site.take_log();
    if real_server().is_some() {
        assert_eq!(replayed, live, "what the session did\n{test}");
    } else {
        assert_eq!(live, Vec::<String>::new(), "the stand-in has no browser");
        // The page asks for it by itself a moment later, before or after what the test does next.
        let is_later = |line: &&str| *line == "POST /api/later";
        let (later, replayed): (Vec<&str>, Vec<&str>) =
            replayed.iter().map(String::as_str).partition(is_later);
        let (expected_later, expected): (Vec<&str>, Vec<&str>) = EXPECTED.iter().copied().partition(is_later);
        assert_eq!((later, replayed), (expected_later, expected), "{test}");
    }
}

/// What happens on the page. Written from a replay of the stand-in, and held against the log of a real RunAutomation by hand;
/// `CALLGATE_RUNAUTOMATION` compares the two live.
const EXPECTED: &[&str] = &[
    "shown /",
    "name O%27Neil %22x%22 %60%24%7B1%7D%60 %E2%80%A8",
    "colour blue",
    "hover",
    "go",
    "key a",
    "key b",
    "file upload.txt",
    "frame go",
    "frame in",
    "dropped at 220 320",
    "dropped at 600 600",
    "confirm true",
    "confirm false",
    "prompt Ada",
    "late true",
    "clipboard copied %22text%22",
    "GET /api/data",
    "POST /api/later",
    "GET /api/one",
    "GET /api/missing",
    "POST /api/two application/json {\"a\":[1,\"b\"]}",
    "PUT /api/three application/octet-stream {\"c\":1}",
    "PATCH /api/four application/octet-stream text",
    "DELETE /api/five",
    "shown /second",
    "shown /",
    "shown /second",
    "agent true",
    "width 393",
    "shown /tab",
    "go",
    // The stand-in begins and ends a video, each with a new page; a server without the parts for it cannot.
    "shown /tab",
    "shown /tab",
    "shown /last",
];

#[test]
fn no_action_of_runautomation_is_left_out_here() {
    let catalogue = include_str!("../../crates/risk/catalogue/runautomation.json");
    let catalogue: Value = serde_json::from_str(catalogue).unwrap();
    let classes = catalogue["tools"].as_object().unwrap().values();
    let tools: BTreeSet<&str> =
        classes.flat_map(|class| class.as_array().unwrap()).map(|tool| tool.as_str().unwrap()).collect();
    assert!(tools.len() > 80, "{tools:?}");
    let here: BTreeSet<&str> = steps().iter().map(|(tool, ..)| *tool).collect();
    let unrecorded = ["playwright_close", "create_browser_session", "close_browser_session"];
    for tool in tools {
        let known = here.contains(tool)
            || tool.ends_with("_codegen_session")
            || unrecorded.contains(&tool)
            || UNRECORDED.iter().any(|(name, _)| *name == tool);
        assert!(known, "{tool}");
    }
}

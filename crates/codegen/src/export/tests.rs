use proptest::prelude::*;

use super::*;
use crate::session::{Action, Options, State};
use crate::tools::Fate;

const SOURCE: Source<'static> = Source { server: "playwright", started: "2026-11-16 14:03" };

fn action(tool: &str, args: RetainedArguments) -> Action {
    Action {
        call: 1,
        at_ms: 0,
        tool: tool.to_owned(),
        args,
        outcome: CallOutcome::Done,
        ended_ms: None,
        status: None,
    }
}

fn session(actions: Vec<Action>) -> Session {
    Session {
        start: 1,
        id: Some("S".to_owned()),
        client: "cursor".to_owned(),
        started_ms: 0,
        options: Options::default(),
        state: State::Open,
        recorded: actions.len(),
        actions,
    }
}

fn whole(tool: &str, args: &serde_json::Value) -> Action {
    action(tool, RetainedArguments::Whole(args.to_string()))
}

/// The lines between the head of the test and its end.
fn steps(actions: Vec<Action>) -> Vec<String> {
    let text = playwright_test(&session(actions), &SOURCE);
    let inside = text.lines().skip_while(|line| !line.starts_with("test(")).skip(1);
    inside.take_while(|line| *line != "});").map(|line| line.trim_start().to_owned()).collect()
}

/// A call of each tool that becomes code, and the code. A tool of the table that is not here fails a test.
const SAMPLES: &[(&str, &str, &[&str])] = &[
    (
        "playwright_navigate",
        r#"{"url":"http://x/","waitUntil":"load","timeout":5,"width":800}"#,
        &[r#"await page.goto("http://x/", { waitUntil: "load", timeout: 5 });"#],
    ),
    ("playwright_click", r##"{"selector":"#go"}"##, &[r##"await page.click("#go");"##]),
    (
        "playwright_iframe_click",
        r#"{"iframeSelector":"i","selector":"b"}"#,
        &[r#"await page.frameLocator("i").locator("b").click();"#],
    ),
    (
        "playwright_iframe_fill",
        r#"{"iframeSelector":"i","selector":"b","value":"v"}"#,
        &[r#"await page.frameLocator("i").locator("b").fill("v");"#],
    ),
    ("playwright_fill", r##"{"selector":"#a","value":"b"}"##, &[r##"await page.fill("#a", "b");"##]),
    (
        "playwright_select",
        r##"{"selector":"#a","value":"b"}"##,
        &[r##"await page.selectOption("#a", "b");"##],
    ),
    ("playwright_hover", r##"{"selector":"#a"}"##, &[r##"await page.hover("#a");"##]),
    (
        "playwright_upload_file",
        r##"{"selector":"#f","filePath":"/a"}"##,
        &[r##"await page.setInputFiles("#f", "/a");"##],
    ),
    (
        "playwright_press_key",
        r##"{"key":"Enter","selector":"#a"}"##,
        &[r##"await page.press("#a", "Enter");"##],
    ),
    ("playwright_press_key", r#"{"key":"Enter"}"#, &[r#"await page.keyboard.press("Enter");"#]),
    (
        "playwright_drag",
        r#"{"sourceSelector":"a","targetSelector":"b"}"#,
        &[r#"await page.dragAndDrop("a", "b");"#],
    ),
    (
        "playwright_drag_to_position",
        r#"{"sourceSelector":"a","targetX":300,"targetY":-4.5}"#,
        &[
            r#"await page.hover("a");"#,
            "await page.mouse.down();",
            "await page.mouse.move(300, -4.5, { steps: 10 });",
            "await page.mouse.up();",
        ],
    ),
    (
        "playwright_click_and_switch_tab",
        r#"{"selector":"a"}"#,
        &[
            r#"[page] = await Promise.all([page.context().waitForEvent("page"), page.click("a")]);"#,
            r#"await page.waitForLoadState("domcontentloaded");"#,
        ],
    ),
    ("playwright_go_back", "{}", &["await page.goBack();"]),
    ("playwright_go_forward", "{}", &["await page.goForward();"]),
    ("playwright_evaluate", r#"{"script":"1+1"}"#, &[r#"await page.evaluate("1+1");"#]),
    (
        "playwright_resize",
        r#"{"width":10,"height":20}"#,
        &["await page.setViewportSize({ width: 10, height: 20 });"],
    ),
    (
        "playwright_emulate_device",
        r#"{"device":"Pixel 5","orientation":"landscape","geolocation":{"latitude":1,"longitude":2},"permissions":["geolocation"]}"#,
        &[
            r#"const device1 = devices["Pixel 5"];"#,
            "await page.setViewportSize({ width: device1.viewport.height, height: device1.viewport.width });",
            r#"await page.context().setExtraHTTPHeaders({ "User-Agent": device1.userAgent });"#,
            "await page.context().setGeolocation({ latitude: 1, longitude: 2 });",
            r#"await page.context().grantPermissions(["geolocation"]);"#,
        ],
    ),
    (
        "playwright_handle_dialog",
        r#"{"action":"accept","promptText":"yes"}"#,
        &[r#"page.once("dialog", (dialog) => dialog.accept("yes"));"#],
    ),
    (
        "playwright_handle_dialog",
        r#"{"action":"dismiss","promptText":"x"}"#,
        &[r#"page.once("dialog", (dialog) => dialog.dismiss());"#],
    ),
    (
        "playwright_expect_dialog",
        r#"{"expectedMessage":"Sure?","action":"dismiss","timeout":9,"exactMatch":false}"#,
        &[
            r#"const dialog1 = page.waitForEvent("dialog", { timeout: 9 }).then(async (dialog) => { await dialog.dismiss(); return dialog.message(); });"#,
            r#"expect(await dialog1).toContain("Sure?");"#,
        ],
    ),
    (
        "playwright_download_file",
        r#"{"triggerSelector":"a","expectedFileName":"r.csv","savePath":"/etc/x"}"#,
        &[
            r#"const download1 = page.waitForEvent("download");"#,
            r#"await page.click("a");"#,
            r#"expect((await download1).suggestedFilename()).toBe("r.csv");"#,
            r#"await (await download1).saveAs(test.info().outputPath("step-1.download"));"#,
        ],
    ),
    (
        "playwright_download_and_extract_pdf",
        r#"{"triggerSelector":"a","timeout":7}"#,
        &[
            r#"const download1 = page.waitForEvent("download", { timeout: 7 });"#,
            r#"await page.click("a");"#,
            r#"await (await download1).saveAs(test.info().outputPath("step-1.download"));"#,
        ],
    ),
    (
        "playwright_copy_to_clipboard",
        r#"{"text":"a\"b"}"#,
        &[
            r#"await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);"#,
            r#"await page.evaluate((text) => navigator.clipboard.writeText(text), "a\"b");"#,
        ],
    ),
    (
        "playwright_screenshot",
        r#"{"name":"../../etc/x","fullPage":true}"#,
        &[r#"await page.screenshot({ path: test.info().outputPath("step-1.png"), fullPage: true });"#],
    ),
    (
        "playwright_create_baseline",
        r#"{"outputPath":"/etc/x.png","selector":"p"}"#,
        &[r#"await page.locator("p").first().screenshot({ path: test.info().outputPath("step-1.png") });"#],
    ),
    (
        "playwright_save_as_pdf",
        r#"{"outputPath":"/etc","format":"A5"}"#,
        &[r#"await page.pdf({ path: test.info().outputPath("step-1.pdf"), format: "A5" });"#],
    ),
    ("playwright_start_video_recording", "{}", NEW_PAGE),
    ("playwright_stop_video_recording", "{}", NEW_PAGE),
    (
        "playwright_get",
        r#"{"url":"u"}"#,
        &[r#"const response1 = await request.get("u");"#, "expect(response1.ok()).toBeTruthy();"],
    ),
    (
        "playwright_post",
        r#"{"url":"u","value":"{\"a\":[1,\"b\"]}","token":"t","headers":{"__proto__":"x"}}"#,
        &[
            r#"const response1 = await request.post("u", { headers: { "Content-Type": "application/json", Authorization: "Bearer " + "t", ["__proto__"]: "x" }, data: { ["a"]: [1, "b"] } });"#,
            "expect(response1.ok()).toBeTruthy();",
        ],
    ),
    (
        "playwright_put",
        r#"{"url":"u","value":"{}"}"#,
        &[
            r#"const response1 = await request.put("u", { data: "{}" });"#,
            "expect(response1.ok()).toBeTruthy();",
        ],
    ),
    (
        "playwright_patch",
        r#"{"url":"u","value":"x"}"#,
        &[
            r#"const response1 = await request.patch("u", { data: "x" });"#,
            "expect(response1.ok()).toBeTruthy();",
        ],
    ),
    (
        "playwright_delete",
        r#"{"url":"u"}"#,
        &[r#"const response1 = await request.delete("u");"#, "expect(response1.ok()).toBeTruthy();"],
    ),
    (
        "playwright_assert_element_state",
        r#"{"selector":"a","state":"readonly","timeout":3}"#,
        &[r#"await expect(page.locator("a").first()).not.toBeEditable({ timeout: 3 });"#],
    ),
    (
        "playwright_assert_element_count",
        r#"{"selector":"a","count":2}"#,
        &[r#"await expect(page.locator("a")).toHaveCount(2);"#],
    ),
    (
        "playwright_assert_element_count",
        r#"{"selector":"a","count":2,"comparison":"atLeast","timeout":3}"#,
        &[r#"await expect.poll(() => page.locator("a").count(), { timeout: 3 }).toBeGreaterThanOrEqual(2);"#],
    ),
    (
        "playwright_assert_text_content",
        r#"{"selector":"a","expectedText":"b","caseSensitive":false}"#,
        &[r#"await expect(page.locator("a").first()).toContainText("b", { ignoreCase: true });"#],
    ),
    (
        "playwright_assert_text_content",
        r#"{"selector":"a","expectedText":"1.5 (x)","matchType":"startsWith"}"#,
        &[r#"await expect(page.locator("a").first()).toHaveText(new RegExp("^1\\.5 \\(x\\)"));"#],
    ),
    (
        "playwright_assert_text_content",
        r#"{"selector":"a","expectedText":"^b+$","matchType":"regex","caseSensitive":false}"#,
        &[r#"await expect(page.locator("a").first()).toHaveText(new RegExp("^b+$", "i"));"#],
    ),
    (
        "playwright_assert_attribute",
        r#"{"selector":"a","attribute":"href","expectedValue":"/x"}"#,
        &[r#"await expect(page.locator("a").first()).toHaveAttribute("href", "/x");"#],
    ),
    (
        "playwright_assert_attribute",
        r#"{"selector":"a","attribute":"href","matchType":"notExists"}"#,
        &[r#"await expect(page.locator("a").first()).not.toHaveAttribute("href");"#],
    ),
    (
        "playwright_assert_css_property",
        r#"{"selector":"a","property":"color","expectedValue":" RGB(1, 2, 3)"}"#,
        &[
            r#"await expect(page.locator("a").first()).toHaveCSS("color", new RegExp("^\\s*RGB\\(1, 2, 3\\)\\s*$", "i"));"#,
        ],
    ),
    (
        "playwright_assert_request_made",
        r#"{"urlPattern":"/api/users","method":"post","timeout":9}"#,
        &[
            r#"const request1 = page.waitForRequest((made) => made.url().includes("/api/users") && made.method() === "POST", { timeout: 9 });"#,
            "await request1;",
        ],
    ),
    (
        "playwright_assert_request_made",
        r#"{"urlPattern":"/api.x/i"}"#,
        &[
            r#"const request1 = page.waitForRequest((made) => new RegExp("api.x", "i").test(made.url()));"#,
            "await request1;",
        ],
    ),
    (
        "playwright_wait_smart",
        r#"{"selector":"a","interactive":true,"hasText":"b"}"#,
        &[
            r#"await expect(page.locator("a").first()).toBeVisible();"#,
            r#"await expect(page.locator("a").first()).toBeEnabled();"#,
            r#"await expect(page.locator("a").first()).toContainText("b");"#,
        ],
    ),
    (
        "playwright_wait_network_idle",
        r#"{"timeout":9}"#,
        &[r#"await page.waitForLoadState("networkidle", { timeout: 9 });"#],
    ),
    (
        "playwright_wait_element_count",
        r#"{"selector":"a","count":2,"comparison":"lessThan"}"#,
        &[r#"await expect.poll(() => page.locator("a").count()).toBeLessThan(2);"#],
    ),
    (
        "playwright_wait_attribute",
        r#"{"selector":"a","attribute":"b"}"#,
        &[r#"await expect(page.locator("a").first()).toHaveAttribute("b");"#],
    ),
    (
        "playwright_wait_element_hidden",
        r#"{"selector":"a"}"#,
        &[r#"await expect(page.locator("a").first()).toBeHidden();"#],
    ),
    ("playwright_wait_url", r#"{"urlPattern":"**/x"}"#, &[r#"await page.waitForURL("**/x");"#]),
];

const NEW_PAGE: &[&str] = &[
    "const address1 = page.url();",
    "await page.close();",
    "page = await browser.newPage();",
    r#"await page.goto(address1, { waitUntil: "domcontentloaded" });"#,
];

#[test]
fn each_tool_becomes_the_calls_that_it_stands_for() {
    for (tool, args, code) in SAMPLES {
        assert_eq!(steps(vec![action(tool, RetainedArguments::Whole((*args).to_owned()))]), *code, "{tool}");
    }
}

/// The table says what each tool becomes; this holds it against what is written.
#[test]
fn tools_are_code_and_comments_as_the_table_says() {
    // These need another action, or stand above the test.
    let others = ["playwright_custom_user_agent", "playwright_expect_response", "playwright_assert_response"];
    for (tool, fate) in crate::tools::TOOLS {
        let sample = SAMPLES.iter().any(|(sampled, ..)| sampled == tool);
        match fate {
            Fate::Code(_) => assert!(sample || others.contains(tool), "{tool} has no sample"),
            Fate::Comment(_) | Fate::Unrecorded(_) => {
                assert!(!sample, "{tool}");
                let args = r#"{"url":"u","selector":"s","outputPath":"p"}"#;
                let written = steps(vec![action(tool, RetainedArguments::Whole(args.to_owned()))]);
                assert_eq!(written, [format!("// {tool} {args}")]);
            }
        }
    }
}

#[test]
fn what_cannot_have_come_to_anything_is_a_comment() {
    for (tool, args) in [
        ("playwright_fill", r##"{"selector":"#a"}"##),
        ("playwright_fill", r##"{"selector":"#a","value":2}"##),
        ("playwright_handle_dialog", r#"{"action":"shout"}"#),
        ("playwright_assert_request_made", r#"{"urlPattern":"x","waitForRequest":false}"#),
        ("playwright_assert_element_state", r#"{"selector":"a","state":"angry"}"#),
        ("no_such_tool", "{}"),
    ] {
        assert_eq!(
            steps(vec![action(tool, RetainedArguments::Whole(args.to_owned()))]),
            [format!("// {tool} {args}")]
        );
    }
}

#[test]
fn a_failed_action_is_not_replayed_whatever_it_was() {
    for (tool, args, _) in SAMPLES {
        let failed = Action {
            outcome: CallOutcome::Failed,
            ..action(tool, RetainedArguments::Whole((*args).to_owned()))
        };
        let text = playwright_test(&session(vec![failed]), &SOURCE);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.is_empty());
        assert_eq!(code.count(), 3, "import, begin and end of the test: {text}");
    }
}

#[test]
fn a_user_agent_that_was_refused_is_not_in_force() {
    let agent = whole("playwright_custom_user_agent", &serde_json::json!({"userAgent": "Bot/1"}));
    let navigate = whole("playwright_navigate", &serde_json::json!({"url": "u", "width": 800}));
    let written = |outcome| {
        let agent = Action { outcome, ..agent.clone() };
        playwright_test(&session(vec![agent, navigate.clone()]), &SOURCE)
    };
    assert!(written(CallOutcome::Done).contains("test.use({ userAgent: \"Bot/1\" });\n"));
    for outcome in [CallOutcome::Failed, CallOutcome::Unknown] {
        assert!(!written(outcome).contains("test.use("), "{outcome:?}");
    }
}

#[test]
fn the_size_of_the_first_page_is_the_size_of_the_test() {
    let navigate =
        |width: u32| whole("playwright_navigate", &serde_json::json!({"url": "u", "width": width}));
    let text = playwright_test(&session(vec![navigate(800), navigate(900)]), &SOURCE);
    assert!(text.contains("test.use({ viewport: { width: 800, height: 720 } });\n"), "{text}");
    let click = whole("playwright_click", &serde_json::json!({"selector": "a"}));
    let text = playwright_test(&session(vec![click, navigate(900)]), &SOURCE);
    assert!(!text.contains("test.use("), "the browser was open: {text}");
}

#[test]
fn an_answer_that_was_no_success_is_expected_again() {
    let get = whole("playwright_get", &serde_json::json!({"url": "u"}));
    let lines = steps(vec![Action { status: Some(404), ..get.clone() }, Action { status: Some(204), ..get }]);
    assert_eq!(lines[1], "expect(response1.status()).toBe(404);");
    assert_eq!(lines[3], "expect(response2.ok()).toBeTruthy();");
}

/// The dialog that is waited for is opened by a call that runs at the same time, sent before or after.
#[test]
fn what_watches_other_actions_begins_before_them_and_ends_after_them() {
    let at = |at_ms: i64, ended_ms: i64, one: Action| Action { at_ms, ended_ms: Some(ended_ms), ..one };
    let click = |n: u32| whole("playwright_click", &serde_json::json!({ "selector": format!("#{n}") }));
    let expect = whole("playwright_expect_dialog", &serde_json::json!({"expectedMessage": "m"}));
    let kind = |line: &String| line.split('(').next().unwrap_or_default().to_owned();
    let order = |actions: Vec<Action>| -> Vec<String> { steps(actions).iter().map(kind).collect() };
    let begin = |n: u32| format!("const dialog{n} = page.waitForEvent");
    let (click_line, end) = ("await page.click".to_owned(), "expect".to_owned());
    assert_eq!(
        order(vec![at(0, 5, click(1)), at(5, 9, expect.clone()), at(9, 12, click(2))]),
        [click_line.clone(), begin(2), end.clone(), click_line.clone()],
        "one after the other"
    );
    assert_eq!(
        order(vec![at(0, 5, click(1)), at(6, 20, expect.clone()), at(7, 20, click(2)), at(21, 22, click(3))]),
        [click_line.clone(), begin(2), click_line.clone(), end.clone(), click_line.clone()],
    );
    assert_eq!(
        order(vec![at(0, 5, click(1)), at(6, 20, click(2)), at(7, 20, expect), at(21, 22, click(3))]),
        [click_line.clone(), begin(3), click_line.clone(), end, click_line],
    );
}

#[test]
fn responses_are_waited_for_under_names_of_our_own() {
    let hostile = r#"a; process.exit(1); b"#;
    let actions = vec![
        whole("playwright_expect_response", &serde_json::json!({"id": hostile, "url": "**/api"})),
        whole("playwright_assert_response", &serde_json::json!({"id": hostile, "value": "ok"})),
        whole("playwright_assert_response", &serde_json::json!({"id": hostile})),
        whole("playwright_assert_response", &serde_json::json!({"id": "other"})),
    ];
    assert_eq!(
        steps(actions),
        [
            r#"const response1 = page.waitForResponse("**/api");"#,
            r#"expect(JSON.stringify(await (await response1).json())).toContain("ok");"#,
            r#"expect((await response1).ok()).toBeTruthy();"#,
            r#"// playwright_assert_response {"id":"other"}"#,
        ]
    );
}

#[test]
fn an_assertion_after_a_failed_expectation_uses_no_name_that_nothing_declares() {
    let expect = whole("playwright_expect_response", &serde_json::json!({"id": "r", "url": "**/api"}));
    let failed = Action { outcome: CallOutcome::Failed, ..expect.clone() };
    let assert = whole("playwright_assert_response", &serde_json::json!({"id": "r"}));
    let lines = steps(vec![failed.clone(), assert.clone()]);
    assert_eq!(lines[1], r#"// playwright_assert_response {"id":"r"}"#);
    let lines = steps(vec![failed, expect, assert]);
    assert_eq!(lines[2], "expect((await response2).ok()).toBeTruthy();");
}

/// What the servers' own generators let through, live, into the test that they write.
#[test]
fn a_value_that_closes_the_servers_own_quotes_stays_a_value() {
    let value = "x'); console.log('INJECTED'); ('";
    let lines = steps(vec![whole("playwright_fill", &serde_json::json!({"selector": "#a", "value": value}))]);
    assert_eq!(lines, [r##"await page.fill("#a", "x'); console.log('INJECTED'); ('");"##]);
    let double = "x\"); console.log(\"INJECTED\"); (\"";
    let lines =
        steps(vec![whole("playwright_fill", &serde_json::json!({"selector": "#a", "value": double}))]);
    assert_eq!(lines, [r##"await page.fill("#a", "x\"); console.log(\"INJECTED\"); (\"");"##]);
}

#[test]
fn masked_values_become_variables_that_the_head_lists() {
    let masked = |text: &str| RetainedArguments::Masked(text.to_owned());
    let actions = vec![
        action(
            "playwright_fill",
            masked(r##"{"selector":"#user-password","value":"[masked, 8 characters]"}"##),
        ),
        action(
            "playwright_fill",
            masked(r##"{"selector":"#user-password","value":"[masked, 9 characters]"}"##),
        ),
        action("playwright_navigate", masked(r#"{"url":"https://ann:[masked, 3 characters]@host/"}"#)),
        action("playwright_get", masked(r#"{"url":"u","token":"[masked, 40 characters]"}"#)),
        // Nothing was masked here: this is what was typed.
        whole("playwright_fill", &serde_json::json!({"selector": "#a", "value": "[masked, 8 characters]"})),
        action(
            "playwright_fill",
            masked(r##"{"selector":"#a","value":"[masked, x] [masked, 1 characters"}"##),
        ),
    ];
    let text = playwright_test(&session(actions.clone()), &SOURCE);
    assert_eq!(
        steps(actions),
        [
            r##"await page.fill("#user-password", process.env.TEST_USER_PASSWORD!);"##,
            r##"await page.fill("#user-password", process.env.TEST_USER_PASSWORD_2!);"##,
            r#"await page.goto("https://ann:" + process.env.TEST_NAVIGATE! + "@host/");"#,
            r#"const response4 = await request.get("u", { headers: { Authorization: "Bearer " + process.env.TEST_GET! } });"#,
            "expect(response4.ok()).toBeTruthy();",
            r##"await page.fill("#a", "[masked, 8 characters]");"##,
            r##"await page.fill("#a", "[masked, x] [masked, 1 characters");"##,
        ]
    );
    assert!(text.contains("//   TEST_USER_PASSWORD (step 1, playwright_fill, 8 characters)\n"), "{text}");
    assert!(text.contains("//   TEST_GET (step 4, playwright_get, 40 characters)\n"), "{text}");
}

#[test]
fn what_is_not_wholly_on_record_is_a_comment() {
    let actions = vec![
        action(
            "playwright_fill",
            RetainedArguments::Cut("{\"selector\":\"#a\",\"value\":\"abc\n\u{2028}alert(1)".to_owned()),
        ),
        action("playwright_fill", RetainedArguments::Names(r#"["selector","value"]"#.to_owned())),
        action("playwright_fill", RetainedArguments::Names(String::new())),
        action("other\nalert(1)", RetainedArguments::Whole("{\n}".to_owned())),
    ];
    assert_eq!(
        steps(actions),
        [
            r##"// playwright_fill, recorded in part: {"selector":"#a","value":"abc\n\u2028alert(1)"##,
            r#"// playwright_fill: the values of ["selector","value"] are not on record"#,
            r#"// playwright_fill: the values are not on record"#,
            r#"// other\nalert(1) {\n}"#,
        ]
    );
}

#[test]
fn a_step_that_failed_is_kept_and_not_run() {
    let failed = Action {
        outcome: CallOutcome::Failed,
        ..whole("playwright_click", &serde_json::json!({"selector": "#x"}))
    };
    assert_eq!(steps(vec![failed]), [r##"// Failed when it was recorded: await page.click("#x");"##]);
}

#[test]
fn half_of_a_surrogate_pair_is_kept_as_it_is_spelled() {
    let args = RetainedArguments::Whole(r##"{"selector":"#a","value":"\ud800\u2028ł"}"##.to_owned());
    assert_eq!(
        steps(vec![action("playwright_fill", args)]),
        [r##"await page.fill("#a", "\ud800\u2028ł");"##]
    );
}

/// The string literals of a piece of code, and the code without them. Our literals are JSON's too.
fn taken_apart(code: &str) -> (Vec<String>, String) {
    let (mut texts, mut rest) = (Vec::new(), String::new());
    let mut chars = code.char_indices();
    while let Some((start, c)) = chars.next() {
        if c != '"' {
            rest.push(c);
            continue;
        }
        let mut end = start + 1;
        while let Some((at, c)) = chars.next() {
            end = at + c.len_utf8();
            match c {
                '\\' => drop(chars.next()),
                '"' => break,
                _ => {}
            }
        }
        texts.push(serde_json::from_str(&code[start..end]).expect("a literal that JSON reads too"));
    }
    (texts, rest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_texts_come_back_exactly_and_change_no_code(selector in any::<String>(), value in any::<String>(), tool in any::<String>()) {
        let fill = whole("playwright_fill", &serde_json::json!({"selector": selector, "value": value}));
        let lines = steps(vec![fill, whole(&tool, &serde_json::json!({"x": value}))]);
        prop_assert_eq!(lines.len(), 2, "no text makes another line");
        let (texts, code) = taken_apart(&lines[0]);
        prop_assert_eq!(texts, vec![selector, value]);
        prop_assert_eq!(code, "await page.fill(, );");
        prop_assert!(lines[1].starts_with("// "));
    }

    #[test]
    fn no_character_ends_a_line_or_hides(text in any::<String>()) {
        let mut one = session(vec![whole(&text, &serde_json::json!({ text.clone(): text }))]);
        one.options.prefix = Some(text.clone());
        one.client.clone_from(&text);
        let source = Source { server: &text, started: "now" };
        let plain = session(vec![whole("t", &serde_json::json!({}))]);
        let lines = |text: &str| text.lines().count();
        let written = playwright_test(&one, &source);
        prop_assert_eq!(lines(&written), lines(&playwright_test(&plain, &source)));
        let hides = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202e}' | '\u{200b}');
        let hidden = written.chars().find(|c| *c != '\n' && hides(*c));
        prop_assert_eq!(hidden, None);
    }
}

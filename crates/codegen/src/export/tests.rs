use proptest::prelude::*;

use super::*;
use crate::session::{Action, Options, State};

const SOURCE: Source<'static> = Source { server: "playwright", started: "2026-11-16 14:03" };

fn action(tool: &str, args: Arguments) -> Action {
    Action { call: 1, at_ms: 0, tool: tool.to_owned(), args, outcome: Outcome::Done }
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
    action(tool, Arguments::Whole(args.to_string()))
}

/// The lines between the head of the test and its end.
fn steps(actions: Vec<Action>) -> Vec<String> {
    let text = playwright_test(&session(actions), &SOURCE);
    let inside = text.lines().skip_while(|line| !line.starts_with("test(")).skip(1);
    inside.take_while(|line| *line != "});").map(|line| line.trim_start().to_owned()).collect()
}

#[test]
fn each_tool_becomes_the_call_that_it_stands_for() {
    let cases = [
        (
            "playwright_navigate",
            r#"{"url":"http://x/","waitUntil":"load","timeout":5}"#,
            r#"await page.goto("http://x/", { waitUntil: "load", timeout: 5 });"#,
        ),
        ("playwright_click", r##"{"selector":"#go"}"##, r##"await page.click("#go");"##),
        ("playwright_fill", r##"{"selector":"#a","value":"b"}"##, r##"await page.fill("#a", "b");"##),
        (
            "playwright_select",
            r##"{"selector":"#a","value":"b"}"##,
            r##"await page.selectOption("#a", "b");"##,
        ),
        ("playwright_hover", r##"{"selector":"#a"}"##, r##"await page.hover("#a");"##),
        (
            "playwright_press_key",
            r##"{"key":"Enter","selector":"#a"}"##,
            r##"await page.press("#a", "Enter");"##,
        ),
        ("playwright_press_key", r#"{"key":"Enter"}"#, r#"await page.keyboard.press("Enter");"#),
        (
            "playwright_upload_file",
            r##"{"selector":"#f","filePath":"/a"}"##,
            r##"await page.setInputFiles("#f", "/a");"##,
        ),
        (
            "playwright_drag",
            r#"{"sourceSelector":"a","targetSelector":"b"}"#,
            r#"await page.dragAndDrop("a", "b");"#,
        ),
        (
            "playwright_iframe_click",
            r#"{"iframeSelector":"i","selector":"b"}"#,
            r#"await page.frameLocator("i").locator("b").click();"#,
        ),
        (
            "playwright_iframe_fill",
            r#"{"iframeSelector":"i","selector":"b","value":"v"}"#,
            r#"await page.frameLocator("i").locator("b").fill("v");"#,
        ),
        ("playwright_go_back", "{}", "await page.goBack();"),
        ("playwright_evaluate", r#"{"script":"1+1"}"#, r#"await page.evaluate("1+1");"#),
        (
            "playwright_resize",
            r#"{"width":10,"height":20}"#,
            "await page.setViewportSize({ width: 10, height: 20 });",
        ),
        (
            "playwright_screenshot",
            r#"{"name":"../../etc/x","fullPage":true}"#,
            r#"await page.screenshot({ path: test.info().outputPath("step-1.png"), fullPage: true });"#,
        ),
        (
            "playwright_post",
            r#"{"url":"u","value":"{}","headers":{"__proto__":"x"}}"#,
            r#"await page.request.post("u", { headers: { ...{ ["__proto__"]: "x" } }, data: "{}" });"#,
        ),
        ("playwright_get_visible_text", "{}", "// playwright_get_visible_text {}"),
        ("playwright_fill", r##"{"selector":"#a"}"##, r##"// playwright_fill {"selector":"#a"}"##),
    ];
    for (tool, args, code) in cases {
        assert_eq!(steps(vec![action(tool, Arguments::Whole(args.to_owned()))]), [code], "{tool}");
    }
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
            r#"expect(await (await response1).text()).toContain("ok");"#,
            r#"expect((await response1).ok()).toBeTruthy();"#,
            r#"// playwright_assert_response {"id":"other"}"#,
        ]
    );
}

#[test]
fn an_assertion_after_a_failed_expectation_uses_no_name_that_nothing_declares() {
    let expect = whole("playwright_expect_response", &serde_json::json!({"id": "r", "url": "**/api"}));
    let failed = Action { outcome: Outcome::Failed, ..expect.clone() };
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
    let masked = |text: &str| Arguments::Masked(text.to_owned());
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
            r#"await page.request.get("u", { headers: { Authorization: "Bearer " + process.env.TEST_GET! } });"#,
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
            Arguments::Cut("{\"selector\":\"#a\",\"value\":\"abc\n\u{2028}alert(1)".to_owned()),
        ),
        action("playwright_fill", Arguments::Names(r#"["selector","value"]"#.to_owned())),
        action("playwright_fill", Arguments::Names(String::new())),
        action("other\nalert(1)", Arguments::Whole("{\n}".to_owned())),
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
        outcome: Outcome::Failed,
        ..whole("playwright_click", &serde_json::json!({"selector": "#x"}))
    };
    assert_eq!(steps(vec![failed]), [r##"// Failed when it was recorded: await page.click("#x");"##]);
}

#[test]
fn half_of_a_surrogate_pair_is_kept_as_it_is_spelled() {
    let args = Arguments::Whole(r##"{"selector":"#a","value":"\ud800\u2028ł"}"##.to_owned());
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

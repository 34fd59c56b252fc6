//! Codegen sessions: seen while they are recorded, told of when a clear threw them away, taken along as a test.

use anyhow::Context as _;
use callgate_app_tests::app::{App, Around, scene};
use callgate_tests::gate::OPEN_POLICY;
use callgate_tests::session::Session;

use crate::{passed_with, refused_with};

/// A server with codegen sessions, as far as calls tell.
const SCRIPT: &str = r##"
on tools/list
send {"jsonrpc":"2.0","id":$id,"result":{"tools":[{"name":"start_codegen_session","inputSchema":{"type":"object"}},{"name":"clear_codegen_session","inputSchema":{"type":"object"}},{"name":"playwright_fill","inputSchema":{"type":"object"}}]}}
on start_codegen_session
send {"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"{\"sessionId\":\"S1\"}"}]}}
on clear_codegen_session
send {"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"{}"}]}}
on playwright_fill
send {"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"filled"}]}}
"##;

/// A client that has seen the tools and started a recording.
fn recording(app: &App) -> anyhow::Result<Session> {
    let mut session = app.scripted_session(SCRIPT, &[])?;
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#)?;
    session.answer("1")?;
    passed_with(&mut session, "2", "start_codegen_session", "{}")?;
    Ok(session)
}

#[test]
fn what_a_clear_threw_away_is_shown_and_exported() {
    scene("codegen", OPEN_POLICY, Around::Tray, |app| {
        let mut session = recording(app)?;
        passed_with(&mut session, "3", "playwright_fill", r##"{"selector":"#a","value":"x'); alert('y"}"##)?;
        passed_with(
            &mut session,
            "4",
            "playwright_fill",
            r##"{"selector":"#password","value":"hunter2hunter2"}"##,
        )?;
        app.go("#/servers")?;
        app.driver.says("codegen-state", "Open")?;
        app.driver.press("codegen-open")?;
        app.driver.says("codegen-actions", "x'); alert('y")?;
        app.driver.says("codegen-actions", "[masked, 14 characters]")?;
        app.driver.says("codegen-clearing", "The agent may clear this: 2 actions would be gone")?;
        passed_with(&mut session, "5", "clear_codegen_session", r#"{"sessionId":"S1"}"#)?;
        app.driver.says("codegen-gone", "Clearing threw 2 actions away")?;
        app.driver.press("codegen-export")?;
        // The place that is proposed is among the person's own files.
        app.driver.wait("a place is proposed", |driver| {
            let value = "return document.querySelector('[data-testid=export-path]')?.value ?? ''";
            let path = driver.script(value, &[])?;
            Ok(path.as_str().is_some_and(|path| path.ends_with(".spec.ts")).then_some(()))
        })?;
        app.driver.press("export-write")?;
        let person = app.desktop.person();
        let test = app.driver.wait("the test is written", |_| {
            let mut files = std::fs::read_dir(&person)?.flatten().map(|entry| entry.path());
            let found = files.find(|path| path.to_string_lossy().ends_with(".spec.ts"));
            Ok(found.and_then(|path| std::fs::read_to_string(path).ok()))
        })?;
        anyhow::ensure!(test.contains(r##"await page.fill("#a", "x'); alert('y");"##), "{test}");
        anyhow::ensure!(test.contains("process.env.TEST_PASSWORD!") && !test.contains("hunter2"), "{test}");
        Ok(())
    });
}

#[test]
fn a_ready_made_rule_is_looked_at_saved_and_in_force() {
    scene("ready-rules", OPEN_POLICY, Around::Tray, |app| {
        let mut session = recording(app)?;
        // The list is written down a moment after it was answered.
        app.driver.wait("the tools are known", |_| {
            Ok(std::fs::read_dir(app.bench.home().join("tools"))?.next().map(drop))
        })?;
        passed_with(&mut session, "3", "playwright_fill", r##"{"selector":"#a","value":"b"}"##)?;
        app.go("#/rules/corpus")?;
        app.driver.press_css("[data-testid=\"ready-rules\"] summary")?;
        app.driver.press_css("[data-testid=\"ready-keep-unfinished\"] [data-testid=\"ready-apply\"]")?;
        app.driver.says("review-summary", "keep_unfinished")?;
        app.driver.press("rule-save")?;
        app.driver.wait("the rule is in the file", |_| {
            let text = std::fs::read_to_string(app.bench.policy_file()).context("the policy")?;
            let text: String = text.split_whitespace().collect();
            Ok(text.contains("\"keep_unfinished\":true").then_some(()))
        })?;
        let words = refused_with(&mut session, "4", "clear_codegen_session", r#"{"sessionId":"S1"}"#)?;
        anyhow::ensure!(words.contains("holds 1 recorded action"), "{words}");
        Ok(())
    });
}

#[test]
fn a_recording_that_an_agent_may_clear_is_kept_with_one_click() {
    scene("keep-recording", OPEN_POLICY, Around::Tray, |app| {
        let mut session = recording(app)?;
        passed_with(&mut session, "3", "playwright_fill", r##"{"selector":"#a","value":"b"}"##)?;
        app.go("#/servers")?;
        app.driver.says("codegen-clearing", "The agent may clear this: 1 action would be gone")?;
        app.driver.press("codegen-keep")?;
        app.driver.says("codegen-clearing", "Clearing is refused until it has ended.")?;
        let words = refused_with(&mut session, "4", "clear_codegen_session", r#"{"sessionId":"S1"}"#)?;
        anyhow::ensure!(words.contains("holds 1 recorded action"), "{words}");
        app.driver.says("codegen-state", "Open")?;
        Ok(())
    });
}

//! What a person does in the window, with a real session running behind the real gate.

#![cfg(target_os = "linux")]

use std::time::Duration;

use callgate_app_tests::app::{App, Around, scene};
use callgate_tests::gate::{ALLOW_POLICY, OPEN_POLICY};
use callgate_tests::json::Json;
use callgate_tests::session::{Session, is_refusal, result_text};

fn refused(session: &mut Session, id: &str, tool: &str) -> anyhow::Result<String> {
    let answer = session.ask(id, tool, r#"{"n":1}"#)?;
    anyhow::ensure!(is_refusal(&answer), "the call passed: {}", answer.to_text());
    Ok(result_text(&answer).unwrap_or_default().to_owned())
}

fn passed(session: &mut Session, id: &str, tool: &str) -> anyhow::Result<Json> {
    let answer = session.ask(id, tool, r#"{"n":1}"#)?;
    anyhow::ensure!(!is_refusal(&answer), "the call was refused: {}", answer.to_text());
    Ok(answer)
}

/// Opens the newest call with this decision.
fn open_newest(app: &App, decision: &str) -> anyhow::Result<()> {
    let css = format!("[data-testid=\"row\"][data-decision=\"{decision}\"]");
    app.driver.wait(&format!("the drawer of a {decision} call"), |driver| {
        if let Some(row) = driver.find(&css)?.last()
            && driver.find("[data-testid=\"drawer\"]")?.is_empty()
        {
            driver.click(row)?;
        }
        Ok(driver.find("[data-testid=\"drawer\"]")?.into_iter().next())
    })?;
    Ok(())
}

#[test]
fn a_call_appears_block_stops_the_next_one_and_undo_lets_it_pass_again() {
    scene("block", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        passed(&mut session, "1", "safe")?;
        app.row("the call", "[data-decision=\"allowed\"]")?;

        open_newest(app, "allowed")?;
        app.driver.press("drawer-block")?;
        let words = app.driver.says("toast", "Blocked")?;
        anyhow::ensure!(words.contains("safe") && words.contains("tester"), "its scope in words: {words}");
        let answer = app.until(&mut session, "safe", true)?;
        anyhow::ensure!(result_text(&answer).is_some_and(|text| text.starts_with("Callgate: ")), "a reason");

        // It slides in, and there are ten seconds for it: click until it counts.
        app.driver.wait("undone", |driver| {
            if let Some(undo) = driver.find("[data-testid=\"undo\"]")?.first() {
                driver.click(undo)?;
            }
            let text = std::fs::read_to_string(app.bench.policy_file())?;
            Ok((text == OPEN_POLICY).then_some(()))
        })?;
        app.until(&mut session, "safe", false)?;
        app.row("the refused call", "[data-decision=\"denied\"]")?;
        Ok(())
    });
}

#[test]
fn a_cap_from_the_menu_caps() {
    scene("cap", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        passed(&mut session, "0", "safe")?;
        open_newest(app, "allowed")?;
        app.driver.press("drawer-cap")?;
        app.driver.press("cap-5-minute")?;
        app.driver.says("toast", "enforced in 1 of 1 session")?;
        for id in 1..=5 {
            passed(&mut session, &id.to_string(), "safe")?;
        }
        let reason = refused(&mut session, "6", "safe")?;
        anyhow::ensure!(reason.contains("5"), "{reason}");
        app.row("the capped call", "[data-decision=\"capped\"]")
    });
}

#[test]
fn allow_for_15_min_asks_once_more_and_ends_by_itself() {
    scene("allow-for", ALLOW_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        refused(&mut session, "1", "danger")?;
        open_newest(app, "denied")?;
        app.driver.press("drawer-allow")?;
        app.driver.press("allow-for")?;
        app.driver.the("question")?;
        refused(&mut session, "2", "danger")?;
        app.driver.wait("the yes counts", |driver| {
            if let Some(yes) = driver.find("[data-testid=\"question-yes\"][aria-disabled=\"false\"]")?.first()
            {
                driver.click(yes)?;
            }
            Ok(driver.find("[data-testid=\"question\"]")?.is_empty().then_some(()))
        })?;
        app.driver.says("allowance", "danger")?;
        passed(&mut session, "3", "danger")?;
        let menu = app.icon()?.menu()?.drawn();
        anyhow::ensure!(menu.contains("danger allowed for 15 more min"), "a countdown in the tray:\n{menu}");

        app.pass(Duration::from_secs(14 * 60))?;
        passed(&mut session, "4", "danger")?;
        app.pass(Duration::from_secs(61))?;
        refused(&mut session, "5", "danger")?;
        app.driver.wait("the banner is gone", |driver| {
            Ok(driver.find("[data-testid=\"allowance\"]")?.is_empty().then_some(()))
        })
    });
}

#[test]
fn search_finds_a_word_of_an_argument_and_nothing_else() {
    scene("search", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        session.ask("1", "safe", r#"{"note":"a quiet marmalade"}"#)?;
        session.ask("2", "safe", r#"{"note":"nothing of the kind"}"#)?;
        app.driver.wait("both calls", |driver| {
            Ok((driver.find("[data-testid=\"row\"][data-kind=\"call\"]")?.len() == 2).then_some(()))
        })?;
        let search = app.driver.the("search")?;
        app.driver.type_into(&search, "marmalade")?;
        app.driver.wait("one call left", |driver| {
            let rows = driver.find("[data-testid=\"row\"][data-kind=\"call\"]")?;
            let [row] = rows.as_slice() else { return Ok(None) };
            Ok(driver.text(row)?.contains("marmalade").then_some(()))
        })?;
        let address = app.driver.script("return location.hash", &[])?;
        anyhow::ensure!(address.as_str().is_some_and(|hash| hash.contains("q=marmalade")), "{address}");
        Ok(())
    });
}

#[test]
fn a_rule_is_built_without_raw_text_and_holds() {
    scene("builder", OPEN_POLICY, Around::Tray, |app| {
        let mut session = app.session()?;
        passed(&mut session, "1", "danger")?;
        app.go("#/rules/corpus")?;
        app.driver.press_css("[data-testid=\"rule-tool-danger\"] [data-testid=\"rule-open\"]")?;
        app.driver.press_css("label:has([data-testid=\"builder-action-deny\"])")?;
        let reason = app.driver.the("builder-reason")?;
        app.driver.type_into(&reason, "ask me first")?;
        app.driver.press_css("[data-testid=\"rule-save\"]:not([disabled])")?;
        let answer = app.until(&mut session, "danger", true)?;
        let words = result_text(&answer).unwrap_or_default();
        anyhow::ensure!(words.contains("ask me first"), "{words}");
        passed(&mut session, "3", "safe")?;
        Ok(())
    });
}

#[test]
fn nothing_written_into_the_page_runs() {
    scene("csp", OPEN_POLICY, Around::Tray, |app| {
        let attempts = [
            // An inline script.
            "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);",
            // A handler in an attribute.
            "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">');",
            // A script from somewhere else.
            "const s = document.createElement('script'); s.src = 'data:text/javascript,window.ran=3'; document.body.append(s);",
            // Text as code, from a script of the page's own kind.
            "const s = document.createElement('script'); s.type = 'module'; s.textContent = 'window.ran = 4'; document.body.append(s);",
            // A frame.
            "const f = document.createElement('iframe'); f.srcdoc = '<script>parent.ran = 5</script>'; document.body.append(f);",
        ];
        let listen = "window.denied = new Set(); addEventListener('securitypolicyviolation', (event) => \
                      window.denied.add(event.effectiveDirective)); return 0";
        app.driver.script(listen, &[])?;
        for attempt in attempts {
            app.driver.script(&format!("{attempt} return 0"), &[])?;
        }
        // Whatever was started is over when a frame has been drawn after it.
        let ran = app.driver.wait("two frames", |driver| {
            let script = "window.frames_seen ??= (requestAnimationFrame(() => requestAnimationFrame(() => \
                          (window.frames_seen = 'yes'))), 'no'); return [window.frames_seen, window.ran ?? 0]";
            let seen = driver.script(script, &[])?;
            Ok((seen[0] == "yes").then(|| seen[1].clone()))
        })?;
        anyhow::ensure!(ran == 0, "attempt {ran} ran");
        let denied = app.driver.script("return [...window.denied].join(' ')", &[])?;
        for directive in ["script-src-elem", "script-src-attr"] {
            anyhow::ensure!(denied.as_str().is_some_and(|all| all.contains(directive)), "denied: {denied}");
        }
        let text_as_code = app.driver.script("try { return eval('1') } catch { return 'denied' }", &[])?;
        anyhow::ensure!(text_as_code == "denied", "eval gave {text_as_code}");
        // Nor does the page leave for somewhere else, or open a window.
        let before = app.driver.script("return location.origin", &[])?;
        app.driver.script(
            "window.open('https://example.com'); location.href = 'https://example.com'; return 0",
            &[],
        )?;
        let after =
            app.driver.wait("still here", |driver| driver.script("return location.origin", &[]).map(Some))?;
        anyhow::ensure!(before == after, "went to {after}");
        Ok(())
    });
}

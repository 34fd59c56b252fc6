//! Restricting at once, loosening after a question, and taking either back.

use std::time::Duration;

use callgate_app_tests::app::{App, Around, scene};
use callgate_tests::gate::{ALLOW_POLICY, OPEN_POLICY};
use callgate_tests::session::result_text;

use crate::{passed, refused};

#[test]
fn a_call_appears_block_stops_the_next_one_and_undo_lets_it_pass_again() {
    scene("block", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        passed(&mut session, "1", "safe")?;
        app.row("the call", "[data-decision=\"allowed\"]")?;

        app.open_newest("allowed")?;
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
        app.open_newest("allowed")?;
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
        app.open_newest("denied")?;
        app.driver.press("drawer-allow")?;
        app.driver.press("allow-for")?;
        app.driver.the("question")?;
        refused(&mut session, "2", "danger")?;
        app.say_yes()?;
        let words = app.driver.says("allowance", "danger")?;
        anyhow::ensure!(words.contains("for tester"), "the client that was refused: {words}");
        passed(&mut session, "3", "danger")?;
        let menu = app.icon()?.menu()?.drawn();
        anyhow::ensure!(
            menu.contains("danger allowed for tester for 15 more min"),
            "a countdown in the tray:\n{menu}"
        );

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
fn a_change_is_reverted_from_its_row_and_so_is_the_revert() {
    scene("revert", OPEN_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        passed(&mut session, "1", "safe")?;
        app.open_newest("allowed")?;
        app.driver.press("drawer-block")?;
        app.until(&mut session, "safe", true)?;
        app.driver.press("drawer-close")?;

        // Taking a block back loosens: not before somebody said yes.
        revert_newest_of(app, 1)?;
        app.driver.the("question")?;
        refused(&mut session, "2", "safe")?;
        app.say_yes()?;
        app.until(&mut session, "safe", false)?;

        // The revert is a change like any other; taking it back restricts, and that is done at once.
        revert_newest_of(app, 2)?;
        app.until(&mut session, "safe", true)?;
        Ok(())
    });
}

/// Clicks *Revert* in the last row that offers it, once so many do.
fn revert_newest_of(app: &App, changes: usize) -> anyhow::Result<()> {
    app.driver.wait(&format!("{changes} changes to revert"), |driver| {
        let buttons = driver.find("[data-kind=\"change\"] [data-testid=\"row-revert\"]")?;
        match buttons.last() {
            Some(button) if buttons.len() == changes => driver.click(button).map(Some),
            _ => Ok(None),
        }
    })
}

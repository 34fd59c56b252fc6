//! One call in full: why, as it is now; copied; and a rule made of one of its arguments.

use callgate_app_tests::app::{App, Around, scene};
use callgate_tests::gate::ALLOW_POLICY;

use crate::{passed, passed_with, refused, refused_with};

#[test]
fn a_capped_call_says_how_its_counter_stands_and_is_copied_whole() {
    scene("counter", ALLOW_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        passed(&mut session, "1", "slow")?;
        passed(&mut session, "2", "slow")?;
        refused(&mut session, "3", "slow")?;
        app.open_newest("capped")?;
        let words = app.driver.says("counter", "2 of 2 this minute, the next call passes in ")?;
        let seconds = seconds_left(&words).ok_or_else(|| anyhow::anyhow!("{words}"))?;
        anyhow::ensure!((1..=60).contains(&seconds), "{words}");
        app.driver.wait("it counts down", |driver| {
            let Some(line) = driver.find("[data-testid=\"counter\"]")?.into_iter().next() else {
                return Ok(None);
            };
            Ok(seconds_left(&driver.text(&line)?).filter(|now| *now < seconds))
        })?;

        app.driver.press("copy-json")?;
        let copied = app.driver.wait("the call on the clipboard", |_| {
            let text = app.desktop.clipboard()?.unwrap_or_default();
            Ok(serde_json::from_str::<serde_json::Value>(&text).ok())
        })?;
        let expected = [("tool", "slow"), ("decision", "capped"), ("client", "tester"), ("server", "corpus")];
        for (name, value) in expected {
            anyhow::ensure!(copied[name] == value, "{name}: {copied}");
        }
        anyhow::ensure!(copied["args"]["n"] == 1, "{copied}");
        Ok(())
    });
}

/// From "…, the next call passes in 41 s".
fn seconds_left(words: &str) -> Option<u32> {
    let (_, span) = words.rsplit_once("passes in ")?;
    match span.trim().split_once(' ')? {
        (number, "s") => number.parse().ok(),
        (number, "min") => number.parse::<u32>().ok().map(|minutes| minutes * 60),
        _ => None,
    }
}

#[test]
fn a_rule_made_of_an_argument_refuses_the_next_call_like_it() {
    scene("argument", ALLOW_POLICY, Around::Tray, |app| {
        app.go("#/activity")?;
        let mut session = app.session()?;
        passed_with(&mut session, "1", "safe", r#"{"url":"file:///etc/hosts"}"#)?;
        app.open_newest("allowed")?;
        app.driver.press_css("[data-testid=\"value-menu\"][data-path=\"args.url\"]")?;
        let offered = app.driver.the("value-prefix")?;
        let words = app.driver.text(&offered)?;
        anyhow::ensure!(words.contains("Refuse when url starts with file:"), "{words}");
        app.driver.press("value-prefix")?;
        app.driver.press("sheet-ok")?;
        app.driver.says("toast", "enforced in 1 of 1 session")?;

        refused_with(&mut session, "2", "safe", r#"{"url":"file:///etc/passwd"}"#)?;
        passed_with(&mut session, "3", "safe", r#"{"url":"https://example.com/file:"}"#)?;
        // It is the argument that counts, not the tool.
        passed(&mut session, "4", "safe")?;
        row_of(app, "denied")
    });
}

fn row_of(app: &App, decision: &str) -> anyhow::Result<()> {
    app.row(&format!("the {decision} call"), &format!("[data-decision=\"{decision}\"]"))
}

//! Notifications, from the other side of the bus: which come, how often, and what a click on them does.

#![cfg(target_os = "linux")]

use std::time::Duration;

use callgate_app_tests::app::{App, Around, scene};
use callgate_app_tests::notices::Shown;
use callgate_tests::gate::{DENY_POLICY, OPEN_POLICY};
use callgate_tests::session::{Session, is_refusal, result_text};

/// A session that the app knows of: what was before its first look is in the log, not news.
fn known_session(app: &App) -> anyhow::Result<Session> {
    let session = app.session()?;
    app.driver.wait("the tray has seen the session", |_| {
        Ok(app.icon()?.tip()?.contains("1 server").then_some(()))
    })?;
    Ok(session)
}

fn wait_for(app: &App, words: &str) -> anyhow::Result<Shown> {
    app.driver.wait(&format!("a notification about {words:?}"), |_| Ok(app.notices()?.about(words).pop()))
}

#[test]
fn the_first_block_of_a_tool_raises_one_notification_that_counts_on_and_opens_its_why() {
    scene("notification", DENY_POLICY, Around::Tray, |app| {
        let mut session = known_session(app)?;
        anyhow::ensure!(is_refusal(&session.ask("1", "danger", r#"{"a":"<b>"}"#)?));
        let shown = wait_for(app, "danger")?;
        anyhow::ensure!(shown.body.contains("not from an agent"), "its reason: {shown:?}");
        anyhow::ensure!(!shown.body.contains("more"), "nothing to count yet: {shown:?}");

        for id in 2..=13 {
            session.ask(&id.to_string(), "danger", r#"{"a":"<b>"}"#)?;
        }
        // Another tool has its own; by then a second one of the first would be there.
        session.ask("20", "never_listed", "{}")?;
        wait_for(app, "never_listed")?;
        app.pass(Duration::from_secs(10))?;
        app.driver.wait("the count", |_| {
            Ok(app
                .notices()?
                .about("danger")
                .iter()
                .any(|one| one.body.contains("12 more times"))
                .then_some(()))
        })?;
        let all = app.notices()?.shown();
        anyhow::ensure!(all.len() == 2, "one for each tool: {all:?}");

        app.notices()?.click(&shown, None)?;
        app.driver.says("why", "not from an agent")?;
        // It was closed with that: more blocks do not bring it back.
        app.pass(Duration::from_secs(60))?;
        session.ask("21", "danger", "{}")?;
        session.ask("22", "another", "{}")?;
        wait_for(app, "another")?;
        // The same look found both; by the next one, what it had to say of the first is said.
        session.ask("23", "afterwards", "{}")?;
        wait_for(app, "afterwards")?;
        let all = app.notices()?.about("danger");
        anyhow::ensure!(all.len() == 1 && all[0].body.contains("12 more times"), "{all:?}");
        Ok(())
    });
}

/// The app listens for clicks a moment after the desktop has shown it; no person is that fast. What was done is said.
fn click_until_said(app: &App, shown: &Shown, button: &str, words: &str) -> anyhow::Result<()> {
    app.driver.wait(&format!("{button} is done"), |_| {
        let said = |one: &Shown| one.title == "Callgate" && one.body.starts_with(words);
        if app.notices()?.shown().iter().any(said) {
            return Ok(Some(()));
        }
        app.notices()?.click(shown, Some(button))?;
        Ok(None)
    })
}

/// More calls in a minute than a tool that nobody knows may make.
fn burst(session: &mut Session, tool: &str) -> anyhow::Result<()> {
    for id in 0..90 {
        let answer = session.ask(&format!("\"{tool}{id}\""), tool, "{}")?;
        anyhow::ensure!(!is_refusal(&answer), "refused before anybody said so: {}", answer.to_text());
    }
    Ok(())
}

#[test]
fn an_unusual_rate_raises_an_alarm_whose_buttons_hold() {
    scene("alarm", OPEN_POLICY, Around::Tray, |app| {
        let mut session = known_session(app)?;
        burst(&mut session, "safe")?;
        let alarm = wait_for(app, "safe on corpus")?;
        anyhow::ensure!(alarm.buttons() == ["Pause server", "Cap"], "{alarm:?}");
        click_until_said(app, &alarm, "Cap", "Capped")?;
        let answer = app.until(&mut session, "safe", true)?;
        let words = result_text(&answer).unwrap_or_default();
        anyhow::ensure!(words.contains("20"), "what it may do: {words}");

        burst(&mut session, "slow")?;
        let alarm = wait_for(app, "slow on corpus")?;
        click_until_said(app, &alarm, "Pause server", "Paused")?;
        let answer = app.until(&mut session, "slow", true)?;
        let words = result_text(&answer).unwrap_or_default();
        anyhow::ensure!(words.contains("paused"), "{words}");
        anyhow::ensure!(is_refusal(&session.ask("1", "danger", "{}")?), "all of the server");
        anyhow::ensure!(app.notices()?.about("calls in a minute").len() == 2, "one for each tool");
        Ok(())
    });
}

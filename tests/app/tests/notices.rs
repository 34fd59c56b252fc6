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

/// The person turns to another window: what happens is told from now on.
fn look_elsewhere(app: &App) -> anyhow::Result<()> {
    app.desktop.look_elsewhere()?;
    app.driver.wait("the window is not in front", |driver| {
        Ok((driver.script("return document.hasFocus()", &[])? == false).then_some(()))
    })
}

#[test]
fn a_refused_tool_raises_one_notification_that_counts_on_and_opens_its_why() {
    scene("notification", DENY_POLICY, Around::Tray, |app| {
        look_elsewhere(app)?;
        let mut session = known_session(app)?;
        anyhow::ensure!(is_refusal(&session.ask("1", "danger", r#"{"a":"<b>"}"#)?));
        let shown = wait_for(app, "danger")?;
        anyhow::ensure!(shown.body.contains("not from an agent"), "its reason: {shown:?}");
        anyhow::ensure!(!shown.body.contains("more"), "nothing to count yet: {shown:?}");

        for id in 2..=13 {
            session.ask(&id.to_string(), "danger", r#"{"a":"<b>"}"#)?;
        }
        app.pass(Duration::from_secs(3))?;
        wait_for(app, "12 more times")?;
        let all = app.notices()?.shown();
        anyhow::ensure!(all.len() == 1, "said in its place: {all:?}");

        app.notices()?.click(&shown, None)?;
        app.driver.says("why", "not from an agent")?;
        Ok(())
    });
}

#[test]
fn a_loop_over_several_tools_is_one_notification_with_buttons_that_hold() {
    scene("notification-loop", DENY_POLICY, Around::Tray, |app| {
        look_elsewhere(app)?;
        let mut session = known_session(app)?;
        for id in 0..120 {
            let tool = ["danger", "never_listed", "another"][id % 3];
            anyhow::ensure!(is_refusal(&session.ask(&id.to_string(), tool, "{}")?));
        }
        app.pass(Duration::from_secs(3))?;
        let shown = wait_for(app, "120 calls refused")?;
        anyhow::ensure!(shown.title.starts_with("tester loops: 120 calls refused in "), "{shown:?}");
        anyhow::ensure!(shown.title.ends_with(", 3 tools"), "{shown:?}");
        anyhow::ensure!(shown.buttons() == ["Pause all", "Show"], "{shown:?}");
        let all = app.notices()?.shown();
        anyhow::ensure!(all.len() == 1, "one for all of it: {all:?}");

        // It was closed with a click: more of the same does not bring it back.
        click_until_said(app, &shown, "Pause all", "Paused")?;
        let words = result_text(&session.ask("200", "safe", "{}")?).unwrap_or_default().to_owned();
        anyhow::ensure!(words.contains("paused"), "{words}");
        Ok(())
    });
}

#[test]
fn nothing_is_raised_while_the_window_is_in_front() {
    scene("notification-in-front", DENY_POLICY, Around::Tray, |app| {
        let mut session = known_session(app)?;
        anyhow::ensure!(app.driver.script("return document.hasFocus()", &[])? == true, "it has the keyboard");
        session.ask("1", "danger", "{}")?;
        // Looked at, and not told.
        app.driver
            .wait("the tray has seen it", |_| Ok(app.icon()?.tip()?.contains("1 refused").then_some(())))?;
        look_elsewhere(app)?;
        app.pass(Duration::from_secs(61))?;
        session.ask("2", "never_listed", "{}")?;
        wait_for(app, "never_listed")?;
        let all = app.notices()?.shown();
        anyhow::ensure!(all.len() == 1, "the first was seen in the window: {all:?}");
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

const ASKED: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask", "reason": "look twice" } } }"#;

#[test]
fn approve_on_a_notification_lets_its_call_run_once_and_no_other() {
    scene("notification-approve", ASKED, Around::Tray, |app| {
        look_elsewhere(app)?;
        let mut session = known_session(app)?;
        session.call("1", "danger", r#"{"path":"/srv/1"}"#)?;
        let shown = wait_for(app, "wants to call danger")?;
        anyhow::ensure!(shown.buttons() == ["Approve once", "Deny", "Look at it"], "{shown:?}");
        anyhow::ensure!(shown.body.contains(r#"{"path":"/srv/1"}"#), "{shown:?}");
        anyhow::ensure!(session.answer_within("1", Duration::ZERO).is_err(), "it is held");
        click_until_said(app, &shown, "Approve once", "Approved danger")?;
        let words = result_text(&session.answer("1")?).unwrap_or_default().to_owned();
        anyhow::ensure!(words.contains("danger ran"), "{words}");

        // Neither the same call once more nor another one is let through by it, nor by a second click.
        session.call("2", "danger", r#"{"path":"/srv/1"}"#)?;
        let again = app.driver.wait("a notification of its own", |_| {
            let all = app.notices()?.about("wants to call danger");
            Ok((all.len() == 2).then(|| all.last().cloned()).flatten())
        })?;
        app.notices()?.click(&shown, Some("Approve once"))?;
        click_until_said(app, &again, "Deny", "Denied danger")?;
        let answer = session.answer("2")?;
        anyhow::ensure!(is_refusal(&answer), "{}", answer.to_text());
        Ok(())
    });
}

#[test]
fn what_a_notification_cannot_show_it_offers_no_yes_to() {
    scene("notification-masked", ASKED, Around::Tray, |app| {
        look_elsewhere(app)?;
        let mut session = known_session(app)?;
        session.call("1", "danger", r#"{"password":"rm -rf /srv"}"#)?;
        let shown = wait_for(app, "wants to call danger")?;
        anyhow::ensure!(shown.buttons() == ["Deny", "Look at it"], "{shown:?}");
        Ok(())
    });
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
        look_elsewhere(app)?;
        let mut session = known_session(app)?;
        burst(&mut session, "safe")?;
        let alarm = wait_for(app, "safe on corpus")?;
        anyhow::ensure!(alarm.buttons() == ["Pause server", "Cap"], "{alarm:?}");
        click_until_said(app, &alarm, "Cap", "Capped")?;
        let answer = app.until(&mut session, "safe", true)?;
        let words = result_text(&answer).unwrap_or_default();
        anyhow::ensure!(words.contains("20"), "what it may do: {words}");

        // Another incident, after the refusal was told with this one.
        app.driver.wait("the tray has seen the refusal", |_| {
            Ok(app.icon()?.tip()?.contains("1 refused").then_some(()))
        })?;
        app.pass(Duration::from_secs(61))?;
        burst(&mut session, "slow")?;
        let alarm = wait_for(app, "slow on corpus")?;
        click_until_said(app, &alarm, "Pause server", "Paused")?;
        let answer = app.until(&mut session, "slow", true)?;
        let words = result_text(&answer).unwrap_or_default();
        anyhow::ensure!(words.contains("paused"), "{words}");
        anyhow::ensure!(is_refusal(&session.ask("1", "danger", "{}")?), "all of the server");
        anyhow::ensure!(app.notices()?.about("calls in a minute").len() == 2, "one for each incident");
        Ok(())
    });
}

//! The small window of calls that wait for a decision, and who counts as there to decide.

#![cfg(target_os = "linux")]

use anyhow::Context as _;
use callgate_app_tests::app::{App, Around, scene};
use callgate_app_tests::banners::Banners;
use callgate_app_tests::driver::PATIENCE;
use callgate_app_tests::screen_saver::ScreenSaver;
use callgate_tests::processes::eventually;
use callgate_tests::session::{Session, is_refusal, result_text};

const ASKED: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask", "reason": "look twice" } } }"#;
const TITLE: &str = "Callgate: waiting for you";

/// The person turns to another program.
fn look_elsewhere(app: &App) -> anyhow::Result<()> {
    app.desktop.look_elsewhere()?;
    app.driver.wait("the window is not in front", |driver| {
        Ok((driver.script("return document.hasFocus()", &[])? == false).then_some(()))
    })
}

/// Waits until the small window is on the screen.
fn window(app: &App) -> u32 {
    eventually("the approval window is there", PATIENCE, || app.desktop.window(TITLE).ok().flatten())
}

fn no_window(app: &App) {
    eventually("the approval window is gone", PATIENCE, || {
        app.desktop.window(TITLE).is_ok_and(|window| window.is_none()).then_some(())
    });
}

fn call(session: &mut Session, id: &str) -> anyhow::Result<()> {
    session.call(id, "danger", &format!(r#"{{"path":"/srv/{id}"}}"#))
}

fn turn_to_small(app: &App) -> anyhow::Result<()> {
    app.driver.turn_to("the page of the approval window", |driver| {
        Ok(driver.script("return location.search", &[])? == "?approvals")
    })
}

#[test]
fn a_held_call_brings_a_window_that_takes_no_keyboard_and_decides() {
    scene("approval-window", ASKED, Around::Tray, |app| {
        let mut session = app.session()?;
        look_elsewhere(app)?;
        let keyboard = app.desktop.keyboard()?;
        call(&mut session, "1")?;
        window(app);
        anyhow::ensure!(app.desktop.keyboard()? == keyboard, "what is typed goes where it went");
        turn_to_small(app)?;
        app.driver.says("approval", "danger")?;
        app.driver.says("arguments", "/srv/1")?;
        app.driver
            .wait("the yes counts", |driver| {
                if let Some(yes) =
                    driver.find("[data-testid=\"allow-once\"][aria-disabled=\"false\"]")?.first()
                {
                    driver.click(yes)?;
                }
                Ok(session.answer_within("1", std::time::Duration::from_millis(200)).ok())
            })
            .and_then(|answer| {
                anyhow::ensure!(
                    result_text(&answer).is_some_and(|text| text.contains("danger ran")),
                    "{}",
                    answer.to_text()
                );
                Ok(())
            })?;
        no_window(app);
        Ok(())
    });
}

#[test]
fn a_closed_approval_window_stays_away_until_another_call_waits() {
    scene("approval-window-closed", ASKED, Around::Tray, |app| {
        let mut session = app.session()?;
        look_elsewhere(app)?;
        call(&mut session, "1")?;
        app.desktop.close(window(app))?;
        no_window(app);
        anyhow::ensure!(
            session.answer_within("1", std::time::Duration::ZERO).is_err(),
            "the cross is no decision"
        );
        call(&mut session, "2")?;
        window(app);
        Ok(())
    });
}

/// Calls until they are answered at once because nobody is there, or until they are held.
fn until_away(app: &App, session: &mut Session, number: &mut u32, away: bool) -> anyhow::Result<()> {
    look_elsewhere(app)?;
    app.driver.wait(&format!("calls are held: {}", !away), |_| {
        *number += 1;
        let id = number.to_string();
        call(session, &id)?;
        let answer = session.answer_within(&id, std::time::Duration::from_secs(2));
        let is_away = answer.ok().is_some_and(|answer| {
            is_refusal(&answer) && result_text(&answer).is_some_and(|text| text.contains("away"))
        });
        Ok((is_away == away).then_some(()))
    })
}

#[test]
fn behind_a_locked_screen_nobody_is_there_to_decide() {
    scene("screen-locked", ASKED, Around::Tray, |app| {
        let bus = app.desktop.bus.clone().context("a bus")?;
        let saver = ScreenSaver::start(&bus)?;
        let mut session = app.session()?;
        let mut number = 0;
        for locked in [true, false] {
            saver.lock(locked)?;
            until_away(app, &mut session, &mut number, locked)?;
        }
        Ok(())
    });
}

#[test]
fn whoever_is_not_to_be_disturbed_is_not_there_to_decide() {
    scene("do-not-disturb", ASKED, Around::Tray, |app| {
        let bus = app.desktop.bus.clone().context("a bus")?;
        let banners = Banners::start(&bus, &app.bench.path(""))?;
        let mut session = app.session()?;
        let mut number = 0;
        // As KDE tells it, and as GNOME does.
        for inhibited in [true, false] {
            app.notices()?.inhibit(inhibited)?;
            until_away(app, &mut session, &mut number, inhibited)?;
        }
        for shown in [false, true] {
            banners.show(shown)?;
            until_away(app, &mut session, &mut number, !shown)?;
        }
        // Both: one of them is enough.
        app.notices()?.inhibit(true)?;
        until_away(app, &mut session, &mut number, true)?;
        banners.show(false)?;
        app.notices()?.inhibit(false)?;
        until_away(app, &mut session, &mut number, true)?;
        banners.show(true)?;
        until_away(app, &mut session, &mut number, false)
    });
}

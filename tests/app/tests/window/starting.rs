//! The first minutes of a newcomer.

use std::fs;

use callgate_app_tests::app::{App, Around, scene};
use callgate_tests::gate::OPEN_POLICY;

/// The entry that starts the app at login, if there is one.
fn entry(app: &App) -> Option<String> {
    fs::read_to_string(app.desktop.settings().join("autostart/Callgate.desktop")).ok()
}

fn wait_entry(app: &App, there: bool) -> anyhow::Result<()> {
    let what = if there { "it starts at login" } else { "it does not start at login" };
    app.driver.wait(what, |_| Ok((entry(app).is_some() == there).then_some(())))
}

#[test]
fn a_newcomer_is_asked_about_login_and_sees_live_calls() {
    scene("newcomer", OPEN_POLICY, Around::Tray, |app| {
        app.driver.the("welcome-login")?;
        anyhow::ensure!(entry(app).is_none(), "not without asking");
        app.driver.press("welcome-login-yes")?;
        wait_entry(app, true)?;
        let program = fs::read_link(format!("/proc/{}/exe", app.pid()?))?;
        let expected = format!("Exec=\"{}\" --hidden", program.display());
        let written = entry(app).unwrap_or_default();
        anyhow::ensure!(written.lines().any(|line| line == expected), "{expected} in\n{written}");
        app.driver.wait("asked once", |driver| {
            Ok(driver.find("[data-testid=\"welcome-login\"]")?.is_empty().then_some(()))
        })?;

        app.driver.press("welcome-demo")?;
        app.row("a call that passes", "[data-kind=\"call\"][data-decision=\"allowed\"]")?;
        app.row("a call that is refused", "[data-kind=\"call\"][data-decision=\"denied\"]")?;
        app.row("a loop that is capped", "[data-kind=\"call\"][data-decision=\"capped\"]")?;

        app.go("#/settings")?;
        app.driver.one("[data-testid=\"settings-login\"]:checked")?;
        app.driver.press("settings-login")?;
        wait_entry(app, false)?;
        app.driver.one("[data-testid=\"settings-login\"]:not(:checked)")?;
        app.driver.press("settings-login")?;
        wait_entry(app, true)
    });
}

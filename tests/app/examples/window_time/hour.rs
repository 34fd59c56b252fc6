//! An hour of use, pressed into a minute: as many calls as a busy agent makes in an hour, while a person looks around in the
//! window as often as somebody would who has it open all the time. What it leaves in memory is what is asked afterwards.

use std::time::Duration;

use anyhow::{Context as _, Result};
use callgate_app_tests::app::App;
use callgate_app_tests::driver::Driver;
use serde_json::json;

use crate::feed::Feed;

/// A look around for every five minutes of the hour.
const ROUND: Duration = Duration::from_secs(5);
/// By address and heading.
const PLACES: [(&str, &str); 7] = [
    ("#/servers", "Servers"),
    ("#/servers/shop-1", "Servers"),
    ("#/clients", "Clients"),
    ("#/rules/shop-2", "Rules"),
    ("#/rules/filesystem", "Rules"),
    ("#/settings", "Settings"),
    ("#/activity?view=runs", "Activity"),
];
/// Words of a made-up history and of the calls that come in.
const SEARCHES: [&str; 4] =
    ["q=avatar", "q=orders&last=1h", "q=session&decision=denied", "server=filesystem"];
/// Calls that are opened in a round.
const OPENED: usize = 5;

/// Uses the app for a minute's worth of calls; the answer is how many came.
pub(crate) fn pass(app: &App, feed: Feed, time: Duration) -> Result<usize> {
    std::thread::scope(|scope| {
        let calls = scope.spawn(|| feed.make(time));
        for _ in 0..(time.as_secs() / ROUND.as_secs()).max(1) {
            look_around(app)?;
        }
        calls.join().expect("who makes calls does not panic")
    })
}

fn look_around(app: &App) -> Result<()> {
    for (place, heading) in PLACES {
        app.go(place)?;
        app.driver.wait(heading, |driver| is_at(driver, heading))?;
    }
    for search in SEARCHES {
        app.go(&format!("#/activity?{search}"))?;
        app.driver
            .wait(search, |driver| Ok(driver.find("[data-testid=\"row\"], .empty")?.into_iter().next()))?;
    }
    app.go("#/activity")?;
    app.row("the log", "")?;
    open_calls(app)?;
    // Far back in the log, and to the newest again.
    for share in [0.5, 0.0, 1.0] {
        app.driver.script(
            "const list = document.querySelector('[aria-rowcount]'); list.scrollTop = list.scrollHeight * arguments[0]",
            &[share.into()],
        )?;
        app.row("rows where the log was scrolled to", "")?;
    }
    export(app)?;
    let icon = app.icon()?;
    icon.menu()?;
    icon.close()
}

fn is_at(driver: &Driver, heading: &str) -> Result<Option<()>> {
    let read = driver.script("return document.querySelector('main h1')?.textContent", &[])?;
    Ok((read == heading).then_some(()))
}

fn open_calls(app: &App) -> Result<()> {
    let ids = app.driver.script(
        "return [...document.querySelectorAll('[data-testid=\"row\"][data-kind=\"call\"]')].map((row) => row.dataset.call)",
        &[],
    )?;
    for id in ids.as_array().context("no calls in the log")?.iter().take(OPENED) {
        let id = id.as_str().context("a call without an id")?;
        app.go(&format!("#/activity?call={id}"))?;
        app.driver.one("[data-testid=\"drawer\"]")?;
    }
    app.go("#/activity")
}

fn export(app: &App) -> Result<()> {
    let script = "const [filter, format, done] = arguments; \
        window.__TAURI_INTERNALS__.invoke('export_log', { filter, format }).then(() => done(null), (error) => done(error));";
    let told = app.driver.script_that_waits(script, &[json!({ "decisions": ["denied"] }), "jsonl".into()])?;
    anyhow::ensure!(told.is_null(), "nothing was exported: {told}");
    Ok(())
}

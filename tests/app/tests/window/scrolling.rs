//! The mouse wheel, in the window as it is drawn on this machine: without a graphics processor here and in CI.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context as _;
use callgate_app_tests::app::{Around, Undriven, scene};
use callgate_app_tests::driver::PATIENCE;
use callgate_tests::gate::{Bench, OPEN_POLICY};
use callgate_tests::processes::eventually;

/// The middle of the page, without its scroll bar.
const AT: (i16, i16) = (260, 160);
const SIZE: (u16, u16) = (560, 420);

#[test]
fn the_wheel_scrolls_a_long_page() -> anyhow::Result<()> {
    let app = Undriven::start(Bench::new(OPEN_POLICY)?, &["--open", "settings"])?;
    let window = app.window();
    let pixels = || app.desktop.pixels(window, AT, SIZE).unwrap_or_default();
    // Drawn: there is writing on it, and it does not change any more.
    let before = eventually("the page is drawn", PATIENCE, || {
        let (one, _) = (pixels(), std::thread::park_timeout(Duration::from_millis(500)));
        let colours: BTreeSet<&[u8]> = one.chunks_exact(4).collect();
        (colours.len() > 20 && pixels() == one).then_some(one)
    });
    app.desktop.wheel_down(window, (500, 350), 5)?;
    eventually("the wheel moves the page", PATIENCE, || {
        let after = pixels();
        let moved =
            after.chunks_exact(4).zip(before.chunks_exact(4)).filter(|(one, other)| one != other).count();
        (moved * 20 > before.len() / 4).then_some(())
    });
    Ok(())
}

#[test]
fn the_first_screen_has_what_matters_on_it() {
    scene("first-screen", OPEN_POLICY, Around::Tray, |app| {
        // A person with many servers, whose list is long.
        let file = app.desktop.settings().join("Claude/claude_desktop_config.json");
        std::fs::create_dir_all(file.parent().context("a folder")?)?;
        let servers: Vec<String> = (0..8)
            .map(|number| format!(r#""server{number}": {{ "command": "true", "args": ["{number}"] }}"#))
            .collect();
        std::fs::write(&file, format!(r#"{{ "mcpServers": {{ {} }} }}"#, servers.join(", ")))?;
        app.go("#/welcome")?;
        for button in ["welcome-demo", "checklist-protect"] {
            app.driver.the(button)?;
            let script = "const box = document.querySelector(`[data-testid=\"${arguments[0]}\"]`).getBoundingClientRect(); \
                          return box.top >= 0 && box.bottom <= innerHeight";
            app.driver.wait(&format!("{button} is on the screen"), |driver| {
                Ok((driver.script(script, &[button.into()])? == true).then_some(()))
            })?;
        }
        Ok(())
    });
}

//! A home that cannot be written: the app says so on the screen, and what to do.

#![cfg(target_os = "linux")]

use std::fs;

use callgate_app_tests::app::Undriven;
use callgate_app_tests::driver::PATIENCE;
use callgate_tests::gate::{Bench, OPEN_POLICY};
use callgate_tests::processes::eventually;

/// What makes a home unusable.
type Spoil<'a> = &'a dyn Fn(&Bench) -> std::io::Result<()>;

#[test]
fn a_home_that_cannot_be_written_is_said_in_a_window() -> anyhow::Result<()> {
    let no_folder = |bench: &Bench| {
        fs::remove_dir_all(bench.home())?;
        fs::write(bench.home(), "")
    };
    // As on a read-only or full disk: all is there, and nothing can be opened to write. The tests may run as root, whom no
    // permission stops.
    let no_lock = |bench: &Bench| fs::create_dir_all(bench.home().join("control/app.lock"));
    let broken: [Spoil<'_>; 2] = [&no_folder, &no_lock];
    for spoil in broken {
        let bench = Bench::new(OPEN_POLICY)?;
        spoil(&bench)?;
        let app = Undriven::start(bench, &["--hidden"])?;
        app.window();
        let tip = app.host.icon()?.tip()?;
        anyhow::ensure!(tip.starts_with("Needs you: Callgate cannot use its folder"), "{tip}");
        anyhow::ensure!(tip.contains("start Callgate again"), "what to do: {tip}");
        eventually("the menu says it too", PATIENCE, || {
            let menu = app.host.icon().ok()?.menu().ok()?.drawn();
            menu.contains("[Callgate cannot use its folder").then_some(())
        });
    }
    Ok(())
}

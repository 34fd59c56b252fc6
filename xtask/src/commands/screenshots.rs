//! `cargo xtask screenshots`: the pictures of the app in `docs/images`, from the real app with a lively history.

use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use super::{seed, test};
use crate::display::Display;
use crate::packages::{self, C_COMPILER, FONTS, NPM, SESSION_BUS, VIRTUAL_DISPLAY, WEBDRIVER, WEBVIEW};
use crate::shell::{command, run as go};
use crate::steps::Steps;
use crate::{project, ui};

/// Calls in the history: a month that looks like one, and is made in a moment.
const CALLS: &str = "3000";

pub(super) fn run(rest: &[String]) -> Result<bool> {
    ensure!(rest.is_empty(), "`cargo xtask screenshots` takes no words");
    let mut steps = Steps::default();
    let ready = steps.run("set-up", || {
        packages::ensure(&[C_COMPILER, NPM, WEBVIEW, VIRTUAL_DISPLAY, SESSION_BUS, WEBDRIVER, FONTS])?;
        ui::install()?;
        ui::build()
    });
    // The tests' own build: whoever has run them waits for nothing.
    if ready && steps.run("build", test::build) {
        steps.run("pictures", pictures);
    }
    Ok(steps.summary())
}

fn pictures() -> Result<()> {
    // Paths are in the pictures; this one says nothing about the machine.
    let scratch = std::env::temp_dir().join("callgate-pictures");
    if scratch.exists() {
        fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove {}", scratch.display()))?;
    }
    let (home, user) = (scratch.join(".callgate"), scratch.join("user"));
    fs::create_dir_all(&user)?;
    let words = ["--calls", CALLS, "--home", &home.to_string_lossy()].map(str::to_owned);
    seed::run(&words)?;
    let display = Display::start("1600x1000")?;
    // Without somebody who shows tray icons, the app would say so in every picture.
    let mut host = command(project::built("debug/examples", "tray_host"), &[]);
    display.show(&mut host);
    // It ends when its input does.
    let mut host = host.stdin(Stdio::piped()).spawn().context("cannot start the host of tray icons")?;
    let mut taker = command("node", &["tests/pictures/take.mjs"]);
    taker.arg(test::kept("callgate-app")).arg(test::kept("callgate")).arg(&home).arg("docs/images");
    taker.env("HOME", &user);
    display.show(&mut taker);
    let taken = go(taker);
    drop(host.stdin.take());
    host.wait()?;
    taken
}

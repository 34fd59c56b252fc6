//! `cargo xtask ui`: the page alone, with all set-up: types, lint, tests, build, and a look in Chromium. With `--dev` it is
//! shown in a browser, on the real desk in a world of its own, until it is interrupted.

use anyhow::{Result, ensure};

use super::test;
use crate::count::Tests;
use crate::packages::{self, CHROMIUM, FONTS, KEYRING, NPM, SESSION_BUS, WEBVIEW};
use crate::steps::Steps;
use crate::ui;

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let develop = rest == ["--dev"];
    ensure!(
        rest.is_empty() || develop,
        "`cargo xtask ui` takes only `--dev`; `npm run` in ui/ has each part"
    );
    let mut steps = Steps::default();
    let mut tests = Tests::default();
    steps.run("set-up", || {
        packages::ensure(&[NPM, CHROMIUM, FONTS, SESSION_BUS, KEYRING, WEBVIEW])?;
        ui::install()
    });
    steps.run("page: build", ui::build);
    if !steps.run("world of the page: build", ui::build_world) {
        return Ok(test::close(&steps, None));
    }
    if develop {
        ui::script("dev")?;
        return Ok(true);
    }
    test::test_page(&mut steps, &mut tests);
    Ok(test::close(&steps, Some(tests)))
}

//! `cargo xtask ui`: the page alone, with all set-up: types, lint, tests, build, and a look in Chromium.

use anyhow::{Result, ensure};

use super::test;
use crate::count::Tests;
use crate::packages::{self, CHROMIUM, FONTS, NPM};
use crate::steps::Steps;
use crate::ui;

pub(super) fn run(rest: &[String]) -> Result<bool> {
    ensure!(rest.is_empty(), "`cargo xtask ui` takes no words; `npm run` in ui/ has each part");
    let mut steps = Steps::default();
    let mut tests = Tests::default();
    steps.run("set-up", || {
        packages::ensure(&[NPM, CHROMIUM, FONTS])?;
        ui::install()
    });
    steps.run("page: build", ui::build);
    test::test_page(&mut steps, &mut tests);
    Ok(test::close(&steps, Some(tests)))
}

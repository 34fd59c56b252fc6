//! `cargo xtask setup`: what the tests need, without running them; for people who then call cargo themselves.

use anyhow::Result;

use super::test;
use crate::steps::Steps;

pub(super) fn run() -> Result<bool> {
    let mut steps = Steps::default();
    steps.run("set-up", test::set_up);
    Ok(steps.summary())
}

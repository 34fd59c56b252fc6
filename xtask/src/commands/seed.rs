//! `cargo xtask seed-history`: a made-up history in a new home, for pictures and measurements.

use anyhow::Result;

use crate::shell::{cargo, run as go};

pub(super) fn run(rest: &[String]) -> Result<bool> {
    // A library makes it, so that tests can too; this only starts it.
    let mut make = cargo(&["run", "--quiet", "--release", "--package", "callgate-seed"]);
    make.args(["--example", "seed_history", "--"]).args(rest);
    go(make)?;
    Ok(true)
}

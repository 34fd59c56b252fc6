//! `cargo xtask run`: the main job with all set-up. For now: build, then the demo.

use anyhow::Result;

use crate::packages::{self, C_COMPILER};
use crate::project;
use crate::shell::{cargo, command, run as go};

pub(super) fn run(rest: &[String]) -> Result<bool> {
    packages::ensure(&[C_COMPILER])?;
    go(cargo(&["build", "--release", "--package", "callgate"]))?;
    let words: Vec<&str> =
        if rest.is_empty() { vec!["demo"] } else { rest.iter().map(String::as_str).collect() };
    go(command(project::built("release", "callgate"), &words))?;
    Ok(true)
}

//! `cargo xtask ci`: what has to hold before a change lands. All of `cargo xtask test`, and the checks before it.

use anyhow::{Result, bail, ensure};

use super::test::{self, Lints};
use crate::elsewhere::{MACOS, WINDOWS};
use crate::shell::{cargo, run as go, works};
use crate::steps::{NotHere, Steps};

pub(super) fn run(rest: &[String]) -> Result<bool> {
    ensure!(rest.is_empty(), "`cargo xtask ci` takes no words; `cargo xtask test WORDS…` chooses tests");
    let mut steps = Steps::default();
    if !test::ready(&mut steps) {
        return Ok(test::close(&steps, None));
    }
    steps.run("format", || go(cargo(&["fmt", "--all", "--check"])));
    steps.run("licences, sources, bans", dependencies);
    steps.run("advisories", advisories);
    for system in [WINDOWS, MACOS] {
        steps.run(&format!("check for {}", system.name), || system.check());
    }
    let tests = test::test(&mut steps, &[], Lints::Deny);
    Ok(test::close(&steps, tests))
}

fn dependencies() -> Result<()> {
    needs_deny()?;
    go(cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"]))
}

/// Known faults of dependencies, which change without any change of ours and are asked for over the network.
fn advisories() -> Result<()> {
    needs_deny()?;
    if !works("cargo-deny", &["--workspace", "fetch", "db"]) {
        bail!(NotHere("the advisory database cannot be fetched from here; the workflow looks".into()));
    }
    go(cargo(&["deny", "--workspace", "check", "advisories"]))
}

fn needs_deny() -> Result<()> {
    if !works("cargo-deny", &["--version"]) {
        bail!(NotHere(
            "no cargo-deny (`cargo install cargo-deny --locked` brings it); the workflow runs it".into()
        ));
    }
    Ok(())
}

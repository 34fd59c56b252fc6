//! `cargo xtask ci`: what has to hold before a change lands. All of `cargo xtask test`, and the checks before it.

use anyhow::{Result, bail, ensure};

use super::{real_clients, test};
use crate::packages::{self, WINDOWS_COMPILER};
use crate::shell::{cargo, command, run as go, works};
use crate::steps::{NotHere, Steps};

const WINDOWS: &str = "x86_64-pc-windows-gnu";

pub(super) fn run(rest: &[String]) -> Result<bool> {
    ensure!(rest.is_empty(), "`cargo xtask ci` takes no words; `cargo xtask test WORDS…` chooses tests");
    let mut steps = Steps::default();
    if !test::ready(&mut steps) {
        return Ok(test::close(&steps, None));
    }
    steps.run("format", || go(cargo(&["fmt", "--all", "--check"])));
    steps.run("clippy", clippy);
    steps.run("licences, sources, bans", dependencies);
    steps.run("advisories", advisories);
    steps.run("check for Windows", check_for_windows);
    let tests = test::test(&mut steps, &[]);
    Ok(test::close(&steps, tests))
}

/// Also what is not run here.
fn clippy() -> Result<()> {
    let features = ["--features", real_clients::FEATURES];
    let scope = ["clippy", "--workspace", "--all-targets"];
    go(cargo(&[&scope[..], &features, &["--", "--deny", "warnings"]].concat()))
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

/// Types only: proves that the product compiles for Windows, not that it runs there.
fn check_for_windows() -> Result<()> {
    if !works("rustup", &["--version"]) {
        bail!(NotHere(format!("no rustup, so the standard library for {WINDOWS} cannot be had")));
    }
    if let Err(error) = go(command("rustup", &["target", "add", WINDOWS])) {
        bail!(NotHere(format!("the standard library for {WINDOWS} cannot be had: {error:#}")));
    }
    if let Err(error) = packages::ensure(&[WINDOWS_COMPILER]) {
        bail!(NotHere(format!("SQLite cannot be compiled for Windows: {error:#}")));
    }
    go(cargo(&["check", "--package", "callgate", "--target", WINDOWS]))
}

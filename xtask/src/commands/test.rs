//! `cargo xtask test`: all tests with all set-up.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{fuzz, real_clients};
use crate::count::{self, Tests};
use crate::packages::{
    self, C_COMPILER, CHROMIUM, CPP_COMPILER, FONTS, KEYRING, NPM, Need, PYTHON, SESSION_BUS,
    VIRTUAL_DISPLAY, WEBDRIVER, WEBVIEW,
};
use crate::shell::{cargo, run as go, works};
use crate::steps::Steps;
use crate::{packaged, project, servers, ui};

/// The tests stop the gate at labelled points, which only a build for tests can do. One set of features for
/// everything, so that nothing is compiled twice.
pub(crate) const FEATURES: &str = "callgate/failpoints";

/// Every ending of every browser server: minutes, and the table of docs/supervision.md.
const SUPERVISION: &str = "supervision";
const WHOLE_TABLE: [&str; 6] =
    ["--test", "browser_endings", "--run-ignored", "all", "--success-output", "immediate"];

pub(super) fn run(rest: &[String]) -> Result<bool> {
    if let Some(words) = real_clients::asked_for(rest) {
        return real_clients::run(&words);
    }
    let mut steps = Steps::default();
    if !ready(&mut steps) {
        return Ok(close(&steps, None));
    }
    let tests = test(&mut steps, rest);
    Ok(close(&steps, tests))
}

/// On every system.
const NEEDS: [Need; 4] = [C_COMPILER, CPP_COMPILER, NPM, PYTHON];

/// What the app is compiled against, what shows and drives it without a person, and a keychain.
const NEEDS_ON_LINUX: [Need; 7] =
    [WEBVIEW, VIRTUAL_DISPLAY, SESSION_BUS, KEYRING, WEBDRIVER, CHROMIUM, FONTS];

/// System packages, the real servers that the tests run, and the page's packages.
pub(super) fn set_up() -> Result<()> {
    let linux: &[Need] = if cfg!(target_os = "linux") { &NEEDS_ON_LINUX } else { &[] };
    packages::ensure(&[&NEEDS, linux].concat())?;
    servers::install()?;
    ui::install()
}

/// What everything else stands on: the page has to be there before the app that embeds it can even be checked.
pub(super) fn ready(steps: &mut Steps) -> bool {
    steps.run("set-up", set_up) && steps.run("page: build", ui::build)
}

/// Everything that is a test. With words, only the tests that they choose, and nothing else.
/// Gives what the tests counted, or nothing when they could not be run.
pub(super) fn test(steps: &mut Steps, words: &[String]) -> Option<Tests> {
    let all = words.is_empty();
    let mut tests = Tests::default();
    if !steps.run("build", build) {
        return None;
    }
    if all {
        test_page(steps, &mut tests);
        steps.run("fuzz", || fuzz::each_target(fuzz::Extent::Fixed));
        steps.run("doc tests", doc_tests);
    }
    drop(fs::remove_file(not_here()));
    steps.run("tests", || counted(runner(&["--workspace", "--features", FEATURES], words), &mut tests));
    for line in fs::read_to_string(not_here()).unwrap_or_default().lines() {
        let (name, why) = line.split_once(": ").unwrap_or((line, ""));
        steps.not_here(name, why);
    }
    if all {
        steps.run("package", || packaged::check(kept));
    }
    Some(tests)
}

/// Everything that is a test of the page.
pub(super) fn test_page(steps: &mut Steps, tests: &mut Tests) {
    steps.run("page: types", || ui::script("check"));
    steps.run("page: lint", || ui::script("lint"));
    steps.run("page: tests", || counted(ui::npm("test"), tests));
    steps.run("page: in Chromium", || counted(ui::npm("e2e"), tests));
}

/// Runs a test runner and adds what it counted.
pub(super) fn counted(runner: Command, tests: &mut Tests) -> Result<()> {
    let (status, found) = count::run(runner)?;
    let passed = found.passed;
    tests.add(found);
    ensure!(status.success(), "the tests failed ({status})");
    ensure!(passed > 0, "no test was run");
    Ok(())
}

/// So many of the slowest tests are named.
const SLOWEST: usize = 20;

/// The slowest tests, the summary, and as the last line what the tests counted.
pub(super) fn close(steps: &Steps, tests: Option<Tests>) -> bool {
    let slowest = tests.as_ref().map(|tests| tests.slowest(SLOWEST)).unwrap_or_default();
    if !slowest.is_empty() {
        println!("\nThe slowest of the tests\n{}", slowest.join("\n"));
    }
    let good = steps.summary();
    match tests {
        Some(tests) => println!("\n{}", tests.line()),
        None => println!("\nthe tests were not run"),
    }
    good
}

/// What the tests drive.
pub(super) const PROGRAMS: [&str; 3] = ["callgate", "callgate-cli", "callgate-app"];

/// Builds what the tests drive, and puts it where no other build replaces it: side by side, as they are installed.
pub(super) fn build() -> Result<()> {
    go(cargo(&["build", "--workspace", "--all-targets", "--features", FEATURES]))?;
    PROGRAMS.into_iter().try_for_each(keep)
}

/// Puts a program that was just built where the tests look for it.
pub(super) fn keep(name: &str) -> Result<()> {
    let (built, kept) = (project::built("debug", name), kept(name));
    let folder = kept.parent().context("a built program lies nowhere")?;
    fs::create_dir_all(folder)?;
    // A copy over a program that still runs fails; a new file in its place does not.
    let fresh = folder.join("fresh");
    fs::copy(&built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(fs::rename(&fresh, &kept)?)
}

pub(super) fn kept(name: &str) -> PathBuf {
    project::built("callgate-for-tests", name)
}

/// Where a test that cannot be tried on this machine says so: `tests/src/not_here.rs`.
fn not_here() -> PathBuf {
    project::target().join("not-here")
}

/// The test runner for what `scope` says to cargo; with words, for the tests that they choose.
pub(super) fn runner(scope: &[&str], words: &[String]) -> Command {
    let mut runner = if works("cargo-nextest", &["nextest", "--version"]) {
        let settings = ["--config-file", "xtask/nextest.toml", "--no-fail-fast"];
        cargo(&[&["nextest", "run"], &settings[..], scope].concat())
    } else {
        println!("cargo-nextest is not installed: cargo's own test runner takes its place");
        // As nextest does it: no examples in comments, which are a step of their own.
        let targets: &[&str] = if scope.contains(&"--test") { &[] } else { &["--all-targets"] };
        cargo(&[&["test", "--no-fail-fast"], targets, scope].concat())
    };
    match words {
        [word] if word == SUPERVISION => runner.args(WHOLE_TABLE),
        _ => runner.args(words),
    };
    runner.env("CALLGATE_BIN", kept("callgate")).env("CALLGATE_APP_BIN", kept("callgate-app"));
    runner.env("CALLGATE_TEST_SERVERS", project::servers()).env("CALLGATE_NOT_HERE", not_here());
    if std::env::var_os("CI").is_some() {
        // Whether a change lands must not hang on luck; at home every run of the property tests tries something new.
        runner.env("PROPTEST_RNG_SEED", "20261116");
    }
    runner
}

/// nextest leaves examples in comments out, so they have a step of their own, if there are any.
fn doc_tests() -> Result<()> {
    if !any_doc_test(&project::root().join("crates"))? {
        println!("no examples in doc comments");
        return Ok(());
    }
    go(cargo(&["test", "--doc", "--workspace", "--features", FEATURES]))
}

/// Opens and closes of code blocks that rustdoc would run: bare, or marked as Rust.
fn any_doc_test(folder: &Path) -> Result<bool> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let found = if path.is_dir() {
            any_doc_test(&path)?
        } else if path.extension() == Some(OsStr::new("rs")) {
            has_example(&fs::read_to_string(&path)?)
        } else {
            false
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_example(source: &str) -> bool {
    let comments = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let mut fences = comments.filter_map(|line| line.trim().strip_prefix("```"));
    // Every second fence closes a block.
    std::iter::from_fn(|| {
        let open = fences.next()?;
        fences.next();
        Some(open)
    })
    .any(|kind| kind.is_empty() || kind.starts_with("rust") || kind.starts_with("should_panic"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_rustdoc_runs_are_examples() {
        assert!(has_example("/// Adds.\n/// ```\n/// assert!(true);\n/// ```\n"));
        assert!(!has_example("//! ```text\n//! a picture\n//! ```\n"));
        assert!(!has_example("let fence = \"```\";\n"));
    }
}

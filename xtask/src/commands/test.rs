//! `cargo xtask test`: all tests with all set-up.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context, Result, ensure};

use super::fuzz;
use crate::count::{self, Tests};
use crate::packages::{self, C_COMPILER, CPP_COMPILER, NPM, PYTHON};
use crate::shell::{cargo, run as go, works};
use crate::steps::Steps;
use crate::{project, servers};

/// The tests stop the gate at labelled points, which only a build for tests can do. One set of features for
/// everything, so that nothing is compiled twice.
pub(super) const FEATURES: &str = "callgate/failpoints";

/// Seconds for each fuzz target: enough to meet the corpus and some way beyond.
const FUZZ_SECONDS: u32 = 15;

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let mut steps = Steps::default();
    steps.run("set-up", set_up);
    let tests = test(&mut steps, rest);
    Ok(close(&steps, tests))
}

/// System packages, and the real servers that the tests run.
pub(super) fn set_up() -> Result<()> {
    packages::ensure(&[C_COMPILER, CPP_COMPILER, NPM, PYTHON])?;
    servers::install()
}

/// Everything that is a test. With words, only the tests that they choose, and nothing else.
/// Gives what the tests counted, or nothing when they could not be run.
pub(super) fn test(steps: &mut Steps, words: &[String]) -> Option<Tests> {
    if words.is_empty() {
        steps.run("fuzz", || fuzz::each_target(FUZZ_SECONDS));
        steps.run("doc tests", doc_tests);
    }
    let mut counted = None;
    steps.run("tests", || {
        let gate = build_gate()?;
        let (status, tests) = run_tests(&gate, words)?;
        counted = Some(tests);
        ensure!(status.success(), "the tests failed ({status})");
        ensure!(tests.passed > 0, "no test was run");
        Ok(())
    });
    counted
}

/// The summary, and as the last line what the tests counted.
pub(super) fn close(steps: &Steps, tests: Option<Tests>) -> bool {
    let good = steps.summary();
    match tests {
        Some(tests) => println!("\n{}", tests.line()),
        None => println!("\nthe tests were not run"),
    }
    good
}

/// Builds what the tests drive, and puts it where no other build replaces it.
fn build_gate() -> Result<PathBuf> {
    go(cargo(&["build", "--workspace", "--all-targets", "--features", FEATURES]))?;
    let built = project::built("debug", "callgate");
    let name = built.file_name().context("the built program has no name")?;
    let folder = project::target().join("callgate-for-tests");
    fs::create_dir_all(&folder)?;
    let kept = folder.join(name);
    // A copy over a program that still runs fails; a new file in its place does not.
    let fresh = folder.join("fresh");
    fs::copy(&built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&fresh, &kept)?;
    Ok(kept)
}

fn run_tests(gate: &Path, words: &[String]) -> Result<(ExitStatus, Tests)> {
    let scope = ["--workspace", "--features", FEATURES];
    let mut runner = if works("cargo-nextest", &["nextest", "--version"]) {
        let settings = ["--config-file", "xtask/nextest.toml", "--no-fail-fast"];
        cargo(&[&["nextest", "run"], &settings[..], &scope].concat())
    } else {
        println!("cargo-nextest is not installed: cargo's own test runner takes its place");
        cargo(&[&["test", "--no-fail-fast", "--all-targets"], &scope[..]].concat())
    };
    runner.args(words);
    runner.env("CALLGATE_BIN", gate).env("CALLGATE_TEST_SERVERS", project::servers());
    if std::env::var_os("CI").is_some() {
        // Whether a change lands must not hang on luck; at home every run of the property tests tries something new.
        runner.env("PROPTEST_RNG_SEED", "20261116");
    }
    count::run(runner)
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

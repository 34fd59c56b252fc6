//! `cargo xtask test --real-clients`: tests with large published clients. A command of its own, because they are 1.4 GB and
//! change every day: whether a change of ours lands must not hang on them.

use anyhow::{Result, ensure};

use super::test;
use crate::count::Tests;
use crate::packages::{self, C_COMPILER, NPM};
use crate::servers;
use crate::shell::{cargo, run as go};
use crate::steps::Steps;

const FLAG: &str = "--real-clients";

/// Their tests are not even built without the last of these.
pub(super) const FEATURES: &str = "callgate/failpoints,callgate-tests/real-clients";

/// The gate and the tests; the app is not needed.
const PACKAGES: [&str; 8] = [
    "--package",
    "callgate",
    "--package",
    "callgate-cli",
    "--package",
    "callgate-tests",
    "--features",
    FEATURES,
];

/// The other words, if the flag is among them.
pub(super) fn asked_for(words: &[String]) -> Option<Vec<String>> {
    let others: Vec<_> = words.iter().filter(|word| *word != FLAG).cloned().collect();
    (others.len() < words.len()).then_some(others)
}

pub(super) fn run(words: &[String]) -> Result<bool> {
    let mut steps = Steps::default();
    let mut tests = Tests::default();
    if !steps.run("set-up", set_up) || !steps.run("build", build) {
        return Ok(test::close(&steps, None));
    }
    let scope = [&PACKAGES[..], &["--test", "real_clients"]].concat();
    steps.run("real clients", || test::counted(test::runner(&scope, words), &mut tests));
    Ok(test::close(&steps, Some(tests)))
}

fn set_up() -> Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "these clients are tried on Linux on x86-64 only"
    );
    packages::ensure(&[C_COMPILER, NPM])?;
    servers::install_real_clients()
}

fn build() -> Result<()> {
    go(cargo(&[&["build", "--all-targets"], &PACKAGES[..]].concat()))?;
    ["callgate", "callgate-cli"].into_iter().try_for_each(test::keep)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_taken_off_wherever_it_stands_and_the_other_words_stay() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(asked_for(&words(&["codex", FLAG, "gemini"])), Some(words(&["codex", "gemini"])));
        assert_eq!(asked_for(&words(&[FLAG])), Some(Vec::new()));
        assert_eq!(asked_for(&words(&["codex"])), None);
    }
}

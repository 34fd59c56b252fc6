//! Playwright's own test runner, from npm: what it makes of a test file.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::installed::installed;

/// Debian's browser, or whatever `CHROME_EXECUTABLE_PATH` names.
///
/// # Panics
/// If there is none: a test that skipped itself would look like one that passed.
pub fn chromium() -> PathBuf {
    let named = std::env::var_os("CHROME_EXECUTABLE_PATH").map(PathBuf::from);
    let path = named.unwrap_or_else(|| PathBuf::from("/usr/bin/chromium"));
    assert!(path.exists(), "{} is missing: install chromium", path.display());
    path
}

/// A project around one test file, in a folder of the caller's.
#[derive(Debug)]
pub struct Project<'p> {
    folder: &'p Path,
}

impl<'p> Project<'p> {
    pub fn around(folder: &'p Path, test: &str) -> anyhow::Result<Project<'p>> {
        std::fs::create_dir_all(folder)?;
        std::os::unix::fs::symlink(installed("node").join("node_modules"), folder.join("node_modules"))?;
        let browser = serde_json::to_string(&chromium())?;
        let config = format!(
            "module.exports = {{ testDir: '.', reporter: 'line', timeout: 60000, workers: 1,\n  \
             use: {{ launchOptions: {{ executablePath: {browser}, args: ['--no-sandbox'] }} }} }};\n"
        );
        std::fs::write(folder.join("playwright.config.js"), config)?;
        std::fs::write(folder.join("exported.spec.ts"), test)?;
        Ok(Project { folder })
    }

    /// The tests that it finds; an error with its words if it cannot read the file.
    pub fn list(&self) -> anyhow::Result<String> {
        said(&self.command(&["--list"]).output()?)
    }

    /// TypeScript's own strict reading of the test; an error with its words.
    pub fn compile(&self) -> anyhow::Result<()> {
        let mut command = Command::new("node");
        command.arg(installed("node").join("node_modules/typescript/bin/tsc"));
        command.args([
            "--strict",
            "--noEmit",
            "--skipLibCheck",
            "--target",
            "es2022",
            "--module",
            "nodenext",
        ]);
        command.args(["--types", "node", "--ignoreConfig", "exported.spec.ts"]).current_dir(self.folder);
        said(&command.output()?).map(drop)
    }

    /// Runs them, with these variables.
    pub fn run(&self, variables: &[(&str, &str)]) -> anyhow::Result<String> {
        said(&self.command(&[]).envs(variables.iter().copied()).output()?)
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new("node");
        command.arg(installed("node").join("node_modules/@playwright/test/cli.js")).arg("test").args(more);
        command.current_dir(self.folder).env("CI", "1");
        command
    }
}

fn said(output: &Output) -> anyhow::Result<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Ok(text)
}

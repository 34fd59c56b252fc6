//! The .deb and the .rpm, from programs that are already built.
//!
//! Tauri's bundler takes what it packs from cargo's target folder. It is given a folder of its own with copies:
//! a debug build is stripped first, and the tests pack what no other build replaces.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::shell::{command, run};
use crate::{npm, project};

/// Which build goes into the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    Release,
    Debug,
}

impl Build {
    /// cargo's folder for it.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Build::Release => "release",
            Build::Debug => "debug",
        }
    }
}

/// The programs of the package, built and in one folder.
pub(crate) const PROGRAMS: [&str; 3] = ["callgate-app", "callgate", "callgate-cli"];

/// Where packages are made.
pub(crate) fn folder() -> PathBuf {
    project::target().join("package")
}

/// Installs the bundler.
pub(crate) fn set_up() -> Result<()> {
    npm::install_into(&folder().join("bundler"), &project::root().join("packaging"))
        .context("the bundler is not to be had")
}

/// Copies the programs to where they are packed from.
pub(crate) fn stage(build: Build, from: impl Fn(&str) -> PathBuf) -> Result<()> {
    let stage = folder().join(build.folder());
    fs::create_dir_all(&stage)?;
    for name in PROGRAMS {
        let (built, staged) = (from(name), stage.join(name));
        fs::copy(&built, &staged).with_context(|| format!("cannot copy {}", built.display()))?;
        if build == Build::Debug {
            run(command("strip", &["--strip-debug", &staged.to_string_lossy()]))?;
        }
    }
    Ok(())
}

/// Packs what was staged, and gives the packages.
pub(crate) fn pack(build: Build, kinds: &[&str], version: Option<&str>) -> Result<Vec<PathBuf>> {
    let made = folder().join(build.folder()).join("bundle");
    // What is there afterwards was made by this run.
    if made.exists() {
        fs::remove_dir_all(&made)?;
    }
    let cli = folder().join("bundler/node_modules/@tauri-apps/cli/tauri.js");
    let mut bundler = command("node", &[&cli.to_string_lossy(), "bundle", "--ci", "--no-binary-patching"]);
    bundler.args(["--bundles", &kinds.join(","), "--config", &config(build, version)]);
    if build == Build::Debug {
        bundler.arg("--debug");
    }
    bundler.env("CARGO_TARGET_DIR", folder());
    run(bundler)?;
    let packages = kinds.iter().map(|kind| package(&made.join(kind), kind)).collect::<Result<Vec<_>>>()?;
    Ok(packages)
}

/// The one file of its kind.
fn package(folder: &Path, kind: &str) -> Result<PathBuf> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("the bundler made no {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == kind) {
            found.push(path);
        }
    }
    ensure!(found.len() == 1, "{} holds {} packages instead of one", folder.display(), found.len());
    Ok(found.remove(0))
}

/// The part of the app's configuration that only we know: where the gate and its partner lie, and another version for tests.
fn config(build: Build, version: Option<&str>) -> String {
    let staged = |name| format!("{:?}", folder().join(build.folder()).join(name).to_string_lossy());
    let files = ["callgate-cli", "callgate"].map(|name| format!(r#""/usr/bin/{name}": {}"#, staged(name)));
    let files = format!(r#"{{ "files": {{ {} }} }}"#, files.join(", "));
    let version = version.map_or_else(String::new, |version| format!(r#""version": "{version}", "#));
    format!(r#"{{ {version}"bundle": {{ "linux": {{ "deb": {files}, "rpm": {files} }} }} }}"#)
}

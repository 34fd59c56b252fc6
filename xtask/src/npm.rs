//! Packages from npm, to the exact version of a `package-lock.json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::shell::{command, run};

/// Installs what a folder's own lock file lists. No package gets to run a script of its own.
pub(crate) fn install(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let modules = folder.join("node_modules");
    if is_current(&modules, &lock)? {
        println!("npm packages of {} are current", name(folder));
        return Ok(());
    }
    let mut npm = command("npm", &["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    npm.current_dir(folder);
    run(npm)?;
    fs::create_dir_all(&modules)?;
    mark_current(&modules, &lock)
}

/// Installs what `wanted` lists into a folder of its own, where it does not lie among the sources.
pub(crate) fn install_into(folder: &Path, wanted: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for name in ["package.json", "package-lock.json"] {
        let from = wanted.join(name);
        fs::copy(&from, folder.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    install(folder)
}

/// What was installed last is kept as a copy of the list it came from.
pub(crate) fn is_current(folder: &Path, list: &Path) -> Result<bool> {
    let wanted = fs::read(list).with_context(|| format!("cannot read {}", list.display()))?;
    Ok(fs::read(folder.join(".installed")).is_ok_and(|installed| installed == wanted))
}

pub(crate) fn mark_current(folder: &Path, list: &Path) -> Result<()> {
    fs::copy(list, folder.join(".installed")).context("cannot write down what was installed")?;
    Ok(())
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

//! The real MCP servers and clients that the tests run, from npm and PyPI, installed below `target/servers`.
//!
//! What is installed is written down in `tests/servers`, to the exact version: `node/package-lock.json` (servers),
//! `clients-node/package-lock.json` (clients), and `python/requirements-X.txt`. Each of the last gets an environment `pyX` of
//! its own, because two major versions of the SDK cannot live in one. The clients of `real-clients/package-lock.json` are
//! large, so they come only when asked for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::npm::{self, is_current, mark_current};
use crate::project;
use crate::shell::{command, run};

/// Installs what is missing or out of date.
pub(crate) fn install() -> Result<()> {
    install_node("node")?;
    install_node("clients-node")?;
    let lists = wanted().join("python");
    let python = requirements(&lists)?;
    ensure!(!python.is_empty(), "{} has no requirements-X.txt", lists.display());
    for file in python {
        install_python(&file).context("the servers and clients from PyPI are not to be had")?;
    }
    Ok(())
}

/// The large clients, and the one server that they start.
pub(crate) fn install_real_clients() -> Result<()> {
    install_node("node")?;
    install_node("real-clients")
}

fn wanted() -> PathBuf {
    project::root().join("tests/servers")
}

fn install_node(name: &str) -> Result<()> {
    npm::install_into(&project::servers().join(name), &wanted().join(name))
        .with_context(|| format!("what tests/servers/{name} lists is not to be had from npm"))
}

fn install_python(requirements: &Path) -> Result<()> {
    let name = requirements.file_stem().unwrap_or_default().to_string_lossy();
    let folder = project::servers().join(name.replacen("requirements-", "py", 1));
    if is_current(&folder, requirements)? {
        println!("PyPI packages of {name}.txt are current");
        return Ok(());
    }
    let shown = folder.to_string_lossy();
    run(command("python3", &["-m", "venv", "--clear", &shown]))?;
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let file = requirements.to_string_lossy();
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", &file];
    run(command(python, &pip))?;
    mark_current(&folder, requirements)
}

fn requirements(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("requirements-") && name.ends_with(".txt") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

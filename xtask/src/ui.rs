//! The page in the window: packages, checks, and the built page that the app embeds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::commands::FEATURES;
use crate::shell::{cargo, command, run};
use crate::{npm, project};

/// What npm and the build write, which is no source.
const MADE: [&str; 3] = ["node_modules", "dist", "out"];

pub(crate) fn folder() -> PathBuf {
    project::root().join("ui")
}

pub(crate) fn install() -> Result<()> {
    npm::install(&folder()).context("the page's packages are not to be had")
}

/// Builds `ui/dist`, unless nothing has changed since: an untouched page keeps the app from being compiled again.
pub(crate) fn build() -> Result<()> {
    let dist = folder().join("dist/index.html");
    let built = dist.metadata().and_then(|about| about.modified()).ok();
    if built.is_some_and(|built| newest(&folder()).is_ok_and(|source| source < built)) {
        println!("the page is current");
        return Ok(());
    }
    script("build")
}

/// What a world of the page is made of: the bridge to the real desk, the gate, and a client that stands in for a real one.
const WORLD: [(&str, &str); 3] = [
    ("CALLGATE_BRIDGE", "callgate-bridge"),
    ("CALLGATE_BIN", "callgate"),
    ("CALLGATE_CLIENT", "claude-stand-in"),
];

/// Builds that, for who does not build everything.
pub(crate) fn build_world() -> Result<()> {
    let packages =
        ["callgate-bridge", "callgate", "callgate-cli", "callgate-app-tests"].map(|name| ["--package", name]);
    run(cargo(&[&["build", "--features", FEATURES], packages.as_flattened()].concat()))
}

/// Runs one of the scripts in `ui/package.json` to its end.
pub(crate) fn script(name: &str) -> Result<()> {
    run(npm(name))
}

/// One of the scripts in `ui/package.json`.
pub(crate) fn npm(name: &str) -> Command {
    let mut npm = command("npm", &["run", "--silent", name]);
    // Its lines are read by us as well.
    npm.current_dir(folder()).env("NO_COLOR", "1");
    npm.envs(WORLD.map(|(variable, name)| (variable, project::built("debug", name))));
    npm
}

/// When something below was written last.
fn newest(folder: &Path) -> Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        if MADE.iter().any(|made| entry.file_name() == *made) {
            continue;
        }
        // A folder's own time tells of files that are gone.
        newest = newest.max(about.modified()?);
        if about.is_dir() {
            newest = newest.max(self::newest(&entry.path())?);
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use std::time::Duration;

    use super::*;

    #[test]
    fn what_the_build_writes_is_not_a_change() {
        let folder = project::target().join("tmp/newest");
        drop(fs::remove_dir_all(&folder));
        for name in ["src/deep/page.ts", "dist/index.html", "node_modules/x.js"] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
        }
        let before = newest(&folder).unwrap();
        let later = before + Duration::from_secs(60);
        let touch = |name: &str| fs::File::open(folder.join(name)).unwrap().set_modified(later).unwrap();
        touch("dist/index.html");
        touch("node_modules/x.js");
        assert_eq!(newest(&folder).unwrap(), before);
        touch("src/deep/page.ts");
        assert_eq!(newest(&folder).unwrap(), later);
    }
}

//! `cargo xtask bundle [--debug]`: the .deb and the .rpm. `cargo xtask bundle --try`: a debug .deb, taken through its life.

use anyhow::{Result, bail};

use super::test;
use crate::bundle::{self, Build};
use crate::steps::{NotHere, Steps};
use crate::{app, packaged, project};

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let (build, attempt) = match words[..] {
        [] => (Build::Release, false),
        ["--debug"] => (Build::Debug, false),
        ["--try"] => (Build::Debug, true),
        _ => bail!("usage: cargo xtask bundle [--debug | --try]"),
    };
    let mut steps = Steps::default();
    let ready = steps.run("set-up", || {
        if !cfg!(target_os = "linux") {
            bail!(NotHere("packages are made for Linux so far".into()));
        }
        app::prepare()?;
        bundle::set_up()
    });
    let built = ready && steps.run("programs", || programs(build));
    if built && attempt {
        steps.run("package", || packaged::check(test::kept));
    } else if built {
        steps.run("packages", || packages(build));
    }
    Ok(steps.summary())
}

fn programs(build: Build) -> Result<()> {
    match build {
        Build::Release => app::build(app::RELEASE),
        Build::Debug => test::build(),
    }
}

fn packages(build: Build) -> Result<()> {
    match build {
        Build::Release => bundle::stage(build, |name| project::built(build.folder(), name))?,
        Build::Debug => bundle::stage(build, test::kept)?,
    }
    for package in bundle::pack(build, &["deb", "rpm"], None)? {
        println!("{:>6.1} MB  {}", package.metadata()?.len() as f64 / 1e6, package.display());
    }
    Ok(())
}

//! `cargo xtask fuzz [--seconds N]`: a short run of each fuzz target, on the stable toolchain.
//!
//! By hand a run explores: it starts from what earlier ones found, and no two are alike. Before a change lands it takes the same
//! inputs each time: what it finds, that change brought.
//!
//! libFuzzer needs only the compiler's coverage marks, which stable can set; the sanitizers, which it cannot,
//! would find little in code that has no `unsafe`. See fuzz/README.md.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::packages::{self, C_COMPILER, CPP_COMPILER};
use crate::project;
use crate::shell::{self, cargo, command, run as go};
use crate::steps::Steps;

/// Coverage marks for libFuzzer. What is checked while fuzzing stands in the profile of fuzz/Cargo.toml.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Ccodegen-units=1";

/// How far a target is run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    Seconds(u32),
    /// The same inputs each time, from the checked-in seeds on.
    Fixed,
}

/// Of a fixed run: enough to meet the seeds and some way beyond, in some seconds on any machine.
const RUNS: u32 = 200_000;
const SEED: u32 = 20_261_118;

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let seconds = match words[..] {
        [] => 15,
        ["--seconds", number] => number.parse().context("--seconds needs a number")?,
        _ => bail!("usage: cargo xtask fuzz [--seconds N]"),
    };
    let mut steps = Steps::default();
    steps.run("set-up", || packages::ensure(&[C_COMPILER, CPP_COMPILER]));
    steps.run("fuzz", || each_target(Extent::Seconds(seconds)));
    Ok(steps.summary())
}

/// Builds all targets, then runs each so far; the first input that breaks one is kept and named.
pub(super) fn each_target(extent: Extent) -> Result<()> {
    let folder = project::root().join("fuzz");
    let targets = targets(&folder)?;
    ensure!(!targets.is_empty(), "{} has no targets", folder.display());
    let host = host()?;
    let built = project::target().join("fuzz");
    // Naming the host as the target keeps the marks out of build scripts, which could not be linked with them.
    let mut build = cargo(&["build", "--release", "--bins", "--target", &host]);
    build.current_dir(&folder).env("RUSTFLAGS", RUSTFLAGS).env("CARGO_TARGET_DIR", &built);
    go(build)?;
    for target in &targets {
        let program = built.join(&host).join("release").join(target);
        go(fuzzer(&program, &folder, target, extent)?)
            .with_context(|| format!("{target}: the input that breaks it is in fuzz/artifacts/{target}"))?;
    }
    let how_far = match extent {
        Extent::Seconds(seconds) => format!("for {seconds} s"),
        Extent::Fixed => format!("with {RUNS} inputs"),
    };
    println!("fuzzed {how_far} each: {}", targets.join(", "));
    Ok(())
}

fn fuzzer(program: &Path, folder: &Path, target: &str, extent: Extent) -> Result<Command> {
    // libFuzzer writes what it finds into the first folder, and only reads the others.
    let broken = folder.join("artifacts").join(target);
    let found = match extent {
        Extent::Seconds(_) => folder.join("corpus").join(target),
        Extent::Fixed => {
            let fresh = project::target().join("fuzz").join("fixed").join(target);
            drop(fs::remove_dir_all(&fresh));
            fresh
        }
    };
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&broken)?;
    let mut fuzzer = command(program, &["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048"]);
    fuzzer.args(["-verbosity=0", "-print_funcs=0", "-print_final_stats=1"]);
    match extent {
        Extent::Seconds(seconds) => fuzzer.arg(format!("-max_total_time={seconds}")),
        // What it has found is not read again, which would be a matter of time.
        Extent::Fixed => fuzzer.args([&format!("-runs={RUNS}"), &format!("-seed={SEED}"), "-reload=0"]),
    };
    fuzzer.arg(format!("-artifact_prefix={}/", broken.display()));
    let words = folder.join(target).with_extension("dict");
    if words.is_file() {
        fuzzer.arg(format!("-dict={}", words.display()));
    }
    fuzzer.arg(found);
    let seeds = folder.join("seeds").join(target);
    if seeds.is_dir() {
        fuzzer.arg(seeds);
    }
    Ok(fuzzer)
}

/// One file a target.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let sources = folder.join("fuzz_targets");
    let entries = fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "rs") {
            names.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The platform that we are on, in the compiler's words.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = shell::command(rustc, &["-vV"]).output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&said.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}

//! The product for systems that this one is not: types and lints. Nothing is linked, and nothing is run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::packages::{self, Need, WINDOWS_COMPILER};
use crate::project;
use crate::shell::{cargo, command, run as go, works};
use crate::steps::NotHere;

/// Another system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) name: &'static str,
    target: &'static str,
    c: C,
}

/// How the C in it is compiled (SQLite), which cargo does before it looks at what is above.
#[derive(Clone, Copy, Debug)]
enum C {
    By(Need),
    /// Not at all, where a compiler with that system's headers cannot be had: it would be of use for linking only.
    StandIn,
}

pub(crate) const WINDOWS: Elsewhere =
    Elsewhere { name: "Windows", target: "x86_64-pc-windows-gnu", c: C::By(WINDOWS_COMPILER) };
pub(crate) const MACOS: Elsewhere =
    Elsewhere { name: "macOS", target: "aarch64-apple-darwin", c: C::StandIn };

impl Elsewhere {
    /// Proves that the gate and its partner compile there, not that it works there. The window is left to the workflow: it takes long.
    pub(crate) fn check(&self) -> Result<()> {
        let Elsewhere { name, target, c } = *self;
        if !works("rustup", &["--version"]) {
            bail!(NotHere(format!("no rustup, so the standard library for {target} cannot be had")));
        }
        if let Err(error) = go(command("rustup", &["target", "add", target])) {
            bail!(NotHere(format!("the standard library for {target} cannot be had: {error:#}")));
        }
        let scope = ["clippy", "--package", "callgate", "--package", "callgate-cli", "--target", target];
        let mut clippy = cargo(&[&scope[..], &["--", "--deny", "warnings"]].concat());
        match c {
            C::By(compiler) => {
                if let Err(error) = packages::ensure(&[compiler]) {
                    bail!(NotHere(format!("SQLite cannot be compiled for {name}: {error:#}")));
                }
            }
            C::StandIn => {
                if !works("sh", &["-c", "true"]) {
                    bail!(NotHere(format!("no shell, so nothing can stand in for a C compiler for {name}")));
                }
                let folder = project::target().join("stand-in");
                let program = stand_in(&folder)?;
                let suffix = target.replace('-', "_");
                clippy.env(format!("CC_{suffix}"), &program).env(format!("AR_{suffix}"), &program);
                // Else it is asked for with Apple's own tools.
                clippy.env("SDKROOT", &folder);
            }
        }
        go(clippy)
    }
}

/// Both `cc` and `ar`: whatever file is asked for is made, with nothing in it.
const STAND_IN: &str = r#"#!/bin/sh
before=
for word in "$@"; do
    case "$before $word" in
        "-o "* | *.a) : > "$word" ;;
    esac
    before=$word
done
"#;

fn stand_in(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let program = folder.join("cc-and-ar");
    fs::write(&program, STAND_IN).with_context(|| format!("cannot write {}", program.display()))?;
    let mut executable = command("chmod", &["755"]);
    executable.arg(&program);
    go(executable)?;
    Ok(program)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_for_a_compiler_makes_the_files_that_it_is_asked_for_and_no_others() {
        let folder = std::env::temp_dir().join(format!("callgate-stand-in-{}", std::process::id()));
        let program = stand_in(&folder).unwrap();
        let source = folder.join("a b.c");
        fs::write(&source, "int x;").unwrap();
        let (object, library) = (folder.join("a b.o"), folder.join("liba b.a"));

        let mut compile = command(&program, &["-O0", "-c"]);
        compile.arg("-o").args([&object, &source]);
        go(compile).unwrap();
        let mut archive = command(&program, &["cq"]);
        archive.args([&library, &object]);
        go(archive).unwrap();

        let mut there: Vec<_> = fs::read_dir(&folder).unwrap().map(|one| one.unwrap().file_name()).collect();
        there.sort();
        assert_eq!(there, ["a b.c", "a b.o", "cc-and-ar", "liba b.a"]);
        assert_eq!((fs::read(&object).unwrap(), fs::read(&library).unwrap()), (vec![], vec![]));
        assert_eq!(fs::read_to_string(&source).unwrap(), "int x;");
        fs::remove_dir_all(&folder).unwrap();
    }
}

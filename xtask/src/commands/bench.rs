//! `cargo xtask bench`: builds the release of Callgate and measures it against the byte relay.

use std::fs;

use anyhow::{Context, Result};

use crate::packages::{self, C_COMPILER};
use crate::project;
use crate::shell::{cargo, command, run as go, say};

const BEGIN: &str = "<!-- measured: begin (written by `cargo xtask bench --write`) -->";
const END: &str = "<!-- measured: end -->";

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let write = rest.iter().any(|word| word == "--write");
    packages::ensure(&[C_COMPILER])?;
    // Apart, so that no feature of one is switched on in the other.
    go(cargo(&["build", "--release", "--package", "callgate"]))?;
    go(cargo(&["build", "--release", "--package", "callgate-bench"]))?;
    go(cargo(&["build", "--release", "--package", "callgate-review", "--example", "review_time"]))?;

    let tables = project::target().join("bench.md");
    let mut driver = command(project::built("release", "callgate-bench"), &[]);
    driver.arg("--callgate").arg(project::built("release", "callgate")).arg("--out").arg(&tables);
    driver.arg("--review").arg(project::built("release/examples", "review_time"));
    driver.args(rest.iter().filter(|word| *word != "--write"));
    say(&driver);
    let status = driver.status().context("cannot start the bench")?;
    // 1: measured, but a budget is not kept. Then the tables are there and worth keeping.
    let measured = matches!(status.code(), Some(0 | 1));
    if write && measured {
        write_down(&fs::read_to_string(&tables)?)?;
    }
    Ok(status.success())
}

/// Replaces the marked part of the document.
fn write_down(tables: &str) -> Result<()> {
    let path = project::root().join("docs/benchmarks.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let new = replace_marked(&text, tables)
        .with_context(|| format!("{} has lost its marks:\n{BEGIN}\n{END}", path.display()))?;
    fs::write(&path, new).with_context(|| format!("cannot write {}", path.display()))?;
    println!("the tables are in docs/benchmarks.md");
    Ok(())
}

fn replace_marked(text: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_is_replaced() {
        let text = format!("above\n{BEGIN}\nold\n{END}\nbelow\n");
        let new = replace_marked(&text, "new\n");
        assert_eq!(new, Some(format!("above\n{BEGIN}\n\nnew\n\n{END}\nbelow\n")));
        assert_eq!(replace_marked("no marks", "new"), None);
    }
}

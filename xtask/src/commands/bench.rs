//! `cargo xtask bench`: builds the release of Callgate and measures it against the byte relay; and the app, and measures
//! its window. `--window` is the window alone, `--no-window` everything else.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::app::PROFILE;
use crate::packages::{self, C_COMPILER, FONTS, Need, SESSION_BUS, VIRTUAL_DISPLAY, WEBDRIVER};
use crate::shell::{cargo, command, run as go, say};
use crate::{app, project};

/// A part of the document that is measured, not written.
struct Part {
    begin: &'static str,
    end: &'static str,
}

const GATE: Part = Part {
    begin: "<!-- measured: begin (written by `cargo xtask bench --write`) -->",
    end: "<!-- measured: end -->",
};
const WINDOW: Part = Part {
    begin: "<!-- the window, measured: begin (written by `cargo xtask bench --write`) -->",
    end: "<!-- the window, measured: end -->",
};

/// What shows and drives the window when nobody looks.
const NEEDS_OF_THE_WINDOW: [Need; 4] = [VIRTUAL_DISPLAY, SESSION_BUS, WEBDRIVER, FONTS];

pub(super) fn run(rest: &[String]) -> Result<bool> {
    let has = |wanted: &str| rest.iter().any(|word| word == wanted);
    let (write, only_window, no_window) = (has("--write"), has("--window"), has("--no-window"));
    ensure!(
        !(only_window && no_window),
        "--window is the window alone, --no-window everything else: say one"
    );
    packages::ensure(&[C_COMPILER])?;

    let (tables, window_table) =
        (project::target().join("bench.md"), project::target().join("bench-window.md"));
    for old in [&tables, &window_table] {
        // What is there afterwards was measured now.
        let _not_there = fs::remove_file(old);
    }
    go(cargo(&["build", "--release", "--package", "callgate-bench"]))?;
    let mut driver = command(project::built("release", "callgate-bench"), &[]);
    if only_window {
        driver.arg("--only-window");
    } else {
        prepare_gate(&mut driver)?;
        driver.arg("--out").arg(&tables);
    }
    if !no_window {
        match can_show_a_window() {
            Ok(()) => {
                // What does not build is broken everywhere.
                prepare_window(&mut driver, has("--history"))?;
                driver.arg("--window-out").arg(&window_table);
            }
            Err(error) if only_window => return Err(error.context(NOT_HERE)),
            Err(error) => println!("{NOT_HERE}: {error:#}"),
        }
    }
    driver.args(rest.iter().filter(|word| !["--write", "--window", "--no-window"].contains(&word.as_str())));
    say(&driver);
    let status = driver.status().context("cannot start the bench")?;
    // 1: measured, but a budget is not kept. Then the tables are there and worth keeping.
    let measured = matches!(status.code(), Some(0 | 1));
    if write && measured {
        for (part, file) in [(GATE, &tables), (WINDOW, &window_table)] {
            if let Ok(text) = fs::read_to_string(file) {
                write_down(&part, &text)?;
            }
        }
    }
    Ok(status.success())
}

const NOT_HERE: &str = "the window cannot be measured here";

/// Builds what the gate is measured with, and names it to the driver.
fn prepare_gate(driver: &mut Command) -> Result<()> {
    app::build_gate(app::RELEASE)?;
    go(cargo(&["build", "--release", "--package", "callgate-review", "--example", "review_time"]))?;
    go(cargo(&["build", "--release", "--package", "callgate-risk", "--example", "risk_time"]))?;
    driver.arg("--risk").arg(project::built("release/examples", "risk_time"));
    driver.arg("--callgate").arg(project::built("release", "callgate"));
    driver.arg("--review").arg(project::built("release/examples", "review_time"));
    Ok(())
}

/// Is this a system that can show the window and look into it?
fn can_show_a_window() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "its page can be looked into on Linux only");
    packages::ensure(&NEEDS_OF_THE_WINDOW)
}

/// The same for the window: the app as `cargo xtask run` builds it, and what looks at it.
fn prepare_window(driver: &mut Command, has_history: bool) -> Result<()> {
    app::prepare()?;
    app::build(PROFILE)?;
    let example =
        ["build", "--profile", PROFILE, "--package", "callgate-app-tests", "--example", "window_time"];
    go(cargo(&example))?;
    let examples = format!("{PROFILE}/examples");
    driver.arg("--window").arg(project::built(&examples, "window_time"));
    driver.arg("--app").arg(project::built(PROFILE, "callgate-app"));
    if !has_history {
        let store = ["build", "--profile", PROFILE, "--package", "callgate-seed"];
        go(cargo(&[&store[..], &["--example", "seed_history"]].concat()))?;
        driver.arg("--seed").arg(project::built(&examples, "seed_history"));
    }
    Ok(())
}

/// Replaces the marked part of the document.
fn write_down(part: &Part, tables: &str) -> Result<()> {
    let path = project::root().join("docs/benchmarks.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let new = replace_marked(&text, part, tables)
        .with_context(|| format!("{} has lost its marks:\n{}\n{}", path.display(), part.begin, part.end))?;
    fs::write(&path, new).with_context(|| format!("cannot write {}", path.display()))?;
    println!("the tables are in docs/benchmarks.md");
    Ok(())
}

fn replace_marked(text: &str, part: &Part, tables: &str) -> Option<String> {
    let Part { begin, end } = part;
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_is_replaced() {
        let (gate, window) = ((GATE.begin, GATE.end), (WINDOW.begin, WINDOW.end));
        let text = |one: &str, other: &str| {
            format!("above\n{}{one}{}\nbetween\n{}{other}{}\nbelow\n", gate.0, gate.1, window.0, window.1)
        };
        let old = text("\nold\n", "\nold\n");
        assert_eq!(replace_marked(&old, &GATE, "new\n"), Some(text("\n\nnew\n\n", "\nold\n")));
        assert_eq!(replace_marked(&old, &WINDOW, "new\n"), Some(text("\nold\n", "\n\nnew\n\n")));
        assert_eq!(replace_marked("no marks", &GATE, "new"), None);
    }
}

//! `cargo xtask run`: Callgate with all set-up. The app where there is a display; without one the live log in the
//! terminal; where nobody looks, the demo, which ends by itself. With words: `callgate` with these words.

use std::io::{self, IsTerminal};

use anyhow::{Result, ensure};

use crate::app::PROFILE;
use crate::packages::{self, C_COMPILER};
use crate::shell::{command, run as go};
use crate::steps::Steps;
use crate::{app, project, ui};

/// Where the person is to see the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Display {
    Window,
    Terminal,
    /// A pipe or a log: what is shown has to come to an end.
    Nobody,
}

pub(super) fn run(rest: &[String]) -> Result<bool> {
    if !rest.is_empty() {
        let words: Vec<&str> = rest.iter().map(String::as_str).collect();
        return callgate(&words);
    }
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    match display(has_display(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())), terminal)
    {
        Display::Window => window(),
        Display::Terminal => {
            println!("{NO_DISPLAY} The live log comes in this terminal instead.\n");
            callgate(&["watch"])
        }
        Display::Nobody => {
            println!("{NO_DISPLAY} Nobody at a terminal either: here is the demo.\n");
            callgate(&["demo"])
        }
    }
}

const NO_DISPLAY: &str =
    "No display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so there can be no window.";

fn display(display: bool, terminal: bool) -> Display {
    match (display, terminal) {
        (true, _) => Display::Window,
        (false, true) => Display::Terminal,
        (false, false) => Display::Nobody,
    }
}

/// Only X11 and Wayland can be missing; the other systems always have a screen for us.
fn has_display(is_set: impl Fn(&str) -> bool) -> bool {
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

fn window() -> Result<bool> {
    println!(
        "Building the app. The first time can take a quarter of an hour; `cargo xtask run demo` shows the gate without it."
    );
    let mut steps = Steps::default();
    let ready = steps.run("set-up", app::install)
        && steps.run("page: build", ui::build)
        && steps.run("app: build", || app::build(PROFILE));
    steps.summary();
    ensure!(ready, "the app cannot be built here; `cargo xtask run demo` needs only a C compiler");
    println!("\nCallgate is in the tray. Closing the window keeps it there; Quit in its menu ends it.");
    go(command(project::built(PROFILE, "callgate-app"), &[]))?;
    Ok(true)
}

fn callgate(words: &[&str]) -> Result<bool> {
    go(command(build_gate()?, words))?;
    Ok(true)
}

fn build_gate() -> Result<std::path::PathBuf> {
    packages::ensure(&[C_COMPILER])?;
    app::build_gate(PROFILE)?;
    Ok(project::built(PROFILE, "callgate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_nobody_watches_ends_by_itself() {
        assert_eq!(display(false, false), Display::Nobody);
        assert_eq!(display(false, true), Display::Terminal);
        assert_eq!(display(true, false), Display::Window);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn either_display_will_do() {
        assert!(has_display(|name| name == "DISPLAY"));
        assert!(has_display(|name| name == "WAYLAND_DISPLAY"));
        assert!(!has_display(|_| false));
    }
}

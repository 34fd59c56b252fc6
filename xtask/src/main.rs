//! `cargo xtask …`: everything that a person or CI does with this project, with all set-up, in one place.
//!
//! Each command is a file under `commands/`. A command is a list of steps (`steps.rs`); nothing is skipped
//! without a word, and the summary at the end says what was run, what failed and what could not be done here.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people that speaks no protocol"
)]

mod app;
mod bundle;
mod commands;
mod count;
mod display;
#[cfg(test)]
mod edges;
mod elsewhere;
#[cfg(test)]
mod names;
mod npm;
mod packaged;
mod packages;
mod project;
mod servers;
mod shell;
mod steps;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = words.collect();
    match commands::run(&command, &rest) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

//! The `callgate` command: the gate itself, policy edits, history.
//!
//! Thin on purpose: parse the words, call a crate, print. The one command that is different is `run`, which must
//! start its keeper before any thread exists and leaves stdout to the protocol.

mod args;
mod commands;
mod confirm;
mod duration;
mod row;
mod screen;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    match dispatch(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            screen::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => commands::run::run(args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::DemoServer => commands::demo_server::serve(),
        Command::Log(args) => commands::log::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Forget(args) => commands::forget::run(&args),
        Command::Policy(args) => commands::policy::run(args),
        Command::Block(args) => commands::edit::block(args),
        Command::Hide(args) => commands::edit::hide(args),
        Command::Cap(args) => commands::edit::cap(args),
        Command::Allow(args) => commands::edit::allow(args),
        Command::Pause(args) => commands::pause::pause(&args),
        Command::Resume(args) => commands::pause::resume(&args),
    }
}

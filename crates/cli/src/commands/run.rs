//! `callgate run`: the gate itself.

use std::process::ExitCode;

use callgate_shim::Options;
use callgate_store::Home;

use crate::args::RunArgs;

pub(crate) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let RunArgs { server, client, started_by, demo, command, no_args: _ } = args;
    let mut command = command.into_iter();
    let program = command.next().unwrap_or_default();
    let home = Home::of_gate()?;
    let options = Options { home, server, client, started_by, program, args: command.collect(), demo };
    Ok(ExitCode::from(callgate_shim::run(options)))
}

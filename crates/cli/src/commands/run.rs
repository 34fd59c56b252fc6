//! `callgate run`: the gate, where it was started with words that only the whole command line knows, or has to ask the keychain.

use std::path::Path;
use std::process::ExitCode;

use callgate_home::Home;
use callgate_keychain::SystemKeychain;
use callgate_secrets::{Keychain, KeychainError};
use callgate_shim::Options;

use crate::args::RunArgs;

pub(crate) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let RunArgs { server, client, started_by, demo, command, no_args: _ } = args;
    let mut command = command.into_iter();
    let program = command.next().unwrap_or_default();
    let home = Home::of_gate()?;
    let options =
        Options { home, server, client, started_by, program, args: command.collect(), demo, keychain };
    Ok(ExitCode::from(callgate_shim::run(options)))
}

fn keychain(home: &Path) -> Result<Box<dyn Keychain>, KeychainError> {
    Ok(Box::new(SystemKeychain::open(home)?))
}

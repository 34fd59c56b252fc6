//! `callgate clients`: the AI clients of this machine, and the gate in front of their servers.

mod backups;
mod change;
mod list;
pub(super) mod shown;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::ledger;
use callgate_clients::survey::{Surveyed, edited_before, survey};
use callgate_clients::table::{client, clients};
use callgate_clients::{Client, System};

use callgate_store::Home;

use crate::args::{ClientsArgs, ClientsCommand};

pub(crate) fn run(args: ClientsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        None => list::run(&args.list),
        Some(ClientsCommand::List(args)) => list::run(&args),
        Some(ClientsCommand::Diff(args)) => change::diff(&args),
        Some(ClientsCommand::Protect(args)) => change::protect(&args),
        Some(ClientsCommand::Unprotect(args)) => change::unprotect(&args),
        Some(ClientsCommand::Backups(args)) => backups::list(&args),
        Some(ClientsCommand::Restore(args)) => backups::restore(&args),
    }
}

/// Every file of every client on this machine, and those that were edited before, wherever they are.
pub(super) fn look(ours: &Home, projects: &[PathBuf]) -> anyhow::Result<Vec<Surveyed>> {
    let home = std::env::home_dir().context("there is no home directory to look for clients in")?;
    let projects = projects
        .iter()
        .map(|folder| {
            std::path::absolute(folder).with_context(|| format!("{} is no folder", folder.display()))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut surveyed = survey(&System::here(home), clients(), &projects);
    let ledger = ledger::read(ours.path()).unwrap_or_default();
    surveyed.extend(edited_before(&surveyed, &ledger));
    Ok(surveyed)
}

pub(super) fn named(id: &str) -> anyhow::Result<&'static Client> {
    let Some(client) = client(id) else {
        let known: Vec<_> = clients().iter().map(|client| client.id).collect();
        bail!("{id:?} is no client that Callgate knows; it knows {}", known.join(", "));
    };
    Ok(client)
}

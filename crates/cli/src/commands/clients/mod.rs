//! `callgate clients`: the AI clients of this machine, and the gate in front of their servers.

mod backups;
pub(super) mod change;
pub(super) mod display;
mod gone;
mod list;
mod repair;
mod restore;
pub(super) mod selection;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use callgate_clients::ledger;
use callgate_clients::survey::{Surveyed, everything};
use callgate_clients::table::{client, clients};
use callgate_clients::{Client, System, running};

use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_wiring::Wiring;

use crate::args::{ClientsArgs, ClientsCommand, WhileRunning};
use crate::screen::Screen;

/// How often a client is looked for while we wait for it to quit.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) fn run(args: ClientsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        None => list::run(&args.list),
        Some(ClientsCommand::List(args)) => list::run(&args),
        Some(ClientsCommand::Diff(args)) => change::diff(&args),
        Some(ClientsCommand::Protect(args)) => change::protect(&args),
        Some(ClientsCommand::Unprotect(args)) => change::unprotect(&args),
        Some(ClientsCommand::Backups(args)) => backups::list(&args),
        Some(ClientsCommand::Restore(args)) => restore::restore(&args),
        Some(ClientsCommand::Repair(args)) => repair::run(&args),
        Some(ClientsCommand::Gone(args)) => gone::run(&args),
    }
}

/// Every file of every client on this machine, and those that were edited before, wherever they are.
pub(super) fn look(ours: &Home, projects: &[PathBuf]) -> anyhow::Result<Vec<Surveyed>> {
    let home = person()?;
    let projects = projects
        .iter()
        .map(|folder| {
            std::path::absolute(folder).with_context(|| format!("{} is no folder", folder.display()))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(everything(&System::here(home), &projects, &ledger::read(ours.path()).unwrap_or_default()))
}

/// The clients of this person, with the gate of this home.
pub(super) fn wiring(home: &Home) -> anyhow::Result<Wiring> {
    Ok(Wiring::new(home.clone(), Arc::new(SystemClock::default()), System::here(person()?)))
}

/// Whose clients these are.
pub(super) fn person() -> anyhow::Result<PathBuf> {
    std::env::home_dir().context("there is no home directory to look for clients in")
}

/// Whether it runs; so, if it cannot be told.
pub(super) fn may_run(client: &Client) -> bool {
    let seen = person().ok().and_then(|home| running::processes(client, &home));
    seen.is_none_or(|processes| !processes.is_empty())
}

/// A client that writes its whole file back from memory must not run, unless the person insists: why not now, or after it has
/// quit, if they want to wait for that.
pub(super) fn quiet(screen: &Screen, client: &Client, running: WhileRunning) -> Result<(), String> {
    if !client.caches || running.force || !may_run(client) {
        return Ok(());
    }
    if !running.wait {
        return Err(format!(
            "{0} runs and would write its own copy over it. {1} Or let this wait for that: --wait. Or write at once and \
             risk that it is lost: --force",
            client.name, client.reload
        ));
    }
    screen.line(&format!("Waiting for {} to quit (closing its window is not quitting)…", client.name));
    while may_run(client) {
        thread::sleep(LOOK);
    }
    Ok(())
}

/// By its id or by its name, however it is spelled.
pub(super) fn named(id: &str) -> anyhow::Result<&'static Client> {
    let typed = id.trim();
    let spelled = |one: &&Client| one.id.eq_ignore_ascii_case(typed) || one.name.eq_ignore_ascii_case(typed);
    let Some(client) = client(id).or_else(|| clients().iter().find(spelled)) else {
        let known: Vec<_> = clients().iter().map(|client| client.id).collect();
        bail!("{id:?} is no client that Callgate knows; it knows {}", known.join(", "));
    };
    Ok(client)
}

//! Which servers are known ones, by what was installed: the commands of clients' entries, of `servers.json` and of sessions that run.
//!
//! What a server says of itself does not count, nor what a person called it: both can be anybody's.

use std::collections::BTreeMap;

use callgate_clients::survey::{State, entries, everything};
use callgate_clients::{System, ledger, own};
use callgate_home::{Home, running};
use callgate_risk::{KnownServer, ToolNames};
use callgate_wiring::Launch;

use crate::Desk;

/// What is started under each server's name.
#[derive(Debug, Default)]
pub(super) struct Installed {
    commands: BTreeMap<String, Vec<Vec<String>>>,
    /// The tools that all of them listed; empty where only badges are wanted.
    pub(super) names: ToolNames,
}

impl Installed {
    pub(super) fn read(desk: &Desk) -> Installed {
        // What cannot be read names no server; that it cannot is told elsewhere.
        let launches = desk.wiring.look_at_clients().map(|look| look.launches()).unwrap_or_default();
        Installed::of_launches(desk, &launches)
    }

    pub(super) fn of_launches(desk: &Desk, launches: &[Launch]) -> Installed {
        let mut all = Installed::default();
        for launch in launches.iter().filter(|launch| !launch.words.is_empty()) {
            all.add(&launch.server, launch.words.clone());
        }
        let mut all = all.with_own(&desk.home);
        all.names = desk.tool_names(&all);
        all
    }

    pub(super) fn find(home: &Home, machine: &System) -> Installed {
        let mut all = Installed::default();
        let ledger = ledger::read(home.path()).unwrap_or_default();
        for entry in entries(&everything(machine, &[], &ledger)) {
            let Some(local) = entry.local() else { continue };
            let server = match &entry.state {
                State::Protected { server } => server,
                State::Open | State::NotCoverable(_) => &entry.key.name,
            };
            all.add(server, local.words().map(str::to_owned).collect());
        }
        all.with_own(home)
    }

    /// And those of our own list, and of sessions that run.
    fn with_own(mut self, home: &Home) -> Installed {
        for (server, command) in own::commands(home.path()).unwrap_or_default() {
            self.add(&server, command);
        }
        for lease in running(home) {
            self.add(&lease.server, lease.command);
        }
        self
    }

    pub(super) fn add(&mut self, server: &str, command: Vec<String>) {
        self.commands.entry(server.to_owned()).or_default().push(command);
    }

    /// The known server that all commands of this name start; none if they start different ones.
    pub(super) fn known(&self, server: &str) -> Option<&'static KnownServer> {
        let commands = self.commands.get(server)?;
        let mut known = commands.iter().map(|command| of_command(command));
        let first = known.next()??;
        known.all(|other| other.is_some_and(|other| std::ptr::eq(other, first))).then_some(first)
    }
}

/// By the words that start a server.
pub(crate) fn of_command(command: &[String]) -> Option<&'static KnownServer> {
    KnownServer::by_command(&command.iter().map(String::as_str).collect::<Vec<_>>())
}

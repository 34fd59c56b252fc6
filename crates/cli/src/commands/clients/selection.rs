//! The entries that a person means: of one client or all of them, by name or all of them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::bail;
use callgate_clients::Client;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::survey::{Entry, Surveyed};
use callgate_home::Home;

use super::{look, named};
use crate::args::EntriesArgs;
use crate::screen;

pub(in crate::commands) struct Selection {
    client: Option<&'static Client>,
    servers: BTreeSet<String>,
    /// Entries that are not meant, whatever the rest says.
    besides: BTreeSet<LedgerKey>,
    pub(in crate::commands) surveyed: Vec<Surveyed>,
}

impl Selection {
    /// Every entry of these files, besides some.
    pub(in crate::commands) fn all(surveyed: Vec<Surveyed>, besides: BTreeSet<LedgerKey>) -> Selection {
        Selection { client: None, servers: BTreeSet::new(), besides, surveyed }
    }

    /// Those of one client, or of every one, with these names, or all of them. A name that is not there is a slip, and so may be
    /// the others.
    pub(in crate::commands) fn find(
        home: &Home,
        client: Option<&String>,
        servers: &[String],
        project: &[PathBuf],
    ) -> anyhow::Result<Selection> {
        let client = client.map(|id| named(id)).transpose()?;
        let servers = servers.iter().cloned().collect();
        let found = Selection { client, servers, ..Selection::all(look(home, project)?, BTreeSet::new()) };
        let there: BTreeSet<_> = found.entries().map(|(_, entry)| entry.key.name.clone()).collect();
        let missing: Vec<_> = found.servers.difference(&there).map(|name| screen::quoted(name)).collect();
        if !missing.is_empty() {
            let unread = found.files().any(|file| file.read.is_err());
            let unread = if unread { " Not every file could be read." } else { "" };
            bail!("no such server: {}. `callgate clients` lists them.{unread}", missing.join(", "));
        }
        Ok(found)
    }

    /// For what changes them: nobody means every client by saying nothing.
    pub(in crate::commands) fn parse(home: &Home, args: &EntriesArgs) -> anyhow::Result<Selection> {
        if args.client.is_none() && !args.all {
            bail!("name a client (`callgate clients` lists them), or say --all");
        }
        Selection::find(home, args.client.as_ref(), &args.servers, &args.project)
    }

    pub(in crate::commands) fn client(&self) -> Option<&'static Client> {
        self.client
    }

    pub(in crate::commands) fn files(&self) -> impl Iterator<Item = &Surveyed> {
        self.surveyed.iter().filter(|file| self.client.is_none_or(|client| client.id == file.found.client.id))
    }

    pub(in crate::commands) fn has(&self, entry: &Entry) -> bool {
        let named = self.servers.is_empty() || self.is_named(&entry.key.name);
        named && !self.besides.contains(&entry.key)
    }

    /// Was it asked for by its name?
    pub(in crate::commands) fn is_named(&self, server: &str) -> bool {
        self.servers.contains(server)
    }

    pub(in crate::commands) fn entries(&self) -> impl Iterator<Item = (&Surveyed, &Entry)> {
        let entries = self.files().flat_map(|file| file.entries().iter().map(move |entry| (file, entry)));
        entries.filter(|(_, entry)| self.has(entry))
    }
}

//! The servers, tools and clients that are known here: from sessions, clients' files, the ledger, `servers.json` and what
//! servers listed. Names that a person types are held against it, and it knows which servers have one name in common.
//!
//! Only reads, and never waits for those who write: a person who blocks something must not wait.

use std::collections::{BTreeMap, BTreeSet};

use callgate_clients::ledger::{self, Ledger};
use callgate_clients::survey::{State, entries, everything};
use callgate_clients::{own, table};
use callgate_controls::pause::{self, Switch};
use callgate_controls::{allowance, catalogue};
use callgate_history::History;
use callgate_home::{is_running, running};
use callgate_policy::file::PolicyFile;
use callgate_policy::{fits, nearest, same_client};
use callgate_text::{is_pattern, name};
use callgate_wiring::client_name;

use crate::change::CurrentPolicy;
use crate::view::Target;
use crate::{Desk, DeskError};

/// Names that an answer lists at most.
const SHOWN: usize = 6;

/// What a name is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To protect: a name that nobody knows would protect nothing.
    Restrict,
    /// To take something back: what rules name is known, too.
    Loosen,
    /// To look, and change nothing: what is only on record is known, too.
    Look,
}

impl Purpose {
    /// What follows of a name that nobody knows.
    fn so(self) -> &'static str {
        match self {
            Purpose::Restrict | Purpose::Loosen => ", so nothing was changed",
            Purpose::Look => "",
        }
    }
}

/// A name that nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum UnknownName {
    #[error("no server {server:?} is known here{so}{hint}")]
    Server { server: String, so: &'static str, hint: String },
    #[error("{server} has no tool {tool:?}{so}{hint}")]
    Tool { server: String, tool: String, so: &'static str, hint: String },
    #[error("no tool of {server} that is known fits {pattern:?}{so}{hint}")]
    Pattern { server: String, pattern: String, so: &'static str, hint: String },
    #[error("no client {client:?} is known here{so}{hint}")]
    Client { client: String, so: &'static str, hint: String },
    #[error("{client} has this server as {other}, not as {server}; nothing was changed. Name {other}.")]
    Elsewhere { client: String, server: String, other: String },
}

/// What is known at one moment.
#[derive(Debug)]
pub struct Inventory<'d> {
    desk: &'d Desk,
    /// Who has or had each server.
    servers: BTreeMap<String, BTreeSet<String>>,
    /// The name that several servers have in common, where their own does not tell.
    families: BTreeMap<String, String>,
    /// Behind the gate or on our own list, whether they ever ran or not.
    configured: BTreeSet<String>,
    clients: BTreeSet<String>,
    /// Something that may know more could not be read.
    partial: bool,
}

impl Desk {
    /// What is known without reading clients' files.
    pub fn inventory(&self) -> Inventory<'_> {
        let (ledger, lost) = match ledger::read(self.home.path()) {
            Ok(ledger) => (ledger, false),
            Err(_) => (Ledger::default(), true),
        };
        let mut inventory = Inventory {
            desk: self,
            servers: BTreeMap::new(),
            families: BTreeMap::new(),
            configured: BTreeSet::new(),
            clients: BTreeSet::new(),
            partial: lost,
        };
        inventory.add_sessions(&ledger);
        for row in &ledger.rows {
            inventory.add(&row.server, Some(&row.key.client));
            inventory.configured.insert(row.server.clone());
            inventory.families.insert(row.server.clone(), row.key.name.clone());
        }
        match own::commands(self.home.path()) {
            Ok(own) => {
                for (server, _) in own {
                    inventory.add(&server, None);
                    inventory.configured.insert(server);
                }
            }
            Err(_) => inventory.partial = true,
        }
        inventory
    }

    /// Is it a tool of a server that runs now? Told without the record, which twenty gates may be writing; of what is not,
    /// [`Inventory::check`] knows more.
    pub fn is_plainly_known(&self, target: &Target) -> bool {
        let Target { server, tool, client } = target;
        let listed = |tool: &String| {
            let known = catalogue::read(&self.home, server).ok().flatten();
            known.is_some_and(|known| known.tools.iter().any(|one| fits(tool, &one.name)))
        };
        client.is_none() && is_running(&self.home, server) && tool.as_ref().is_some_and(listed)
    }

    /// What a command for the whole of this server has to say besides, where its name alone would be asked about.
    pub fn only_option(&self, server: &str, client: Option<&str>) -> &'static str {
        let inventory = self.inventory();
        if inventory.is_bare(server) && !inventory.siblings(server, client).is_empty() {
            " --only"
        } else {
            ""
        }
    }

    /// The other servers of this name: those that this client has, or any.
    pub(crate) fn siblings(&self, server: &str, client: Option<&str>) -> Vec<String> {
        self.inventory().siblings(server, client)
    }
}

impl Inventory<'_> {
    fn add(&mut self, server: &str, client: Option<&str>) {
        let clients = self.servers.entry(server.to_owned()).or_default();
        if let Some(client) = client.filter(|client| !client.is_empty()) {
            clients.insert(client.to_owned());
            self.clients.insert(client.to_owned());
        }
    }

    /// Sessions that run or ran; those of an entry that a person took from behind the gate count no more.
    fn add_sessions(&mut self, ledger: &Ledger) {
        let given_up = |server: &str| {
            ledger.former.iter().any(|row| row.server == server)
                && !ledger.rows.iter().any(|row| row.server == server)
        };
        // One that is not there yet is not made by looking for it.
        let there = self.desk.home.history_db().exists();
        match there.then(|| History::open_reader(&self.desk.home)) {
            None => {}
            Some(Ok(history)) => {
                for (server, client) in history.server_clients().unwrap_or_default() {
                    if !given_up(&server) {
                        self.add(&server, client.as_deref());
                    }
                }
                self.clients.extend(history.clients().unwrap_or_default());
            }
            Some(Err(_)) => self.partial = true,
        }
        for lease in running(&self.desk.home) {
            self.add(&lease.server, lease.client.as_deref());
        }
    }

    /// Entries of clients' files, behind the gate or not: read only when a name is not known from elsewhere, since some
    /// systems ask the person before a program may read another's files.
    fn add_entries(&mut self) {
        let ledger = ledger::read(self.desk.home.path()).unwrap_or_default();
        let surveyed = everything(self.desk.wiring.machine(), &[], &ledger);
        for entry in entries(&surveyed) {
            let server = match &entry.state {
                State::Protected { server } => server,
                State::Open | State::NotCoverable(_) => &entry.key.name,
            };
            self.add(server, Some(&entry.key.client));
        }
    }

    /// Every server that is known, also from clients' files; `None` if something that may know more cannot be read.
    pub(crate) fn every_server(mut self) -> Option<BTreeSet<String>> {
        self.add_entries();
        (!self.partial).then(|| self.servers.into_keys().collect())
    }

    /// Servers behind the gate and on our own list, whether they ever ran or not.
    pub(crate) fn configured(self) -> BTreeSet<String> {
        self.configured
    }

    /// Every server that is known without these.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// The other servers of this name: those that this client has, or any.
    pub fn siblings(&self, server: &str, client: Option<&str>) -> Vec<String> {
        let family = self.family(server);
        let has = |clients: &BTreeSet<String>| {
            client.is_none_or(|client| clients.iter().any(|one| same_client(one, client)))
        };
        let is = |(name, clients): &(&String, &BTreeSet<String>)| {
            *name != server && self.family(name) == family && has(clients)
        };
        self.servers.iter().filter(is).map(|(name, _)| name.clone()).collect()
    }

    /// The name without what tells servers of one name apart: `files`, of `files@cursor-2`.
    fn family<'n>(&'n self, server: &'n str) -> &'n str {
        if let Some(family) = self.families.get(server) {
            return family;
        }
        let Some((family, client)) = server.rsplit_once('@') else { return server };
        let unnumbered = client.rsplit_once('-').filter(|(_, n)| n.parse::<u32>().is_ok()).map(|(id, _)| id);
        let is_client = |id: &str| table::client(id).is_some();
        if is_client(client) || unnumbered.is_some_and(is_client) { family } else { server }
    }

    /// Is it the name that others derive from (`files`), and not one of exactly one server (`files@cursor`)?
    pub fn is_bare(&self, server: &str) -> bool {
        self.family(server) == server
    }

    /// Who has this server, as people know them.
    pub fn users(&self, server: &str) -> Vec<String> {
        self.servers.get(server).into_iter().flatten().map(|client| client_name(client)).collect()
    }

    /// The target as it is written, with its client by the name that the gate knows; an error if a part of it is known to
    /// nobody.
    pub fn check(&mut self, target: &Target, purpose: Purpose) -> Result<Target, DeskError> {
        self.check_server(&target.server, purpose)?;
        let client = match &target.client {
            Some(client) => Some(self.check_client(&target.server, client, purpose)?),
            None => None,
        };
        if let Some(tool) = &target.tool {
            self.check_tool(&target.server, tool, purpose)?;
        }
        Ok(Target { client, ..target.clone() })
    }

    /// Is there a server of this name?
    pub fn check_server(&mut self, server: &str, purpose: Purpose) -> Result<(), DeskError> {
        if self.servers.contains_key(server) || (purpose != Purpose::Restrict && self.has_traces(server)) {
            return Ok(());
        }
        self.add_entries();
        if self.servers.contains_key(server) || self.partial {
            return Ok(());
        }
        let siblings = self.siblings(server, None);
        let hint = match siblings.is_empty() {
            true => hint(server, self.servers()),
            false => format!("; did you mean {}?", quoted_list(&siblings, " or ")),
        };
        Err(UnknownName::Server { server: server.to_owned(), so: purpose.so(), hint }.into())
    }

    /// Is there anything of this server that could be looked at or taken back: rules, a pause, an allowance, its tools?
    fn has_traces(&self, server: &str) -> bool {
        let home = &self.desk.home;
        let paused = match pause::read(home) {
            Switch::Readable(pauses) => pauses.holds(Some(server).into()),
            Switch::Broken(_) => true,
        };
        paused
            || home.policy(server).exists()
            || matches!(catalogue::read(home, server), Ok(Some(_)))
            || allowance::read(home).all.iter().any(|allowed| allowed.server == server)
    }

    /// The client by the name that the gate knows, which has this server under this name, as far as that can be told.
    pub fn check_client(&self, server: &str, client: &str, purpose: Purpose) -> Result<String, DeskError> {
        let found = self.known_client(server, client, purpose)?;
        let other = self.siblings(server, Some(&found)).into_iter().next();
        match other.filter(|_| purpose == Purpose::Restrict && !self.has(server, &found)) {
            Some(other) => {
                let client = client_name(&found);
                Err(UnknownName::Elsewhere { client, server: server.to_owned(), other }.into())
            }
            None => Ok(found),
        }
    }

    fn has(&self, server: &str, client: &str) -> bool {
        self.servers.get(server).is_some_and(|users| users.iter().any(|one| same_client(one, client)))
    }

    /// The same, or nobody knows who has it.
    pub fn may_have(&self, server: &str, client: &str) -> bool {
        self.has(server, client) || self.servers.get(server).is_none_or(BTreeSet::is_empty)
    }

    /// The client by the name that the gate knows: also of one that was named as people know it.
    pub fn known_client(&self, server: &str, client: &str, purpose: Purpose) -> Result<String, DeskError> {
        let seen = self.clients.iter().find(|known| same_client(known, client)).cloned();
        let by_name = || {
            let same = |one: &&callgate_clients::Client| {
                same_client(one.id, client) || same_client(one.name, client)
            };
            table::clients().iter().find(same).map(|client| client.id.to_owned())
        };
        let in_rules = || {
            let rules = (purpose != Purpose::Restrict).then(|| self.rules(server)).flatten()?;
            rules.clients.into_iter().map(|one| one.client).find(|known| same_client(known, client))
        };
        let Some(found) = seen.or_else(by_name).or_else(in_rules) else {
            if purpose != Purpose::Loosen && self.partial {
                return Ok(client.to_owned());
            }
            let known = self.clients.iter().map(String::as_str).chain(table::clients().iter().map(|c| c.id));
            let hint = hint(client, known);
            return Err(UnknownName::Client { client: client.to_owned(), so: purpose.so(), hint }.into());
        };
        Ok(found)
    }

    /// Does the server have such a tool? Only its own list tells: agents call what there is not, too. Of one that never listed
    /// any, nobody can say.
    pub fn check_tool(&self, server: &str, tool: &str, purpose: Purpose) -> Result<(), DeskError> {
        let Ok(listed) = catalogue::read(&self.desk.home, server) else { return Ok(()) };
        let mut tools: BTreeSet<String> = BTreeSet::new();
        if let Some(listed) = &listed {
            if listed.cut {
                return Ok(());
            }
            tools.extend(listed.tools.iter().map(|tool| tool.name.clone()));
        }
        let is_known = |tools: &BTreeSet<String>| tools.iter().any(|known| fits(tool, known));
        if is_known(&tools) {
            return Ok(());
        }
        if purpose != Purpose::Restrict {
            tools.extend(self.rules(server).iter().flat_map(named_tools));
        }
        if purpose == Purpose::Look {
            tools.extend(self.called(server));
        }
        if listed.is_none() || is_known(&tools) {
            return Ok(());
        }
        let hint = hint(tool, tools.iter().map(String::as_str));
        let (server, so) = (name(server), purpose.so());
        Err(match is_pattern(tool) {
            true => UnknownName::Pattern { server, pattern: tool.to_owned(), so, hint },
            false => UnknownName::Tool { server, tool: tool.to_owned(), so, hint },
        }
        .into())
    }

    /// What was ever called there, whether there is such a tool or not.
    pub(crate) fn called(&self, server: &str) -> Vec<String> {
        let there = self.desk.home.history_db().exists();
        let all = there.then(|| History::open_reader(&self.desk.home).ok()?.tools().ok());
        let of_server = |(one, tool): (String, String)| (one == server).then_some(tool);
        all.flatten().into_iter().flatten().filter_map(of_server).collect()
    }

    fn rules(&self, server: &str) -> Option<PolicyFile> {
        PolicyFile::parse(CurrentPolicy::read(&self.desk.home, server).ok()?.text()).ok()
    }
}

pub(crate) fn named_tools(file: &PolicyFile) -> Vec<String> {
    let bodies = std::iter::once(&file.body).chain(file.clients.iter().map(|overlay| &overlay.body));
    let named = |body: &callgate_policy::file::Body| {
        let rules = body.tools.iter().map(|rule| rule.name.clone());
        rules.chain(body.hide.iter().map(|name| name.value.clone())).collect::<Vec<_>>()
    };
    bodies.flat_map(named).collect()
}

/// The name that was probably meant, else those that there are.
fn hint<'k>(typed: &str, known: impl Iterator<Item = &'k str>) -> String {
    let known: BTreeSet<&str> = known.collect();
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(near) = nearest(typed, &known) {
        return format!("; did you mean {:?}?", name(near));
    }
    if known.is_empty() {
        return "; none is known yet".to_owned();
    }
    let more = known.len().saturating_sub(SHOWN);
    let shown: Vec<String> = known.iter().take(SHOWN).map(|one| (*one).to_owned()).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; known: {}{more}", quoted_list(&shown, ", "))
}

fn quoted_list(names: &[String], between: &str) -> String {
    names.iter().map(|one| format!("{:?}", name(one))).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
#[path = "inventory_tests.rs"]
mod tests;

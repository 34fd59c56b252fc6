//! Everything that agents can call on this machine: each client's servers from the clients' files, with what their tools can do
//! by their lists, or by the catalogue where they never listed any; what of it is not behind the gate, and what to do next.

use std::collections::BTreeMap;
use std::time::Duration;

use callgate_history::History;
use callgate_home::running;
use callgate_text::{count, name};
use callgate_wiring::view::EntryState;
use callgate_wiring::{Launch, client_name};

use super::installed::Installed;
use super::{Server, Tool};
use crate::view::{ClassCounts, StepKind, SurfaceClient, SurfaceServer, SurfaceStep, SurfaceView, ToolsFrom};
use crate::{Desk, DeskError};

/// Names that a sentence lists at most.
const SHOWN: usize = 3;

impl Desk {
    /// Every server of every client on this machine, whether it ever ran or not. Reads clients' files and starts nothing.
    pub fn surface(&self) -> Result<SurfaceView, DeskError> {
        let look = self.wiring.look_at_clients()?;
        let launches = look.launches();
        let unread = look.unread();
        let (corrected, problem) = self.corrected();
        let installed = Installed::of_launches(self, &launches);
        let history = History::open_reader(&self.home)?;
        let mut known: BTreeMap<String, Server> = BTreeMap::new();
        let mut clients: Vec<SurfaceClient> = Vec::new();
        let mut servers = |server: &str| -> Result<(), DeskError> {
            if !known.contains_key(server) {
                let read = self.server_tools(&history, &installed, &corrected, server, Duration::ZERO)?;
                known.insert(server.to_owned(), read);
            }
            Ok(())
        };
        let leases = running(&self.home);
        for launch in &launches {
            servers(&launch.server)?;
        }
        for lease in &leases {
            servers(&lease.server)?;
        }
        for launch in &launches {
            let row = of_launch(launch, known.get(&launch.server));
            add(&mut clients, &launch.key.client, &launch.client_name, row);
        }
        // Sessions of entries in files that are not known here: a project's, or none at all.
        for lease in &leases {
            let id = lease.client.clone().unwrap_or_default();
            if clients.iter().any(|client| client.servers.iter().any(|one| one.server == lease.server)) {
                continue;
            }
            let Some(server) = known.get(&lease.server) else { continue };
            let shown = if id.is_empty() {
                "A client that does not say its name".to_owned()
            } else {
                client_name(&id)
            };
            add(&mut clients, &id, &shown, of_session(server));
        }
        Ok(told(SurfaceView { clients, unread, problem, ..SurfaceView::default() }))
    }
}

fn add(clients: &mut Vec<SurfaceClient>, id: &str, shown: &str, row: SurfaceServer) {
    match clients.iter_mut().find(|client| client.id == id) {
        Some(client) => client.servers.push(row),
        None => {
            clients.push(SurfaceClient { id: id.to_owned(), name: shown.to_owned(), servers: vec![row] });
        }
    }
}

fn of_launch(launch: &Launch, server: Option<&Server>) -> SurfaceServer {
    let empty = SurfaceServer {
        name: launch.key.name.clone(),
        server: launch.server.clone(),
        entry: Some(launch.key.clone()),
        shown: Some(launch.shown.clone()),
        state: launch.state,
        why: launch.why.clone(),
        command: launch.command.clone(),
        known: None,
        from: ToolsFrom::Nothing,
        listed_ms: None,
        classes: ClassCounts::default(),
        findings: 0,
        watch_only: false,
    };
    // What is known of the name may be another program's.
    match server.filter(|_| !launch.is_shared && !launch.words.is_empty()) {
        Some(server) => with_tools(empty, server),
        None => empty,
    }
}

fn of_session(server: &Server) -> SurfaceServer {
    let empty = SurfaceServer {
        name: server.name.clone(),
        server: server.name.clone(),
        entry: None,
        shown: None,
        state: EntryState::Protected,
        why: None,
        command: String::new(),
        known: None,
        from: ToolsFrom::Nothing,
        listed_ms: None,
        classes: ClassCounts::default(),
        findings: 0,
        watch_only: false,
    };
    with_tools(empty, server)
}

fn with_tools(row: SurfaceServer, server: &Server) -> SurfaceServer {
    let gated = matches!(row.state, EntryState::Protected | EntryState::Tampered);
    SurfaceServer {
        known: server.known.map(|known| known.server.clone()),
        from: server.from(),
        listed_ms: server.listed.as_ref().map(|listed| listed.seen_ms),
        classes: classes(&server.tools),
        findings: server.tools.iter().map(|tool| number(tool.findings.len())).sum(),
        watch_only: gated && server.is_watch_only(),
        ..row
    }
}

pub(super) fn classes(tools: &[Tool]) -> ClassCounts {
    let mut counts = ClassCounts::default();
    for tool in tools {
        counts.add(tool.assessment.class);
    }
    counts
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The sums, and the next step.
fn told(view: SurfaceView) -> SurfaceView {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let (mut total, mut unknown, mut open) = (ClassCounts::default(), 0, 0);
    for row in view.clients.iter().flat_map(|client| &client.servers) {
        open += u32::from(row.state == EntryState::Open);
        let counted = (row.server.as_str(), row.command.as_str());
        if seen.contains(&counted) {
            continue;
        }
        seen.push(counted);
        let ClassCounts { tools, read, write, execute, destructive, financial, critical } = row.classes;
        total.tools += tools;
        total.read += read;
        total.write += write;
        total.execute += execute;
        total.destructive += destructive;
        total.financial += financial;
        total.critical += critical;
        unknown += u32::from(row.from == ToolsFrom::Nothing);
    }
    let servers = number(seen.len());
    let mut words = format!(
        "{} of {}, {} of them critical",
        count(u64::from(total.tools), "tool"),
        count(u64::from(servers), "server"),
        total.critical
    );
    if unknown > 0 {
        words.push_str(&format!(
            "; of {} it is not known yet what they can do",
            count(u64::from(unknown), "server")
        ));
    }
    words.push('.');
    let next = next_step(&view);
    SurfaceView { words, total, servers, open, unknown, next, ..view }
}

fn next_step(view: &SurfaceView) -> Option<SurfaceStep> {
    let rows = || view.clients.iter().flat_map(|client| client.servers.iter().map(move |row| (client, row)));
    if rows().next().is_none() {
        return Some(SurfaceStep {
            kind: StepKind::Add,
            words: "No server is configured in any client that is known here. Add one, behind the gate from the start."
                .to_owned(),
            entries: Vec::new(),
            server: None,
        });
    }
    let open: Vec<_> = rows().filter(|(_, row)| row.state == EntryState::Open).collect();
    if !open.is_empty() {
        let named = list(open.iter().map(|(client, row)| format!("{} in {}", name(&row.name), client.name)));
        return Some(SurfaceStep {
            kind: StepKind::Protect,
            words: format!(
                "{} without the gate: {named}. Nothing of that is judged or recorded.",
                match open.len() {
                    1 => "1 server starts".to_owned(),
                    more => format!("{more} servers start"),
                }
            ),
            entries: open.iter().filter_map(|(_, row)| row.entry.clone()).collect(),
            server: None,
        });
    }
    let silent =
        |row: &SurfaceServer| row.from == ToolsFrom::Nothing && row.state != EntryState::NotCoverable;
    if let Some((_, row)) = rows().find(|(_, row)| silent(row) && row.entry.is_some()) {
        return Some(SurfaceStep {
            kind: StepKind::Scan,
            words: format!(
                "What {} can do is not known yet: it never listed its tools here.",
                name(&row.name)
            ),
            entries: row.entry.clone().into_iter().collect(),
            server: Some(row.server.clone()),
        });
    }
    // The one that could do most goes first.
    let watched = rows().filter(|(_, row)| row.watch_only && row.from != ToolsFrom::Nothing);
    let (_, row) =
        watched.max_by_key(|(_, row)| (row.classes.critical, row.classes.execute, row.classes.tools))?;
    Some(SurfaceStep {
        kind: StepKind::Rules,
        words: format!(
            "{} is watched only: all of its {} pass.",
            name(&row.name),
            count(u64::from(row.classes.tools), "tool")
        ),
        entries: Vec::new(),
        server: Some(row.server.clone()),
    })
}

fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests;

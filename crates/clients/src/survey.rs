//! How things stand: every server entry of every client on this machine, and whether the gate is in front of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::discover::{Found, discover, known};
use crate::entry::{How, Local, Server, servers};
use crate::file::{self, FileError, Snapshot};
use crate::ledger::{Ledger, LedgerKey};
use crate::system::System;
use crate::table::{self, Client, ConfigLocation};
use callgate_document::{Document, Unreadable};

/// One file of a client, looked at.
#[derive(Debug)]
pub struct Surveyed {
    pub found: Found,
    pub read: Result<Contents, Refusal>,
}

impl Surveyed {
    /// None, if the file was not understood.
    pub fn entries(&self) -> &[Entry] {
        self.read.as_ref().map_or(&[], |contents| &contents.entries)
    }
}

/// A file that was understood.
#[derive(Debug)]
pub struct Contents {
    pub snapshot: Snapshot,
    pub entries: Vec<Entry>,
    /// What stands where servers should be and is none.
    pub left_out: Vec<String>,
    /// How many of these, the first ones, are about the file itself and not about what lies beside it.
    in_file: usize,
}

impl Contents {
    /// Why a file has no servers although something stands where they should be.
    pub fn no_list(&self) -> Option<String> {
        let odd = self.left_out.get(..self.in_file).unwrap_or_default();
        (self.entries.is_empty() && !odd.is_empty()).then(|| odd.join("; "))
    }
}

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: LedgerKey,
    pub place: &'static ConfigLocation,
    pub server: Server,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The gate is in front of it, under this name.
    Protected {
        server: String,
    },
    Open,
    /// Nobody can put a gate in front of it, and why.
    NotCoverable(String),
}

impl Entry {
    /// The program that it starts, behind the gate if there is one.
    pub fn local(&self) -> Option<&Local> {
        self.server.local()
    }
}

/// Every file of every client on this machine, and those that were edited before, wherever they are.
pub fn everything(system: &System, projects: &[PathBuf], ledger: &Ledger) -> Vec<Surveyed> {
    let mut surveyed = survey(system, table::clients(), projects);
    surveyed.extend(edited_before(&surveyed, ledger));
    surveyed
}

/// Those that copies were made of, and that are not among these: where the ledger was lost, nothing else knows the files of
/// projects.
pub fn copied_before(surveyed: &[Surveyed], copied: &[(String, PathBuf)]) -> Vec<Surveyed> {
    besides(surveyed, copied.iter().map(|(client, path)| (client, path)).collect())
}

/// The entries of all files that were understood.
pub fn entries(surveyed: &[Surveyed]) -> impl Iterator<Item = &Entry> {
    surveyed.iter().flat_map(Surveyed::entries)
}

/// The files of these clients, in the order of the table.
pub fn survey(
    system: &System,
    clients: impl IntoIterator<Item = &'static Client>,
    projects: &[PathBuf],
) -> Vec<Surveyed> {
    clients
        .into_iter()
        .flat_map(|client| discover(system, client, projects))
        .map(|found| Surveyed { read: look(&found), found })
        .collect()
}

/// The files that we edited before and that a search did not come by: of projects, or where a variable said that is gone now.
pub fn edited_before(surveyed: &[Surveyed], ledger: &Ledger) -> Vec<Surveyed> {
    besides(surveyed, ledger.rows.iter().map(|row| (&row.key.client, &row.key.path)).collect())
}

/// Those of these files that exist and were not come by.
fn besides(surveyed: &[Surveyed], files: BTreeSet<(&String, &PathBuf)>) -> Vec<Surveyed> {
    files
        .into_iter()
        .filter(|(client, path)| {
            !surveyed.iter().any(|file| file.found.client.id == **client && file.found.path == **path)
        })
        .filter(|(_, path)| path.symlink_metadata().is_ok())
        .filter_map(|(client, path)| Some(known(table::client(client)?, path.clone())))
        .map(|found| Surveyed { read: look(&found), found })
        .collect()
}

/// What is in one file now.
pub fn look(found: &Found) -> Result<Contents, Refusal> {
    contents(found, file::read(&found.path)?)
}

/// The same of a file that may be missing or say nothing at all: no servers.
pub fn look_for_place(found: &Found) -> Result<Contents, Refusal> {
    let snapshot = file::read_or_absent(&found.path)?;
    match snapshot.bytes.iter().all(u8::is_ascii_whitespace) {
        true => Ok(Contents { snapshot, entries: Vec::new(), left_out: Vec::new(), in_file: 0 }),
        false => contents(found, snapshot),
    }
}

fn contents(found: &Found, snapshot: Snapshot) -> Result<Contents, Refusal> {
    let mut contents = Contents { snapshot, entries: Vec::new(), left_out: Vec::new(), in_file: 0 };
    for place in &found.places {
        let document = Document::parse(place.syntax, &contents.snapshot.bytes)?;
        let listing = servers(&document, &place.shape);
        contents.left_out.extend(listing.left_out);
        contents.entries.extend(listing.servers.into_iter().map(|server| entry(found, place, server)));
    }
    contents.in_file = contents.left_out.len();
    contents.left_out.extend(extensions(found));
    Ok(contents)
}

/// Claude's own Desktop Extensions, which lie beside its file and are in no list of servers.
fn extensions(found: &Found) -> Vec<String> {
    let folder = found.path.with_file_name("Claude Extensions");
    if found.client.id != "claude-desktop" {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("manifest.json").is_file())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    let said = |name| format!("the Desktop Extension {name} is not covered: Claude starts it by itself");
    names.into_iter().map(said).collect()
}

fn entry(found: &Found, place: &'static ConfigLocation, server: Server) -> Entry {
    let key = found.key(server.id.within.clone(), &server.id.name);
    let state = state(found, &server);
    Entry { key, place, server, state }
}

fn state(found: &Found, server: &Server) -> State {
    let not = |why: &str| State::NotCoverable(why.to_owned());
    if let Some(gated) = &server.gated {
        let name = gated.server.clone().unwrap_or_else(|| server.id.name.clone());
        return State::Protected { server: name };
    }
    match &server.how {
        _ if found.sandboxed() => {
            not("its client runs in a sandbox (Flatpak or snap), where Callgate's program cannot be started")
        }
        _ if found.managed() => not("an administrator's file; Callgate does not edit it"),
        // The app owns such an entry and writes it anew.
        _ if server.keys.iter().any(|key| key == "extensionId") => {
            not("a Desktop Extension, which Claude starts by itself")
        }
        How::Remote => not("reached over the network; Callgate stands in front of programs on this machine"),
        How::Odd(odd) => State::NotCoverable(odd.to_string()),
        How::Local(_) => State::Open,
    }
}

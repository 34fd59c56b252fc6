//! Where each client keeps its servers, in which dialect, and how sure we are. Data: a new client is a new row.

mod rows;
#[cfg(test)]
mod tests;

use crate::system::Os;
use callgate_document::Syntax;
pub(crate) use rows::USUAL;

/// Every client that is known, Claude Desktop first.
pub fn clients() -> &'static [Client] {
    rows::CLIENTS
}

/// The client of this id (`claude-desktop`).
pub fn client(id: &str) -> Option<&'static Client> {
    clients().iter().find(|client| client.id == id)
}

/// One AI client.
#[derive(Debug)]
pub struct Client {
    /// As on the command line: `claude-desktop`.
    pub id: &'static str,
    /// As people call it: `Claude Desktop`.
    pub name: &'static str,
    pub places: &'static [ConfigLocation],
    /// Parts of the paths of its program, with `/` between them, where knowing that it runs matters.
    pub processes: &'static [&'static str],
    /// It reads its file once and writes it back whole: an edit made while it runs is lost.
    pub caches: bool,
    /// What a person does for a change to take effect: "Quit Claude Desktop and start it again."
    pub reload: &'static str,
}

/// One kind of file of a client.
#[derive(Clone, Copy, Debug)]
pub struct ConfigLocation {
    pub os: &'static [Os],
    /// As [`crate::system::System::expand`] reads it.
    pub path: &'static str,
    pub scope: ConfigScope,
    pub syntax: Syntax,
    pub shape: Shape,
    pub sure: Sure,
    /// With servers alone in it, a new file of this kind means what it should.
    pub stands_alone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigScope {
    /// For everything that this person does.
    User,
    /// For one project: `{project}` is part of the path.
    Project,
    /// In the user's file, for one project each (`projects["/abs"].mcpServers` of Claude Code).
    Local,
    /// An administrator's: shown, never edited.
    Managed,
    /// Of a client in a sandbox (Flatpak, snap), where our program cannot be started: shown, never edited.
    Sandboxed,
    /// Of an older version of the client: edited where it exists, never created.
    Legacy,
}

/// Where entries are in the document, and what they are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Members to follow from the root: `["mcpServers"]`. `"*"` follows every member (Claude Code's projects).
    pub section: &'static [&'static str],
    pub entries: Entries,
    pub start: CommandShape,
    /// `env`, `environment`, `envs`.
    pub env: &'static str,
    /// Members of which any one says that the entry is reached over the network: `url`, `serverUrl`, `httpUrl`.
    pub remote: &'static [&'static str],
    /// What a new entry says besides, each as it is written in every syntax: `type`, `"local"`.
    pub besides: &'static [(&'static str, &'static str)],
    /// A new entry says its own name, too.
    pub named: bool,
    /// The member that says how long a call may take, if its client heeds it.
    pub call_timeout: Option<CallTimeout>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTimeout {
    Seconds(&'static str),
    Milliseconds(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// A map from name to entry.
    ByName,
    /// A list of entries, each with a `name`.
    List,
}

/// How an entry says what to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandShape {
    /// `command` and `args` (or whatever they are called there). A `command` that is a map with `path` and `args` is read too (Zed, older).
    Split { command: &'static str, args: &'static str },
    /// One list, the program first.
    Array(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sure {
    /// Tried with the real client.
    Tried,
    /// Said by the vendor, or read in its source.
    Said,
    /// Told by others.
    Told,
}

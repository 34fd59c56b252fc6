//! The servers of a document, and the gate in front of one: put there and taken away by splices.
//!
//! Owns: what a gated entry looks like. Gating puts `run --server NAME --client CLIENT -- PROGRAM` before the arguments that
//! are there and changes nothing else but the program, so the file alone tells how it was. Must not know: which client has
//! which file, and how a file is written.

mod check;
mod gate;
mod gate_recognition;
mod place;
mod read;
mod ungate;
mod variable;

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod generators;
#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod line_generators;
#[cfg(test)]
mod place_property_tests;
#[cfg(test)]
mod place_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod toml_tests;
#[cfg(test)]
mod yaml_tests;

use std::ops::Range;
use std::time::Duration;

use callgate_secrets::Surroundings;

use callgate_document::{Odd, Splice};

pub use check::{Broken, ValueCheck, comes_back, differ_by, verify};
pub use gate::gate;
pub use gate_recognition::is_callgate;
pub use place::{NewServer, cut, place};
pub(crate) use read::source_of;
pub use read::{address, headers, servers};
pub use ungate::ungate;
pub use variable::without_variable;

/// What a document says about servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    pub servers: Vec<Server>,
    /// Places where servers should be and something else is: "`mcpServers` is not a map".
    pub left_out: Vec<String>,
}

impl Listing {
    pub fn find(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|s| s.id == *id)
    }
}

/// One entry, by what stays the same when the file is edited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId {
    /// What `"*"` in a shape's section stood for: the project's folder.
    pub within: Option<String>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    pub id: ServerId,
    pub how: How,
    /// The gate in front of it. `how` is then what runs behind the gate.
    pub gated: Option<Gated>,
    /// The names of the entry's members: `extensionId`, `disabled`, …
    pub keys: Vec<String>,
    /// How long its client waits for a call, if the entry says so.
    pub call_timeout: Option<Duration>,
    /// Which child to take at each step from the root; good for the document that it was read from.
    pub(crate) path: Vec<usize>,
}

impl Server {
    /// The program that it starts, behind the gate if there is one.
    pub fn local(&self) -> Option<&Local> {
        match &self.how {
            How::Local(local) => Some(local),
            How::Remote | How::Odd(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum How {
    Local(Local),
    /// Reached over the network; nothing is started.
    Remote,
    /// Never edited, and why.
    Odd(Odd),
}

/// A program that the client starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    pub program: SpannedText,
    pub args: Vec<SpannedText>,
    /// The texts of its environment; numbers and the like are left out.
    pub env: Vec<(String, SpannedText)>,
}

/// A text of the document, and where it stands, so that it can be replaced there.
#[derive(Clone, Debug, PartialEq)]
pub struct SpannedText {
    pub value: String,
    pub span: Range<usize>,
}

impl Local {
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.value.as_str()).chain(self.args.iter().map(|a| a.value.as_str()))
    }

    /// What its variables say about which code its start runs.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings::of(self.env.iter().map(|(name, text)| (name.as_str(), text.value.as_str())))
    }
}

/// The gate to put in front of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The absolute path of our program.
    pub binary: String,
    /// The name under which policies and the history know the server.
    pub server: String,
    /// As on the command line: `claude-desktop`.
    pub client: String,
}

/// A gate that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gated {
    pub binary: String,
    pub server: Option<String>,
    pub client: Option<String>,
    /// The entry had no `args` at all.
    pub no_args: bool,
    /// What passes it is recorded as a demonstration.
    pub demo: bool,
    /// How many words of the list are the gate's, the original program not counted.
    pub(crate) words: usize,
    /// Which of them is the server's name, and which the client's; 0 if none is.
    pub(crate) server_at: usize,
    pub(crate) client_at: usize,
}

/// What gating an entry does to the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub splices: Vec<Splice>,
    pub undo: Undo,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// The file alone gives every byte back.
    FromFile,
    /// The program had to be quoted anew. Its meaning comes back from the file; its bytes only with this text, passed to
    /// [`ungate`].
    NeedsText(String),
}

//! A server that a person adds in Callgate itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ClientPreview, RefusedEntry};

/// What a person typed so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerDraft {
    pub name: String,
    /// As in a terminal: words between blanks, quotes around what has blanks in it.
    pub command: String,
    pub variables: Vec<DraftVariable>,
    /// Ids of the clients that it is to be placed in.
    pub clients: Vec<String>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DraftVariable {
    pub name: String,
    pub value: String,
    /// Its value goes into the keychain.
    pub secret: bool,
}

/// Values are nobody's business.
impl fmt::Debug for DraftVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DraftVariable({:?}, secret: {})", self.name, self.secret)
    }
}

/// A client that a server can be placed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerPlace {
    pub client: String,
    pub client_name: String,
    /// Its file, with `~` for the home.
    pub shown: String,
    /// The file is not there yet and would be made.
    pub new_file: bool,
    /// Why nothing can be written there.
    pub problem: Option<String>,
}

/// What adding would write, before it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DraftPreview {
    /// The first thing that is not as it should be; then nothing else is known.
    pub problem: Option<DraftProblem>,
    /// Variables whose values look like secrets, and are not kept as such.
    pub looks_secret: Vec<String>,
    /// Callgate's own list last.
    pub edits: ClientPreview,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DraftProblem {
    pub part: DraftPart,
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum DraftPart {
    Name,
    Command,
    Variables,
    /// Not in what was typed.
    Elsewhere,
}

/// What removing a server of Callgate's own list would write, before it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RemovalPreview {
    /// Callgate's own list last.
    pub edits: ClientPreview,
    /// Secrets that leave the keychain with it, by name: then there is no way back.
    pub secrets: Vec<String>,
    /// Clients with the same server that Callgate did not write there: it stays in them.
    pub stays: Vec<String>,
    /// Clients that run and may write it back.
    pub running: Vec<String>,
}

/// What came of removing a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    /// Where it was taken out.
    pub from: Vec<String>,
    pub refused: Vec<RefusedEntry>,
    /// What is still in the keychain, by its names there.
    pub left: Vec<String>,
    /// What a person does next, for each client.
    pub next: Vec<String>,
    /// Until then it can be put back; none if it cannot.
    pub undo_until_ms: Option<i64>,
}

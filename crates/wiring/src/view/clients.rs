//! The AI clients of this machine, and the gate in front of their servers.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClientView {
    /// `claude-desktop`.
    pub id: String,
    /// "Claude Desktop".
    pub name: String,
    /// Whether it runs now; nothing where that makes no difference or cannot be told.
    pub running: Option<bool>,
    /// It runs since before its file was edited: it still starts its servers as they were.
    pub stale: bool,
    /// A change made while it runs would be lost, so it waits until it has quit.
    pub waits: bool,
    /// Callgate can quit it and open it again.
    pub can_reopen: bool,
    /// "Quit Claude Desktop and start it again."
    pub reload: String,
    /// Changes that wait until it has quit.
    pub queued: Vec<QueuedChange>,
    /// Files that are put back as a copy has them once it has quit.
    pub restores: Vec<QueuedRestore>,
    pub files: Vec<ClientFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct QueuedChange {
    pub act: ClientAct,
    /// Nobody asked for it: a lost gate is put back.
    pub by_itself: bool,
    pub entry: EntryKey,
    pub since_ms: i64,
}

/// A file of a client that waits to be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct QueuedRestore {
    pub backup: String,
    pub path: String,
    /// With `~` for the home.
    pub shown: String,
    pub since_ms: i64,
}

/// What came of putting a file back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Restored {
    Done,
    /// Done when its client has quit.
    Waits,
}

/// One configuration file of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClientFile {
    pub path: String,
    /// With `~` for the home.
    pub shown: String,
    /// Why it is left alone.
    pub problem: Option<String>,
    /// It can be mended by taking its byte order mark away.
    pub repairable: bool,
    /// What stands there and cannot be covered, or is read in its stead.
    pub notes: Vec<String>,
    pub entries: Vec<ClientEntry>,
    /// What happened to it since it was edited.
    pub drift: Vec<DriftView>,
    pub backups: u32,
}

/// A server as a client's file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClientEntry {
    pub key: EntryKey,
    pub state: EntryState,
    /// Its name at the gate.
    pub server: Option<String>,
    /// What it starts, secrets masked.
    pub command: String,
    /// Why it cannot be covered.
    pub why: Option<String>,
    pub secrets: EntrySecrets,
    /// Callgate wrote it there, from its own list.
    pub added: bool,
}

/// Tokens and passwords of an entry, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EntrySecrets {
    /// Those in the file, where every program can read them.
    pub plain: Vec<String>,
    /// Those in the keychain.
    pub kept: Vec<String>,
    /// Those in the keychain were stored for another command, name or file than it has now: it may not be started, and they
    /// do not come back into the file.
    pub unbound: bool,
}

/// Which entry of which file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct EntryKey {
    pub client: String,
    pub path: String,
    /// The project that it is for, where one file holds several.
    pub project: Option<String>,
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum EntryState {
    Protected,
    /// The gate is there, and not as it was put there.
    Tampered,
    Open,
    NotCoverable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ClientAct {
    Protect,
    Unprotect,
    /// Write a server of Callgate's own list into the file, by its name.
    Place,
}

/// What happened to a file that was edited, and what mends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct DriftView {
    pub kind: DriftKind,
    pub words: String,
    /// Something runs, or will, without the gate that should have it.
    pub serious: bool,
    pub fix: Option<DriftFix>,
}

/// What happened: several of one kind are one thing to know and one thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum DriftKind {
    LostGate,
    /// Another gate than this home's.
    OtherGate,
    New,
    CameBack,
    /// Told one by one.
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DriftFix {
    /// Put the gate (back) in front of these; `leave` is offered beside it: not to be asked about again.
    Protect { entries: Vec<EntryKey> },
    /// Take the gate away again that came back. Offered beside it: it stays, which is taken note of.
    Unprotect { entries: Vec<EntryKey> },
    /// Put the file back as this copy has it. Offered beside it: these are gone on purpose, and are not told of again.
    Restore { backup: String, lost: Vec<EntryKey> },
    /// Nothing to mend: what somebody did to these is known and not told again.
    TakeNote { entries: Vec<EntryKey> },
}

/// What an act would write, before it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClientPreview {
    pub files: Vec<FileDiff>,
    pub refused: Vec<RefusedEntry>,
    /// What is to be known about how the servers are started that get a gate by it.
    pub launch: Vec<LaunchNote>,
}

/// One thing about how a server is started, in words. Nothing is changed by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LaunchNote {
    /// Its name in the file.
    pub entry: String,
    /// Stable: `inline-code`, `unpinned-package` …
    pub code: String,
    /// More runs, or reaches further, than the entry seems to say; else it is good to know.
    pub grave: bool,
    /// `command`, `args/2`, `env/NODE_OPTIONS`.
    pub place: String,
    /// The word itself, secrets masked.
    pub quote: String,
    pub words: String,
    pub fix: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    pub client: String,
    pub client_name: String,
    pub shown: String,
    /// A unified diff, secrets masked.
    pub diff: String,
    /// The entries that it edits, by their names in the file.
    pub entries: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RefusedEntry {
    pub client_name: String,
    /// None for a whole file.
    pub name: Option<String>,
    pub why: String,
}

/// What an act did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ClientChange {
    pub act: ClientAct,
    /// Written.
    pub done: Vec<EntryKey>,
    /// To be written when their client has quit.
    pub waiting: Vec<EntryKey>,
    pub refused: Vec<RefusedEntry>,
    /// Secrets that are back in the file and still in the keychain, by their names there.
    pub left: Vec<String>,
}

impl ClientChange {
    pub(crate) fn new(act: ClientAct) -> ClientChange {
        ClientChange { act, done: Vec::new(), waiting: Vec::new(), refused: Vec::new(), left: Vec::new() }
    }
}

/// A copy of a client's file as it was before an edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct BackupView {
    pub id: String,
    pub client: String,
    pub client_name: String,
    pub shown: String,
    pub at_ms: i64,
    pub bytes: u64,
    /// What is there now is the same.
    pub current: bool,
}

/// What restoring a backup would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct BackupPreview {
    /// From what is there now to the backup; empty, if it is the same.
    pub diff: String,
    /// What would not work then, in words.
    pub warning: Option<String>,
}

/// What a server answered through the gate, without its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerTest {
    /// "playwright 1.2.3", as it calls itself.
    pub says: Option<String>,
    /// The tools that a client would see.
    pub tools: Option<u32>,
    /// What went wrong, and what to do.
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum SecretsAct {
    /// Out of the file into the keychain.
    Move,
    /// What is in the keychain is for the command that the entry has now.
    Rebind,
    /// Back into the file.
    PutBack,
}

/// What an act does to an entry's secrets, before it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SecretsPreview {
    pub client_name: String,
    pub shown: String,
    /// What the entry starts, secrets masked.
    pub command: String,
    pub secrets: Vec<SecretView>,
    /// A unified diff, secrets masked; empty if the file stays as it is.
    pub diff: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub name: String,
    pub place: SecretPlace,
    /// In characters; nothing for one in the keychain.
    pub length: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum SecretPlace {
    Variable,
    /// Other programs can see it while the server runs, wherever it is kept.
    Argument,
    Header,
}

/// What an act did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SecretsChange {
    /// Moved, or put back.
    pub names: Vec<String>,
    /// Put back, and still in the keychain.
    pub left: Vec<String>,
}

/// What came of taking values that are in the keychain out of the copies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct PurgedCopies {
    pub rewritten: u32,
    /// Copies that hold a value still, and secrets that could not be looked for, each with the reason.
    pub problems: Vec<String>,
}

//! Clients, their entries and changes of them, as values: plain data, no behaviour beyond conversion.
//!
//! The TypeScript of the window is generated from these types (feature `bindings`).

mod clients;
mod own;

pub use clients::{
    BackupPreview, BackupView, ClientAct, ClientChange, ClientEntry, ClientFile, ClientPreview, ClientView,
    DriftFix, DriftKind, DriftView, EntryKey, EntrySecrets, EntryState, FileDiff, LaunchNote, PurgedCopies,
    QueuedChange, QueuedRestore, RefusedEntry, Restored, SecretPlace, SecretView, SecretsAct, SecretsChange,
    SecretsPreview, ServerTest,
};
pub use own::{
    DraftPart, DraftPreview, DraftProblem, DraftVariable, Removal, RemovalPreview, ServerDraft, ServerPlace,
};

//! The one shape in which anything goes wrong at the window.

use serde::{Deserialize, Serialize};

/// What the window can do about it; it switches on this and never on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ErrorCode {
    /// What was asked for is not there (any more).
    NotFound,
    /// What was sent makes no sense.
    BadInput,
    /// Somebody else changed it meanwhile; nothing was written.
    Conflict,
    /// The policy is broken and has to be mended first.
    BrokenPolicy,
    /// It would loosen, and was not confirmed.
    NotConfirmed,
    /// Undo or confirmation came too late.
    TooLate,
    /// The disk, the database or the system said no.
    Failed,
    /// Superseded by a newer question of the same kind.
    Cancelled,
}

/// What happened, to what, and what to do now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct UiError {
    pub code: ErrorCode,
    pub message: String,
    /// For the curious: the causes below it.
    pub detail: Option<String>,
}

//! What can go wrong at the desk, by cause.

use std::io;
use std::path::PathBuf;

use callgate_clients::own::AddError;
use callgate_controls::allowance::AllowanceError;
use callgate_home::{HomeError, StoreError};
use callgate_policy::Report;
use callgate_policy::edit::form::FormError;
use callgate_policy::edit::{EditError, RevertError};
use callgate_text::harmless;
use callgate_wiring::WiringError;

use crate::inventory::UnknownName;
use crate::view::{ErrorCode, UiError};

#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error("{what}")]
    Disk {
        what: String,
        #[source]
        error: io::Error,
    },
    #[error("the change cannot be recorded, so it was not made")]
    Unrecorded(#[source] StoreError),
    #[error("no random number could be had for this, so it was not done")]
    NoRandomness,
    #[error("{} is broken and has to be mended by hand first: {}", .path.display(), .report.headline())]
    BrokenPolicy { path: PathBuf, report: Report },
    #[error("the default policy is for all servers without one of their own: edit it as a whole, in Rules or in {}", .path.display())]
    DefaultPolicy { path: PathBuf },
    /// A text that is not in force yet.
    #[error("this is no policy: {}", .0.headline())]
    BrokenText(Report),
    #[error(transparent)]
    Form(#[from] FormError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Revert(#[from] RevertError),
    #[error(transparent)]
    Allowance(#[from] AllowanceError),
    #[error("{} was changed by somebody else meanwhile; nothing was written", .path.display())]
    ChangedMeanwhile { path: PathBuf },
    #[error(transparent)]
    Wiring(#[from] WiringError),
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    #[error("{0}")]
    Conflict(String),
    #[error("this would loosen the rules, and was not confirmed: {}", .0.join("; "))]
    NotConfirmed(Vec<String>),
    #[error("{0}")]
    TooLate(&'static str),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    BadInput(String),
    #[error("a newer question took the place of this one")]
    Cancelled,
}

impl DeskError {
    pub(crate) fn disk(what: impl Into<String>, error: io::Error) -> DeskError {
        DeskError::Disk { what: what.into(), error }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            DeskError::Store(_)
            | DeskError::Home(_)
            | DeskError::Disk { .. }
            | DeskError::Unrecorded(_)
            | DeskError::NoRandomness => ErrorCode::Failed,
            DeskError::Wiring(error) => wiring_code(error),
            DeskError::BrokenPolicy { .. }
            | DeskError::BrokenText(_)
            | DeskError::Form(FormError::Broken(_)) => ErrorCode::BrokenPolicy,
            DeskError::Cancelled => ErrorCode::Cancelled,
            DeskError::Edit(error) => of_edit(error),
            DeskError::Revert(RevertError::Broken(_)) => ErrorCode::BrokenPolicy,
            DeskError::Revert(_) | DeskError::ChangedMeanwhile { .. } | DeskError::Conflict(_) => {
                ErrorCode::Conflict
            }
            DeskError::Allowance(AllowanceError::Length | AllowanceError::TooMany) => ErrorCode::BadInput,
            DeskError::Allowance(_) => ErrorCode::Failed,
            DeskError::NotConfirmed(_) => ErrorCode::NotConfirmed,
            DeskError::TooLate(_) => ErrorCode::TooLate,
            DeskError::NotFound(_) | DeskError::UnknownName(_) => ErrorCode::NotFound,
            DeskError::Form(_) | DeskError::DefaultPolicy { .. } | DeskError::BadInput(_) => {
                ErrorCode::BadInput
            }
        }
    }
}

pub(crate) fn wiring_code(error: &WiringError) -> ErrorCode {
    match error {
        WiringError::Conflict(_) | WiringError::ClientRuns(_) => ErrorCode::Conflict,
        WiringError::NotFound(_) => ErrorCode::NotFound,
        WiringError::BadInput(_) | WiringError::Adding(AddError::Bad { .. } | AddError::Taken { .. }) => {
            ErrorCode::BadInput
        }
        _ => ErrorCode::Failed,
    }
}

fn of_edit(error: &EditError) -> ErrorCode {
    match error {
        EditError::Broken(_) => ErrorCode::BrokenPolicy,
        EditError::WouldLoosen(_) => ErrorCode::NotConfirmed,
        EditError::Pasted(_)
        | EditError::Outcome(_)
        | EditError::NotATool(_)
        | EditError::NotAClient(_)
        | EditError::NotARule(_)
        | EditError::NotAllowed { .. }
        | EditError::StillRefused { .. }
        | EditError::StillBlocked { .. }
        | EditError::NotRefused { .. } => ErrorCode::BadInput,
    }
}

/// What a person does about a disk that says no.
pub(crate) fn advice(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("The disk is full: free some room, then try again.")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("It is on a disk that cannot be written: make the disk writable, then try again.")
        }
        io::ErrorKind::PermissionDenied => Some(
            "You may not write there: make the folder your own (`callgate doctor` says how), then try again.",
        ),
        _ => None,
    }
}

/// Of what the system said below it.
fn kind_of(error: &(dyn std::error::Error + 'static)) -> Option<io::ErrorKind> {
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Io { kind, .. }) => Some(*kind),
        _ => error.downcast_ref::<io::Error>().map(io::Error::kind),
    }
}

impl From<DeskError> for UiError {
    fn from(error: DeskError) -> Self {
        let mut causes = Vec::new();
        let mut todo = None;
        let mut cause = std::error::Error::source(&error);
        while let Some(below) = cause {
            causes.push(harmless(&below.to_string()));
            todo = todo.or_else(|| kind_of(below).and_then(advice));
            cause = below.source();
        }
        if let DeskError::Store(store) = &error {
            todo = todo.or_else(|| kind_of(store).and_then(advice));
        }
        let detail = (!causes.is_empty()).then(|| causes.join(": "));
        let said = todo.map_or_else(|| error.to_string(), |todo| format!("{error}. {todo}"));
        // Names of servers and tools may be in any of them.
        UiError { code: error.code(), message: harmless(&said), detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_says_no_comes_with_what_to_do() {
        let cases = [
            (io::ErrorKind::StorageFull, "free some room"),
            (io::ErrorKind::ReadOnlyFilesystem, "make the disk writable"),
            (io::ErrorKind::PermissionDenied, "callgate doctor"),
        ];
        for (kind, todo) in cases {
            let disk = DeskError::disk("x.json cannot be written", io::Error::from(kind));
            let store =
                StoreError::Io { doing: "write into", path: "x".into(), cause: "no".to_owned(), kind };
            for error in [disk, DeskError::Unrecorded(store)] {
                let shown = UiError::from(error);
                assert!(shown.message.contains(todo), "{shown:?}");
            }
        }
        let other = UiError::from(DeskError::disk("x", io::Error::from(io::ErrorKind::NotFound)));
        assert_eq!(other.message, "x");
    }
}

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io;

use super::*;
use crate::ledger;
use crate::table::client;

const GATE: PlannedAct<'static> = PlannedAct::Protect { binary: "/home/ada/.callgate/bin/callgate" };

/// Cursor's file with one server, and a home beside it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        std::fs::write(place.found().path, r#"{"mcpServers": {"git": {"command": "uvx"}}}"#).unwrap();
        place
    }

    fn found(&self) -> Found {
        known(client("cursor").unwrap(), self.folder.path().join("mcp.json"))
    }

    fn home(&self) -> std::path::PathBuf {
        self.folder.path().join("home")
    }

    /// As `write` does it, with this for the write itself.
    fn change(
        &self,
        act: PlannedAct<'_>,
        note: Note,
        written: Result<(), FileError>,
    ) -> Result<(), ChangeError> {
        let mut noted = Noted::hold(&self.home(), note).unwrap();
        let plan = plan(&self.found(), act, &|_| true, &mut NameRegistry::default(), noted.ledger()).unwrap();
        assert_eq!(plan.edits.len(), 1);
        noted.before(&plan, 1).unwrap();
        noted.close(&plan, written, 1)
    }

    fn rows(&self) -> usize {
        ledger::read(&self.home()).unwrap().rows.len()
    }
}

#[test]
fn a_write_that_fails_late_keeps_its_row_and_one_that_fails_before_does_not() {
    let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
    for (error, rows) in [
        // The new text was in its place, or may have been.
        (FileError::Overwritten, 1),
        (FileError::Read(denied()), 1),
        (FileError::Write(denied()), 0),
        (FileError::Changed, 0),
        (FileError::Locked, 0),
    ] {
        let place = Place::new();
        let (words, late) = (error.to_string(), rows == 1);
        let failed = place.change(GATE, Note::Put, Err(error)).unwrap_err();
        assert_eq!((place.rows(), failed.may_be_written()), (rows, late), "{words}");
    }
}

#[test]
fn a_gate_that_may_still_be_there_keeps_its_row() {
    let place = Place::new();
    carry_out(&place.home(), &place.found(), GATE, &|_| true, &mut NameRegistry::default(), 1).unwrap();
    for error in [FileError::Overwritten, FileError::Locked] {
        place.change(PlannedAct::Unprotect, Note::LeaveOpen, Err(error)).unwrap_err();
        assert_eq!(place.rows(), 1);
        assert_eq!(ledger::read(&place.home()).unwrap().left_open, []);
    }
    place.change(PlannedAct::Unprotect, Note::LeaveOpen, Ok(())).unwrap();
    assert_eq!(place.rows(), 0);
}

//! The record from end to end: what the journal wrote is what the history reads.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod batch;
mod catch_up;
mod reading;
mod spending;
mod timeline;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use callgate_controls::{prepare_home, sqlite};
use callgate_home::clock::{Clock, ManualClock};
use callgate_home::{Home, SessionId, StoreError, lease, running};
use callgate_journal::database::open_writer;
use callgate_journal::{
    CallEntry, CallRef, CaughtUp, Decision, EndReason, Event, EventKind, Intent, Journal, NotAdmitted,
    Origin, Outcome, PolicyEdit, Removed, SessionInfo, catch_up, note_edit,
};
use callgate_policy::{Keep, Policy};
use callgate_protocol::json::Raw;
use rusqlite::Connection;

use crate::{CallFilter, CallRow, Counts, DEMO_SERVER, Forget, Forgetter, History, PolicyChange, forget};

/// Whoever forgets something in tests.
pub(crate) const BY: &Forgetter<'static> = &Forgetter { origin: Origin::Cli, words: "ada at a terminal" };

pub(crate) fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    prepare_home(&home).unwrap();
    (folder, home)
}

pub(crate) fn info(server: &str) -> SessionInfo {
    SessionInfo {
        id: SessionId::random(),
        server: server.to_owned(),
        client: Some("client".to_owned()),
        command: vec!["npx".to_owned(), "--token".to_owned(), "abc".to_owned()],
        policy_version: None,
        watch_only: false,
        demo: false,
        secrets: Vec::new(),
    }
}

pub(crate) fn intent<'a>(tool: &'a str, args: &'a str) -> Intent<'a> {
    Intent {
        method: "tools/call",
        tool,
        rpc_id: "7",
        args: Some(Raw::parse(args).unwrap()),
        client: "client",
        rule: "/default",
        policy: "v1",
        keep: Keep::Full,
        observing: false,
        would: None,
        spend: None,
        reason: "",
        asked: None,
    }
}

pub(crate) fn call(journal: &Journal, tool: &str, args: &str) -> CallRef {
    let mut batch = journal.batch();
    let call = batch.admit(intent(tool, args), &[], b"line").unwrap();
    let commit = batch.commit();
    assert!(commit.unrecorded.is_empty());
    assert_eq!(commit.admitted.lines(), b"line\n");
    call
}

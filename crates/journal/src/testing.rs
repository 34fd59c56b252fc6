//! What the tests of this crate have in common: a home, a session, and the record read back with plain SQL.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_controls::prepare_home;
use callgate_home::{Home, SessionId};
use callgate_policy::Keep;
use callgate_protocol::json::Raw;
use rusqlite::Row;

use crate::database::open_reader;
use crate::{CallRef, EventKind, Intent, Journal, Origin, SessionInfo};

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

/// The tools of all calls on record, oldest first.
pub(crate) fn tools(home: &Home) -> Vec<String> {
    let sql = "SELECT x.tool FROM calls c JOIN contexts x ON x.id = c.context ORDER BY c.rev";
    read(home, sql, |row| row.get(0))
}

/// The events on record, oldest first.
pub(crate) fn events(home: &Home) -> Vec<(EventKind, String)> {
    let sql = "SELECT kind, text FROM events ORDER BY id";
    read(home, sql, |row| Ok((row.get::<_, String>(0)?.parse().unwrap(), row.get(1)?)))
}

/// The versions of the policy of the server `s`, as they came into force, and where they came from.
pub(crate) fn policies(home: &Home) -> Vec<(String, Origin)> {
    let sql = "SELECT version, origin FROM policy_changes WHERE server = 's' ORDER BY at_ms, id";
    read(home, sql, |row| Ok((row.get(0)?, row.get::<_, String>(1)?.parse().unwrap())))
}

/// How many rows this table has, or those of it that a condition names.
pub(crate) fn count(home: &Home, rows: &str) -> i64 {
    open_reader(home)
        .unwrap()
        .query_row(&format!("SELECT count(*) FROM {rows}"), (), |row| row.get(0))
        .unwrap()
}

fn read<T>(home: &Home, sql: &str, row: fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let connection = open_reader(home).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map((), row).unwrap().map(Result::unwrap).collect()
}

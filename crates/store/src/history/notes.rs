//! Rows that no session writes: what a person did from the command line or the window.

use rusqlite::{Connection, OptionalExtension};

use super::timeline::{self, InForce};
use crate::error::StoreError;
use crate::home::Home;
use crate::words::{EventKind, Origin};

/// Records an event outside of any session.
pub fn record_event(
    home: &Home,
    at_ms: i64,
    kind: EventKind,
    server: Option<&str>,
    origin: Option<Origin>,
    text: &str,
) -> Result<(), StoreError> {
    let mut writer = super::open_writer(home, at_ms)?;
    let text = crate::mask::Masker::new(&[]).keep_text(text).into_owned();
    let insert = |connection: &mut Connection| {
        let transaction = connection.transaction()?;
        let rev = super::next_rev(&transaction)?;
        transaction.execute(
            "INSERT INTO events(at_ms, kind, server, origin, text, rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (at_ms, kind.word(), server, origin.map(Origin::word), text, rev),
        )?;
        transaction.commit()
    };
    insert(&mut writer.connection).map_err(|error| StoreError::database(&home.history_db(), &error))
}

/// Keeps the text of a policy that was just written.
pub fn record_policy(
    home: &Home,
    at_ms: i64,
    version: &str,
    server: &str,
    text: &str,
    origin: Origin,
) -> Result<(), StoreError> {
    let writer = super::open_writer(home, at_ms)?;
    keep_policy(&writer.connection, version, server, text, at_ms, origin)
        .map_err(|error| StoreError::database(&home.history_db(), &error))
}

/// An edit of a policy that is about to be written.
#[derive(Clone, Copy, Debug)]
pub struct PolicyEdit<'a> {
    /// Version and text of what it is made on. If nobody has put that on record, it was changed in the file.
    pub before: Option<(&'a str, &'a str)>,
    pub version: &'a str,
    pub server: &'a str,
    pub text: &'a str,
    pub origin: Origin,
    /// What changes, in words.
    pub summary: &'a str,
    /// What becomes looser by it, in words.
    pub loosened: &'a [String],
}

/// Puts an edit on record before it is made, so that a session which reads the file next finds its origin here.
pub fn record_edit(home: &Home, at_ms: i64, edit: &PolicyEdit<'_>) -> Result<(), StoreError> {
    let mut writer = super::open_writer(home, at_ms)?;
    let fail = |error: rusqlite::Error| StoreError::database(&home.history_db(), &error);
    let masker = crate::mask::Masker::new(&[]);
    let transaction = writer.connection.transaction().map_err(fail)?;
    let server = edit.server;
    // Written first: from here on nobody else takes a number.
    let mut rev = super::next_rev(&transaction).map_err(fail)?;
    if let Some((version, text)) = edit.before {
        let policy = InForce { server, version, text, at_ms, origin: Origin::File };
        timeline::found(&transaction, &policy, None, true, &mut rev).map_err(fail)?;
        keep_policy(&transaction, version, server, text, at_ms, Origin::File).map_err(fail)?;
    }
    let policy = InForce { server, version: edit.version, text: edit.text, at_ms, origin: edit.origin };
    timeline::edited(&transaction, &policy, edit.summary, &mut rev).map_err(fail)?;
    keep_policy(&transaction, edit.version, edit.server, edit.text, at_ms, edit.origin).map_err(fail)?;
    let looser = edit.loosened.iter().map(|text| (EventKind::Loosened, text.as_str()));
    for (kind, text) in std::iter::once((EventKind::PolicyChanged, edit.summary)).chain(looser) {
        rev += 1;
        transaction
            .execute(
                "INSERT INTO events(at_ms, kind, server, origin, text, rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (at_ms, kind.word(), edit.server, edit.origin.word(), masker.keep_text(text), rev),
            )
            .map_err(fail)?;
    }
    transaction.execute("UPDATE meta SET value = ?1 WHERE key = 'rev'", [rev]).map_err(fail)?;
    transaction.commit().map_err(fail)
}

/// The first to see a version says where it came from.
pub(super) fn keep_policy(
    connection: &Connection,
    version: &str,
    server: &str,
    text: &str,
    at_ms: i64,
    origin: Origin,
) -> rusqlite::Result<()> {
    let edited_ms = (origin != Origin::File).then_some(at_ms);
    connection
        .execute(
            "INSERT INTO policy_versions(version, server, text, first_seen_ms, seen_ms, edited_ms, origin)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET seen_ms = max(seen_ms, excluded.seen_ms),
               edited_ms = coalesce(excluded.edited_ms, edited_ms)",
            (version, server, text, at_ms, edited_ms, origin.word()),
        )
        .map(drop)
}

/// When this policy was put on record by whoever edited it, if it was, and no other came after it. (One that did may
/// have been replaced by a copy of this one, and that is a new edit.)
pub(super) fn edited_ms(
    connection: &Connection,
    version: &str,
    server: &str,
) -> rusqlite::Result<Option<i64>> {
    connection
        .query_row(
            "SELECT edited_ms FROM policy_versions p WHERE version = ?1 AND server = ?2 AND edited_ms IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM policy_versions o
                             WHERE o.server = ?2 AND o.version <> ?1 AND o.seen_ms > p.edited_ms)",
            (version, server),
            |row| row.get(0),
        )
        .optional()
}

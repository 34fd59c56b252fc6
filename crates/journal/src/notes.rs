//! Rows that no session writes: what a person did from the command line or the window.

use callgate_controls::approval::ApprovalId;
use callgate_home::{Home, StoreError};
use callgate_redaction::Masker;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::database::next_rev;
use crate::outbox::{self, Note, Noted};
use crate::timeline::{self, InForce};
use crate::{EventKind, Origin};

/// Records an event outside of any session. It is on record when this returns, if not in the history yet.
pub fn record_event(
    home: &Home,
    at_ms: i64,
    kind: EventKind,
    server: Option<&str>,
    origin: Option<Origin>,
    text: &str,
) -> Result<(), StoreError> {
    let text = Masker::new(&[]).keep_text(text).into_owned();
    let note = Note::Event { at_ms, kind, server: server.map(str::to_owned), origin, text };
    outbox::put(home, at_ms, &note)?.book();
    Ok(())
}

/// How the event of a yes names its approval: by this it is found when a call was let through by it.
pub fn approved_words(id: ApprovalId) -> String {
    format!("({id}) approved ")
}

/// An edit of a policy that is about to be written.
#[derive(Clone, Copy, Debug)]
pub struct PolicyEdit<'a> {
    /// Version and text of what it is made on. If nobody has put that on record, it was changed in the file.
    pub before: Option<(&'a str, &'a str)>,
    pub version: &'a str,
    pub server: &'a str,
    /// Servers whose policy becomes this one too: those that follow the default policy.
    pub followers: &'a [String],
    pub text: &'a str,
    pub origin: Origin,
    /// What changes, in words.
    pub summary: &'a str,
    /// What becomes looser by it, in words.
    pub loosened: &'a [String],
}

/// The same, on its way into the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EditNote {
    at_ms: i64,
    before: Option<(String, String)>,
    version: String,
    server: String,
    #[serde(default)]
    followers: Vec<String>,
    text: String,
    origin: Origin,
    summary: String,
    loosened: Vec<String>,
}

/// Puts an edit on record before it is made, so that a session which reads the file next finds its origin there.
pub fn note_edit(home: &Home, at_ms: i64, edit: &PolicyEdit<'_>) -> Result<Noted, StoreError> {
    let masker = Masker::new(&[]);
    let note = EditNote {
        at_ms,
        before: edit.before.map(|(version, text)| (version.to_owned(), text.to_owned())),
        version: edit.version.to_owned(),
        server: edit.server.to_owned(),
        followers: edit.followers.to_vec(),
        text: edit.text.to_owned(),
        origin: edit.origin,
        summary: masker.keep_text(edit.summary).into_owned(),
        loosened: edit.loosened.iter().map(|text| masker.keep_text(text).into_owned()).collect(),
    };
    outbox::put(home, at_ms, &Note::Edit(note))
}

/// The rows of a note, inside a transaction.
pub(super) fn insert(connection: &Connection, note: &Note) -> rusqlite::Result<()> {
    match note {
        Note::Event { at_ms, kind, server, origin, text } => {
            let rev = next_rev(connection)?;
            insert_event(connection, (*at_ms, *kind, server.as_deref(), *origin), text, rev)
        }
        Note::Edit(edit) => insert_edit(connection, edit),
    }
}

fn insert_edit(connection: &Connection, edit: &EditNote) -> rusqlite::Result<()> {
    let EditNote { at_ms, version, server, text, origin, summary, .. } = edit;
    let (at_ms, origin) = (*at_ms, *origin);
    // Written first: from here on nobody else takes a number.
    let mut rev = next_rev(connection)?;
    for server in std::iter::once(server).chain(&edit.followers) {
        if let Some((version, text)) = &edit.before {
            let policy = InForce { server, version, text, at_ms, origin: Origin::File };
            timeline::found(connection, &policy, None, true, &mut rev)?;
            keep_policy(connection, version, server, text, at_ms, Origin::File)?;
        }
        timeline::edited(connection, &InForce { server, version, text, at_ms, origin }, summary, &mut rev)?;
        keep_policy(connection, version, server, text, at_ms, origin)?;
    }
    let looser = edit.loosened.iter().map(|text| (EventKind::Loosened, text));
    for (kind, text) in std::iter::once((EventKind::PolicyChanged, summary)).chain(looser) {
        rev += 1;
        insert_event(connection, (at_ms, kind, Some(server), Some(origin)), text, rev)?;
    }
    connection.execute("UPDATE meta SET value = ?1 WHERE key = 'rev'", [rev]).map(drop)
}

type EventHead<'a> = (i64, EventKind, Option<&'a str>, Option<Origin>);

fn insert_event(
    connection: &Connection,
    (at_ms, kind, server, origin): EventHead<'_>,
    text: &str,
    rev: i64,
) -> rusqlite::Result<()> {
    connection
        .execute(
            "INSERT INTO events(at_ms, kind, server, origin, text, rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (at_ms, kind.word(), server, origin.map(Origin::word), text, rev),
        )
        .map(drop)
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

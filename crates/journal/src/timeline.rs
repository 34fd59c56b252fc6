//! Every change of a server's policy, in order: who made it, and what it was before.
//!
//! Edits by command are put here before they are made. What a session finds in force and nobody put here was changed
//! in the file, perhaps while no session ran; what that opened is told like any other loosening.

use callgate_policy::{Policy, compare, edit};
use callgate_redaction::Masker;
use rusqlite::{Connection, OptionalExtension};

use crate::{EventKind, Origin};

/// A policy that is, or is about to be, in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct InForce<'a> {
    pub(super) server: &'a str,
    pub(super) version: &'a str,
    pub(super) text: &'a str,
    pub(super) at_ms: i64,
    pub(super) origin: Origin,
}

/// Puts an edit in its place, before it is made.
pub(super) fn edited(
    connection: &Connection,
    policy: &InForce<'_>,
    summary: &str,
    rev: &mut i64,
) -> rusqlite::Result<()> {
    let before = version_before(connection, policy)?;
    if before.as_deref() == Some(policy.version) {
        return Ok(());
    }
    insert(connection, policy, before.as_deref(), summary, rev)
}

/// A session, or whoever is about to edit it, found this policy in force. `first`: it is the first that it found, so
/// nobody has told yet what changed since the last session. To be asked before the policy itself is kept.
pub(super) fn found(
    connection: &Connection,
    policy: &InForce<'_>,
    session: Option<&str>,
    first: bool,
    rev: &mut i64,
) -> rusqlite::Result<()> {
    let before = version_before(connection, policy)?;
    if before.as_deref() == Some(policy.version) || is_old_news(connection, policy)? {
        return Ok(());
    }
    let Some(before) = before else { return insert(connection, policy, None, "first seen", rev) };
    let loosened = text_of(connection, &before, policy.server)?.and_then(|text| loosened(&text, policy.text));
    let masker = Masker::new(&[]);
    if first {
        for text in loosened.iter().flatten() {
            *rev += 1;
            connection.execute(
                "INSERT INTO events(at_ms, kind, server, session, origin, text, rev)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    policy.at_ms,
                    EventKind::Loosened.word(),
                    policy.server,
                    session,
                    policy.origin.word(),
                    masker.keep_text(text),
                    *rev,
                ),
            )?;
        }
    }
    let before_text = text_of(connection, &before, policy.server)?;
    let words = before_text.map(|text| edit::difference(&text, policy.text)).unwrap_or_default();
    let summary = if words.is_empty() { "the file was changed".to_owned() } else { words.join("; ") };
    insert(connection, policy, Some(&before), &summary, rev)
}

/// What became looser; None when one of them is no policy that this Callgate understands.
fn loosened(before: &str, after: &str) -> Option<Vec<String>> {
    Some(compare::loosened(&Policy::parse(before).ok()?, &Policy::parse(after).ok()?))
}

/// What was in force when this one came. By time, not by number: a session that was killed may be filed much later.
fn version_before(connection: &Connection, policy: &InForce<'_>) -> rusqlite::Result<Option<String>> {
    connection
        .query_row(
            "SELECT version FROM policy_changes WHERE server = ?1 AND at_ms <= ?2 ORDER BY at_ms DESC, id DESC LIMIT 1",
            (policy.server, policy.at_ms),
            |row| row.get(0),
        )
        .optional()
}

/// Is it known since, from somebody who was faster to tell? (A clock that was set back makes the truth look like that,
/// too, so only for a version that is known.)
fn is_old_news(connection: &Connection, policy: &InForce<'_>) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM policy_changes WHERE server = ?1 AND at_ms > ?2)
            AND EXISTS (SELECT 1 FROM policy_changes WHERE server = ?1 AND version = ?3)",
        (policy.server, policy.at_ms, policy.version),
        |row| row.get(0),
    )
}

fn text_of(connection: &Connection, version: &str, server: &str) -> rusqlite::Result<Option<String>> {
    connection
        .query_row(
            "SELECT text FROM policy_versions WHERE version = ?1 ORDER BY server = ?2 DESC LIMIT 1",
            (version, server),
            |row| row.get(0),
        )
        .optional()
}

fn insert(
    connection: &Connection,
    policy: &InForce<'_>,
    previous: Option<&str>,
    summary: &str,
    rev: &mut i64,
) -> rusqlite::Result<()> {
    *rev += 1;
    connection
        .execute(
            "INSERT INTO policy_changes(at_ms, server, version, previous, origin, summary, rev)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                policy.at_ms,
                policy.server,
                policy.version,
                previous,
                policy.origin.word(),
                Masker::new(&[]).keep_text(summary),
                *rev,
            ),
        )
        .map(drop)
}

#[cfg(test)]
#[path = "timeline/tests.rs"]
mod tests;

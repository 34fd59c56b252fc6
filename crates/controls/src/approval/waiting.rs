//! Calls that gates hold for a question right now, by session: what a gate that was killed held is held no more.

use callgate_home::{CallId, SessionId, lease};

use super::{Approval, ApprovalId, parsed};
use crate::limits::Db;

pub(super) fn enter(db: &Db, approval: &str, call: CallId, until_ms: i64) -> rusqlite::Result<()> {
    let (call, session) = (call.to_string(), call.session.to_string());
    db.connection
        .prepare_cached(
            "INSERT OR REPLACE INTO waiting(call, approval, session, until_ms) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((call, approval, session, until_ms))
        .map(drop)
}

/// False if it did not wait for this one.
pub(super) fn leave(db: &Db, approval: ApprovalId, call: CallId) -> rusqlite::Result<bool> {
    let left = db
        .connection
        .prepare_cached("DELETE FROM waiting WHERE call = ?1 AND approval = ?2")?
        .execute((call.to_string(), approval.to_string()))?;
    Ok(left == 1)
}

/// Whose question it is, if its own session is gone: of those that wait for it the one whose time is over first.
pub(super) fn heir(db: &Db, approval: &Approval) -> rusqlite::Result<Option<SessionId>> {
    if lease::is_live(&db.home, approval.session) {
        return Ok(None);
    }
    let waiting: Vec<SessionId> = db
        .connection
        .prepare_cached("SELECT session FROM waiting WHERE approval = ?1 ORDER BY until_ms, call")?
        .query_map([approval.id.to_string()], |row| parsed(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(waiting.into_iter().find(|session| lease::is_live(&db.home, *session)))
}

/// Drops what waits for a decision that there is, and what waited for gates that are gone. A question that only those held is
/// withdrawn, as if their client had given it up: it has no answer to come.
pub(super) fn sweep(db: &Db) -> rusqlite::Result<()> {
    db.connection
        .prepare_cached(
            "DELETE FROM waiting WHERE approval NOT IN (SELECT id FROM approvals WHERE state = 'open')",
        )?
        .execute(())?;
    let sessions: Vec<String> = db
        .connection
        .prepare_cached("SELECT DISTINCT session FROM waiting")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let is_dead = |session: &&String| {
        session.parse::<SessionId>().map_or(true, |session| !lease::is_live(&db.home, session))
    };
    for session in sessions.iter().filter(is_dead) {
        db.connection
            .prepare_cached(
                "UPDATE approvals SET state = 'withdrawn', arguments = NULL WHERE state = 'open'
                   AND id IN (SELECT approval FROM waiting WHERE session = ?1)
                   AND id NOT IN (SELECT approval FROM waiting WHERE session <> ?1)",
            )?
            .execute([session])?;
        db.connection.prepare_cached("DELETE FROM waiting WHERE session = ?1")?.execute([session])?;
    }
    Ok(())
}

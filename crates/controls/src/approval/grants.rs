//! Grants: what a yes lets through beside the call that was asked about, until it is idle, used up, over, or revoked.

use std::time::Duration;

use callgate_home::clock::Moment;
use callgate_home::{SessionId, StoreError, vocabulary};
use rusqlite::Row;

use super::{Approval, ApprovalId, Approvals, Subject, ms, parsed};
use crate::limits::Db;

vocabulary! {
    /// How far a yes reaches.
    GrantScope {
        /// What an agent does in one go.
        Burst = "burst",
        /// Until the client starts the server anew: in all of its chats.
        Session = "session",
    }
}

impl GrantScope {
    /// It ends when nothing used it for so long.
    pub fn idle(self) -> Duration {
        match self {
            GrantScope::Burst => Duration::from_mins(1),
            GrantScope::Session => Duration::from_mins(30),
        }
    }

    /// It ends in any case.
    pub fn longest(self) -> Duration {
        match self {
            GrantScope::Burst => Duration::from_mins(30),
            GrantScope::Session => Duration::from_hours(8),
        }
    }

    /// How many calls it is good for, the one that asked among them.
    pub fn calls(self) -> u32 {
        match self {
            GrantScope::Burst => 20,
            GrantScope::Session => 10_000,
        }
    }
}

/// What is let through for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Of the approval.
    pub id: ApprovalId,
    pub server: String,
    pub client: String,
    pub session: SessionId,
    pub tool: String,
    /// Of the tool, as it was when it was granted.
    pub(super) definition: Vec<u8>,
    pub scope: GrantScope,
    pub granted_ms: i64,
    pub ends_ms: i64,
    pub used_ms: i64,
    pub calls_left: u32,
}

const COLUMNS: &str =
    "id, server, client, session, tool, scope, granted_ms, ends_ms, used_ms, calls_left, definition";
/// What holds at wall time ?1, time since boot ?2 and boot ?3.
pub(super) const HOLDS: &str =
    "revoked_ms IS NULL AND calls_left > 0 AND ?1 < ends_ms AND ?1 < used_ms + idle_ms
     AND ?1 >= granted_ms - 10000 AND boot = ?3 AND ?2 - granted_uptime_ms < ends_ms - granted_ms";

impl Grant {
    /// Does it let this call through, in this session?
    pub(super) fn reaches(&self, subject: &Subject<'_>, session: SessionId) -> bool {
        self.session == session
            && self.server == subject.server
            && callgate_policy::same_client(&self.client, subject.client)
            && self.tool == subject.tool
            && self.definition == subject.definition
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Grant> {
        Ok(Grant {
            id: parsed(row, 0)?,
            server: row.get(1)?,
            client: row.get(2)?,
            session: parsed(row, 3)?,
            tool: row.get(4)?,
            scope: parsed(row, 5)?,
            granted_ms: row.get(6)?,
            ends_ms: row.get(7)?,
            used_ms: row.get(8)?,
            calls_left: row.get(9)?,
            definition: row.get(10)?,
        })
    }
}

pub(super) fn insert(db: &Db, now: &Moment, approval: &Approval, scope: GrantScope) -> rusqlite::Result<()> {
    db.connection
        .execute(
            "INSERT INTO grants(id, server, client, session, tool, definition, scope, granted_ms, granted_uptime_ms, boot, ends_ms,
               idle_ms, used_ms, calls_left)
             SELECT id, server, client, ?9, tool, definition, ?2, ?3, ?4, ?5, ?6, ?7, ?3, ?8 FROM approvals WHERE id = ?1",
            (
                approval.id.to_string(),
                scope.word(),
                now.wall_ms,
                now.uptime_ms.cast_signed(),
                now.boot.0.to_string(),
                now.wall_ms + ms(scope.longest()),
                ms(scope.idle()),
                // The call that asked is spent by itself.
                scope.calls() - 1,
                approval.session.to_string(),
            ),
        )
        .map(drop)
}

pub(super) fn holding(db: &Db, now: &Moment) -> rusqlite::Result<Vec<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM grants WHERE {HOLDS} ORDER BY granted_ms, id");
    let moment = (now.wall_ms, now.uptime_ms.cast_signed(), now.boot.0.to_string());
    db.connection.prepare_cached(&sql)?.query_map(moment, Grant::read)?.collect()
}

/// Takes one call of it; false if it does not hold.
pub(crate) fn spend(db: &Db, id: &str, now: &Moment) -> rusqlite::Result<bool> {
    let sql =
        format!("UPDATE grants SET calls_left = calls_left - 1, used_ms = ?1 WHERE id = ?4 AND {HOLDS}");
    let moment = (now.wall_ms, now.uptime_ms.cast_signed(), now.boot.0.to_string(), id);
    Ok(db.connection.prepare_cached(&sql)?.execute(moment)? == 1)
}

impl Approvals {
    /// Those that hold. Whether their sessions live is for others to say.
    pub fn grants(&mut self, now: &Moment) -> Result<Vec<Grant>, StoreError> {
        self.transaction(now, |db| holding(db, now))
    }

    /// Ends a grant; false if there is none that holds. What was approved with it and not used yet ends, too.
    pub fn revoke(&mut self, now: &Moment, id: ApprovalId) -> Result<bool, StoreError> {
        self.transaction(now, |db| {
            let held = holding(db, now)?.iter().any(|grant| grant.id == id);
            let (key, id) = (id.spend_key(), id.to_string());
            let end = "UPDATE grants SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL";
            db.connection.execute(end, (&id, now.wall_ms))?;
            let unspent = "UPDATE once SET spent_ms = ?2 WHERE id = ?1 AND spent_ms IS NULL";
            let unused = db.connection.execute(unspent, (&key, now.wall_ms))?;
            Ok(held || unused == 1)
        })
    }
}

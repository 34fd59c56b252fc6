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
        /// What belongs to one conversation, where the client tells which one that is.
        Conversation = "conversation",
        /// Until the client starts the server anew: in all of its chats.
        Session = "session",
    }
}

impl GrantScope {
    /// It ends when nothing used it for so long.
    pub fn idle(self) -> Duration {
        match self {
            GrantScope::Burst => Duration::from_mins(1),
            GrantScope::Conversation | GrantScope::Session => Duration::from_mins(30),
        }
    }

    /// It ends in any case.
    pub fn longest(self) -> Duration {
        match self {
            GrantScope::Burst => Duration::from_mins(30),
            GrantScope::Conversation | GrantScope::Session => Duration::from_hours(8),
        }
    }

    /// How many calls it is good for, the one that asked among them.
    pub fn calls(self) -> u32 {
        match self {
            GrantScope::Burst => 20,
            GrantScope::Conversation | GrantScope::Session => 10_000,
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
    /// Other tools of the server that it reaches.
    pub also: Vec<AlsoGranted>,
    /// The conversation in which it was granted, and what was started under the server's name there.
    pub(super) conversation: Option<(String, Vec<u8>)>,
}

/// A tool that was ticked beside the one that was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlsoGranted {
    pub tool: String,
    /// As its server described it when the grant reached it first; none before that.
    definition: Option<Vec<u8>>,
}

/// More are a rule.
pub const MOST_TOOLS: usize = 50;

/// Whose call it is: of a gate's session, in a conversation of its client, if that says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker<'a> {
    pub(super) session: SessionId,
    pub(super) conversation: Option<&'a str>,
}

const COLUMNS: &str =
    "id, server, client, session, tool, scope, granted_ms, ends_ms, used_ms, calls_left, definition,
     (SELECT conversation FROM conversations c WHERE c.id = grants.id), (SELECT command FROM conversations c WHERE c.id = grants.id)";
/// What holds at wall time ?1, time since boot ?2 and boot ?3.
pub(super) const HOLDS: &str =
    "revoked_ms IS NULL AND calls_left > 0 AND ?1 < ends_ms AND ?1 < used_ms + idle_ms
     AND ?1 >= granted_ms - 10000 AND boot = ?3 AND ?2 - granted_uptime_ms < ends_ms - granted_ms";

impl Grant {
    /// Does it let this call through?
    pub(super) fn reaches(&self, subject: &Subject<'_>, asker: Asker<'_>) -> bool {
        let is_there = match self.scope {
            GrantScope::Burst | GrantScope::Session => self.session == asker.session,
            // Its gate may be another one since: then what is started has to be the same.
            GrantScope::Conversation => self.conversation.as_ref().is_some_and(|(conversation, command)| {
                Some(conversation.as_str()) == asker.conversation && command == subject.command
            }),
        };
        is_there
            && self.server == subject.server
            && callgate_policy::same_client(&self.client, subject.client)
            && (self.is_own_tool(subject) || self.also.iter().any(|also| also.reaches(subject)))
    }

    fn is_own_tool(&self, subject: &Subject<'_>) -> bool {
        self.tool == subject.tool && self.definition == subject.definition
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
            also: Vec::new(),
            conversation: row.get::<_, Option<String>>(11)?.zip(row.get(12)?),
        })
    }
}

impl AlsoGranted {
    fn reaches(&self, subject: &Subject<'_>) -> bool {
        let same = |definition: &Vec<u8>| definition == subject.definition;
        self.tool == subject.tool && self.definition.as_ref().is_none_or(same)
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

/// The same with other tools of the server.
pub(super) fn insert_with(
    db: &Db,
    now: &Moment,
    approval: &Approval,
    scope: GrantScope,
    tools: &[String],
) -> rusqlite::Result<()> {
    insert(db, now, approval, scope)?;
    let mut statement =
        db.connection.prepare_cached("INSERT OR IGNORE INTO also_granted(id, tool) VALUES (?1, ?2)")?;
    for tool in tools.iter().filter(|tool| **tool != approval.tool).take(MOST_TOOLS) {
        statement.execute((approval.id.to_string(), tool))?;
    }
    Ok(())
}

/// A ticked tool is granted as its server describes it when its first call comes.
pub(super) fn bind(db: &Db, grant: &Grant, subject: &Subject<'_>) -> rusqlite::Result<()> {
    if grant.is_own_tool(subject) {
        return Ok(());
    }
    db.connection
        .prepare_cached(
            "UPDATE also_granted SET definition = ?3 WHERE id = ?1 AND tool = ?2 AND definition IS NULL",
        )?
        .execute((grant.id.to_string(), subject.tool, &subject.definition[..]))
        .map(drop)
}

pub(super) fn holding(db: &Db, now: &Moment) -> rusqlite::Result<Vec<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM grants WHERE {HOLDS} ORDER BY granted_ms, id");
    let moment = (now.wall_ms, now.uptime_ms.cast_signed(), now.boot.0.to_string());
    let mut grants: Vec<Grant> = db
        .connection
        .prepare_cached(&sql)?
        .query_map(moment, Grant::read)?
        .collect::<rusqlite::Result<_>>()?;
    for grant in grants.iter_mut().filter(|grant| grant.scope == GrantScope::Burst) {
        grant.also = db
            .connection
            .prepare_cached("SELECT tool, definition FROM also_granted WHERE id = ?1 ORDER BY tool")?
            .query_map([grant.id.to_string()], |row| {
                Ok(AlsoGranted { tool: row.get(0)?, definition: row.get(1)? })
            })?
            .collect::<rusqlite::Result<_>>()?;
    }
    Ok(grants)
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

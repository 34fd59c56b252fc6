//! Decisions: one for each question, by whoever is first.

use std::time::Duration;

use callgate_home::clock::Moment;
use callgate_home::{CallId, StoreError};
use rusqlite::OptionalExtension;

use super::{
    Approval, ApprovalId, Approvals, Decider, GrantScope, State, Subject, USABLE, get, grants, ms, parsed,
    tidy, waiting,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This call, once: now if it is held, else when it comes again.
    Once,
    /// This call, and others of the same tool as far as the scope reaches.
    Grant(GrantScope),
    /// A burst, of these tools of the server as well.
    Burst(Vec<String>),
    /// With words for whoever asked.
    Deny(Option<String>),
}

/// A decision that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// As it was a moment before.
    pub approval: Approval,
    /// Its client waits for it. If not, a call that was approved has to come again.
    pub is_held: bool,
}

/// Why a decision counts for nothing.
#[derive(Debug, thiserror::Error)]
pub enum NotDecided {
    #[error("there is no approval {0}: `callgate approvals` lists those that wait")]
    Unknown(ApprovalId),
    #[error("{}", already(*id, *state))]
    Already { id: ApprovalId, state: State },
    #[error("the approval cannot be written: {0}")]
    Store(#[from] StoreError),
}

fn already(id: ApprovalId, state: State) -> String {
    match state {
        State::Open => format!("{id} waits for a decision"),
        State::Approved => format!("{id} was approved already; nothing was changed"),
        State::Denied => format!("{id} was denied already; nothing was changed"),
        State::Missed => format!("{id} waited too long and is closed; the call has to be made again"),
        State::Withdrawn => {
            format!(
                "nobody waits for {id} any more: its client gave the call up, or is gone; nothing was changed"
            )
        }
    }
}

impl Approvals {
    pub fn decide(
        &mut self,
        now: &Moment,
        id: ApprovalId,
        verdict: &Verdict,
        by: Decider,
    ) -> Result<Decided, NotDecided> {
        let found = self.transaction(now, |db| {
            tidy(db, now)?;
            let Some(mut approval) = get(db, id)? else { return Ok(None) };
            if approval.state != State::Open {
                return Ok(Some((approval, false)));
            }
            if let Some(heir) = waiting::heir(db, &approval)? {
                approval.session = heir;
            }
            let (state, words) = match verdict {
                Verdict::Deny(words) => (State::Denied, words.as_deref()),
                Verdict::Once | Verdict::Grant(_) | Verdict::Burst(_) => (State::Approved, None),
            };
            let changed = db
                .connection
                .prepare_cached(
                    "UPDATE approvals SET state = ?2, decided_ms = ?3, decided_uptime_ms = ?4, decided_boot = ?5,
                       decided_by = ?6, words = ?7, arguments = NULL, told = ?8 WHERE id = ?1 AND state = 'open'",
                )?
                .execute((
                    id.to_string(),
                    state.word(),
                    now.wall_ms,
                    now.uptime_ms.cast_signed(),
                    now.boot.0.to_string(),
                    by.word(),
                    words,
                    approval.held_until_ms.is_some_and(|until| until > now.wall_ms),
                ))?;
            if state == State::Approved {
                // The call itself passes whatever else the verdict reaches.
                let insert = "INSERT OR REPLACE INTO once(id, ends_ms) VALUES (?1, ?2)";
                db.connection.execute(insert, (id.spend_key(), now.wall_ms + ms(USABLE)))?;
            }
            match verdict {
                Verdict::Grant(scope) => grants::insert(db, now, &approval, *scope)?,
                Verdict::Burst(tools) => {
                    grants::insert_with(db, now, &approval, GrantScope::Burst, tools)?;
                }
                Verdict::Once | Verdict::Deny(_) => {}
            }
            waiting::sweep(db)?;
            Ok(Some((approval, changed == 1)))
        })?;
        match found {
            None => Err(NotDecided::Unknown(id)),
            Some((approval, true)) => {
                let is_held = approval.held_until_ms.is_some_and(|until| until > now.wall_ms);
                Ok(Decided { approval, is_held })
            }
            Some((approval, false)) => Err(NotDecided::Already { id, state: approval.state }),
        }
    }

    /// Its client's answer to the question about this very call, and no other.
    pub fn answer(
        &mut self,
        now: &Moment,
        (id, subject): (ApprovalId, &Subject<'_>),
        yes: bool,
    ) -> Result<Decided, NotDecided> {
        let is_its = self.transaction(now, |db| {
            let sql = "SELECT EXISTS (SELECT 1 FROM approvals WHERE id = ?1 AND subject = ?2)";
            db.connection
                .prepare_cached(sql)?
                .query_row((id.to_string(), &subject.key()[..]), |row| row.get(0))
        })?;
        // What a row is about never changes.
        match (is_its, yes) {
            (false, _) => Err(NotDecided::Unknown(id)),
            (true, true) => self.decide(now, id, &Verdict::Once, Decider::Client),
            (true, false) => {
                let decided = self.decide(now, id, &Verdict::Deny(None), Decider::Client)?;
                // The call that brings a no hears it.
                let told = "UPDATE approvals SET told = 1 WHERE id = ?1";
                self.transaction(now, |db| db.connection.execute(told, [id.to_string()]))?;
                Ok(decided)
            }
        }
    }

    /// How often calls of this tool, by this client, were decided so lately; refused: this very call.
    pub fn decided_lately(
        &mut self,
        now: &Moment,
        approval: &Approval,
        state: State,
        within: Duration,
    ) -> Result<u32, StoreError> {
        self.transaction(now, |db| {
            db.connection
                .prepare_cached(
                    "SELECT count(*) FROM approvals WHERE server = ?1 AND client = ?2 AND tool = ?3 AND state = ?4
                     AND decided_ms > ?5
                     AND (?4 <> 'denied' OR subject = (SELECT subject FROM approvals WHERE id = ?6))",
                )?
                .query_row(
                    (
                        &approval.server,
                        &approval.client,
                        &approval.tool,
                        state.word(),
                        now.wall_ms - ms(within),
                        approval.id.to_string(),
                    ),
                    |row| row.get(0),
                )
        })
    }

    /// The call of this tool by this client that was approved last, before this one.
    pub fn approved_last(&mut self, now: &Moment, approval: &Approval) -> Result<Option<CallId>, StoreError> {
        self.transaction(now, |db| {
            db.connection
                .prepare_cached(
                    "SELECT call FROM approvals WHERE server = ?1 AND client = ?2 AND tool = ?3 AND state = 'approved'
                     AND id <> ?4 ORDER BY decided_ms DESC, opened_ms DESC LIMIT 1",
                )?
                .query_row(
                    (&approval.server, &approval.client, &approval.tool, approval.id.to_string()),
                    |row| parsed(row, 0),
                )
                .optional()
        })
    }
}

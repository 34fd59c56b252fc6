//! How what a gate holds stands: looked at again and again while it waits, so nothing is read while nobody has written.

use callgate_home::clock::Moment;
use callgate_home::{SessionId, StoreError};
use rusqlite::OptionalExtension;
use rustc_hash::FxHashMap;

use super::grants::Asker;
use super::{ApprovalId, Approvals, Grant, State, Subject, grants, parsed};
use crate::limits::Db;
use crate::sqlite;

/// At one moment.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    session: Option<SessionId>,
    conversation: Option<String>,
    states: FxHashMap<ApprovalId, (State, Option<String>)>,
    grants: Vec<Grant>,
}

impl Standing {
    /// With what was said with the decision. One that is no more was missed.
    pub fn of(&self, id: ApprovalId) -> (State, Option<&str>) {
        match self.states.get(&id) {
            Some((state, words)) => (*state, words.as_deref()),
            None => (State::Missed, None),
        }
    }

    /// Is this call let through by a yes for more than one?
    pub fn is_granted(&self, subject: &Subject<'_>) -> bool {
        self.session.is_some_and(|session| {
            let asker = Asker { session, conversation: self.conversation.as_deref() };
            self.grants.iter().any(|grant| grant.reaches(subject, asker))
        })
    }
}

impl Approvals {
    /// How these stand in a session; none while nobody has written anything since the last look. For whoever asks about the same
    /// ones each time: a question in between is a reason to look.
    pub fn look(
        &mut self,
        now: &Moment,
        session: SessionId,
        ids: &[ApprovalId],
    ) -> Result<Option<Standing>, StoreError> {
        let (looked, conversation) = (self.looked, self.conversation.clone());
        let db = self.db(now)?;
        let fail = |error: rusqlite::Error| sqlite::database_error(&db.path, &error);
        let written = version(db).map_err(fail)?;
        if looked == Some(written) {
            return Ok(None);
        }
        let standing = Standing { conversation, ..standing(db, now, session, ids).map_err(fail)? };
        self.looked = Some(written);
        Ok(Some(standing))
    }
}

/// Changes when another connection has written.
fn version(db: &Db) -> rusqlite::Result<i64> {
    db.connection.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get(0))
}

/// Without keeping anybody from writing. What is written between two of these reads is seen by the next look.
fn standing(db: &Db, now: &Moment, session: SessionId, ids: &[ApprovalId]) -> rusqlite::Result<Standing> {
    let mut statement = db.connection.prepare_cached("SELECT state, words FROM approvals WHERE id = ?1")?;
    let mut states = FxHashMap::default();
    for id in ids {
        let found = statement.query_row([id.to_string()], |row| Ok((parsed(row, 0)?, row.get(1)?)));
        states.extend(found.optional()?.map(|found| (*id, found)));
    }
    Ok(Standing { session: Some(session), conversation: None, states, grants: grants::holding(db, now)? })
}

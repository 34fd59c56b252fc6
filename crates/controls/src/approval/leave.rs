//! Leave: what a person's yes means for a call that comes now.

use callgate_home::clock::Moment;
use callgate_home::{SessionId, StoreError};
use rusqlite::OptionalExtension;

use super::grants::Asker;
use super::{Approval, Approvals, GRANT, GrantScope, SPEND, Subject, USABLE, get, grants, ms};
use crate::limits::Db;

/// What lets a call through that has to be asked about, and is spent with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// What it comes from.
    pub approval: Approval,
    /// Of one for several calls: how far it reaches.
    pub scope: Option<GrantScope>,
}

impl Leave {
    /// What it is spent under. A grant is not spent under the key of the call that it was given with: that call has a yes of its own.
    pub fn spend_key(&self) -> String {
        match self.scope {
            None => self.approval.id.spend_key(),
            Some(_) => format!("{GRANT}{}", self.approval.id),
        }
    }
}

impl Approvals {
    /// The yes that this very call has and did not use yet, else a grant that reaches it.
    pub fn leave(
        &mut self,
        now: &Moment,
        subject: &Subject<'_>,
        session: SessionId,
    ) -> Result<Option<Leave>, StoreError> {
        let conversation = self.conversation.clone();
        let asker = Asker { session, conversation: conversation.as_deref() };
        self.transaction(now, |db| find(db, now, subject, asker))
    }
}

pub(super) fn find(
    db: &Db,
    now: &Moment,
    subject: &Subject<'_>,
    asker: Asker<'_>,
) -> rusqlite::Result<Option<Leave>> {
    let mut statement = db.connection.prepare_cached(
        "SELECT a.id FROM approvals a JOIN once o ON o.id = ?6 || a.id
         WHERE a.subject = ?1 AND a.state = 'approved' AND o.spent_ms IS NULL AND o.ends_ms > ?2
           AND a.decided_ms <= ?2 + 10000 AND a.decided_boot = ?3 AND ?4 - a.decided_uptime_ms < ?5
         ORDER BY a.decided_ms LIMIT 1",
    )?;
    let (boot, uptime) = (now.boot.0.to_string(), now.uptime_ms.cast_signed());
    let key = subject.key();
    let own: Option<String> = statement
        .query_row((&key[..], now.wall_ms, &boot, uptime, ms(USABLE), SPEND), |row| row.get(0))
        .optional()?;
    if let Some(id) = own.and_then(|id| id.parse().ok())
        && let Some(approval) = get(db, id)?
    {
        return Ok(Some(Leave { approval, scope: None }));
    }
    let reaches = |grant: &grants::Grant| grant.reaches(subject, asker);
    let Some(grant) = grants::holding(db, now)?.into_iter().find(reaches) else { return Ok(None) };
    grants::bind(db, &grant, subject)?;
    Ok(get(db, grant.id)?.map(|approval| Leave { approval, scope: Some(grant.scope) }))
}

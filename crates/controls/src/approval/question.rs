//! Questions: what a gate asks about a call that it holds, and what it says when it holds it no more.

use std::time::Duration;

use callgate_home::clock::Moment;
use callgate_home::{CallId, SessionId, StoreError, lease};
use rusqlite::OptionalExtension;

use super::grants::Asker;
use super::{
    ApprovalId, Approvals, MOST_PER_SESSION, ROUNDS, State, Subject, USABLE, leave, ms, parsed, tidy, waiting,
};
use crate::limits::Db;

/// A call that a person has to decide about.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub subject: Subject<'a>,
    /// The call that asks.
    pub call: CallId,
    pub rule: &'a str,
    pub reason: &'a str,
    pub arguments: Option<&'a Arguments>,
    /// How long its gate holds it, from now on.
    pub hold: Duration,
    pub expires: Duration,
}

/// What a person is shown of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Masked, and cut if they are very long.
    pub text: String,
    /// How long they were.
    pub bytes: u64,
    /// Nothing was cut.
    pub complete: bool,
    /// How many of their places nobody can read, because they are masked.
    pub masked: u32,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It waits for a decision, under this id.
    Open(ApprovalId),
    /// It does, and was held often enough: nobody is there.
    Ignored(ApprovalId),
    /// Somebody has said yes meanwhile.
    Approved(ApprovalId),
    /// Somebody said no when its client had stopped waiting, and this is the call that hears it.
    Denied(ApprovalId, Option<String>),
    /// Its session has asked for too much that nobody has answered.
    TooMany,
}

/// Why a gate holds a call no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Its client had to have an answer; it can be decided all the same.
    OutOfTime,
    /// The same, because there is nobody to decide.
    NobodyThere,
    /// Its client wants no answer any more.
    Withdrawn,
}

impl Approvals {
    /// Puts a question, or joins those who put the same one.
    pub fn ask(&mut self, now: &Moment, question: &Question<'_>) -> Result<Asked, StoreError> {
        let conversation = self.conversation.clone();
        self.transaction(now, |db| {
            tidy(db, now)?;
            ask(db, now, question, conversation.as_deref())
        })
    }

    /// A gate holds a call of this approval no more. Of several equal ones only the last changes how it stands.
    pub fn release(
        &mut self,
        now: &Moment,
        (id, call): (ApprovalId, CallId),
        why: Release,
    ) -> Result<(), StoreError> {
        let (round, withdrawn) = (why == Release::OutOfTime, why == Release::Withdrawn);
        self.transaction(now, |db| {
            waiting::sweep(db)?;
            if !waiting::leave(db, id, call)? {
                return Ok(());
            }
            db.connection
                .prepare_cached(
                    "UPDATE approvals SET rounds = rounds + ?2, state = CASE WHEN ?3 THEN 'withdrawn' ELSE state END,
                       arguments = CASE WHEN ?3 THEN NULL ELSE arguments END
                     WHERE id = ?1 AND state = 'open' AND id NOT IN (SELECT approval FROM waiting)",
                )?
                .execute((id.to_string(), round, withdrawn))
                .map(drop)
        })
    }
}

fn ask(
    db: &Db,
    now: &Moment,
    question: &Question<'_>,
    conversation: Option<&str>,
) -> rusqlite::Result<Asked> {
    let Question { subject, call, .. } = question;
    let key = subject.key();
    let same: Option<(String, u32, SessionId)> = db
        .connection
        .prepare_cached("SELECT id, rounds, session FROM approvals WHERE subject = ?1 AND state = 'open'")?
        .query_row([&key[..]], |row| Ok((row.get(0)?, row.get(1)?, parsed(row, 2)?)))
        .optional()?;
    let session = call.session.to_string();
    if let Some(leave) = leave::find(db, now, subject, Asker { session: call.session, conversation })? {
        return Ok(Asked::Approved(leave.approval.id));
    }
    let held_until = now.wall_ms + ms(question.hold);
    if let Some((id, rounds, first)) = same {
        let is_ignored = rounds >= ROUNDS;
        let owner = if lease::is_live(&db.home, first) { first.to_string() } else { session };
        db.connection
            .prepare_cached("UPDATE approvals SET asked = asked + 1, session = ?2 WHERE id = ?1")?
            .execute((&id, owner))?;
        if !is_ignored {
            waiting::enter(db, &id, *call, held_until)?;
        }
        let Ok(id) = id.parse() else { return Err(rusqlite::Error::InvalidQuery) };
        return Ok(if is_ignored { Asked::Ignored(id) } else { Asked::Open(id) });
    }
    if let Some(denied) = untold(db, now, &key)? {
        return Ok(denied);
    }
    let open: u32 = db
        .connection
        .prepare_cached("SELECT count(*) FROM approvals WHERE session = ?1 AND state = 'open'")?
        .query_row([&session], |row| row.get(0))?;
    if open >= MOST_PER_SESSION {
        return Ok(Asked::TooMany);
    }
    let (id, difference) = (ApprovalId::random(), difference(db, subject)?);
    let arguments = question.arguments;
    db.connection
        .prepare_cached(
            "INSERT INTO approvals(id, call, subject, server, client, tool, definition, digest, session, rule, reason, difference,
               arguments, arguments_bytes, complete, masked, opened_ms, expires_ms, asked, rounds, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, 1, 0, 'open')",
        )?
        .execute(rusqlite::params![
            id.to_string(),
            call.to_string(),
            &key[..],
            subject.server,
            subject.client,
            subject.tool,
            &subject.definition[..],
            &subject.digest[..],
            session,
            question.rule,
            question.reason,
            difference,
            arguments.map(|arguments| arguments.text.as_str()),
            arguments.map_or(0, |arguments| arguments.bytes.cast_signed()),
            arguments.is_none_or(|arguments| arguments.complete),
            arguments.map_or(0, |arguments| arguments.masked),
            now.wall_ms,
            now.wall_ms + ms(question.expires),
        ])?;
    if let Some(conversation) = conversation {
        db.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO conversations(id, conversation, command) VALUES (?1, ?2, ?3)",
            )?
            .execute((id.to_string(), conversation, &subject.command[..]))?;
    }
    waiting::enter(db, &id.to_string(), *call, held_until)?;
    Ok(Asked::Open(id))
}

/// A no that nobody was there to hear: the next equal call hears it, once.
fn untold(db: &Db, now: &Moment, key: &[u8; 32]) -> rusqlite::Result<Option<Asked>> {
    let last: Option<(String, Option<String>)> = db
        .connection
        .prepare_cached(
            "UPDATE approvals SET told = 1 WHERE subject = ?1 AND state = 'denied' AND NOT told AND decided_ms > ?2
             RETURNING id, words",
        )?
        .query_row((&key[..], now.wall_ms - ms(USABLE)), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(last.and_then(|(id, words)| Some(Asked::Denied(id.parse().ok()?, words))))
}

/// What is different from what was asked before of the same tool and client and waits still, or was decided; where that was with
/// the same arguments, from that.
fn difference(db: &Db, subject: &Subject<'_>) -> rusqlite::Result<Option<String>> {
    let key = subject.key();
    let last: Option<(bool, bool, bool, State)> = db
        .connection
        .prepare_cached(
            "SELECT definition = ?4, digest = ?5, subject = ?6, state FROM approvals
             WHERE server = ?1 AND client = ?2 AND tool = ?3 AND state IN ('open', 'approved', 'denied')
             ORDER BY digest = ?5 DESC, opened_ms DESC LIMIT 1",
        )?
        .query_row(
            (
                subject.server,
                subject.client,
                subject.tool,
                &subject.definition[..],
                &subject.digest[..],
                &key[..],
            ),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, parsed(row, 3)?)),
        )
        .optional()?;
    let words = match last {
        None | Some((true, true, true, _)) => return Ok(None),
        Some((false, ..)) => "the server describes this tool otherwise than before",
        Some((true, true, false, _)) => "what is started under this server's name is not what it was",
        Some((_, false, _, State::Open)) => "its arguments are not those of the call that waits already",
        Some((_, false, _, State::Denied)) => "its arguments are not those that were denied",
        Some((_, false, _, _)) => "its arguments are not those that were approved",
    };
    Ok(Some(words.to_owned()))
}

//! Questions: what a gate asks about a call that it holds, and what it says when it holds it no more.

use std::time::Duration;

use callgate_home::clock::Moment;
use callgate_home::{CallId, StoreError};
use rusqlite::OptionalExtension;

use super::{Approval, Approvals, COLUMNS, MOST_PER_SESSION, ROUNDS, State, Subject, miss_expired, ms};
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
    /// How long its gate holds it.
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
    /// Nothing was cut or kept out.
    pub complete: bool,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It waits for a decision, under this id.
    Open(CallId),
    /// It does, and was held often enough: nobody is there.
    Ignored(CallId),
    /// Its session has asked for too much that nobody has answered.
    TooMany,
}

/// Why a gate holds a call no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Its client had to have an answer; it can be decided all the same.
    OutOfTime,
    /// Its client wants no answer any more.
    Withdrawn,
}

impl Approvals {
    /// Puts a question, or joins those who put the same one.
    pub fn ask(&mut self, now: &Moment, question: &Question<'_>) -> Result<Asked, StoreError> {
        self.transaction(now, |db| {
            miss_expired(db, now)?;
            ask(db, now, question)
        })
    }

    /// How these stand. Those that are no more are left out.
    pub fn look(&mut self, now: &Moment, ids: &[CallId]) -> Result<Vec<Approval>, StoreError> {
        self.transaction(now, |db| {
            miss_expired(db, now)?;
            let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
            let mut statement = db.connection.prepare_cached(&sql)?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                found.extend(statement.query_row([id.to_string()], Approval::read).optional()?);
            }
            Ok(found)
        })
    }

    /// A gate holds a call of this approval no more.
    pub fn release(&mut self, now: &Moment, id: CallId, why: Release) -> Result<(), StoreError> {
        let sql = match why {
            // Equal calls that ran out of time together were one round.
            Release::OutOfTime => {
                "UPDATE approvals SET rounds = rounds + (held_until_ms IS NOT NULL), held_until_ms = NULL
                 WHERE id = ?1 AND state = 'open'"
            }
            // Of several only the last one takes the card with it.
            Release::Withdrawn => {
                "UPDATE approvals SET holders = holders - 1, held_until_ms = CASE WHEN holders > 1 THEN held_until_ms END,
                   state = CASE WHEN holders > 1 THEN state ELSE 'withdrawn' END,
                   arguments = CASE WHEN holders > 1 THEN arguments END
                 WHERE id = ?1 AND state = 'open'"
            }
        };
        self.transaction(now, |db| {
            if why == Release::OutOfTime {
                let fewer = "UPDATE approvals SET holders = max(holders - 1, 0) WHERE id = ?1";
                db.connection.prepare_cached(fewer)?.execute([id.to_string()])?;
            }
            db.connection.prepare_cached(sql)?.execute([id.to_string()]).map(drop)
        })
    }
}

fn ask(db: &Db, now: &Moment, question: &Question<'_>) -> rusqlite::Result<Asked> {
    let Question { subject, call, .. } = question;
    let key = subject.key();
    let same: Option<(String, u32)> = db
        .connection
        .prepare_cached("SELECT id, rounds FROM approvals WHERE subject = ?1 AND state = 'open'")?
        .query_row([&key[..]], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let session = call.session.to_string();
    let held_until = now.wall_ms + ms(question.hold);
    if let Some((id, rounds)) = same {
        let is_ignored = rounds >= ROUNDS;
        db.connection
            .prepare_cached(
                "UPDATE approvals SET asked = asked + 1, session = ?2, holders = holders + ?3,
                   held_until_ms = CASE WHEN ?3 THEN max(coalesce(held_until_ms, 0), ?4) ELSE held_until_ms END WHERE id = ?1",
            )?
            .execute((&id, &session, !is_ignored, held_until))?;
        let Ok(id) = id.parse() else { return Err(rusqlite::Error::InvalidQuery) };
        return Ok(if is_ignored { Asked::Ignored(id) } else { Asked::Open(id) });
    }
    let open: u32 = db
        .connection
        .prepare_cached("SELECT count(*) FROM approvals WHERE session = ?1 AND state = 'open'")?
        .query_row([&session], |row| row.get(0))?;
    if open >= MOST_PER_SESSION {
        return Ok(Asked::TooMany);
    }
    let difference = difference(db, subject)?;
    let arguments = question.arguments;
    db.connection
        .prepare_cached(
            "INSERT INTO approvals(id, subject, server, client, tool, definition, digest, session, rule, reason, difference,
               arguments, arguments_bytes, complete, opened_ms, expires_ms, held_until_ms, holders, asked, rounds, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, 1, 1, 0, 'open')",
        )?
        .execute(rusqlite::params![
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
            now.wall_ms,
            now.wall_ms + ms(question.expires),
            held_until,
        ])?;
    Ok(Asked::Open(*call))
}

/// What is different from the last one of the same tool and client that could be let through.
fn difference(db: &Db, subject: &Subject<'_>) -> rusqlite::Result<Option<String>> {
    let last: Option<(Vec<u8>, Vec<u8>, String)> = db
        .connection
        .prepare_cached(
            "SELECT definition, digest, state FROM approvals
             WHERE server = ?1 AND client = ?2 AND tool = ?3 AND state IN ('open', 'approved')
             ORDER BY opened_ms DESC LIMIT 1",
        )?
        .query_row((subject.server, subject.client, subject.tool), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((definition, digest, state)) = last else { return Ok(None) };
    let words = if definition != subject.definition {
        "the server describes this tool otherwise than before"
    } else if digest == subject.digest {
        return Ok(None);
    } else if state == State::Open.word() {
        "its arguments are not those of the call that waits already"
    } else {
        "its arguments are not those that were approved"
    };
    Ok(Some(words.to_owned()))
}

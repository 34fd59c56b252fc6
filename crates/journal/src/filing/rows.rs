//! The rows that a group of records becomes: calls with their outcomes, events, policies, the end of a session.

use std::hash::{Hash, Hasher};

use callgate_controls::approval::ApprovalId;
use callgate_home::DEFAULT_SERVER;
use rusqlite::{CachedStatement, Connection, OptionalExtension};
use rustc_hash::{FxHashMap, FxHasher};

use super::Filer;
use crate::database::flags::{
    ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD, RESULT_CUT, RESULT_MASKED, RESULT_WITHHELD,
};
use crate::notes::{self, approved_words};
use crate::spool::reader::ReadGroup;
use crate::spool::record::{
    CallRecord, DecisionRecord, Mark, Opened, OutcomeRecord, Record, RecordedBody, records,
};
use crate::timeline::{self, InForce};
use crate::{Decision, EndReason, EventKind, Origin, Outcome};

/// Names of calls in common that are remembered; hostile names must not fill the memory.
const REMEMBERED: usize = 4096;
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Context {
    client: String,
    policy: String,
    method: String,
    tool: String,
    decision: &'static str,
    rule: String,
}

/// A call of the chunk under way, with its outcome if that is there too.
struct FiledCall<'b> {
    call: CallRecord<'b>,
    mark: Mark,
    /// A person has to say whether it may go on, and nobody has yet.
    undecided: bool,
    outcome: Option<Ending<'b>>,
}

impl<'b> FiledCall<'b> {
    fn new(call: CallRecord<'b>, mark: Mark) -> FiledCall<'b> {
        let undecided = call.decision == Decision::Asked;
        FiledCall { call, mark, undecided, outcome: None }
    }

    fn decide(&mut self, decided: &DecisionRecord<'b>) {
        let DecisionRecord { decision, policy, rule, reason, .. } = *decided;
        self.undecided = false;
        (self.call.decision, self.call.policy) = (decision, policy);
        (self.call.rule, self.call.reason) = (rule, reason);
    }
}

/// How a call ended, and whether its result is kept out of the record.
struct Ending<'b> {
    record: OutcomeRecord<'b>,
    withheld: bool,
}

/// What else a chunk holds, in order.
enum Other<'b> {
    Outcome(Ending<'b>),
    Record(Record<'b>),
}

impl Filer {
    pub(super) fn file_groups(
        &mut self,
        opened: &Opened,
        session: i64,
        groups: &[ReadGroup<'_>],
        drained: i64,
        rev: &mut i64,
    ) -> rusqlite::Result<()> {
        let mut rows: Vec<FiledCall<'_>> = Vec::new();
        let mut others: Vec<Other<'_>> = Vec::new();
        let mut of_seq: FxHashMap<u64, usize> = FxHashMap::default();
        let new = groups.iter().filter(|group| group.number.cast_signed() > drained);
        for record in new.flat_map(|group| records(group.records)) {
            let ending = match record {
                Record::Call(call) => {
                    of_seq.insert(call.seq, rows.len());
                    rows.push(FiledCall::new(call, Mark::default()));
                    continue;
                }
                Record::MarkedCall { call, mark } => {
                    of_seq.insert(call.seq, rows.len());
                    rows.push(FiledCall::new(call, mark));
                    continue;
                }
                Record::Decided(decided) => {
                    match of_seq.get(&decided.seq) {
                        Some(&index) => rows[index].decide(&decided),
                        None => others.push(Other::Record(Record::Decided(decided))),
                    }
                    continue;
                }
                Record::Outcome(record) => Ending { record, withheld: false },
                Record::WithheldOutcome(record) => Ending { record, withheld: true },
                other => {
                    others.push(Other::Record(other));
                    continue;
                }
            };
            match of_seq.get(&ending.record.seq) {
                // The first outcome stays.
                Some(&index) => {
                    rows[index].outcome.get_or_insert(ending);
                }
                None => others.push(Other::Outcome(ending)),
            }
        }
        self.insert(session, &rows, rev)?;
        for FiledCall { call, .. } in &rows {
            self.account_for(opened, call.decision, (call.rule, call.tool, call.at_ms), rev)?;
        }
        for other in others {
            match other {
                Other::Outcome(outcome) => self.update(session, &outcome, rev)?,
                Other::Record(record) => self.file_record(opened, session, &record, rev)?,
            }
        }
        Ok(())
    }

    fn insert(&mut self, session: i64, rows: &[FiledCall<'_>], rev: &mut i64) -> rusqlite::Result<()> {
        let Filer { connection, contexts, .. } = self;
        let mut statement = connection.prepare_cached(
            "INSERT INTO calls(rev, session, seq, context, run, at_ms, outcome, duration_us, flags, args_bytes,
                               result_bytes, rpc_id, reason, args, result, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT DO NOTHING",
        )?;
        for FiledCall { call, mark, undecided, outcome } in rows {
            let context = context(connection, contexts, &call.into())?;
            *rev += 1;
            let withheld = outcome.as_ref().is_some_and(|outcome| outcome.withheld);
            let outcome = outcome.as_ref().map(|outcome| &outcome.record);
            let result = outcome.and_then(|outcome| outcome.result.as_ref());
            let flags = flags(call.args.as_ref(), ARGS_CUT, ARGS_MASKED)
                | flags(result, RESULT_CUT, RESULT_MASKED)
                | if mark.withheld { ARGS_WITHHELD } else { 0 }
                | if withheld { RESULT_WITHHELD } else { 0 };
            let ended = match (outcome, call.decision) {
                (Some(outcome), _) => Some(outcome.outcome),
                // There is nothing to wait for.
                (None, decision) if decision.is_refused() && !undecided => Some(Outcome::NotSent),
                (None, _) => None,
            };
            let row = &mut *statement;
            row.raw_bind_parameter(1, *rev)?;
            row.raw_bind_parameter(2, session)?;
            row.raw_bind_parameter(3, call.seq.cast_signed())?;
            row.raw_bind_parameter(4, context)?;
            row.raw_bind_parameter(5, call.run)?;
            row.raw_bind_parameter(6, call.at_ms)?;
            row.raw_bind_parameter(7, ended.map(Outcome::word))?;
            row.raw_bind_parameter(8, outcome.map(|outcome| micros(outcome.duration_us)))?;
            row.raw_bind_parameter(9, flags)?;
            row.raw_bind_parameter(10, call.args.as_ref().map(|body| body.bytes.cast_signed()))?;
            row.raw_bind_parameter(11, result.map(|body| body.bytes.cast_signed()))?;
            row.raw_bind_parameter(12, known(call.rpc_id))?;
            row.raw_bind_parameter(13, known(call.reason))?;
            row.raw_bind_parameter(14, call.args.as_ref().map(|body| body.text))?;
            row.raw_bind_parameter(15, result.map(|body| body.text))?;
            row.raw_bind_parameter(16, mark.digest.as_ref().map(|digest| &digest[..]))?;
            row.raw_execute()?;
        }
        Ok(())
    }

    /// The outcome of a call that was filed before.
    fn update(&self, session: i64, ending: &Ending<'_>, rev: &mut i64) -> rusqlite::Result<()> {
        let Ending { record: outcome, withheld } = ending;
        let result = outcome.result.as_ref();
        let call: Option<i64> = self
            .connection
            .prepare_cached(
                "UPDATE calls SET outcome = ?3, duration_us = ?4, result_bytes = ?5, flags = flags | ?6, result = ?7
                 WHERE session = ?1 AND seq = ?2 AND outcome IS NULL RETURNING rev",
            )?
            .query_row(
                (
                    session,
                    outcome.seq.cast_signed(),
                    outcome.outcome.word(),
                    micros(outcome.duration_us),
                    result.map(|body| body.bytes.cast_signed()),
                    flags(result, RESULT_CUT, RESULT_MASKED) | if *withheld { RESULT_WITHHELD } else { 0 },
                    result.map(|body| body.text),
                ),
                |row| row.get(0),
            )
            .optional()?;
        // No such call: it has its outcome, or it was forgotten.
        if let Some(call) = call {
            *rev += 1;
            self.change(*rev, call)?;
        }
        Ok(())
    }

    /// The same of the decision about a call that was asked about: its tool, and when it came.
    fn update_decision(
        &mut self,
        session: i64,
        decided: &DecisionRecord<'_>,
        rev: &mut i64,
    ) -> rusqlite::Result<Option<(String, i64)>> {
        let seq = decided.seq.cast_signed();
        let common =
            "SELECT c.client, c.method, c.tool, at_ms FROM calls JOIN contexts c ON c.id = calls.context
                      WHERE session = ?1 AND seq = ?2 AND outcome IS NULL";
        let Filer { connection, contexts, .. } = self;
        let found: Option<(String, String, String, i64)> = connection
            .prepare_cached(common)?
            .query_row((session, seq), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let Some((client, method, tool, at_ms)) = found else { return Ok(None) };
        let DecisionRecord { decision, policy, rule, reason, .. } = *decided;
        let common = Common { client: &client, policy, method: &method, tool: &tool, decision, rule };
        let context = context(connection, contexts, &common)?;
        let outcome = decision.is_refused().then(|| Outcome::NotSent.word());
        let call = connection
            .prepare_cached(
                "UPDATE calls SET context = ?3, reason = ?4, outcome = ?5 WHERE session = ?1 AND seq = ?2 RETURNING rev",
            )?
            .query_row((session, seq, context, known(reason), outcome), |row| row.get(0))?;
        *rev += 1;
        self.change(*rev, call)?;
        Ok(Some((tool, at_ms)))
    }

    /// A call that passed by an approval: whoever decided is on record before it, since notes of the outbox are booked in this
    /// transaction. If nobody is, the approval was not made by Callgate, and that is said once.
    fn account_for(
        &mut self,
        opened: &Opened,
        decision: Decision,
        (rule, tool, at_ms): (&str, &str, i64),
        rev: &mut i64,
    ) -> rusqlite::Result<()> {
        if decision.is_refused() {
            return Ok(());
        }
        let Some(id) = ApprovalId::of_rule(rule) else { return Ok(()) };
        if self.accounted.contains(&id) {
            return Ok(());
        }
        let told: bool = self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM events WHERE kind = ?1 AND instr(text, ?2)
                 OR kind = ?3 AND instr(text, ?4))",
            )?
            .query_row(
                (
                    EventKind::Decided.word(),
                    approved_words(id),
                    EventKind::ForgedApproval.word(),
                    format!("({id})"),
                ),
                |row| row.get(0),
            )?;
        if !told {
            let text = format!(
                "a call of {tool:?} was let through by an approval ({id}) that nobody is on record for"
            );
            *rev += 1;
            self.connection.execute(
                "INSERT INTO events(at_ms, kind, server, session, origin, text, rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    at_ms,
                    EventKind::ForgedApproval.word(),
                    &opened.server,
                    &opened.session,
                    Origin::File.word(),
                    text,
                    *rev,
                ),
            )?;
        }
        if self.accounted.len() >= REMEMBERED {
            self.accounted.clear();
        }
        self.accounted.insert(id);
        Ok(())
    }

    fn change(&self, rev: i64, call: i64) -> rusqlite::Result<()> {
        let mut statement: CachedStatement<'_> =
            self.connection.prepare_cached("INSERT INTO changes(rev, call) VALUES (?1, ?2)")?;
        statement.execute((rev, call)).map(drop)
    }

    fn file_record(
        &mut self,
        opened: &Opened,
        session: i64,
        record: &Record<'_>,
        rev: &mut i64,
    ) -> rusqlite::Result<()> {
        match record {
            Record::Event { kind: EventKind::Loosened, origin: Some(Origin::File), text, .. }
                if self.is_told(opened, session, text)? => {}
            Record::Event { at_ms, kind, origin, text } => {
                *rev += 1;
                self.connection
                    .prepare_cached(
                        "INSERT INTO events(at_ms, kind, server, session, origin, text, rev)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute((
                        at_ms,
                        kind.word(),
                        &opened.server,
                        &opened.session,
                        origin.map(Origin::word),
                        text,
                        *rev,
                    ))?;
            }
            Record::Policy { at_ms, version, origin, text } => {
                // Asked first: from here on this version is the newest in any case.
                let edited_ms = notes::edited_ms(&self.connection, version, &opened.server)?;
                let first = self
                    .connection
                    .prepare_cached("SELECT policy IS NULL FROM sessions WHERE id = ?1")?
                    .query_row([session], |row| row.get(0))?;
                self.connection
                    .prepare_cached("UPDATE sessions SET edited_ms = ?2, policy = ?3 WHERE id = ?1")?
                    .execute((session, edited_ms, version))?;
                let policy =
                    InForce { server: &opened.server, version, text, at_ms: *at_ms, origin: *origin };
                timeline::found(&self.connection, &policy, Some(&opened.session), first, rev)?;
                notes::keep_policy(&self.connection, version, &opened.server, text, *at_ms, *origin)?;
            }
            Record::Ended { at_ms, reason } => self.end_session(session, *at_ms, *reason, rev)?,
            Record::Decided(decided) => {
                if let Some((tool, at_ms)) = self.update_decision(session, decided, rev)? {
                    self.account_for(opened, decided.decision, (decided.rule, &tool, at_ms), rev)?;
                }
            }
            Record::Call(_) | Record::MarkedCall { .. } | Record::Outcome(_) | Record::WithheldOutcome(_) => {
            }
        }
        Ok(())
    }

    /// Was this loosening put on record by whoever made it? A session only sees that the file is another one. By its
    /// text as well as by the policy: an edit that nobody saw may be in the same file. An edit of the default policy is told
    /// once for all that follow it; `edited_ms` is there only for those that did.
    fn is_told(&self, opened: &Opened, session: i64, text: &str) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM events WHERE kind = ?1 AND server IN (?2, ?6) AND text = ?3 AND origin <> ?4
                 AND at_ms >= (SELECT edited_ms FROM sessions WHERE id = ?5))",
            )?
            .query_row(
                (
                    EventKind::Loosened.word(),
                    &opened.server,
                    text,
                    Origin::File.word(),
                    session,
                    DEFAULT_SERVER,
                ),
                |row| row.get(0),
            )
    }

    pub(super) fn end_session(
        &self,
        session: i64,
        at_ms: i64,
        reason: EndReason,
        rev: &mut i64,
    ) -> rusqlite::Result<()> {
        self.connection.execute(
            "UPDATE sessions SET ended_ms = ?2, end_reason = ?3 WHERE id = ?1 AND ended_ms IS NULL",
            (session, at_ms, reason.word()),
        )?;
        let open: Vec<i64> = self
            .connection
            .prepare_cached("SELECT rev FROM calls WHERE session = ?1 AND outcome IS NULL")?
            .query_map([session], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for call in open {
            self.connection
                .prepare_cached(
                    "UPDATE calls SET outcome = CASE (SELECT decision FROM contexts WHERE id = calls.context)
                       WHEN ?3 THEN ?4 ELSE ?2 END WHERE rev = ?1",
                )?
                // What still waited for a decision never got to the server.
                .execute((call, Outcome::Unknown.word(), Decision::Asked.word(), Outcome::NotSent.word()))?;
            *rev += 1;
            self.change(*rev, call)?;
        }
        Ok(())
    }
}

/// What many calls have in common.
#[derive(Clone, Copy)]
struct Common<'a> {
    client: &'a str,
    policy: &'a str,
    method: &'a str,
    tool: &'a str,
    decision: Decision,
    rule: &'a str,
}

impl<'a> From<&CallRecord<'a>> for Common<'a> {
    fn from(call: &CallRecord<'a>) -> Common<'a> {
        let CallRecord { client, policy, method, tool, decision, rule, .. } = *call;
        Common { client, policy, method, tool, decision, rule }
    }
}

/// Its row.
fn context(
    connection: &Connection,
    known: &mut FxHashMap<u64, (Context, i64)>,
    call: &Common<'_>,
) -> rusqlite::Result<i64> {
    let mut hasher = FxHasher::default();
    (call.client, call.policy, call.method, call.tool, call.decision, call.rule).hash(&mut hasher);
    let hash = hasher.finish();
    if let Some((context, id)) = known.get(&hash)
        && context.is_of(call)
    {
        return Ok(*id);
    }
    let id = connection
        .prepare_cached(
            "INSERT INTO contexts(client, policy, method, tool, decision, rule) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET rule = excluded.rule RETURNING id",
        )?
        .query_row(
            (call.client, call.policy, call.method, call.tool, call.decision.word(), call.rule),
            |row| row.get(0),
        )?;
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(hash, (Context::of(call), id));
    Ok(id)
}

impl Context {
    fn of(call: &Common<'_>) -> Self {
        Context {
            client: call.client.to_owned(),
            policy: call.policy.to_owned(),
            method: call.method.to_owned(),
            tool: call.tool.to_owned(),
            decision: call.decision.word(),
            rule: call.rule.to_owned(),
        }
    }

    fn is_of(&self, call: &Common<'_>) -> bool {
        self.tool == call.tool
            && self.rule == call.rule
            && self.client == call.client
            && self.policy == call.policy
            && self.method == call.method
            && self.decision == call.decision.word()
    }
}

fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn micros(duration: u64) -> i64 {
    i64::try_from(duration).unwrap_or(i64::MAX)
}

fn flags(body: Option<&RecordedBody<'_>>, cut: i64, masked: i64) -> i64 {
    body.map_or(0, |body| if body.cut { cut } else { 0 } | if body.masked { masked } else { 0 })
}

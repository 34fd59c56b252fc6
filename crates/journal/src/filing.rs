//! Filing: from a spool into the history, once, by whoever does it.
//!
//! A transaction files some groups and notes the number of the last one beside them; groups up to that number
//! are never filed again, so a crash between here and the spool's truncation, two filers at once, or a row that
//! was forgotten in the meantime all end well. A call and its outcome that arrive together become one insert.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use callgate_controls::sqlite;
use callgate_controls::wal::{self, LogKeeper};
use callgate_home::private::{Identity, identity};
use callgate_home::{DEFAULT_SERVER, Home, StoreError, failpoint};
use rusqlite::{CachedStatement, Connection, OptionalExtension};
use rustc_hash::{FxHashMap, FxHasher};

use crate::database::flags::{
    ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD, RESULT_CUT, RESULT_MASKED, RESULT_WITHHELD,
};
use crate::database::{next_rev, open_writer};
use crate::filing_turn::FilingTurn;
use crate::spool::reader::{ReadGroup, Reader};
use crate::spool::record::{Body, CallRecord, DecisionRecord, Mark, Opened, OutcomeRecord, Record, records};
use crate::timeline::{self, InForce};
use crate::{Decision, EndReason, EventKind, Origin, Outcome};
use crate::{notes, outbox};

/// Names of calls in common that are remembered; hostile names must not fill the memory.
const REMEMBERED: usize = 4096;
/// The length at which the log is written back, unless the home's ceiling is low.
const LOG_LIMIT: u64 = 4 << 20;
/// How long others may keep a removed log from being written back.
const RESCUE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Filer {
    connection: Connection,
    path: PathBuf,
    file: Identity,
    log: (PathBuf, Identity),
    outbox: PathBuf,
    log_limit: u64,
    log_keeper: LogKeeper,
    contexts: FxHashMap<u64, (Context, i64)>,
    /// Of the history when `contexts` was last known to be true.
    generation: i64,
}

/// What became of the files that a filer has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    Kept,
    /// The history itself is gone, or another one is in its place.
    Replaced,
    /// Its write-ahead log was removed: what was not written back yet went with it.
    LogRemoved,
}

#[derive(Debug, PartialEq, Eq)]
struct Context {
    client: String,
    policy: String,
    method: String,
    tool: String,
    decision: &'static str,
    rule: String,
}

/// A call of the chunk under way, with its outcome if that is there too.
struct Row<'b> {
    call: CallRecord<'b>,
    mark: Mark,
    /// A person has to say whether it may go on, and nobody has yet.
    undecided: bool,
    outcome: Option<Ending<'b>>,
}

impl<'b> Row<'b> {
    fn new(call: CallRecord<'b>, mark: Mark) -> Row<'b> {
        let undecided = call.decision == Decision::Asked;
        Row { call, mark, undecided, outcome: None }
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
    /// Opens the history to file into. A broken one was moved aside; that is an event in the new one.
    pub fn open(home: &Home, wall_ms: i64) -> Result<Filer, StoreError> {
        let writer = open_writer(home, wall_ms)?;
        let path = home.history_db();
        let look = |path: &Path| identity(path).map_err(|error| StoreError::io("look at", path, &error));
        let log = sqlite::wal_of(&path);
        // Whoever opens the history reads its version, and that makes the log.
        let (file, log) = (look(&path)?, (log.clone(), look(&log)?));
        let filer = Filer {
            connection: writer.connection,
            path,
            file,
            log,
            outbox: home.outbox(),
            log_limit: LOG_LIMIT,
            log_keeper: LogKeeper::default(),
            contexts: FxHashMap::default(),
            generation: 0,
        };
        if let Some(aside) = writer.moved_aside {
            let text = format!("the history could not be read and was moved to {}", aside.display());
            tracing::warn!("{text}");
            filer.note(wall_ms, EventKind::DatabaseMovedAside, &text).map_err(|error| filer.fail(&error))?;
        }
        Ok(filer)
    }

    /// Are the files that we have open still those that others would open? Two `stat`s.
    pub fn on_disk(&self) -> OnDisk {
        let same = |path: &Path, file: Identity| identity(path).is_ok_and(|found| found == file);
        match (same(&self.path, self.file), same(&self.log.0, self.log.1)) {
            (true, true) => OnDisk::Kept,
            (true, false) => OnDisk::LogRemoved,
            (false, _) => OnDisk::Replaced,
        }
    }

    /// Writes a log back that was removed from under us and is still open here. Not once somebody began another log: two
    /// logs of one database would spoil it. Says whether all of it was saved.
    pub fn rescue(self) -> bool {
        let Ok(_lock) = sqlite::lock_beside(&self.path) else { return false };
        self.on_disk() == OnDisk::LogRemoved && !self.log.0.exists() && wal::empty(&self.connection, RESCUE)
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn fail(&self, error: &rusqlite::Error) -> StoreError {
        sqlite::database_error(&self.path, error)
    }

    pub fn note(&self, at_ms: i64, kind: EventKind, text: &str) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        let rev = next_rev(&transaction)?;
        transaction.execute(
            "INSERT INTO events(at_ms, kind, text, rev) VALUES (?1, ?2, ?3, ?4)",
            (at_ms, kind.word(), text, rev),
        )?;
        transaction.commit()
    }

    /// Files what the reader finds, one transaction of about `budget` at most. `true` while there may be more.
    pub fn file(
        &mut self,
        opened: &Opened,
        reader: &mut Reader,
        budget: Duration,
    ) -> Result<bool, StoreError> {
        failpoint::reach("drain.before_begin");
        let start = reader.offset();
        let filed = self.transaction(|filer| {
            // What a person did comes before what sessions saw of it.
            let booked = outbox::book_inside(&filer.connection, &filer.outbox);
            let booked = booked.map_err(|error| filer.fail(&error))?;
            Ok((filer.file_inside(opened, reader, budget)?, booked))
        });
        let Ok((more, booked)) = filed else {
            reader.seek(start);
            return filed.map(|(more, _)| more);
        };
        booked.remove();
        Ok(more)
    }

    /// Closes what a session left open.
    pub fn close(&mut self, opened: &Opened, at_ms: i64, reason: EndReason) -> Result<(), StoreError> {
        self.transaction(|filer| {
            let (session, _) = filer.session(opened).map_err(|error| filer.fail(&error))?;
            let mut rev = filer.rev().map_err(|error| filer.fail(&error))?;
            filer
                .end_session(session, at_ms, reason, &mut rev)
                .and_then(|()| filer.keep_rev(rev))
                .map_err(|error| filer.fail(&error))
        })
    }

    pub fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.begin()?;
        let done = work(self);
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        failpoint::reach("drain.before_commit");
        if let Err(error) = self.run(end) {
            let _gone = self.run("ROLLBACK");
            // Contexts of a transaction that did not happen must not be remembered.
            self.contexts.clear();
            return done.and(Err(error));
        }
        if done.is_err() {
            self.contexts.clear();
        }
        failpoint::reach("drain.after_commit");
        done
    }

    /// Waits until no other session files; the log has room then. An error if others did for all that time.
    pub fn turn(&mut self, patience: Duration) -> Result<FilingTurn, StoreError> {
        let turn = FilingTurn::take(&self.path, patience).ok_or_else(|| StoreError::busy(&self.path))?;
        self.empty_long_log();
        Ok(turn)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.run("BEGIN IMMEDIATE")?;
        if self.on_disk() == OnDisk::Kept {
            return Ok(());
        }
        // Not into a file that nobody else will ever open.
        self.run("ROLLBACK")?;
        Err(StoreError::Removed { path: self.log.0.clone() })
    }

    fn run(&self, sql: &str) -> Result<(), StoreError> {
        let ran = self.connection.prepare_cached(sql).and_then(|mut statement| statement.raw_execute());
        ran.map(drop).map_err(|error| self.fail(&error))
    }

    fn file_inside(
        &mut self,
        opened: &Opened,
        reader: &mut Reader,
        budget: Duration,
    ) -> Result<bool, StoreError> {
        let until = Instant::now() + budget;
        let (session, mut drained) = self.session(opened).map_err(|error| self.fail(&error))?;
        let before = drained;
        let mut rev = self.rev().map_err(|error| self.fail(&error))?;
        let more = loop {
            let (from, at_start) = (reader.offset(), reader.is_at_start());
            let groups = reader
                .next_groups()
                .map_err(|error| StoreError::io("read the spool of", &self.path, &error))?;
            let found = groups.len();
            let groups = &groups[..consecutive(&groups, drained, at_start)];
            let Some(last) = groups.last().map(|group| group.number) else {
                reader.seek(from);
                break false;
            };
            self.file_groups(opened, session, groups, drained, &mut rev)
                .map_err(|error| self.fail(&error))?;
            drained = drained.max(last.cast_signed());
            if groups.len() < found {
                let filed = groups.iter().map(ReadGroup::bytes).sum::<u64>();
                reader.seek(from + filed);
                break false;
            }
            if Instant::now() >= until {
                break true;
            }
        };
        if drained > before {
            self.keep_rev(rev).map_err(|error| self.fail(&error))?;
            self.connection
                .prepare_cached("UPDATE sessions SET drained = ?2 WHERE id = ?1")
                .and_then(|mut statement| statement.execute((session, drained)))
                .map_err(|error| self.fail(&error))?;
        }
        failpoint::reach("drain.after_insert");
        Ok(more)
    }

    fn file_groups(
        &mut self,
        opened: &Opened,
        session: i64,
        groups: &[ReadGroup<'_>],
        drained: i64,
        rev: &mut i64,
    ) -> rusqlite::Result<()> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        let mut others: Vec<Other<'_>> = Vec::new();
        let mut of_seq: FxHashMap<u64, usize> = FxHashMap::default();
        let new = groups.iter().filter(|group| group.number.cast_signed() > drained);
        for record in new.flat_map(|group| records(group.records)) {
            let ending = match record {
                Record::Call(call) => {
                    of_seq.insert(call.seq, rows.len());
                    rows.push(Row::new(call, Mark::default()));
                    continue;
                }
                Record::MarkedCall { call, mark } => {
                    of_seq.insert(call.seq, rows.len());
                    rows.push(Row::new(call, mark));
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
        for other in others {
            match other {
                Other::Outcome(outcome) => self.update(session, &outcome, rev)?,
                Other::Record(record) => self.file_record(opened, session, &record, rev)?,
            }
        }
        Ok(())
    }

    fn insert(&mut self, session: i64, rows: &[Row<'_>], rev: &mut i64) -> rusqlite::Result<()> {
        let Filer { connection, contexts, .. } = self;
        let mut statement = connection.prepare_cached(
            "INSERT INTO calls(rev, session, seq, context, run, at_ms, outcome, duration_us, flags, args_bytes,
                               result_bytes, rpc_id, reason, args, result, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT DO NOTHING",
        )?;
        for Row { call, mark, undecided, outcome } in rows {
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

    /// The same of the decision about a call that was asked about.
    fn update_decision(
        &mut self,
        session: i64,
        decided: &DecisionRecord<'_>,
        rev: &mut i64,
    ) -> rusqlite::Result<()> {
        let seq = decided.seq.cast_signed();
        let common = "SELECT c.client, c.method, c.tool FROM calls JOIN contexts c ON c.id = calls.context
                      WHERE session = ?1 AND seq = ?2 AND outcome IS NULL";
        let Filer { connection, contexts, .. } = self;
        let found: Option<(String, String, String)> = connection
            .prepare_cached(common)?
            .query_row((session, seq), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((client, method, tool)) = found else { return Ok(()) };
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
        self.change(*rev, call)
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
            Record::Decided(decided) => self.update_decision(session, decided, rev)?,
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

    fn end_session(
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

    /// The session's row, made if it is not there, and the number of the last group in here.
    fn session(&self, opened: &Opened) -> rusqlite::Result<(i64, i64)> {
        let find = "SELECT id, drained FROM sessions WHERE name = ?1 AND started_ms = ?2";
        let mut statement = self.connection.prepare_cached(find)?;
        let key = (&opened.session, opened.started_ms);
        if let Some(found) = statement.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))).optional()? {
            return Ok(found);
        }
        self.connection.execute(
            "INSERT INTO sessions(name, server, client, command, started_ms, demo) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (&opened.session, &opened.server, &opened.client, &opened.command, opened.started_ms, opened.demo),
        )?;
        Ok((self.connection.last_insert_rowid(), 0))
    }

    /// The newest `rev`. Also notices that contexts were removed since the last time.
    fn rev(&mut self) -> rusqlite::Result<i64> {
        let (rev, generation) = self
            .connection
            .prepare_cached(
                "SELECT r.value, g.value FROM meta r, meta g WHERE r.key = 'rev' AND g.key = 'generation'",
            )?
            .query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        if generation != self.generation {
            self.contexts.clear();
            self.generation = generation;
        }
        Ok(rev)
    }

    fn keep_rev(&self, rev: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("UPDATE meta SET value = ?1 WHERE key = 'rev'")?
            .execute([rev])
            .map(drop)
    }

    /// Keeps the log about this long.
    pub fn limit_log(&mut self, limit: u64) {
        self.log_limit = limit;
        self.empty_long_log();
    }

    fn empty_long_log(&mut self) {
        if self.on_disk() == OnDisk::Kept {
            self.log_keeper.limit(&self.connection, &self.path, self.log_limit);
        }
    }

    /// Empties a log that is worth it, if nobody is in the way.
    pub fn tidy_log(&mut self) {
        if self.on_disk() == OnDisk::Kept {
            self.log_keeper.quiet(&self.connection, &self.path);
        }
    }
}

/// How many of these groups come after group `drained` without a gap. A spool that is shortened and written anew under
/// a reader can have a later group where the next one was; what is between must not count as filed. At the start of
/// a spool any number will do: what was before it was filed, if only into a history that is gone.
fn consecutive(groups: &[ReadGroup<'_>], drained: i64, at_start: bool) -> usize {
    let mut next = drained + 1;
    for (index, group) in groups.iter().enumerate() {
        let number = group.number.cast_signed();
        if number > next && !(at_start && index == 0) {
            return index;
        }
        next = next.max(number + 1);
    }
    groups.len()
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

fn flags(body: Option<&Body<'_>>, cut: i64, masked: i64) -> i64 {
    body.map_or(0, |body| if body.cut { cut } else { 0 } | if body.masked { masked } else { 0 })
}

#[cfg(test)]
#[path = "filing/tests.rs"]
mod tests;

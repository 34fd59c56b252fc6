//! Filing: from a spool into the history, once, by whoever does it.
//!
//! A transaction files some groups and notes the number of the last one beside them; groups up to that number
//! are never filed again, so a crash between here and the spool's truncation, two filers at once, or a row that
//! was forgotten in the meantime all end well. A call and its outcome that arrive together become one insert.

mod rows;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use callgate_controls::approval::ApprovalId;
use callgate_controls::sqlite;
use callgate_controls::wal::{self, LogKeeper};
use callgate_home::private::{Identity, identity};
use callgate_home::{Home, StoreError, failpoint};
use rusqlite::{Connection, OptionalExtension};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::database::{next_rev, open_writer};
use crate::filing_turn::FilingTurn;
use crate::outbox;
use crate::spool::reader::{ReadGroup, Reader};
use crate::spool::record::Opened;
use crate::{EndReason, EventKind};
use rows::Context;

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
    /// Approvals whose calls were looked at: somebody is on record for them, or it was said that nobody is.
    accounted: FxHashSet<ApprovalId>,
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
            accounted: FxHashSet::default(),
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
            self.forget_uncommitted();
            return done.and(Err(error));
        }
        if done.is_err() {
            self.forget_uncommitted();
        }
        failpoint::reach("drain.after_commit");
        done
    }

    /// What a transaction that did not happen has written must not be remembered.
    fn forget_uncommitted(&mut self) {
        self.contexts.clear();
        self.accounted.clear();
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

#[cfg(test)]
#[path = "filing/tests.rs"]
mod tests;

//! Keeping the index: the newest shard first, then those before it, some calls at a time.
//!
//! A step is one transaction on the index, begun before the history is looked at: whoever forgets something removes it
//! from the history first, so that it is either not found here or dropped with its shard right after.

use std::time::{Duration, Instant};

use callgate_controls::approval::RULE;
use callgate_controls::sqlite;
use callgate_home::private::{Identity, identity};
use callgate_home::{Home, StoreError};
use callgate_journal::retention::give_back;
use callgate_journal::{Decision, Outcome};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::History;
use super::super::filter::{TEXT_COLUMNS, texts};
use super::super::rows::CALL_TABLES;
use super::words::{NameParts, cut};
use super::{
    BY_PERSON, Class, FAILED, SHARD, SPAN, drop_shard, mark, open_writer, reach, table, wipe_what_was_left,
};

/// How long a step looks at calls.
const STEP: Duration = Duration::from_millis(8);
/// Calls in a step at most.
const MOST: i64 = 2_000;
/// Running calls that are looked at again in a step.
const OPEN: i64 = 500;
/// How much older than the oldest call the words of one may be.
const STALE_MS: i64 = 24 * 60 * 60 * 1000;
/// Pages that may be free: new calls fill them before long.
pub(super) const SPARE: i64 = 256;
/// Pages given back to the system in a step.
const PAGES: i64 = 256;
/// Marks that are remembered; hostile names can make one for each call.
const REMEMBERED: usize = 4_096;

/// Keeps the index of one history.
#[derive(Debug)]
pub struct Indexer {
    history: History,
    index: Connection,
    files: [Identity; 2],
    home: Home,
    /// Of the history when there was nothing left to do.
    done_at: Option<i64>,
    /// Something was removed, and its room has not been given back yet.
    shrinks: bool,
    marks: FxHashMap<(char, String), String>,
}

impl Indexer {
    pub fn open(home: &Home) -> Result<Indexer, StoreError> {
        let history = History::open_reader(home)?;
        wipe_what_was_left(home, &history)?;
        let index = open_writer(home, history.birth()?)?;
        let files = files(home)?;
        let marks = FxHashMap::default();
        // Whoever removed something may have ended before its room was given back.
        Ok(Indexer { history, index, files, home: home.clone(), done_at: None, shrinks: true, marks })
    }

    /// Are both files still the ones that others would open, and is nothing in the index that was forgotten? Else it is
    /// to be opened anew.
    pub fn is_in_place(&self) -> bool {
        files(&self.home).is_ok_and(|found| found == self.files)
            && self.history.is_unwiped().is_ok_and(|unwiped| !unwiped)
    }

    /// Puts some more calls into the index; `true` while there may be more. Almost free when nothing is new.
    pub fn step(&mut self) -> Result<bool, StoreError> {
        let version: i64 = self
            .history
            .connection
            .query_row("PRAGMA data_version", (), |row| row.get(0))
            .map_err(|error| self.history.fail(&error))?;
        if self.done_at == Some(version) {
            return Ok(false);
        }
        let more = match self.step_inside() {
            Ok(more) => more,
            // The index is not to blame.
            Err(Failed::History(error)) => return Err(self.history.fail(&error)),
            Err(Failed::Index(error)) => {
                let path = self.home.search_db();
                let error = sqlite::database_error(&path, &error);
                if error.is_corrupt() {
                    // Whoever opens it next makes it anew.
                    let _lock = sqlite::lock_beside(&path)?;
                    if self.is_in_place() {
                        super::remove_files(&self.home)?;
                    }
                }
                return Err(error);
            }
        };
        self.done_at = (!more).then_some(version);
        Ok(more)
    }

    fn step_inside(&mut self) -> Result<bool, Failed> {
        let Indexer { history, index, marks, .. } = self;
        // Remembered within a step only: a shard may be dropped between two of them.
        let tools = &mut FxHashSet::default();
        let index = index.unchecked_transaction_immediate()?;
        let calls = history.connection.unchecked_transaction().map_err(Failed::History)?;
        let (oldest, latest) = ends(&calls).map_err(Failed::History)?;
        let mut work = Work { calls: &calls, index: &index, marks, tools, until: Instant::now() + STEP };
        let removed = work.retire(oldest)? || work.trim(oldest)?;
        let mut more = removed;
        work.look_again()?;
        if let Some((shard, indexed_to)) = work.unfinished(oldest, latest)? {
            work.index(shard, indexed_to, latest)?;
            more = true;
        }
        drop(calls);
        index.commit()?;
        self.shrinks |= removed;
        // First everything is removed that has to go: its room is one.
        if self.shrinks && !removed {
            self.shrinks = shrink(&self.index)?;
            more |= self.shrinks;
        }
        Ok(more)
    }
}

/// Gives some of the free pages back to the system; false once there are no more than spare ones, or the file gives none.
fn shrink(index: &Connection) -> rusqlite::Result<bool> {
    let count = || index.query_row("PRAGMA freelist_count", (), |row| row.get::<_, i64>(0));
    let free = count()?;
    if free > SPARE {
        give_back(index, PAGES)?;
        if count()? < free {
            return Ok(true);
        }
    }
    // The file itself is cut when the log is written back. If others read just now, that is for later.
    index.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))?;
    Ok(false)
}

/// Which of the two files made trouble.
#[derive(Debug)]
enum Failed {
    History(rusqlite::Error),
    Index(rusqlite::Error),
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Failed {
        Failed::Index(error)
    }
}

/// A transaction that writes from the start: one that only reads first may be refused to write later.
trait Immediate {
    fn unchecked_transaction_immediate(&self) -> rusqlite::Result<rusqlite::Transaction<'_>>;
}

impl Immediate for Connection {
    fn unchecked_transaction_immediate(&self) -> rusqlite::Result<rusqlite::Transaction<'_>> {
        rusqlite::Transaction::new_unchecked(self, rusqlite::TransactionBehavior::Immediate)
    }
}

fn files(home: &Home) -> Result<[Identity; 2], StoreError> {
    let look =
        |path: std::path::PathBuf| identity(&path).map_err(|error| StoreError::io("look at", &path, &error));
    Ok([look(home.history_db())?, look(home.search_db())?])
}

/// The oldest call, and the newest number of all.
fn ends(calls: &Connection) -> rusqlite::Result<(i64, i64)> {
    calls.query_row(
        "SELECT coalesce((SELECT min(rev) FROM calls), value + 1), value FROM meta WHERE key = 'rev'",
        (),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Of a row that is to be indexed: is the call not over yet?
fn is_open(row: &Row<'_>) -> rusqlite::Result<bool> {
    Ok(row.get_ref(2)? == ValueRef::Null)
}

struct Work<'w> {
    calls: &'w Connection,
    index: &'w Connection,
    marks: &'w mut FxHashMap<(char, String), String>,
    tools: &'w mut FxHashSet<(i64, String, String)>,
    until: Instant,
}

impl Work<'_> {
    /// Removes what the history no longer has: whole shards, and the numbers before the oldest call.
    fn retire(&self, oldest: i64) -> rusqlite::Result<bool> {
        let first: Option<i64> =
            self.index.query_row("SELECT min(shard) FROM shards", (), |row| row.get(0))?;
        if let Some(first) = first.filter(|first| *first < oldest.div_euclid(SHARD)) {
            drop_shard(self.index, first)?;
            return Ok(true);
        }
        let removed = self
            .index
            .prepare_cached(
                "DELETE FROM light WHERE rev IN (SELECT rev FROM light WHERE rev < ?1 LIMIT 2000)",
            )?
            .execute([oldest])?;
        Ok(removed > 0)
    }

    /// A shard that begins long before what the history still has is made anew: its words are those of calls that are not
    /// kept any more.
    fn trim(&self, oldest: i64) -> Result<bool, Failed> {
        let meta = "SELECT value FROM meta WHERE key = 'trimmed'";
        let trimmed: Option<i64> = self.index.query_row(meta, (), |row| row.get(0)).optional()?;
        if trimmed.is_some_and(|trimmed| trimmed >= oldest) {
            return Ok(false);
        }
        let of_oldest = "SELECT at_ms FROM calls WHERE rev = ?1";
        let oldest_ms: Option<i64> = self
            .calls
            .query_row(of_oldest, [oldest], |row| row.get(0))
            .optional()
            .map_err(Failed::History)?;
        let begins = "SELECT min(min_ms) FROM spans WHERE span <= ?1";
        let begins_ms: Option<i64> =
            self.index.query_row(begins, [oldest.div_euclid(SPAN)], |row| row.get(0))?;
        let is_stale = oldest_ms.zip(begins_ms).is_some_and(|(oldest, begins)| oldest - begins >= STALE_MS);
        if is_stale {
            drop_shard(self.index, oldest.div_euclid(SHARD))?;
            // Once for each oldest call: times may run backwards, and then it would look stale again.
            self.index.execute("INSERT OR REPLACE INTO meta VALUES ('trimmed', ?1)", [oldest])?;
        }
        Ok(is_stale)
    }

    /// The newest shard that is not done, and how far it is.
    fn unfinished(&self, oldest: i64, latest: i64) -> rusqlite::Result<Option<(i64, i64)>> {
        let mut of_shard = self.index.prepare_cached("SELECT indexed_to FROM shards WHERE shard = ?1")?;
        for shard in (oldest.div_euclid(SHARD)..=latest.div_euclid(SHARD)).rev() {
            let (first, last) = reach(shard);
            let to = of_shard.query_row([shard], |row| row.get(0)).optional()?.unwrap_or(first - 1);
            if to < last.min(latest) {
                return Ok(Some((shard, to)));
            }
        }
        Ok(None)
    }

    /// Puts the next calls of a shard in.
    fn index(&mut self, shard: i64, indexed_to: i64, latest: i64) -> Result<(), Failed> {
        let (first, last) = reach(shard);
        if indexed_to < first {
            self.index.execute_batch(&format!(
                "CREATE VIRTUAL TABLE IF NOT EXISTS {} USING fts5(
                   words, content='', columnsize=0, detail=none, tokenize=\"ascii tokenchars '='\")",
                table(shard)
            ))?;
        }
        let last = last.min(latest);
        let mut done = last;
        let sql = format!(
            "SELECT c.rev, c.at_ms, c.outcome, s.server, s.name, x.client, x.tool, x.decision, x.rule, {TEXT_COLUMNS}
             FROM {CALL_TABLES} WHERE c.rev BETWEEN ?1 AND ?2 ORDER BY c.rev LIMIT {MOST}"
        );
        let mut statement = self.calls.prepare_cached(&sql).map_err(Failed::History)?;
        let mut rows = statement.query((indexed_to + 1, last)).map_err(Failed::History)?;
        let mut seen = 0;
        while let Some(row) = rows.next().map_err(Failed::History)? {
            let rev: i64 = row.get(0).map_err(Failed::History)?;
            let at_ms: i64 = row.get(1).map_err(Failed::History)?;
            self.span(rev, at_ms)?;
            if is_open(row).map_err(Failed::History)? {
                self.index.prepare_cached("INSERT OR IGNORE INTO open VALUES (?1)")?.execute([rev])?;
            } else {
                self.put(row, rev, at_ms)?;
            }
            seen += 1;
            if seen == MOST || Instant::now() >= self.until {
                done = rev;
                break;
            }
        }
        self.index.prepare_cached("INSERT OR REPLACE INTO shards VALUES (?1, ?2)")?.execute((shard, done))?;
        Ok(())
    }

    fn span(&self, rev: i64, at_ms: i64) -> rusqlite::Result<()> {
        self.index
            .prepare_cached(
                "INSERT INTO spans VALUES (?1, ?2, ?2) ON CONFLICT DO UPDATE
                 SET min_ms = min(min_ms, excluded.min_ms), max_ms = max(max_ms, excluded.max_ms)",
            )?
            .execute((rev.div_euclid(SPAN), at_ms))
            .map(drop)
    }

    /// Running calls that are over by now, or forgotten.
    fn look_again(&mut self) -> Result<(), Failed> {
        let open: Vec<i64> = self
            .index
            .prepare_cached("SELECT rev FROM open ORDER BY random() LIMIT ?1")?
            .query_map([OPEN], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let sql = format!(
            "SELECT c.rev, c.at_ms, c.outcome, s.server, s.name, x.client, x.tool, x.decision, x.rule, {TEXT_COLUMNS}
             FROM {CALL_TABLES} WHERE c.rev = ?1"
        );
        for rev in open {
            let mut statement = self.calls.prepare_cached(&sql).map_err(Failed::History)?;
            let mut rows = statement.query([rev]).map_err(Failed::History)?;
            match rows.next().map_err(Failed::History)? {
                Some(row) if is_open(row).map_err(Failed::History)? => continue,
                Some(row) => self.put(row, rev, row.get(1).map_err(Failed::History)?)?,
                None => {}
            }
            self.index.prepare_cached("DELETE FROM open WHERE rev = ?1")?.execute([rev])?;
        }
        Ok(())
    }

    /// A call that is over.
    fn put(&mut self, row: &Row<'_>, rev: i64, at_ms: i64) -> rusqlite::Result<()> {
        let decision = row.get_ref(7)?.as_str()?.parse().unwrap_or(Decision::Unsupported);
        let mut known: FxHashSet<String> = FxHashSet::default();
        let mut line = String::new();
        let mut add = |word: &str| {
            if !known.contains(word) {
                line.push_str(word);
                line.push(' ');
                known.insert(word.to_owned());
            }
        };
        for (kind, column) in [('s', 3), ('n', 4), ('c', 5), ('t', 6), ('d', 7)] {
            add(self.mark(kind, row.get_ref(column)?.as_str()?));
        }
        // A word of a newer Callgate is none of those that rows are looked through for.
        if row.get_ref(2)?.as_str()?.parse::<Outcome>().is_ok_and(Outcome::is_failed) {
            add(self.mark(FAILED.0, FAILED.1));
        }
        if row.get_ref(8)?.as_str_or_null()?.is_some_and(|rule| rule.starts_with(RULE)) {
            add(self.mark(BY_PERSON.0, BY_PERSON.1));
        }
        for text in texts(row, 9)? {
            cut(text, NameParts::Also, &mut add);
        }
        let (server, tool) = (row.get_ref(3)?.as_str()?, row.get_ref(6)?.as_str()?);
        let shard = rev.div_euclid(SHARD);
        if !tool.is_empty() && self.tools.insert((shard, server.to_owned(), tool.to_owned())) {
            self.index
                .prepare_cached("INSERT OR IGNORE INTO tools VALUES (?1, ?2, ?3)")?
                .execute((shard, server, tool))?;
        }
        let shard = table(shard);
        self.index
            .prepare_cached(&format!("INSERT INTO {shard}(rowid, words) VALUES (?1, ?2)"))?
            .execute((rev, &line))?;
        self.index.prepare_cached("INSERT OR REPLACE INTO light VALUES (?1, ?2, ?3)")?.execute((
            rev,
            at_ms,
            Class::of(decision).number(),
        ))?;
        Ok(())
    }

    fn mark(&mut self, kind: char, name: &str) -> &str {
        if self.marks.len() >= REMEMBERED {
            self.marks.clear();
        }
        self.marks.entry((kind, name.to_owned())).or_insert_with(|| mark(kind, name))
    }
}

//! What comes in: new entries, and calls that changed, since somebody asked last.

use std::sync::Arc;

use callgate_history::{CallFilter, History, Toward};
use callgate_home::Home;
use callgate_text::harmless;

use super::{fold, line, page};
use crate::DeskError;
use crate::tools::badges::ClassBadges;
use crate::view::{LogBatch, LogEntry, PageFrom};

/// Numbers in one batch at most.
const BATCH: i64 = 500;
/// Whoever is further behind sees the newest calls, and is told how many there were before them.
const BEHIND: i64 = 5_000;
/// Changes of calls that came before, in one batch at most; the rest comes with the next ones.
const CHANGED: usize = 2_000;
/// Lines that are remembered: those that a call may repeat, and what these may reach over, so that they are whole.
const TAIL: u32 = 2 * (fold::REACH as u32 + 1);
/// Skipped calls are counted as far back as this: beyond it nobody cares how many.
const COUNTED: i64 = 100_000;

/// Reads what came or changed since it was asked last.
#[derive(Debug)]
pub struct Follower {
    home: Home,
    badges: Arc<ClassBadges>,
    history: History,
    filter: CallFilter,
    rev: i64,
    /// The history's state when there was nothing new.
    idle_at: Option<i64>,
    /// The last lines that were shown: a refusal like one of them becomes one with it.
    tail: Vec<LogEntry>,
    untold: Option<Untold>,
    /// The history is another than the one that was shown, and that has not been told yet.
    replaced: bool,
    /// What was said to be wrong.
    problem: Option<String>,
}

/// Changes with these numbers (both ends included), of calls before the first of them, that are still to be told.
#[derive(Clone, Copy, Debug)]
struct Untold {
    from: i64,
    to: i64,
    before: i64,
}

impl Follower {
    pub(super) fn open(
        home: &Home,
        badges: &Arc<ClassBadges>,
        filter: &CallFilter,
        rev: i64,
    ) -> Result<Follower, DeskError> {
        let history = History::open_reader(home)?;
        let from = PageFrom::Before { rev: rev.saturating_add(1) };
        let tail = page::page(&history, filter, &from, TAIL)?.entries;
        Ok(Follower {
            home: home.clone(),
            badges: Arc::clone(badges),
            history,
            filter: filter.clone(),
            rev,
            idle_at: None,
            tail,
            untold: None,
            replaced: false,
            problem: None,
        })
    }

    /// The same as [`Follower::next`], with what goes wrong in words for whoever reads: told once, and tried again with each
    /// question until it works, which is told as well.
    pub fn tell(&mut self) -> Option<LogBatch> {
        let said = self.problem.take();
        let told = match said {
            None => self.next(),
            // What made trouble is not used again. Another history is told from its beginning.
            Some(_) => {
                let (rev, untold, replaced) = match self.history.is_in_place() {
                    true => (self.rev, self.untold, self.replaced),
                    false => (0, None, self.has_shown()),
                };
                Follower::open(&self.home, &self.badges, &self.filter, rev).and_then(|again| {
                    *self = Follower { untold, replaced, ..again };
                    self.next()
                })
            }
        };
        match told {
            Ok(None) if said.is_some() => Some(self.nothing()),
            Ok(batch) => batch,
            Err(error) => {
                let problem = format!(
                    "New calls cannot be shown: {}. It is tried again by itself; what is recorded is not lost. If this stays, close Callgate and open it again.",
                    harmless(&error.to_string())
                );
                self.problem = Some(problem.clone());
                (said.as_ref() != Some(&problem))
                    .then(|| LogBatch { problem: Some(problem), ..self.nothing() })
            }
        }
    }

    /// The history that is followed, for what a line leaves out.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Is something wrong at present?
    pub fn is_troubled(&self) -> bool {
        self.problem.is_some()
    }

    fn nothing(&self) -> LogBatch {
        LogBatch { entries: Vec::new(), rev: self.rev, skipped: 0, reset: false, problem: None }
    }

    #[expect(clippy::should_implement_trait, reason = "it has no end: it is asked again and again")]
    /// What is new, in one batch; none if nothing is. Almost free if nobody has written to the history.
    pub fn next(&mut self) -> Result<Option<LogBatch>, DeskError> {
        if !self.history.is_in_place() {
            // Another history: from its beginning, as far as that can be shown.
            let replaced = self.has_shown();
            *self = Follower { replaced, ..Follower::open(&self.home, &self.badges, &self.filter, 0)? };
        }
        let mut batch = self.came_since()?;
        if let Some(batch) = &mut batch {
            self.badges.look().put_into(&mut batch.entries);
        }
        if !std::mem::take(&mut self.replaced) {
            return Ok(batch);
        }
        // Also if there is nothing in it: what is shown is of a history that is gone.
        Ok(Some(LogBatch { reset: true, ..batch.unwrap_or_else(|| self.nothing()) }))
    }

    /// Has anything of this history, or of one before it, been shown that would have to go?
    fn has_shown(&self) -> bool {
        self.rev > 0 || self.replaced
    }

    fn came_since(&mut self) -> Result<Option<LogBatch>, DeskError> {
        let version = self.history.data_version()?;
        if self.idle_at == Some(version) {
            return Ok(None);
        }
        loop {
            if let Some(untold) = self.untold {
                let entries = self.changed(untold)?;
                if !entries.is_empty() {
                    return Ok(Some(LogBatch { entries, ..self.nothing() }));
                }
                continue;
            }
            let latest = self.history.latest_rev()?;
            if latest <= self.rev {
                self.idle_at = Some(version);
                return Ok(None);
            }
            let batch = self.batch(latest)?;
            if !batch.entries.is_empty() || batch.skipped > 0 || batch.reset {
                return Ok(Some(batch));
            }
        }
    }

    fn batch(&mut self, latest: i64) -> Result<LogBatch, DeskError> {
        let since = self.rev.saturating_add(1);
        let mut from = since;
        let (mut skipped, mut reset) = (0, false);
        let mut entries: Vec<LogEntry> = Vec::new();
        let mut to = latest.min(self.rev.saturating_add(BATCH));
        // Whoever wants each call as a line of its own gets every one.
        if latest - self.rev > BEHIND && !self.filter.unfolded {
            from = latest - BATCH + 1;
            to = latest;
            self.tail.clear();
            // Changes that are not on record any more cannot be told.
            reset = !self.history.has_changes_since(since)?;
            if !reset {
                // Calls are only counted; what else there was is told.
                entries = self.beside((since, from - 1), CHANGED + 1)?;
                reset = entries.len() > CHANGED;
            }
            if reset {
                entries.clear();
            }
            let counted = since.max(from.saturating_sub(COUNTED));
            skipped = self.history.count_between(&self.filter, counted, from - 1)?;
        }
        if !reset {
            let changed = self.changed(Untold { from: since, to, before: since })?;
            entries.splice(0..0, changed);
        }
        for entry in self.came(from, to)? {
            self.put(&mut entries, entry);
        }
        self.rev = to;
        Ok(LogBatch { entries, skipped, reset, ..self.nothing() })
    }

    /// Tells of changes as many as one batch may hold, and keeps the rest for the next.
    fn changed(&mut self, untold: Untold) -> Result<Vec<LogEntry>, DeskError> {
        let Untold { from, to, before } = untold;
        let (rows, told) = self.history.lines_changed(&self.filter, (from, to), before, CHANGED)?;
        self.untold = (told < to).then_some(Untold { from: told + 1, ..untold });
        Ok(rows.iter().map(|row| LogEntry::Call(line::call(row))).collect())
    }

    /// Everything new with these numbers, in order.
    fn came(&self, from: i64, to: i64) -> Result<Vec<LogEntry>, DeskError> {
        let mut came = self.beside((from, to), usize::MAX)?;
        let rows = self.history.lines_between(&self.filter, from, to)?;
        came.extend(rows.iter().map(|row| LogEntry::Call(line::call(row))));
        came.sort_by_key(line::rev);
        Ok(came)
    }

    /// What is no call, in order; of each kind at most so many.
    fn beside(&self, between: (i64, i64), most: usize) -> Result<Vec<LogEntry>, DeskError> {
        page::beside(&self.history, &self.filter, between, Toward::Newer, most)
    }

    /// A refusal like one of the last lines becomes one with it, also if that came in an earlier batch.
    fn put(&mut self, entries: &mut Vec<LogEntry>, entry: LogEntry) {
        if self.filter.unfolded {
            return entries.push(entry);
        }
        if let Some(line) = fold::join(&mut self.tail, &entry) {
            // Told once in a batch, however often it grew.
            let told = |one: &&mut LogEntry| matches!(one, LogEntry::Call(one) if one.fold_key == line.fold_key && one.first_rev == line.first_rev);
            match entries.iter_mut().rev().find(told) {
                Some(told) => *told = LogEntry::Call(line.clone()),
                None => entries.push(LogEntry::Call(line.clone())),
            }
            return;
        }
        self.tail.push(entry.clone());
        let over = self.tail.len().saturating_sub(TAIL as usize);
        self.tail.drain(..over);
        entries.push(entry);
    }
}

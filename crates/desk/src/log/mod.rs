//! The log: pages, counts, what comes in, one call in full, runs, exports.
//!
//! Calls, changes of rules and events stand in one order, that of their numbers (`rev`), which is also the cursor.

mod access;
mod call;
mod choices;
mod count;
pub(crate) mod export;
pub(crate) mod fold;
mod follow;
mod gist;
mod last_seen;
pub(crate) mod line;
mod object;
mod page;
mod runs;
mod why;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_history::{CallFilter, History, Indexer, ToolStats};
use callgate_journal::catch_up;

use crate::view::{
    CallDetail, CallLine, Choices, ExportFormat, Exported, LogCount, LogPage, PageFrom, Run, RunPage,
    SinceLastLook,
};
use crate::{Desk, DeskError};

pub use fold::MOST_TOOLS;
pub use follow::Follower;
pub use gist::gist;
pub use object::CallObject;

/// Keeps the text index while the desk lives: what it remembers makes a step with nothing to do almost free.
#[derive(Debug, Default)]
pub(crate) struct Indexing(Mutex<Option<Indexer>>);

impl Indexing {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Indexer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    /// Entries that match, from somewhere on, oldest first. A page may be short, even empty, and still have a place to
    /// go on from: when much had to be looked through for little.
    pub fn log_page(&self, filter: &CallFilter, from: &PageFrom, count: u32) -> Result<LogPage, DeskError> {
        let mut page = page::page(&self.record()?, filter, from, count)?;
        self.badges.look().put_into(&mut page.entries);
        Ok(page)
    }

    /// The newest lines of calls that match, oldest first, however long it takes to find so many.
    pub fn newest_lines(&self, filter: &CallFilter, most: usize) -> Result<Vec<CallLine>, DeskError> {
        let mut lines = page::newest(&self.record()?, filter, most)?;
        self.badges.look().put(&mut lines);
        Ok(lines)
    }

    /// Counts what matches, telling the count so far now and then, until done or cancelled.
    pub fn log_count(
        &self,
        filter: &CallFilter,
        cancelled: &(dyn Fn() -> bool + Send + Sync),
        tell: &mut dyn FnMut(LogCount),
    ) -> Result<(), DeskError> {
        count::count(&self.record()?, filter, cancelled, tell)
    }

    /// Follows the log from this `rev` on. What dead sessions left behind is brought in first.
    pub fn follow(&self, filter: &CallFilter, rev: i64) -> Result<Follower, DeskError> {
        // A home that cannot be written can still be read.
        let _behind = catch_up(self.home(), self.clock.as_ref());
        Follower::open(self.home(), &self.badges, filter, rev)
    }

    /// One call in full, by its id.
    pub fn call(&self, id: &str) -> Result<CallDetail, DeskError> {
        call::detail(self, &self.record()?, id)
    }

    /// What there is to filter by.
    pub fn choices(&self) -> Result<Choices, DeskError> {
        choices::choices(self.home(), &self.record()?)
    }

    /// The newest runs that began before this time, newest first.
    pub fn runs(&self, before_ms: Option<i64>, count: u32) -> Result<Vec<Run>, DeskError> {
        runs::runs(&self.record()?, before_ms, count)
    }

    /// Runs in which a call matches, the one with the newest such call first, from calls before this `rev` on.
    pub fn runs_matching(
        &self,
        filter: &CallFilter,
        before: Option<i64>,
        count: u32,
    ) -> Result<RunPage, DeskError> {
        runs::matching(&self.record()?, filter, before, count)
    }

    /// What happened since somebody last looked.
    pub fn since_last_look(&self) -> Result<SinceLastLook, DeskError> {
        last_seen::since(self, &self.record()?)
    }

    /// Somebody looked: from now on *since you last looked* counts from here.
    pub fn looked(&self) -> Result<(), DeskError> {
        last_seen::now(self, &self.record()?)
    }

    /// Writes what the filter shows into a new file in this folder.
    pub fn export(
        &self,
        filter: &CallFilter,
        format: ExportFormat,
        folder: &Path,
    ) -> Result<Exported, DeskError> {
        export::export(self, &self.record()?, filter, format, folder)
    }

    /// The same at this very place; what is there is replaced only by `force`.
    pub fn export_as(
        &self,
        filter: &CallFilter,
        format: ExportFormat,
        path: &Path,
        force: bool,
    ) -> Result<Exported, DeskError> {
        export::export_as(self, &self.record()?, (filter, format), path, force)
    }

    /// The same as a stream. Returns how many calls there were; what went wrong with writing is left as it is.
    pub fn export_to(
        &self,
        filter: &CallFilter,
        format: ExportFormat,
        out: &mut dyn std::io::Write,
    ) -> Result<u64, DeskError> {
        export::write(self, &self.record()?, filter, format, out).map_err(|trouble| match trouble {
            export::Trouble::Desk(error) => error,
            export::Trouble::Write(error) => DeskError::disk("the export cannot be written", error),
        })
    }

    /// How often what was called, and how long it took.
    pub fn stats(&self, filter: &CallFilter) -> Result<Vec<ToolStats>, DeskError> {
        Ok(self.record()?.stats(filter)?)
    }

    /// Brings the text index as far up to date as it gets in this time. What is not in it, or if it cannot be written here, is
    /// looked through.
    pub fn index_for(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && self.index_step().unwrap_or(false) {}
    }

    /// Brings the text index up to date in steps so short that nobody waits for them; `true` while there is more.
    pub fn index_step(&self) -> Result<bool, DeskError> {
        let mut indexer = self.indexing.lock();
        if indexer.as_ref().is_some_and(|indexer| !indexer.is_in_place()) {
            *indexer = None;
        }
        let kept = match indexer.take() {
            Some(kept) => kept,
            None => Indexer::open(self.home())?,
        };
        let kept = indexer.insert(kept);
        let stepped = kept.step();
        if stepped.is_err() {
            // Opened anew the next time, which mends what can be mended.
            *indexer = None;
        }
        Ok(stepped?)
    }

    pub(crate) fn record(&self) -> Result<History, DeskError> {
        Ok(History::open_reader(self.home())?)
    }
}

//! What comes in: new entries, and calls that changed, since somebody asked last.

use callgate_store::history::Toward;
use callgate_store::{History, Home};

use super::asked::Asked;
use super::{line, page};
use crate::DeskError;
use crate::view::{CallLine, LogBatch, LogEntry, LogFilter, PageFrom};

/// Numbers in one batch at most.
const BATCH: i64 = 500;
/// Whoever is further behind sees the newest batch, and is told how many calls there were before it.
const BEHIND: i64 = 5_000;
/// Calls that ran when somebody fell behind and are told to be over.
const CHANGED: u32 = 2_000;

/// Reads what came or changed since it was asked last.
#[derive(Debug)]
pub struct Follower {
    home: Home,
    history: History,
    filter: LogFilter,
    asked: Asked,
    rev: i64,
    /// The history's state when there was nothing new.
    idle_at: Option<i64>,
    /// The last line that was shown, if a refusal like it would be folded into it.
    tail: Option<CallLine>,
}

impl Follower {
    pub(super) fn open(home: &Home, filter: &LogFilter, rev: i64) -> Result<Follower, DeskError> {
        let history = History::open_reader(home)?;
        let asked = Asked::of(filter, &history)?;
        let from = PageFrom::Before { rev: rev.saturating_add(1) };
        let last = page::page(home, &history, filter, &from, 1)?.entries.pop();
        let tail = match last {
            Some(LogEntry::Call(line)) if line.refused => Some(line),
            _ => None,
        };
        Ok(Follower { home: home.clone(), history, filter: filter.clone(), asked, rev, idle_at: None, tail })
    }

    #[expect(clippy::should_implement_trait, reason = "it has no end: it is asked again and again")]
    /// What is new, in one batch; none if nothing is. Almost free if nobody has written to the history.
    pub fn next(&mut self) -> Result<Option<LogBatch>, DeskError> {
        if !self.history.is_in_place() {
            // Another history: from its beginning, as far as that can be shown.
            *self = Follower::open(&self.home, &self.filter, 0)?;
        }
        let version = self.history.data_version()?;
        if self.idle_at == Some(version) {
            return Ok(None);
        }
        loop {
            let latest = self.history.latest_rev()?;
            if latest <= self.rev {
                self.idle_at = Some(version);
                return Ok(None);
            }
            let batch = self.batch(latest)?;
            if !batch.entries.is_empty() || batch.skipped > 0 {
                return Ok(Some(batch));
            }
        }
    }

    fn batch(&mut self, latest: i64) -> Result<LogBatch, DeskError> {
        let since = self.rev.saturating_add(1);
        let mut from = since;
        let mut skipped = 0;
        let mut to = latest.min(self.rev.saturating_add(BATCH));
        if latest - self.rev > BEHIND {
            from = latest - BATCH + 1;
            to = latest;
            self.tail = None;
            if self.asked.calls {
                skipped = self.history.count_between(&self.asked.which, since, from - 1)?;
            }
        }
        let mut entries: Vec<LogEntry> = Vec::new();
        if self.asked.calls {
            let changed = self.history.lines_changed(&self.asked.which, since, to, CHANGED)?;
            entries.extend(changed.iter().map(|row| LogEntry::Call(line::call(row))));
        }
        for entry in self.came(from, to)? {
            self.put(&mut entries, entry);
        }
        self.rev = to;
        Ok(LogBatch { entries, rev: to, skipped })
    }

    /// Everything new with these numbers, in order.
    fn came(&self, from: i64, to: i64) -> Result<Vec<LogEntry>, DeskError> {
        let Asked { which, calls, changes, events } = &self.asked;
        let mut came: Vec<LogEntry> = Vec::new();
        if *calls {
            let rows = self.history.lines_between(which, from, to)?;
            came.extend(rows.iter().map(|row| LogEntry::Call(line::call(row))));
        }
        let most = usize::MAX;
        if *changes {
            let rows = self.history.changes_between(which, (from, to), Toward::Newer, most)?;
            came.extend(rows.into_iter().map(|row| LogEntry::Change(line::change(row))));
        }
        if *events {
            let rows = self.history.events_between(which, (from, to), Toward::Newer, most)?;
            came.extend(rows.into_iter().map(|(rev, row)| LogEntry::Event(line::event(rev, row))));
        }
        came.sort_by_key(line::rev);
        Ok(came)
    }

    /// A refusal like the last one becomes one with it, also if that came in an earlier batch.
    fn put(&mut self, entries: &mut Vec<LogEntry>, entry: LogEntry) {
        let LogEntry::Call(call) = entry else {
            self.tail = None;
            return entries.push(entry);
        };
        match &mut self.tail {
            Some(tail) if line::repeats(tail, &call) => {
                line::fold(tail, call);
                let folded = LogEntry::Call(tail.clone());
                match entries.last_mut() {
                    Some(LogEntry::Call(last)) if last.first_rev == tail.first_rev && last.refused => {
                        *last = tail.clone();
                    }
                    _ => entries.push(folded),
                }
            }
            _ => {
                self.tail = call.refused.then(|| call.clone());
                entries.push(LogEntry::Call(call));
            }
        }
    }
}

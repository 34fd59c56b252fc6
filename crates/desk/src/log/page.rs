//! Pages: a walk from somewhere in one direction, calls and what happened beside them in one order, until there is
//! enough to show.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use callgate_history::{CallFilter, History, LineRow, Query, Toward};

use super::fold::{self, CallLines};
use super::line;
use crate::DeskError;
use crate::view::{CallLine, LogEntry, LogPage, PageFrom};

/// Calls that are looked at for one page: a loop that ran away is folded this far.
const SCANNED: usize = 5_000;
/// How long a page may look for what matches before it shows what it has.
const PATIENCE: Duration = Duration::from_millis(60);
/// Entries of a page at most, whatever is asked for.
const MOST: u32 = 1_000;

/// What a walk in one direction gave.
struct Walk {
    /// The nearest first.
    entries: Vec<LogEntry>,
    /// Everything up to here (included) is in `entries`; `None` if there is nothing beyond.
    edge: Option<i64>,
}

pub(super) fn page(
    history: &History,
    filter: &CallFilter,
    from: &PageFrom,
    count: u32,
) -> Result<LogPage, DeskError> {
    let query = history.query(filter)?;
    let walker = Walker { history, query: &query, filter };
    let count = count.clamp(1, MOST) as usize;
    let latest = query.latest();
    let (older, newer) = match *from {
        PageFrom::Newest => (Some(walker.walk(i64::MAX, Toward::Older, count)?), None),
        PageFrom::Before { rev } => (Some(walker.walk(rev, Toward::Older, count)?), None),
        PageFrom::After { rev } => (None, Some(walker.walk(rev, Toward::Newer, count)?)),
        PageFrom::Near { rev } => {
            let newer = walker.walk(rev.saturating_sub(1), Toward::Newer, count.div_ceil(2))?;
            let left = count.saturating_sub(newer.entries.len()).max(1);
            (Some(walker.walk(rev, Toward::Older, left)?), Some(newer))
        }
    };
    // On the side that was not looked at, one goes on from where one came.
    let older_edge = match (&older, from) {
        (Some(walk), _) => walk.edge,
        (None, PageFrom::After { rev }) => Some(rev.saturating_add(1)),
        (None, _) => None,
    };
    let newer_edge = match (&newer, from) {
        (Some(walk), _) => walk.edge,
        (None, PageFrom::Before { rev }) if *rev <= latest => Some(rev.saturating_sub(1)),
        (None, _) => None,
    };
    let mut entries = older.map(|walk| walk.entries).unwrap_or_default();
    entries.reverse();
    entries.extend(newer.map(|walk| walk.entries).unwrap_or_default());
    entries.sort_by_key(line::first);
    Ok(LogPage { entries, older: older_edge, newer: newer_edge, rev: latest })
}

struct Walker<'w> {
    history: &'w History,
    query: &'w Query<'w>,
    filter: &'w CallFilter,
}

impl Walker<'_> {
    /// From this number on (itself excluded).
    fn walk(&self, from: i64, toward: Toward, count: usize) -> Result<Walk, DeskError> {
        let until = Instant::now() + PATIENCE;
        let mut beside = self.beside(from, toward, count)?;
        let mut calls: VecDeque<LineRow> = VecDeque::new();
        // Where to look for more calls; none if there are no more.
        let mut next = Some(from);
        let mut entries: Vec<LogEntry> = Vec::new();
        let mut scanned = 0;
        let mut edge = from;
        // Calls beyond this are not known, so nothing beyond it is shown.
        let mut barrier = None;
        loop {
            if calls.is_empty()
                && let Some(at) = next
            {
                if scanned >= SCANNED || Instant::now() >= until {
                    (barrier, next) = (Some(at), None);
                    beside.retain(|entry| !is_before(at, line::rev(entry), toward));
                    continue;
                }
                let page = self.query.page(at, toward, count.max(50), Some(until))?;
                scanned += page.rows.len();
                calls.extend(page.rows);
                next = page.next;
                continue;
            }
            let entry = match (calls.front(), beside.front()) {
                (None, None) => return Ok(Walk { entries, edge: barrier }),
                (Some(call), Some(other)) if is_before(line::rev(other), call.rev, toward) => {
                    beside.pop_front()
                }
                (Some(_), _) => calls.pop_front().map(|row| LogEntry::Call(line::call(&row))),
                (None, Some(_)) => beside.pop_front(),
            };
            let Some(entry) = entry else { return Ok(Walk { entries, edge: barrier }) };
            let rev = line::rev(&entry);
            if !self.filter.unfolded && fold::join(&mut entries, &entry).is_some() {
                // One more of a line that is there.
            } else if entries.len() >= count && rev != edge {
                return Ok(Walk { entries, edge: Some(edge) });
            } else {
                entries.push(entry);
            }
            edge = rev;
        }
    }

    /// What happened beside the calls, nearest first.
    fn beside(&self, from: i64, toward: Toward, count: usize) -> Result<VecDeque<LogEntry>, DeskError> {
        let between = match toward {
            Toward::Older => (i64::MIN, from.saturating_sub(1)),
            Toward::Newer => (from.saturating_add(1), self.query.latest()),
        };
        // One more than is shown, so that it is known whether there are more.
        Ok(beside(self.history, self.filter, between, toward, count + 1)?.into())
    }
}

/// Changes of rules and events with these numbers, the nearest to where one comes from first; of each kind about so many.
pub(super) fn beside(
    history: &History,
    filter: &CallFilter,
    between: (i64, i64),
    toward: Toward,
    most: usize,
) -> Result<Vec<LogEntry>, DeskError> {
    let changes = history.changes_between(filter, between, toward, most)?.into_iter();
    let events = history.events_between(filter, between, toward, most)?.into_iter();
    let changes = changes.map(|row| LogEntry::Change(line::change(row)));
    let events = events.map(|(rev, row)| LogEntry::Event(line::event(rev, row)));
    let mut found: Vec<LogEntry> = changes.chain(events).collect();
    found.sort_by_key(|entry| match toward {
        Toward::Older => -line::rev(entry),
        Toward::Newer => line::rev(entry),
    });
    Ok(found)
}

/// The newest lines of calls, oldest first, however many calls they stand for. The limit counts lines, so that a loop that
/// ran away does not push everything else out.
pub(super) fn newest(
    history: &History,
    filter: &CallFilter,
    most: usize,
) -> Result<Vec<CallLine>, DeskError> {
    let mut lines = CallLines::new(most);
    history.query(filter)?.each::<DeskError>(Toward::Older, &mut |row| {
        Ok(if lines.add(row) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let mut lines = lines.into_vec();
    lines.reverse();
    Ok(lines)
}

/// Does one who walks in this direction meet the first before the second?
fn is_before(one: i64, other: i64, toward: Toward) -> bool {
    match toward {
        Toward::Older => one > other,
        Toward::Newer => one < other,
    }
}

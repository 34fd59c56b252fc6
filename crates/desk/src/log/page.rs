//! Pages: a walk from somewhere in one direction, calls and what happened beside them in one order, until there is
//! enough to show.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use callgate_history::{History, LineRow, Scan, Toward};
use callgate_home::Home;

use super::asked::Asked;
use super::{fold, line};
use crate::DeskError;
use crate::view::{LogEntry, LogFilter, LogPage, PageFrom};

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
    home: &Home,
    history: &History,
    filter: &LogFilter,
    from: &PageFrom,
    count: u32,
) -> Result<LogPage, DeskError> {
    let asked = Asked::of(filter, history)?;
    let scan = history.scan(home, asked.which.clone())?;
    let walker = Walker { history, scan: &scan, asked: &asked };
    let count = count.clamp(1, MOST) as usize;
    let latest = scan.latest();
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
    scan: &'w Scan<'w>,
    asked: &'w Asked,
}

impl Walker<'_> {
    /// From this number on (itself excluded).
    fn walk(&self, from: i64, toward: Toward, count: usize) -> Result<Walk, DeskError> {
        let until = Instant::now() + PATIENCE;
        let mut beside = self.beside(from, toward, count)?;
        let mut calls: VecDeque<LineRow> = VecDeque::new();
        // Where to look for more calls; none if there are no more.
        let mut next = self.asked.calls.then_some(from);
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
                let found = self.scan.step(at, toward, count.max(50), until)?;
                scanned += found.rows.len();
                calls.extend(found.rows);
                next = found.next;
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
            if !self.asked.unfolded && fold::join(&mut entries, &entry).is_some() {
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
            Toward::Newer => (from.saturating_add(1), self.scan.latest()),
        };
        let mut found: Vec<LogEntry> = Vec::new();
        // One more than is shown, so that it is known whether there are more.
        let most = count + 1;
        if self.asked.changes {
            let changes = self.history.changes_between(&self.asked.which, between, toward, most)?;
            found.extend(changes.into_iter().map(|row| LogEntry::Change(line::change(row))));
        }
        if self.asked.events {
            let events = self.history.events_between(&self.asked.which, between, toward, most)?;
            found.extend(events.into_iter().map(|(rev, row)| LogEntry::Event(line::event(rev, row))));
        }
        found.sort_by_key(|entry| match toward {
            Toward::Older => -line::rev(entry),
            Toward::Newer => line::rev(entry),
        });
        Ok(found.into())
    }
}

/// Does one who walks in this direction meet the first before the second?
fn is_before(one: i64, other: i64, toward: Toward) -> bool {
    match toward {
        Toward::Older => one > other,
        Toward::Newer => one < other,
    }
}

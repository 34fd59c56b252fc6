//! The paged query over calls: by any filter, in either direction, from any place. [`super::follow`] goes on where it ends.
//!
//! What the index of words covers is asked there; the rest is looked through row by row. Both are exact, so a page does
//! not depend on how far the index is, only the time that it takes does. A [`Query`] sees both files as they were when
//! it began.

use std::ops::ControlFlow;
use std::time::Instant;

use callgate_home::StoreError;
use callgate_journal::Decision;
use rusqlite::types::Value;
use rusqlite::{Statement, params_from_iter};

use super::History;
use super::filter::{CallFilter, Matcher, Only};
use super::lines::{self, LINE_COLUMNS, LineRow, TEXTS};
use super::rows::{CALL_TABLES, CallRow};
use super::search::{Class, Index, Stretch};

/// Rows that are looked through before the time is looked at.
const STEP: i64 = 512;
/// Calls in a page for whoever wants all of them.
const PAGE: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    Older,
    Newer,
}

/// Calls that match, in the order in which they were looked for.
#[derive(Debug)]
pub struct Page {
    pub rows: Vec<LineRow>,
    /// Where to go on (itself excluded); `None` if there is nothing more.
    pub next: Option<i64>,
}

/// One question to the history.
#[derive(Debug)]
pub struct Query<'h> {
    history: &'h History,
    index: Option<Index>,
    matcher: Matcher,
    /// The first and the last number that are looked at.
    within: (i64, i64),
    latest: i64,
    /// The transaction on the history is its own.
    began: bool,
}

impl History {
    /// Begins to look through the history, which stands still for it until [`Query`] is dropped.
    pub fn query(&self, filter: &CallFilter) -> Result<Query<'_>, StoreError> {
        let matcher = Matcher::new(self, filter)?;
        let unasked = matcher.is_all() || matcher.filter.grep.is_some() || !matcher.has(Only::Calls);
        let index = if unasked { None } else { self.index()? };
        self.begin(index, matcher)
    }

    /// Counts what matches and came after this number, the newest first: number, time and class of each. `each` may break it off, and so may
    /// `cancelled`, which is also asked while nothing matches.
    pub fn count(
        &self,
        filter: &CallFilter,
        after: i64,
        cancelled: &dyn Fn() -> bool,
        each: &mut dyn FnMut(i64, i64, Class) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let matcher = Matcher::new(self, filter)?;
        // The index has the little that is counted in a small place, so it is asked even if everything matches.
        let index = if matcher.filter.grep.is_some() { None } else { self.index()? };
        self.begin(index, matcher)?.after(after).count(cancelled, each).map_err(|error| self.fail(&error))
    }

    /// The newest calls that match, in full, oldest first; at most so many.
    pub fn calls(&self, filter: &CallFilter, most: usize) -> Result<Vec<CallRow>, StoreError> {
        let mut found = Vec::new();
        if most > 0 {
            self.query(filter)?.each::<StoreError>(Toward::Older, &mut |line| {
                found.extend(self.row_at(line.rev)?);
                Ok(if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
        }
        found.reverse();
        Ok(found)
    }

    fn begin(&self, index: Option<Index>, matcher: Matcher) -> Result<Query<'_>, StoreError> {
        let began = self.connection.is_autocommit();
        if began {
            self.connection.execute_batch("BEGIN").map_err(|error| self.fail(&error))?;
        }
        let mut query = Query { history: self, index, matcher, within: (1, 0), latest: 0, began };
        let (oldest, latest) = self.ends()?;
        query.latest = latest;
        query.within = match query.matcher.rev {
            // Nothing is between these.
            _ if !query.matcher.has(Only::Calls) => (1, 0),
            Some(rev) => (rev, rev),
            None => (oldest, latest),
        };
        Ok(query)
    }

    pub(super) fn index(&self) -> Result<Option<Index>, StoreError> {
        Ok(Index::open(&self.home, self.birth()?))
    }

    /// Were calls removed whose words the index may still hold?
    pub(super) fn is_unwiped(&self) -> Result<bool, StoreError> {
        let found = super::forget::Unwiped::found(&self.connection).map_err(|error| self.fail(&error))?;
        Ok(found.is_there())
    }

    /// Tells this history from any other.
    pub(super) fn birth(&self) -> Result<i64, StoreError> {
        self.meta("birth")
    }

    /// The oldest call, and the newest number of all.
    fn ends(&self) -> Result<(i64, i64), StoreError> {
        self.connection
            .query_row(
                "SELECT coalesce((SELECT min(rev) FROM calls), value + 1), value FROM meta WHERE key = 'rev'",
                (),
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|error| self.fail(&error))
    }
}

impl Drop for Query<'_> {
    fn drop(&mut self) {
        // A reader has nothing to lose.
        if self.began {
            let _ended = self.history.connection.execute_batch("COMMIT");
        }
    }
}

impl Query<'_> {
    /// Only what came after this number.
    #[must_use]
    pub fn after(mut self, rev: i64) -> Self {
        self.within.0 = self.within.0.max(rev.saturating_add(1));
        self
    }

    /// The newest number of all when this began.
    pub fn latest(&self) -> i64 {
        self.latest
    }

    /// Calls that match, from this number on (itself excluded), at most `most`, and not much longer than `until`, if
    /// anybody waits.
    pub fn page(
        &self,
        from: i64,
        toward: Toward,
        most: usize,
        until: Option<Instant>,
    ) -> Result<Page, StoreError> {
        self.look(from, toward, most, until).map_err(|error| self.history.fail(&error))
    }

    /// Every call that matches, from one end to the other, until `each` has enough.
    pub fn each<E: From<StoreError>>(
        &self,
        toward: Toward,
        each: &mut dyn FnMut(&LineRow) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let mut at = Some(if toward == Toward::Older { i64::MAX } else { i64::MIN });
        while let Some(from) = at {
            let page = self.page(from, toward, PAGE, None)?;
            for line in &page.rows {
                if each(line)?.is_break() {
                    return Ok(());
                }
            }
            at = page.next;
        }
        Ok(())
    }

    fn look(&self, from: i64, toward: Toward, most: usize, until: Option<Instant>) -> rusqlite::Result<Page> {
        let mut rows: Vec<LineRow> = Vec::new();
        let mut at = from;
        loop {
            if rows.len() >= most {
                return Ok(Page { rows, next: Some(at) });
            }
            let Some(stretch) = self.stretch(beside(at, toward), toward)? else {
                return Ok(Page { rows, next: None });
            };
            let room = most - rows.len();
            let asked = stretch.indexed && self.matcher.asks_for_more();
            at = match &self.index {
                Some(index) if asked => self.ask(index, stretch, toward, room, &mut rows)?,
                _ => self.walk(stretch, toward, room, until, &mut rows)?,
            };
            if is_over(until) {
                return Ok(Page { rows, next: Some(at) });
            }
        }
    }

    fn stretch(&self, from: i64, toward: Toward) -> rusqlite::Result<Option<Stretch>> {
        let (oldest, latest) = self.within;
        match (&self.index, toward) {
            (Some(index), _) => index.stretch(&self.matcher, from, toward, self.within),
            _ if oldest > latest => Ok(None),
            (None, Toward::Older) if from >= oldest => {
                Ok(Some(Stretch { from: oldest, to: from.min(latest), indexed: false }))
            }
            (None, Toward::Newer) if from <= latest => {
                Ok(Some(Stretch { from: from.max(oldest), to: latest, indexed: false }))
            }
            (None, _) => Ok(None),
        }
    }

    /// Looks through a stretch row by row. Returns the last number that was looked at.
    fn walk(
        &self,
        stretch: Stretch,
        toward: Toward,
        room: usize,
        until: Option<Instant>,
        found: &mut Vec<LineRow>,
    ) -> rusqlite::Result<i64> {
        let (conditions, values) = self.matcher.conditions();
        let order = order(toward);
        let sql = format!(
            "SELECT {LINE_COLUMNS}, {} FROM {CALL_TABLES} WHERE c.rev BETWEEN ? AND ? {conditions} ORDER BY c.rev {order}",
            self.matcher.text_columns()
        );
        let full = found.len() + room;
        let (mut from, mut to) = (stretch.from, stretch.to);
        let mut statement = self.history.connection.prepare_cached(&sql)?;
        loop {
            // If all match, the room ends it.
            let part = if self.matcher.is_all() { (from, to) } else { self.part(from, to, toward)? };
            let mut bound: Vec<Value> = vec![part.0.into(), part.1.into()];
            bound.extend(values.iter().cloned());
            let mut rows = statement.query(params_from_iter(bound))?;
            while let Some(row) = rows.next()? {
                if self.matcher.has_words(row, TEXTS)? {
                    let line = lines::line(row)?;
                    let rev = line.rev;
                    found.push(line);
                    if found.len() == full {
                        return Ok(rev);
                    }
                }
            }
            let ended = match toward {
                Toward::Older => part.0 <= from,
                Toward::Newer => part.1 >= to,
            };
            if ended || is_over(until) {
                return Ok(if toward == Toward::Older { part.0 } else { part.1 });
            }
            match toward {
                Toward::Older => to = part.0 - 1,
                Toward::Newer => from = part.1 + 1,
            }
        }
    }

    /// So much of these numbers that it holds no more than a step's calls.
    fn part(&self, from: i64, to: i64, toward: Toward) -> rusqlite::Result<(i64, i64)> {
        let order = order(toward);
        let mut statement = self.history.connection.prepare_cached(&format!(
            "SELECT rev FROM calls WHERE rev BETWEEN ?1 AND ?2 ORDER BY rev {order} LIMIT 1 OFFSET {STEP}"
        ))?;
        let mut rows = statement.query((from, to))?;
        let Some(row) = rows.next()? else { return Ok((from, to)) };
        let edge: i64 = row.get(0)?;
        Ok(match toward {
            Toward::Older => (edge, to),
            Toward::Newer => (from, edge),
        })
    }

    /// Asks the index about a stretch. Returns the last number that was looked at.
    fn ask(
        &self,
        index: &Index,
        stretch: Stretch,
        toward: Toward,
        room: usize,
        found: &mut Vec<LineRow>,
    ) -> rusqlite::Result<i64> {
        let (conditions, values) = self.matcher.conditions();
        let one = |texts: &str| {
            format!("SELECT {LINE_COLUMNS}, {texts} FROM {CALL_TABLES} WHERE c.rev = ? {conditions}")
        };
        let connection = &self.history.connection;
        let mut sure = connection.prepare_cached(&one("NULL, NULL, NULL, NULL"))?;
        let mut unsure = connection.prepare_cached(&one(self.matcher.text_columns()))?;
        let fetch = |statement: &mut Statement<'_>, rev: i64, words: bool| {
            let mut bound: Vec<Value> = vec![rev.into()];
            bound.extend(values.iter().cloned());
            let mut rows = statement.query(params_from_iter(bound))?;
            match rows.next()? {
                Some(row) if !words || self.matcher.has_words(row, TEXTS)? => lines::line(row).map(Some),
                _ => Ok(None),
            }
        };
        let full = found.len() + room;
        let mut left = stretch;
        loop {
            let asked = (full - found.len()).max(64);
            let candidates = index.candidates(&self.matcher, left, toward, asked)?;
            let complete = candidates.complete;
            let mut last = None;
            for candidate in candidates.revs {
                last = Some(candidate.rev);
                let line = if candidate.unsure {
                    fetch(&mut unsure, candidate.rev, true)?
                } else {
                    fetch(&mut sure, candidate.rev, false)?
                };
                found.extend(line);
                if found.len() == full {
                    return Ok(candidate.rev);
                }
            }
            match (complete, last, toward) {
                (false, Some(last), Toward::Older) if last > left.from => left.to = last - 1,
                (false, Some(last), Toward::Newer) if last < left.to => left.from = last + 1,
                (_, _, Toward::Older) => return Ok(stretch.from),
                (_, _, Toward::Newer) => return Ok(stretch.to),
            }
        }
    }

    fn count(
        &self,
        cancelled: &dyn Fn() -> bool,
        each: &mut dyn FnMut(i64, i64, Class) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let mut at = self.within.1;
        while let Some(stretch) = self.stretch(at, Toward::Older)? {
            let ended = match &self.index {
                Some(index) if stretch.indexed => {
                    let mut go_on = index.count(&self.matcher, stretch, &mut |rev, at_ms, class| {
                        each(rev, at_ms, class).is_continue()
                    })?;
                    for rev in index.open_in(stretch)? {
                        go_on = go_on && self.count_rows(rev, rev, cancelled, each)?;
                    }
                    !go_on
                }
                _ => !self.count_rows(stretch.from, stretch.to, cancelled, each)?,
            };
            if ended || cancelled() {
                break;
            }
            at = stretch.from - 1;
        }
        Ok(())
    }

    fn count_rows(
        &self,
        from: i64,
        to: i64,
        cancelled: &dyn Fn() -> bool,
        each: &mut dyn FnMut(i64, i64, Class) -> ControlFlow<()>,
    ) -> rusqlite::Result<bool> {
        let (conditions, values) = self.matcher.conditions();
        let sql = format!(
            "SELECT c.rev, c.at_ms, x.decision, {} FROM {CALL_TABLES} WHERE c.rev BETWEEN ? AND ? {conditions}
             ORDER BY c.rev DESC",
            self.matcher.text_columns()
        );
        let mut statement = self.history.connection.prepare_cached(&sql)?;
        let mut to = to;
        loop {
            // In parts, so that a question that matches little can be broken off too.
            let part = self.part(from, to, Toward::Older)?;
            let mut bound: Vec<Value> = vec![part.0.into(), part.1.into()];
            bound.extend(values.iter().cloned());
            let mut rows = statement.query(params_from_iter(bound))?;
            while let Some(row) = rows.next()? {
                if !self.matcher.has_words(row, 3)? {
                    continue;
                }
                let decision = row.get_ref(2)?.as_str()?.parse().unwrap_or(Decision::Unsupported);
                if each(row.get(0)?, row.get(1)?, Class::of(decision)).is_break() {
                    return Ok(false);
                }
            }
            if part.0 <= from || cancelled() {
                return Ok(part.0 <= from);
            }
            to = part.0 - 1;
        }
    }
}

fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

fn order(toward: Toward) -> &'static str {
    match toward {
        Toward::Older => "DESC",
        Toward::Newer => "ASC",
    }
}

fn beside(at: i64, toward: Toward) -> i64 {
    match toward {
        Toward::Older => at.saturating_sub(1),
        Toward::Newer => at.saturating_add(1),
    }
}

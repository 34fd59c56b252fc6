//! Asking the index: which stretches of numbers it covers, and which calls of one match.

use std::collections::BTreeMap;

use callgate_controls::sqlite;
use callgate_home::Home;
use rusqlite::Connection;

use super::super::filter::Matcher;
use super::super::query::Toward;
use super::{SHARD, SPAN, is_of, question, reach, table};

/// If the words that are whole are in no more calls than this, the one that is only begun is looked for in the calls
/// themselves: to find every word that begins with a letter costs more than that.
const FEW: usize = 256;

/// The index as it is at one moment.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Connection,
    shards: BTreeMap<i64, i64>,
}

/// Consecutive numbers (both ends included) that are looked through in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Its words are in the index.
    pub(crate) indexed: bool,
}

/// Calls of a stretch that may match.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// In the order that was asked for.
    pub(crate) revs: Vec<Candidate>,
    /// There are no more.
    pub(crate) complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) rev: i64,
    /// The words have still to be looked for in the call itself.
    pub(crate) unsure: bool,
}

impl Index {
    /// The index of the history that was born so; `None` if there is none that can be used.
    pub(crate) fn open(home: &Home, birth: i64) -> Option<Index> {
        let path = home.search_db();
        if !path.exists() {
            return None;
        }
        let connection = sqlite::open_reader(&path).ok()?;
        // One state of it for all that is asked.
        connection.execute_batch("BEGIN").ok()?;
        if !is_of(&connection, birth).ok()? {
            return None;
        }
        let shards = connection
            .prepare("SELECT shard, indexed_to FROM shards")
            .and_then(|mut statement| {
                statement
                    .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect::<rusqlite::Result<_>>()
            })
            .ok()?;
        Some(Index { connection, shards })
    }

    fn indexed_to(&self, shard: i64) -> i64 {
        self.shards.get(&shard).copied().unwrap_or(reach(shard).0 - 1)
    }

    /// The next stretch, from this number on (included) in this direction, within `within`; `None` at the end.
    pub(crate) fn stretch(
        &self,
        matcher: &Matcher,
        from: i64,
        toward: Toward,
        within: (i64, i64),
    ) -> rusqlite::Result<Option<Stretch>> {
        if within.0 > within.1
            || from < within.0 && toward == Toward::Older
            || from > within.1 && toward == Toward::Newer
        {
            return Ok(None);
        }
        let mut at = from.clamp(within.0, within.1);
        loop {
            let shard = at.div_euclid(SHARD);
            let (first, last) = reach(shard);
            let (first, last) = (first.max(within.0), last.min(within.1));
            let to = self.indexed_to(shard);
            if at > to {
                let (from, to) = match toward {
                    Toward::Older => (first.max(to + 1), at),
                    Toward::Newer => (at, last),
                };
                return Ok(Some(Stretch { from, to, indexed: false }));
            }
            let (from, to) = match toward {
                Toward::Older => (first, at),
                Toward::Newer => (at, to.min(last)),
            };
            if !matcher.is_by_time() {
                return Ok(Some(Stretch { from, to, indexed: true }));
            }
            if let Some((from, to)) = self.in_time(matcher, from, to, toward)? {
                return Ok(Some(Stretch { from, to, indexed: true }));
            }
            at = match toward {
                Toward::Older if from > within.0 => from - 1,
                Toward::Newer if to < within.1 => to + 1,
                _ => return Ok(None),
            };
        }
    }

    /// The first run of spans within these numbers in which there may be calls of the time that is asked for.
    fn in_time(
        &self,
        matcher: &Matcher,
        from: i64,
        to: i64,
        toward: Toward,
    ) -> rusqlite::Result<Option<(i64, i64)>> {
        let order = if toward == Toward::Older { "DESC" } else { "ASC" };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT span FROM spans WHERE span BETWEEN ?1 AND ?2 AND max_ms >= ?3 AND min_ms < ?4 ORDER BY span {order}"
        ))?;
        let (since, until) =
            (matcher.filter.since_ms.unwrap_or(i64::MIN), matcher.filter.until_ms.unwrap_or(i64::MAX));
        let mut spans = statement.query((from.div_euclid(SPAN), to.div_euclid(SPAN), since, until))?;
        let mut run: Option<(i64, i64)> = None;
        while let Some(row) = spans.next()? {
            let span: i64 = row.get(0)?;
            run = match run {
                None => Some((span, span)),
                Some((low, high)) if span == low - 1 => Some((span, high)),
                Some((low, high)) if span == high + 1 => Some((low, span)),
                Some(_) => break,
            };
        }
        Ok(run.map(|(low, high)| (from.max(low * SPAN), to.min(high * SPAN + SPAN - 1))))
    }

    /// Calls of an indexed stretch that may match, at most about `most`, and those that still run.
    pub(crate) fn candidates(
        &self,
        matcher: &Matcher,
        stretch: Stretch,
        toward: Toward,
        most: usize,
    ) -> rusqlite::Result<Candidates> {
        let mut sure = None;
        if let Some(base) = question(matcher, false).filter(|_| begun(matcher)) {
            let few = self.matching(&base, stretch, toward, FEW + 1)?;
            if few.len() <= FEW {
                sure = Some((few, true));
            }
        }
        let (found, unsure) = match (sure, question(matcher, true)) {
            (Some(found), _) => found,
            (None, Some(question)) => (self.matching(&question, stretch, toward, most)?, false),
            (None, None) => (Vec::new(), false),
        };
        let full = !unsure && found.len() >= most;
        let last = found.last().copied();
        let mut revs: Vec<Candidate> = found.into_iter().map(|rev| Candidate { rev, unsure }).collect();
        let open = self.open_in(stretch)?.into_iter().filter(|rev| match (full, last, toward) {
            (true, Some(last), Toward::Older) => *rev > last,
            (true, Some(last), Toward::Newer) => *rev < last,
            _ => true,
        });
        revs.extend(open.map(|rev| Candidate { rev, unsure: true }));
        revs.sort_unstable_by_key(|candidate| match toward {
            Toward::Older => -candidate.rev,
            Toward::Newer => candidate.rev,
        });
        Ok(Candidates { revs, complete: !full })
    }

    fn matching(
        &self,
        question: &str,
        stretch: Stretch,
        toward: Toward,
        most: usize,
    ) -> rusqlite::Result<Vec<i64>> {
        let table = table(stretch.from.div_euclid(SHARD));
        let order = if toward == Toward::Older { "DESC" } else { "ASC" };
        self.connection
            .prepare_cached(&format!(
                "SELECT rowid FROM {table} WHERE {table} MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                 ORDER BY rowid {order} LIMIT ?4"
            ))?
            .query_map(
                (question, stretch.from, stretch.to, i64::try_from(most).unwrap_or(i64::MAX)),
                |row| row.get(0),
            )?
            .collect()
    }

    /// Calls of a stretch that were running when they were looked at.
    pub(crate) fn open_in(&self, stretch: Stretch) -> rusqlite::Result<Vec<i64>> {
        self.connection
            .prepare_cached("SELECT rev FROM open WHERE rev BETWEEN ?1 AND ?2")?
            .query_map((stretch.from, stretch.to), |row| row.get(0))?
            .collect()
    }

    /// Tools that servers were asked for, in what is indexed.
    pub(crate) fn tools(&self) -> rusqlite::Result<Vec<(String, String)>> {
        self.connection
            .prepare_cached("SELECT DISTINCT server, tool FROM tools")?
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    }

    /// Time and class of every call of an indexed stretch that matches, except for those that still run. `each` may end it.
    pub(crate) fn count(
        &self,
        matcher: &Matcher,
        stretch: Stretch,
        each: &mut dyn FnMut(i64, i64, super::Class) -> bool,
    ) -> rusqlite::Result<bool> {
        let table = table(stretch.from.div_euclid(SHARD));
        let (since, until) =
            (matcher.filter.since_ms.unwrap_or(i64::MIN), matcher.filter.until_ms.unwrap_or(i64::MAX));
        let question = question(matcher, true);
        let sql = match question {
            Some(_) => format!(
                "SELECT l.rev, l.at_ms, l.class FROM {table} w CROSS JOIN light l ON l.rev = w.rowid
                 WHERE {table} MATCH ?5 AND w.rowid BETWEEN ?1 AND ?2 AND l.at_ms >= ?3 AND l.at_ms < ?4"
            ),
            None => "SELECT rev, at_ms, class FROM light WHERE rev BETWEEN ?1 AND ?2 AND at_ms >= ?3 AND at_ms < ?4
                     AND ?5 IS NULL"
                .to_owned(),
        };
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query((stretch.from, stretch.to, since, until, question))?;
        while let Some(row) = rows.next()? {
            if !each(row.get(0)?, row.get(1)?, super::Class::numbered(row.get(2)?)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn begun(matcher: &Matcher) -> bool {
    matcher.words.as_ref().is_some_and(|words| words.begun.is_some())
}

//! Runs: what one client did with one server until it paused for a while. All of them, or those in which something
//! matches.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use callgate_history::{CallFilter, History, LineRow, Toward, Trace};
use callgate_journal::Outcome;

use crate::DeskError;
use crate::view::{Run, RunPage};

/// A pause of this length ends a run.
const IDLE_MS: i64 = 10 * 60 * 1000;
/// Runs at a time at most.
const MOST: u32 = 200;
/// Calls that are looked at at most; a run that is longer is told as far as that.
const SCANNED: usize = 400_000;
/// For somebody who looks at a window.
const USUAL: Effort = Effort { around: 100_000, patience: Duration::from_millis(60) };
/// Calls that match, looked at at a time.
const HITS: usize = 64;
/// Tools that are counted in a run; hostile clients can make up as many as they like.
const TOOLS: usize = 200;

/// How much is done to find runs in which something matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Calls of a run that are looked at before and after one that matches, at most.
    pub(super) around: usize,
    /// How long is looked before what there is is shown.
    pub(super) patience: Duration,
}

/// A run that is being put together, from its end to its beginning.
#[derive(Debug)]
struct Growing {
    session: i64,
    client: String,
    started_ms: i64,
    ended_ms: i64,
    last_rev: i64,
    calls: u64,
    refused: u64,
    failed: u64,
    open: bool,
    tools: HashMap<String, u64>,
}

/// The newest runs that began before a time, newest first. Calls are read from the newest on, until enough runs are known
/// from their beginning.
pub(super) fn runs(history: &History, before_ms: Option<i64>, count: u32) -> Result<Vec<Run>, DeskError> {
    let count = count.clamp(1, MOST) as usize;
    let before = before_ms.unwrap_or(i64::MAX);
    let mut growing: HashMap<(i64, String), Growing> = HashMap::new();
    let mut done: Vec<Growing> = Vec::new();
    let mut scanned = 0;
    history.traces(&mut |trace| {
        scanned += 1;
        let at_ms = trace.at_ms;
        let key = (trace.session_key, trace.client.clone());
        match growing.get_mut(&key) {
            // Calls are almost in the order of time: what was filed late still belongs to its run.
            Some(run) if at_ms >= run.started_ms.saturating_sub(IDLE_MS) => run.add(trace),
            _ => done.extend(growing.insert(key, Growing::new(trace))),
        }
        // Now and then, since it looks at all that grow: what began long before here is known from its beginning.
        if scanned % 256 == 0 {
            let begun = at_ms.saturating_add(IDLE_MS);
            let ended: Vec<_> = growing
                .iter()
                .filter(|(_, run)| run.started_ms > begun)
                .map(|(key, _)| key.clone())
                .collect();
            done.extend(ended.iter().filter_map(|key| growing.remove(key)));
            if scanned >= SCANNED || done.iter().filter(|run| run.started_ms < before).count() >= count {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    // If it was broken off, those that still grow began before all that are done.
    done.extend(growing.into_values());
    done.retain(|run| run.started_ms < before);
    done.sort_by_key(|run| std::cmp::Reverse((run.started_ms, run.session)));
    done.truncate(count);
    done.into_iter().map(|run| run.told(history)).collect()
}

/// Runs in which a call matches, the one with the newest such call first, among calls before this number. Not looked for
/// longer than people wait: there may be few or none and still more to come.
pub(super) fn matching(
    history: &History,
    filter: &CallFilter,
    before: Option<i64>,
    count: u32,
) -> Result<RunPage, DeskError> {
    matching_within(history, filter, before, count, USUAL)
}

/// The same, with this much effort.
pub(super) fn matching_within(
    history: &History,
    filter: &CallFilter,
    before: Option<i64>,
    count: u32,
    effort: Effort,
) -> Result<RunPage, DeskError> {
    let count = count.clamp(1, MOST) as usize;
    let query = history.query(filter)?;
    let until = Instant::now() + effort.patience;
    let mut known: Vec<(Run, bool)> = Vec::new();
    let mut found = 0;
    let mut at = before.unwrap_or(i64::MAX);
    let older = 'looking: loop {
        let hits = query.page(at, Toward::Older, HITS, Some(until))?;
        for hit in &hits.rows {
            if !known.iter().any(|(run, _)| holds(run, hit)) {
                // One is worked out at least, or nobody would ever get on.
                if found == count || !known.is_empty() && Instant::now() >= until {
                    break 'looking Some(at);
                }
                // Forgotten since it was found.
                let Some(growing) = Growing::around(history, hit.rev, effort.around)? else { continue };
                let last_rev = growing.last_rev;
                let run = growing.told(history)?;
                if let Some((longer, _)) = known.iter_mut().find(|(known, _)| overlap(known, &run)) {
                    // One that is longer than what was looked at: it is told as far as that, and once.
                    longer.started_ms = longer.started_ms.min(run.started_ms);
                    longer.ended_ms = longer.ended_ms.max(run.ended_ms);
                } else {
                    let is_new = match before.filter(|before| last_rev >= *before) {
                        Some(before) => !is_told(history, filter, &run, before, effort.patience)?,
                        None => true,
                    };
                    found += usize::from(is_new);
                    known.push((run, is_new));
                }
            }
            at = hit.rev;
        }
        match hits.next {
            Some(next) if Instant::now() < until => at = next,
            next => break next,
        }
    };
    Ok(RunPage { runs: known.into_iter().filter(|(_, is_new)| *is_new).map(|(run, _)| run).collect(), older })
}

fn holds(run: &Run, hit: &LineRow) -> bool {
    (run.started_ms..=run.ended_ms).contains(&hit.at_ms)
        && run.client == hit.client
        && hit.id.session.as_str() == run.session
        && run.server == hit.server
}

/// Are these parts of one run? Two runs of one client in a session have a pause between them.
fn overlap(one: &Run, other: &Run) -> bool {
    one.started_ms <= other.ended_ms
        && other.started_ms <= one.ended_ms
        && (&one.session, &one.client, &one.server) == (&other.session, &other.client, &other.server)
}

/// Was this run found by a call of this number or after it?
fn is_told(
    history: &History,
    filter: &CallFilter,
    run: &Run,
    from: i64,
    patience: Duration,
) -> Result<bool, DeskError> {
    let filter = CallFilter {
        session: Some(run.session.clone()),
        client: run.client.clone(),
        since_ms: Some(filter.since_ms.map_or(run.started_ms, |since| since.max(run.started_ms))),
        until_ms: Some(filter.until_ms.map_or(run.ended_ms + 1, |until| until.min(run.ended_ms + 1))),
        ..filter.clone()
    };
    let query = history.query(&filter)?;
    let until = Instant::now() + patience;
    let mut at = Some(from.saturating_sub(1));
    while let Some(next) = at {
        let page = query.page(next, Toward::Newer, HITS, Some(until))?;
        // No filter asks for calls of nobody in particular.
        if page.rows.iter().any(|row| row.client == run.client) {
            return Ok(true);
        }
        at = page.next.filter(|_| Instant::now() < until);
    }
    Ok(false)
}

impl Growing {
    /// The run of the call with this number, as far as so many calls before and after it; none if it is not on record.
    fn around(history: &History, rev: i64, most: usize) -> Result<Option<Growing>, DeskError> {
        let mut run: Option<Growing> = None;
        let mut seen = [0; 2];
        history.traces_around(rev, &mut |trace| {
            let Some(run) = &mut run else {
                run = Some(Growing::new(trace));
                return ControlFlow::Continue(());
            };
            let after = usize::from(trace.rev > rev);
            seen[after] += 1;
            let joins = trace.at_ms >= run.started_ms.saturating_sub(IDLE_MS)
                && trace.at_ms <= run.ended_ms.saturating_add(IDLE_MS);
            // Another client of the same session is neither in the run nor its end.
            if trace.client == run.client {
                if !joins {
                    return ControlFlow::Break(());
                }
                run.add(trace);
            }
            if seen[after] < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(run)
    }

    fn new(trace: Trace) -> Growing {
        let mut run = Growing {
            session: trace.session_key,
            client: trace.client.clone(),
            started_ms: trace.at_ms,
            ended_ms: trace.at_ms,
            last_rev: trace.rev,
            calls: 0,
            refused: 0,
            failed: 0,
            open: false,
            tools: HashMap::new(),
        };
        run.add(trace);
        run
    }

    fn add(&mut self, trace: Trace) {
        self.started_ms = self.started_ms.min(trace.at_ms);
        self.ended_ms = self.ended_ms.max(trace.at_ms);
        self.last_rev = self.last_rev.max(trace.rev);
        self.calls += 1;
        self.refused += u64::from(trace.decision.is_refused());
        self.open |= trace.outcome.is_none();
        self.failed += u64::from(trace.outcome.is_some_and(Outcome::is_failed));
        if self.tools.len() < TOOLS || self.tools.contains_key(&trace.tool) {
            *self.tools.entry(trace.tool).or_default() += 1;
        }
    }

    fn told(self, history: &History) -> Result<Run, DeskError> {
        let (session, server, _) = history.session_named(self.session)?;
        let mut tools: Vec<(String, u64)> =
            self.tools.into_iter().filter(|(tool, _)| !tool.is_empty()).collect();
        tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Run {
            server,
            client: Some(self.client).filter(|client| !client.is_empty()),
            session,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            calls: self.calls,
            refused: self.refused,
            failed: self.failed,
            tool_count: u32::try_from(tools.len()).unwrap_or(u32::MAX),
            tools: tools.into_iter().take(3).map(|(tool, _)| tool).collect(),
            running: self.open,
        })
    }
}

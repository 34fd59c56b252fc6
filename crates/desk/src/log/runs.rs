//! Runs: what one client did with one server until it paused for a while.

use std::collections::HashMap;
use std::ops::ControlFlow;

use callgate_store::history::Trace;
use callgate_store::{History, Outcome};

use crate::DeskError;
use crate::view::Run;

/// A pause of this length ends a run.
const IDLE_MS: i64 = 10 * 60 * 1000;
/// Runs at a time at most.
const MOST: u32 = 200;
/// Calls that are looked at at most; a run that is longer is told as far as that.
const SCANNED: usize = 400_000;
/// Tools that are counted in a run; hostile clients can make up as many as they like.
const TOOLS: usize = 200;

/// A run that is being put together, from its end to its beginning.
#[derive(Debug)]
struct Growing {
    session: i64,
    client: String,
    started_ms: i64,
    ended_ms: i64,
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

impl Growing {
    fn new(trace: Trace) -> Growing {
        let mut run = Growing {
            session: trace.session_key,
            client: trace.client.clone(),
            started_ms: trace.at_ms,
            ended_ms: trace.at_ms,
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
        self.calls += 1;
        self.refused += u64::from(trace.decision.is_refused());
        self.open |= trace.outcome.is_none();
        let failed = !matches!(trace.outcome, None | Some(Outcome::Ok | Outcome::NotSent));
        self.failed += u64::from(failed);
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
            tools: tools.into_iter().take(3).map(|(tool, _)| tool).collect(),
            running: self.open,
        })
    }
}

//! Refusals of one session by one rule as one line, also while other sessions call in between: two agents that loop at once are
//! two lines, not hundreds that take turns.
//!
//! A line stands where its first call stands, so that a loop that goes on moves nothing. The window's page joins what comes in
//! pages and batches by the same rule (`ui/src/lib/log/fold.ts`).

use callgate_history::LineRow;
use callgate_home::SessionId;
use callgate_journal::Decision;

use super::line;
use crate::view::{CallLine, LogEntry};

/// Lines of others that may stand between a line and the next call of it: further up it would grow out of sight.
pub(crate) const REACH: usize = 20;
/// Names that a line of several calls holds at most: agents can make up as many as they like.
pub const MOST_TOOLS: usize = 20;

/// What two refusals have in common that are one line: who was refused, how, and by which rule, whatever was called.
/// The window joins them by it, too. None of a call that was let through.
pub(super) fn fold_key(
    session: SessionId,
    decision: Decision,
    rule: Option<&str>,
    reason: Option<&str>,
) -> Option<String> {
    // Other reasons may count down; of a malformed message it is all there is to know.
    let reason = reason.filter(|_| decision == Decision::Malformed).unwrap_or_default();
    let rule = rule.unwrap_or_default();
    decision.is_refused().then(|| format!("{session} {decision} {rule} {reason}"))
}

/// Folds an entry into the line that it repeats, among the lines before it (the nearest last), and returns that line. Whatever
/// else its own session did since, a change of rules or an event ends a line.
pub(crate) fn join<'l>(lines: &'l mut [LogEntry], entry: &LogEntry) -> Option<&'l CallLine> {
    let LogEntry::Call(call) = entry else { return None };
    call.fold_key.as_ref()?;
    let ends = |entry: &&mut LogEntry| match entry {
        LogEntry::Call(line) => line.session == call.session,
        LogEntry::Change(_) | LogEntry::Event(_) => true,
    };
    match lines.iter_mut().rev().take(REACH + 1).find(ends)? {
        LogEntry::Call(line) if line.fold_key == call.fold_key => {
            fold(line, call);
            Some(line)
        }
        _ => None,
    }
}

/// Lines of calls alone, at most so many, in the order in which their calls are met.
#[derive(Debug)]
pub(crate) struct CallLines {
    lines: Vec<LogEntry>,
    most: usize,
}

impl CallLines {
    pub(crate) fn new(most: usize) -> CallLines {
        CallLines { lines: Vec::new(), most }
    }

    /// Says whether there was room for this one.
    pub(crate) fn add(&mut self, row: &LineRow) -> bool {
        let call = LogEntry::Call(line::call(row));
        if join(&mut self.lines, &call).is_some() {
            return true;
        }
        let fits = self.lines.len() < self.most;
        if fits {
            self.lines.push(call);
        }
        fits
    }

    pub(crate) fn into_vec(self) -> Vec<CallLine> {
        let calls = self.lines.into_iter().filter_map(|line| match line {
            LogEntry::Call(line) => Some(line),
            LogEntry::Change(_) | LogEntry::Event(_) => None,
        });
        calls.collect()
    }
}

/// Makes one line of two that repeat each other: the newer one is shown.
fn fold(line: &mut CallLine, other: &CallLine) {
    let (older, newer) = if other.rev > line.rev { (&*line, other) } else { (other, &*line) };
    let mut tools = called(older);
    for tool in called(newer) {
        if tools.len() < MOST_TOOLS && !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    let folded = CallLine {
        times: line.times.saturating_add(other.times),
        first_rev: line.first_rev.min(other.first_rev),
        first_ms: older.first_ms,
        tools: if tools.len() > 1 { tools } else { Vec::new() },
        ..newer.clone()
    };
    *line = folded;
}

/// The names that a line stands for.
fn called(line: &CallLine) -> Vec<String> {
    match line.tools.is_empty() {
        true => line.tool.clone().or_else(|| line.method.clone()).into_iter().collect(),
        false => line.tools.clone(),
    }
}

//! Refusals of one session by one rule as one line, also while other sessions call in between: two agents that loop at once are
//! two lines, not hundreds that take turns.
//!
//! A line stands where its first call stands, so that a loop that goes on moves nothing. The window's page joins what comes in
//! pages and batches by the same rule (`ui/src/lib/log/fold.ts`).

use callgate_home::SessionId;
use callgate_journal::Decision;

use crate::view::{CallLine, LogEntry};

/// Lines of others that may stand between a line and the next call of it: further up it would grow out of sight.
pub const REACH: usize = 20;
/// Names that a line of several calls holds at most: agents can make up as many as they like.
const MOST_TOOLS: usize = 20;

/// What two refusals have in common that are one line: who was refused, how, and by which rule, whatever was called.
/// The window and the command line join them by it, too. None of a call that was let through.
pub fn fold_key(
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

//! Lines of the log: rows of the history as values for the window, and a session's refusals by one rule in a row as one.

use callgate_store::history::{ChangeRow, EventRow, LineRow};
use callgate_store::{Decision, SessionId};

use super::gist::gist;
use crate::view::{CallLine, ChangeLine, EventLine, LogEntry};

/// Names that a line of several calls holds at most: agents can make up as many as they like.
const MOST_TOOLS: usize = 20;

pub(crate) fn call(row: &LineRow) -> CallLine {
    CallLine {
        rev: row.rev,
        id: row.id.to_string(),
        at_ms: row.at_ms,
        server: row.server.clone(),
        client: row.client.clone(),
        session: row.id.session.to_string(),
        tool: row.tool.clone(),
        method: row.method.clone(),
        gist: gist(row.args.as_deref(), row.args_withheld),
        decision: row.decision.into(),
        refused: row.decision.is_refused(),
        rule: row.rule.clone(),
        reason: row.reason.clone(),
        outcome: row.outcome.map(Into::into),
        duration_us: row.duration.map(|took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
        bytes: row.bytes,
        demo: row.demo,
        times: 1,
        first_rev: row.rev,
        first_ms: row.at_ms,
        tools: Vec::new(),
        fold_key: fold_key(row.id.session, row.decision, row.rule.as_deref(), row.reason.as_deref()),
        repeatable: row.has_digest && row.decision.is_refused(),
    }
}

pub(crate) fn change(row: ChangeRow) -> ChangeLine {
    ChangeLine {
        rev: row.rev,
        id: row.id,
        at_ms: row.at_ms,
        server: row.server,
        origin: row.origin.word().to_owned(),
        summary: row.summary,
        loosened: row.loosened,
        version: row.version,
        revertable: row.previous.is_some() && row.has_texts,
        previous: row.previous,
    }
}

pub(crate) fn event(rev: i64, row: EventRow) -> EventLine {
    EventLine {
        rev,
        id: row.id,
        at_ms: row.at_ms,
        event: row.kind.word().to_owned(),
        server: row.server,
        session: row.session.map(|session| session.to_string()),
        text: row.text,
    }
}

/// Where an entry stands.
pub(crate) fn rev(entry: &LogEntry) -> i64 {
    match entry {
        LogEntry::Call(line) => line.rev,
        LogEntry::Change(line) => line.rev,
        LogEntry::Event(line) => line.rev,
    }
}

/// What two refusals in a row have in common that are one line: who was refused, how, and by which rule, whatever was called.
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

/// The same refusal once more?
pub(crate) fn repeats(one: &CallLine, other: &CallLine) -> bool {
    one.fold_key.is_some() && one.fold_key == other.fold_key
}

/// Makes one line of two that repeat each other: the newer one is shown.
pub(crate) fn fold(line: &mut CallLine, other: &CallLine) {
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

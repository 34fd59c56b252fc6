//! Lines of the log: rows of the history as values for the window, and equal refusals in a row as one.

use callgate_store::history::{ChangeRow, EventRow, LineRow};

use super::gist::gist;
use crate::view::{CallLine, ChangeLine, Decision, EventLine, LogEntry};

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

/// The same refusal once more?
pub(crate) fn repeats(one: &CallLine, other: &CallLine) -> bool {
    one.refused
        && one.session == other.session
        && (&one.method, &one.tool) == (&other.method, &other.tool)
        && one.decision == other.decision
        && one.rule == other.rule
        // Other reasons may count down; this one is all there is to know.
        && (one.decision != Decision::Malformed || one.reason == other.reason)
}

/// Makes one line of two that repeat each other: the newer one is shown.
pub(crate) fn fold(line: &mut CallLine, other: CallLine) {
    let times = line.times.saturating_add(other.times);
    let first_rev = line.first_rev.min(other.first_rev);
    if other.rev > line.rev {
        *line = other;
    }
    line.times = times;
    line.first_rev = first_rev;
}

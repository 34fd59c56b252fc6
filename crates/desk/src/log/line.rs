//! Lines of the log: rows of the history as values for the window.

use callgate_history::{ChangeRow, EventRow, LineRow};

use super::fold::fold_key;
use super::gist::gist;
use crate::view::{CallLine, ChangeLine, EventLine, LogEntry};

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
        class: None,
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

/// The number of an entry; of a line for several calls, that of the newest.
pub(crate) fn rev(entry: &LogEntry) -> i64 {
    match entry {
        LogEntry::Call(line) => line.rev,
        LogEntry::Change(line) => line.rev,
        LogEntry::Event(line) => line.rev,
    }
}

/// Where a line stands: with the first call that it stands for.
pub(crate) fn first(entry: &LogEntry) -> i64 {
    match entry {
        LogEntry::Call(line) => line.first_rev,
        LogEntry::Change(_) | LogEntry::Event(_) => rev(entry),
    }
}

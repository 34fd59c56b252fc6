//! Why servers fell: a session's end says only that its server ended, the event beside it says why.

use callgate_history::{EventRow, History, SessionRow};
use callgate_home::{SessionId, StoreError};
use callgate_journal::{EndReason, EventKind};

/// Events that are looked through for it.
const LOOKED_AT: usize = 2_000;
/// An event tells of the end of its session if it is no older than this.
const BESIDE_MS: i64 = 5_000;

/// Crashes and failed starts, the newest last.
pub(crate) struct Falls(Vec<EventRow>);

impl Falls {
    pub(crate) fn since(history: &History, since_ms: i64) -> Result<Falls, StoreError> {
        Ok(Falls::among(history.events(Some(since_ms), LOOKED_AT)?))
    }

    pub(crate) fn among(mut events: Vec<EventRow>) -> Falls {
        events.retain(|event| matches!(event.kind, EventKind::Crashed | EventKind::StartFailed));
        Falls(events)
    }

    pub(super) fn last_of(&self, server: &str) -> Option<&EventRow> {
        self.0.iter().rev().find(|event| event.server.as_deref() == Some(server))
    }

    /// The newest of one session.
    pub(crate) fn last_in(&self, session: SessionId) -> Option<&EventRow> {
        self.0.iter().rev().find(|event| event.session == Some(session))
    }

    /// The event that says why this session ended, where its server was the reason.
    pub(crate) fn behind(&self, session: SessionId, end: (i64, EndReason)) -> Option<&EventRow> {
        let (at_ms, EndReason::ServerEnded | EndReason::FailedToStart) = end else { return None };
        self.0.iter().rev().find(|event| event.session == Some(session) && is_beside(event.at_ms, at_ms))
    }

    /// The word for how a session ended: that of the event behind it, since a start that failed is on record as a server that
    /// ended by itself as well.
    pub(super) fn end_of(&self, row: &SessionRow) -> &'static str {
        // It was not closed, and nobody holds its lease: it was lost, and is about to be filed so.
        let Some(end) = row.end else { return EndReason::Lost.word() };
        match self.behind(row.session, end).map(|event| event.kind) {
            Some(EventKind::StartFailed) => EndReason::FailedToStart.word(),
            Some(kind) => kind.word(),
            None => end.1.word(),
        }
    }
}

pub(super) fn is_beside(event_ms: i64, end_ms: i64) -> bool {
    event_ms >= end_ms - BESIDE_MS
}

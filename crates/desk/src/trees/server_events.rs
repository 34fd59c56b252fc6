//! What happened to one server besides its calls: starts, ends, what the keeper and the sweep said.

use callgate_history::History;
use callgate_journal::{EndReason, EventKind};
use callgate_wiring::client_name;

use crate::servers::falls::Falls;
use crate::view::HappenedView;
use crate::{Desk, DeskError};

/// So far back,
const DAYS: i64 = 7;
/// and so much at the most.
const SHOWN: usize = 60;
/// Events and sessions that are looked through for it.
const LOOKED_AT: usize = 2_000;

impl Desk {
    /// The newest first.
    pub fn happened(&self, server: &str) -> Result<Vec<HappenedView>, DeskError> {
        let history = History::open_reader(&self.home)?;
        let since_ms = self.clock.now().wall_ms - DAYS * 24 * 60 * 60 * 1000;
        let mut found = Vec::new();
        let events = history.events(Some(since_ms), LOOKED_AT)?;
        let falls = Falls::among(events.clone());
        for event in events {
            if event.server.as_deref() == Some(server) && is_of_processes(event.kind) {
                found.push(HappenedView {
                    at_ms: event.at_ms,
                    kind: event.kind.word().to_owned(),
                    text: event.text,
                    session: event.session.map(|session| session.to_string()),
                });
            }
        }
        let sessions = history.sessions_since(since_ms, LOOKED_AT)?;
        for row in sessions.into_iter().filter(|row| row.server == server) {
            let client = row.client.as_deref().map_or_else(|| "unknown client".to_owned(), client_name);
            let of = |at_ms: i64, kind: &str, text: String| HappenedView {
                at_ms,
                kind: kind.to_owned(),
                text,
                session: Some(row.session.to_string()),
            };
            found.push(of(row.started_ms, "started", format!("started by {client}")));
            // One failure is one row: that of the event, which says why.
            if let Some((at_ms, reason)) = row.end.filter(|end| falls.behind(row.session, *end).is_none()) {
                found.push(of(at_ms, reason.word(), words(reason).to_owned()));
            }
        }
        found.sort_by_key(|one| std::cmp::Reverse(one.at_ms));
        found.truncate(SHOWN);
        Ok(found)
    }
}

/// Everything but what is about rules, pauses and the record itself. A kind that is added later is shown.
fn is_of_processes(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Loosened
            | EventKind::LooseningRefused
            | EventKind::Decided
            | EventKind::ForgedApproval
            | EventKind::PolicyChanged
            | EventKind::PolicyBroken
            | EventKind::Paused
            | EventKind::Resumed
            | EventKind::DatabaseMovedAside
            | EventKind::BadSettings
            | EventKind::Forgotten
            | EventKind::Note
    )
}

fn words(reason: EndReason) -> &'static str {
    match reason {
        EndReason::ClientClosed => "ended: the client closed it",
        EndReason::ServerEnded => "ended: the server ended by itself",
        EndReason::Signal => "ended: the gate was asked to end",
        EndReason::FailedToStart => "the server could not be started",
        EndReason::Lost => "the gate was killed",
    }
}

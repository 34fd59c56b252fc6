//! The switch that refuses every call of a server, of a client, or of all: on at once, off after a question.

use std::collections::BTreeSet;

use callgate_controls::pause as switch;
use callgate_controls::pause::{Pause, PauseScope, Switch};
use callgate_home::{Home, running};
use callgate_journal::{EventKind, record_event};
use callgate_text::name;
use callgate_wiring::client_name;

use crate::change::EditContext;
use crate::{Desk, DeskError};

/// Servers that a record names at most.
const NAMED: usize = 8;

/// A pause that was made, and what was in its place before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paused {
    pub(crate) server: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) made: Pause,
    pub(crate) before: Option<Pause>,
}

impl Paused {
    pub(crate) fn scope(&self) -> PauseScope<'_> {
        PauseScope { server: self.server.as_deref(), client: self.client.as_deref() }
    }

    /// It was so before.
    pub(crate) fn is_nothing_new(&self) -> bool {
        self.before.as_ref() == Some(&self.made)
    }
}

pub(crate) fn begin(
    context: &EditContext<'_>,
    scope: PauseScope<'_>,
    reason: Option<&str>,
) -> Result<Paused, DeskError> {
    let now = context.clock.now();
    let before = switch::pause(context.home, scope, reason, &now)
        .map_err(|error| DeskError::disk("the pause cannot be written", error))?;
    let (server, client) = (scope.server.map(str::to_owned), scope.client.map(str::to_owned));
    if let Some(there) = before.clone().filter(|there| there.stays_for(reason)) {
        return Ok(Paused { server, client, made: there, before });
    }
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let words = format!("{} paused{why}", named(context.home, scope));
    // It holds, recorded or not: a full disk is no reason to let calls through.
    let _noted = record_event(
        context.home,
        now.wall_ms,
        EventKind::Paused,
        scope.server,
        Some(context.origin),
        &words,
    );
    let made = Pause { since_ms: now.wall_ms, reason: reason.map(str::to_owned) };
    Ok(Paused { server, client, made, before })
}

/// Ends the pause of a server or a client, or every pause, if the switch still is as it was when somebody decided. Says
/// whether anything was paused.
pub(crate) fn resume_seen(
    context: &EditContext<'_>,
    scope: PauseScope<'_>,
    seen: &Switch,
) -> Result<bool, DeskError> {
    let changed = || {
        DeskError::Conflict(format!(
            "the pause was changed by somebody else meanwhile; {} was not resumed",
            describe(scope)
        ))
    };
    if switch::read(context.home) != *seen {
        return Err(changed());
    }
    if !is_paused(seen, scope) {
        return Ok(false);
    }
    let words = format!("{} resumed", named(context.home, scope));
    let now_ms = context.clock.now().wall_ms;
    // On record first: what cannot be recorded is not opened.
    record_event(context.home, now_ms, EventKind::Loosened, scope.server, Some(context.origin), &words)
        .map_err(DeskError::Unrecorded)?;
    switch::resume_if(context.home, scope, seen)
        .map_err(|error| DeskError::disk("the pause cannot be lifted", error))?
        .ok_or_else(changed)
}

impl Desk {
    /// What is paused at this moment, in a few words that are safe to show; None if nothing is.
    pub fn paused_words(&self) -> Option<String> {
        let pauses = match switch::read(&self.home) {
            Switch::Readable(pauses) if pauses.all.is_none() => pauses,
            Switch::Readable(_) | Switch::Broken(_) => return Some("everything is paused".to_owned()),
        };
        let servers = pauses.servers.keys().map(|server| name(server));
        let of_clients = pauses.clients.iter().flat_map(|(client, paused)| {
            let all = paused.all.iter().map(|_| client_name(client));
            all.chain(
                paused.servers.keys().map(|server| format!("{} for {}", name(server), client_name(client))),
            )
        });
        let all: Vec<String> = servers.chain(of_clients).collect();
        (!all.is_empty()).then(|| format!("paused: {}", all.join(", ")))
    }
}

/// Is there a pause of this server's or client's own (or, with neither, any pause at all)?
pub(crate) fn is_paused(switch: &Switch, scope: PauseScope<'_>) -> bool {
    match switch {
        Switch::Broken(_) => true,
        Switch::Readable(pauses) => pauses.holds(scope),
    }
}

/// The same for the record, where nobody can look who was running.
fn named(home: &Home, scope: PauseScope<'_>) -> String {
    let running = if scope.server.is_none() { running(home) } else { Vec::new() };
    let servers: BTreeSet<String> = running.iter().map(|lease| name(&lease.server)).collect();
    let more = servers.len().saturating_sub(NAMED);
    let mut servers: Vec<String> = servers.into_iter().take(NAMED).collect();
    if more > 0 {
        servers.push(format!("{more} more"));
    }
    match servers.is_empty() {
        true => describe(scope),
        false => format!("{} ({})", describe(scope), servers.join(", ")),
    }
}

/// Whom a pause is for, in words that are safe to show.
pub fn describe(scope: PauseScope<'_>) -> String {
    let servers =
        scope.server.map_or_else(|| "all servers".to_owned(), |server| format!("server {}", name(server)));
    match scope.client {
        Some(client) => format!("{servers}, for {}", client_name(client)),
        None => servers,
    }
}

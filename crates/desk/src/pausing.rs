//! The switch that refuses every call of a server, or of all: on at once, off after a question.

use std::collections::BTreeSet;

use callgate_store::history::record_event;
use callgate_store::pause::{self as switch, Pause, Pauses, Switch};
use callgate_store::{EventKind, Home, running};

use crate::DeskError;
use crate::change::Maker;
use crate::text::name;

/// Servers that a record names at most.
const NAMED: usize = 8;

/// A pause that was made, and what was in its place before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paused {
    pub(crate) server: Option<String>,
    pub(crate) made: Pause,
    pub(crate) before: Option<Pause>,
}

/// Pauses one server, or all of them.
pub fn pause(maker: &Maker<'_>, server: Option<&str>, reason: Option<&str>) -> Result<(), DeskError> {
    begin(maker, server, reason).map(drop)
}

pub(crate) fn begin(
    maker: &Maker<'_>,
    server: Option<&str>,
    reason: Option<&str>,
) -> Result<Paused, DeskError> {
    let now = maker.clock.now();
    let before = switch::pause(maker.home, server, reason, &now)
        .map_err(|error| DeskError::disk("the pause cannot be written", error))?;
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let words = format!("{} paused{why}", named(maker.home, server));
    // It holds, recorded or not: a full disk is no reason to let calls through.
    let _noted = record_event(maker.home, now.wall_ms, EventKind::Paused, server, Some(maker.origin), &words);
    let made = Pause { since_ms: now.wall_ms, reason: reason.map(str::to_owned) };
    Ok(Paused { server: server.map(str::to_owned), made, before })
}

/// Ends the pause of one server, or every pause. Says whether anything was paused.
pub fn resume(maker: &Maker<'_>, server: Option<&str>) -> Result<bool, DeskError> {
    resume_seen(maker, server, &switch::read(maker.home))
}

/// The same, if the switch still is as it was when somebody decided.
pub(crate) fn resume_seen(maker: &Maker<'_>, server: Option<&str>, seen: &Switch) -> Result<bool, DeskError> {
    let changed = || {
        let scope = scope(server);
        DeskError::Conflict(format!(
            "the pause was changed by somebody else meanwhile; {scope} was not resumed"
        ))
    };
    if switch::read(maker.home) != *seen {
        return Err(changed());
    }
    if !is_paused(seen, server) {
        return Ok(false);
    }
    let words = format!("{} resumed", named(maker.home, server));
    let now_ms = maker.clock.now().wall_ms;
    // On record first: what cannot be recorded is not opened.
    record_event(maker.home, now_ms, EventKind::Loosened, server, Some(maker.origin), &words)
        .map_err(DeskError::Unrecorded)?;
    switch::resume_if(maker.home, server, seen)
        .map_err(|error| DeskError::disk("the pause cannot be lifted", error))?
        .ok_or_else(changed)
}

/// Is there a pause of this server's own (or, without one, any pause at all)?
pub fn is_paused(switch: &Switch, server: Option<&str>) -> bool {
    match (switch, server) {
        (Switch::Broken(_), _) => true,
        (Switch::Readable(pauses), Some(server)) => pauses.servers.contains_key(server),
        (Switch::Readable(pauses), None) => *pauses != Pauses::default(),
    }
}

/// The same for the record, where nobody can look who was running.
fn named(home: &Home, server: Option<&str>) -> String {
    let running = if server.is_none() { running(home) } else { Vec::new() };
    let servers: BTreeSet<String> = running.iter().map(|lease| name(&lease.server)).collect();
    let more = servers.len().saturating_sub(NAMED);
    let mut servers: Vec<String> = servers.into_iter().take(NAMED).collect();
    if more > 0 {
        servers.push(format!("{more} more"));
    }
    match servers.is_empty() {
        true => scope(server),
        false => format!("{} ({})", scope(server), servers.join(", ")),
    }
}

/// Whom a pause is for, in words that are safe to show.
pub fn scope(server: Option<&str>) -> String {
    server.map_or_else(|| "all servers".to_owned(), |server| format!("server {}", name(server)))
}

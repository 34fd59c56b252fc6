//! A policy edit holds from the next call on, and a running client hears at once that its list changed.

use std::time::{Duration, Instant};

use anyhow::Result;
use memchr::memmem;

use super::micros;
use crate::message::{Answer, Template};
use crate::peer::{Peer, Workspace};
use crate::policy::tool_name;

const TRIES: usize = 5;

#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The share of edits (block, hide, pause) that the very next call obeyed.
    pub obeyed: f64,
    /// The slowest `list_changed`, from the start of the command to the notification, in milliseconds.
    pub list_changed_ms: f64,
}

/// Leaves the home paused: the last measure of a place.
pub fn measure(place: &Workspace) -> Result<Figures> {
    let mut session = place.open(Peer::Callgate)?;
    let mut obeyed = 0;
    let mut slowest = Duration::ZERO;
    for index in 0..TRIES {
        let blocked = tool_name(10 + index);
        session.call(&mut Template::small_call(&blocked))?;
        place.run_callgate(&["block", "bench", &blocked])?;
        obeyed += usize::from(session.ask(&mut Template::small_call(&blocked))? == Answer::Refused);

        let hidden = tool_name(30 + index);
        session.call(&mut Template::small_call(&hidden))?;
        let start = Instant::now();
        place.run_callgate(&["hide", "bench", &hidden])?;
        // No call in between: the notification must come by itself.
        while memmem::find(session.line()?, b"notifications/tools/list_changed").is_none() {}
        slowest = slowest.max(start.elapsed());
        obeyed += usize::from(session.ask(&mut Template::small_call(&hidden))? == Answer::Error);
    }
    place.run_callgate(&["pause", "bench"])?;
    obeyed += usize::from(session.ask(&mut Template::small_call(&tool_name(50)))? == Answer::Refused);
    session.end()?;
    Ok(Figures { obeyed: obeyed as f64 / (2 * TRIES + 1) as f64, list_changed_ms: micros(slowest) / 1e3 })
}

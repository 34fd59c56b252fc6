//! *Since you last looked*: when that was, and what happened since.

use std::time::{Duration, Instant};

use callgate_history::{CallFilter, History, Toward};
use callgate_home::{atomic, read_private};
use serde::{Deserialize, Serialize};

use super::fold::CallLines;
use crate::view::{Decision, SinceLastLook};
use crate::{Desk, DeskError};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// So many equal refusals by a cap in a row are a loop.
const LOOP: u32 = 10;
/// How long loops are looked for.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Debug, Serialize, Deserialize)]
struct Looked {
    at_ms: i64,
    rev: i64,
}

pub(super) fn now(desk: &Desk, history: &History) -> Result<(), DeskError> {
    let looked = Looked { at_ms: desk.clock.now().wall_ms, rev: history.latest_rev()? };
    let path = desk.home().looked();
    let text = serde_json::to_string(&looked).unwrap_or_default();
    atomic::replace(&path, text.as_bytes())
        .map_err(|error| DeskError::disk(format!("{} cannot be written", path.display()), error))
}

/// Whoever never looked is told of the last day.
pub(super) fn since(desk: &Desk, history: &History) -> Result<SinceLastLook, DeskError> {
    let read = read_private(&desk.home().looked()).ok();
    let looked: Option<Looked> = read.and_then(|text| serde_json::from_str(&text).ok());
    let latest = history.latest_rev()?;
    // A number from another history says nothing.
    let looked = looked.filter(|looked| looked.rev <= latest);
    let since_ms = looked.as_ref().map_or(desk.clock.now().wall_ms - DAY_MS, |looked| looked.at_ms);
    let (since, after) = match &looked {
        Some(looked) => (None, looked.rev),
        None => (Some(since_ms), i64::MIN),
    };
    let filter = CallFilter { since_ms: since, ..CallFilter::default() };
    let (mut calls, mut refused) = (0, 0);
    history.count(&filter, after, &|| false, &mut |_, _, class| {
        calls += 1;
        refused += u64::from(class != callgate_history::Class::Passed);
        std::ops::ControlFlow::Continue(())
    })?;
    let (changes, ended) = history.happened_since(looked.map(|looked| looked.rev), since_ms)?;
    Ok(SinceLastLook { since_ms, calls, refused, changes, ended, loops: loops(history, filter, after)? })
}

fn loops(history: &History, filter: CallFilter, after: i64) -> Result<u64, DeskError> {
    let filter = CallFilter { decisions: vec![Decision::Capped], ..filter };
    let query = history.query(&filter)?.after(after);
    let until = Instant::now() + PATIENCE;
    let mut lines = CallLines::new(usize::MAX);
    let mut at = Some(i64::MAX);
    while let Some(from) = at.filter(|_| Instant::now() < until) {
        let part = query.page(from, Toward::Older, 1_000, Some(until))?;
        let _all = part.rows.iter().all(|row| lines.add(row));
        at = part.next;
    }
    Ok(lines.into_vec().iter().filter(|line| line.times >= LOOP).count() as u64)
}

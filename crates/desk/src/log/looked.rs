//! *Since you last looked*: when that was, and what happened since.

use std::time::{Duration, Instant};

use callgate_history::{History, Toward, Which};
use callgate_home::{atomic, read_private};
use callgate_journal::Decision;
use serde::{Deserialize, Serialize};

use super::{fold, line};
use crate::view::{LogEntry, SinceLastLook};
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
    let which = match &looked {
        Some(looked) => Which { after_rev: Some(looked.rev), ..Which::default() },
        None => Which { since_ms: Some(since_ms), ..Which::default() },
    };
    let (mut calls, mut refused) = (0, 0);
    history.count(desk.home(), which.clone(), &|| false, &mut |_, _, class| {
        calls += 1;
        refused += u64::from(class != callgate_history::Class::Passed);
        std::ops::ControlFlow::Continue(())
    })?;
    let (changes, ended) = history.happened_since(looked.map(|looked| looked.rev), since_ms)?;
    Ok(SinceLastLook { since_ms, calls, refused, changes, ended, loops: loops(desk, history, which)? })
}

fn loops(desk: &Desk, history: &History, which: Which) -> Result<u64, DeskError> {
    let which = Which { decisions: vec![Decision::Capped], ..which };
    let scan = history.scan(desk.home(), which)?;
    let until = Instant::now() + PATIENCE;
    let mut lines: Vec<LogEntry> = Vec::new();
    let mut at = Some(i64::MAX);
    while let Some(from) = at.filter(|_| Instant::now() < until) {
        let part = scan.step(from, Toward::Older, 1_000, until)?;
        for call in part.rows.iter().map(line::call).map(LogEntry::Call) {
            if fold::join(&mut lines, &call).is_none() {
                lines.push(call);
            }
        }
        at = part.next;
    }
    let loops = lines.iter().filter(|line| matches!(line, LogEntry::Call(line) if line.times >= LOOP));
    Ok(loops.count() as u64)
}

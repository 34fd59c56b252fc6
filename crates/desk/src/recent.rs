//! The last calls, for the tray: equal refusals in a row folded into one.

use std::time::{Duration, Instant};

use callgate_store::history::{Toward, Which};
use callgate_store::{History, Home};

use crate::DeskError;
use crate::log::line;
use crate::view::CallLine;

/// Calls that are looked at to find a few different ones.
const LOOKED_AT: usize = 60;
/// How long that may take.
const PATIENCE: Duration = Duration::from_millis(60);

/// The last calls, newest first.
pub(crate) fn recent(home: &Home, history: &History, count: usize) -> Result<Vec<CallLine>, DeskError> {
    let scan = history.scan(home, Which::default())?;
    let found = scan.step(i64::MAX, Toward::Older, LOOKED_AT, Instant::now() + PATIENCE)?;
    let mut lines: Vec<CallLine> = Vec::new();
    for call in found.rows.iter().map(line::call) {
        let full = lines.len() == count;
        match lines.last_mut() {
            Some(last) if line::repeats(last, &call) => line::fold(last, &call),
            _ if full => break,
            _ => lines.push(call),
        }
    }
    Ok(lines)
}

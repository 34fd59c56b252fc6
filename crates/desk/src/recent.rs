//! The last calls, for the tray: equal refusals of a session folded into one.

use std::time::{Duration, Instant};

use callgate_history::{History, Toward, Which};
use callgate_home::Home;

use crate::DeskError;
use crate::log::{fold, line};
use crate::view::{CallLine, LogEntry};

/// Calls that are looked at to find a few different ones.
const LOOKED_AT: usize = 60;
/// How long that may take.
const PATIENCE: Duration = Duration::from_millis(60);

/// The last calls, newest first.
pub(crate) fn recent(home: &Home, history: &History, count: usize) -> Result<Vec<CallLine>, DeskError> {
    let scan = history.scan(home, Which::default())?;
    let found = scan.step(i64::MAX, Toward::Older, LOOKED_AT, Instant::now() + PATIENCE)?;
    let mut lines: Vec<LogEntry> = Vec::new();
    for call in found.rows.iter().map(line::call).map(LogEntry::Call) {
        if fold::join(&mut lines, &call).is_some() {
            continue;
        }
        if lines.len() == count {
            break;
        }
        lines.push(call);
    }
    let calls = lines.into_iter().filter_map(|line| match line {
        LogEntry::Call(line) => Some(line),
        LogEntry::Change(_) | LogEntry::Event(_) => None,
    });
    Ok(calls.collect())
}

//! The last calls, for the tray: equal refusals of a session folded into one.

use std::time::{Duration, Instant};

use callgate_history::{CallFilter, History, Toward};

use crate::DeskError;
use crate::log::fold::CallLines;
use crate::view::CallLine;

/// Calls that are looked at to find a few different ones.
const LOOKED_AT: usize = 60;
/// How long that may take.
const PATIENCE: Duration = Duration::from_millis(60);

/// The last calls, newest first.
pub(crate) fn recent(history: &History, count: usize) -> Result<Vec<CallLine>, DeskError> {
    let query = history.query(&CallFilter::default())?;
    let found = query.page(i64::MAX, Toward::Older, LOOKED_AT, Some(Instant::now() + PATIENCE))?;
    let mut lines = CallLines::new(count);
    let _all = found.rows.iter().all(|row| lines.add(row));
    Ok(lines.into_vec())
}

//! What a text would have decided otherwise than the rules in force, over the calls of the last days.

use std::ops::ControlFlow;

use callgate_policy::Policy;
use callgate_review::{Difference, Example, Question, ReviewError, compare};
use callgate_store::history::Which;
use callgate_store::{Disk, History, catalogue};

use super::{parsed, present};
use crate::log::line;
use crate::view::{CallLine, Effect, ToolDifference};
use crate::{Desk, DeskError};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Calls and tools that are shown.
const CALLS: usize = 50;
const TOOLS: usize = 20;

pub(super) fn of(
    desk: &Desk,
    server: &str,
    text: &str,
    days: u32,
    cancelled: &(dyn Fn() -> bool + Send + Sync),
) -> Result<Effect, DeskError> {
    let mut changed = parsed(text)?;
    let present = present::read(desk, server)?;
    // Broken rules refuse everything, and so they count.
    let mut today =
        Policy::parse(present.text()).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
    for policy in [&mut changed, &mut today] {
        catalogue::describe(&desk.home, server, policy);
    }
    if cancelled() {
        return Err(DeskError::Cancelled);
    }
    let history = History::open_reader(&desk.home)?;
    let now_ms = desk.clock.now().wall_ms;
    let since_ms = since(desk, days);
    let each = |_| if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let question = Question { server, since_ms, files: &Disk::new(), examples: CALLS };
    let difference = compare(&history, &today, &changed, &question, each).map_err(failure)?;
    view(&history, &difference, days, now_ms)
}

fn view(history: &History, difference: &Difference, days: u32, now_ms: i64) -> Result<Effect, DeskError> {
    let tools = difference.tools.iter().take(TOOLS);
    Ok(Effect {
        days,
        calls: difference.changed.calls,
        more: difference.more.calls,
        fewer: difference.fewer.calls,
        words: difference.headline(now_ms),
        details: difference.details(now_ms),
        tools: tools
            .map(|one| ToolDifference { tool: one.tool.clone(), more: one.more, fewer: one.fewer })
            .collect(),
        more_calls: lines(history, &difference.more.examples)?,
        fewer_calls: lines(history, &difference.fewer.examples)?,
    })
}

fn lines(history: &History, examples: &[Example]) -> Result<Vec<CallLine>, DeskError> {
    let mut lines = Vec::with_capacity(examples.len());
    for example in examples {
        let Some(rev) = history.rev_of(&example.id)? else { continue };
        lines.extend(history.lines_between(&Which::default(), rev, rev)?.iter().map(line::call));
    }
    Ok(lines)
}

/// So many days ago.
pub(super) fn since(desk: &Desk, days: u32) -> i64 {
    desk.clock.now().wall_ms.saturating_sub(i64::from(days).saturating_mul(DAY_MS))
}

pub(super) fn failure(error: ReviewError) -> DeskError {
    match error {
        ReviewError::Store(error) => DeskError::Store(error),
        ReviewError::Stopped => DeskError::Cancelled,
    }
}

//! What a text would have done to the calls of the last days.

use std::ops::ControlFlow;

use callgate_review::{ReviewError, simulate_naming};
use callgate_store::history::Which;
use callgate_store::{Disk, History, catalogue};

use super::parsed;
use crate::log::line;
use crate::view::Effect;
use crate::{Desk, DeskError};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Calls that are shown.
const SHOWN: usize = 50;

pub(super) fn of(
    desk: &Desk,
    server: &str,
    text: &str,
    days: u32,
    cancelled: &(dyn Fn() -> bool + Send + Sync),
) -> Result<Effect, DeskError> {
    let mut policy = parsed(text)?;
    catalogue::describe(&desk.home, server, &mut policy);
    if cancelled() {
        return Err(DeskError::Cancelled);
    }
    let history = History::open_reader(&desk.home)?;
    let now_ms = desk.clock.now().wall_ms;
    let since_ms = now_ms.saturating_sub(i64::from(days).saturating_mul(DAY_MS));
    let each = |_| if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let simulation = simulate_naming(&history, &policy, server, since_ms, &Disk::new(), SHOWN, each)
        .map_err(|error| match error {
            ReviewError::Store(error) => DeskError::Store(error),
            ReviewError::Stopped => DeskError::Cancelled,
        })?;
    // What changes for people is shown: what went through and would not any more, else what would now.
    let examples = match simulation.newly_refused {
        0 => &simulation.newly_passed_examples,
        _ => &simulation.newly_refused_examples,
    };
    let mut lines = Vec::with_capacity(examples.len());
    for example in examples {
        let Some(rev) = history.rev_of(&example.id)? else { continue };
        lines.extend(history.lines_between(&Which::default(), rev, rev)?.iter().map(line::call));
    }
    Ok(Effect {
        days,
        calls: simulation.calls,
        newly_refused: simulation.newly_refused,
        newly_passed: simulation.newly_passed,
        words: simulation.sentences(now_ms).join("; "),
        examples: lines,
    })
}

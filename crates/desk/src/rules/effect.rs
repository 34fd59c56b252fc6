//! What a text would have decided otherwise than the rules in force, over the calls of the last days.

use std::ops::ControlFlow;

use callgate_controls::{Disk, catalogue};
use callgate_history::{CallFilter, History};
use callgate_policy::Policy;
use callgate_review::{ComparisonRequest, Difference, Example, ReviewError, compare};
use callgate_text::name;

use super::{parsed, present};
use crate::change::followers;
use crate::log::line;
use crate::view::{CallLine, Effect, ToolDifference};
use crate::{Desk, DeskError};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Calls and tools that are shown.
const CALLS: usize = 50;
const TOOLS: usize = 20;

type Cancelled<'c> = &'c (dyn Fn() -> bool + Send + Sync);

pub(super) fn of(
    desk: &Desk,
    server: &str,
    text: &str,
    days: u32,
    cancelled: Cancelled<'_>,
) -> Result<Effect, DeskError> {
    let difference = difference(desk, server, text, days, cancelled)?;
    let tools = difference.tools.iter().take(TOOLS);
    let history = History::open_reader(&desk.home)?;
    let now_ms = desk.clock.now().wall_ms;
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
        more_calls: lines(&history, &difference.more.examples)?,
        fewer_calls: lines(&history, &difference.fewer.examples)?,
    })
}

/// The same of the default policy: over all servers that follow it.
pub(super) fn of_default(
    desk: &Desk,
    text: &str,
    days: u32,
    cancelled: Cancelled<'_>,
) -> Result<Effect, DeskError> {
    let servers = followers(&desk.home)?;
    let mut sum = Effect { days, ..Effect::default() };
    let mut others = 0;
    for server in &servers {
        let one = of(desk, server, text, days, cancelled)?;
        sum.calls += one.calls;
        sum.more += one.more;
        sum.fewer += one.fewer;
        if one.more > 0 || one.fewer > 0 {
            others += 1;
            sum.details.push(format!("{}: {} more, {} fewer", name(server), one.more, one.fewer));
        }
        sum.tools.extend(one.tools);
        sum.more_calls.extend(one.more_calls);
        sum.fewer_calls.extend(one.fewer_calls);
    }
    for calls in [&mut sum.more_calls, &mut sum.fewer_calls] {
        calls.sort_by_key(|call| std::cmp::Reverse(call.at_ms));
        calls.truncate(CALLS);
    }
    sum.details.truncate(TOOLS);
    sum.tools = by_tool(std::mem::take(&mut sum.tools));
    let follow = match servers.len() {
        1 => "the one server that follows it".to_owned(),
        many => format!("the {many} servers that follow it"),
    };
    sum.words = match (servers.len(), sum.more + sum.fewer) {
        (0, _) => "No server follows it yet: no call would have been decided by it.".to_owned(),
        (_, 0) if sum.calls == 0 => {
            format!("There are no calls of {follow} in the last {days} days to judge.")
        }
        (_, 0) => format!("No call of {follow} would have been decided differently in the last {days} days."),
        (_, _) => format!(
            "Refuses or asks about {} more than today's rules, {} fewer, on {others} of {follow}.",
            if sum.more == 1 { "1 call".to_owned() } else { format!("{} calls", sum.more) },
            sum.fewer
        ),
    };
    Ok(sum)
}

/// Tools of one name on several servers are one line; those with most first.
fn by_tool(all: Vec<ToolDifference>) -> Vec<ToolDifference> {
    let mut tools: Vec<ToolDifference> = Vec::new();
    for one in all {
        match tools.iter_mut().find(|known| known.tool == one.tool) {
            Some(known) => {
                known.more += one.more;
                known.fewer += one.fewer;
            }
            None => tools.push(one),
        }
    }
    tools.sort_by_key(|one| std::cmp::Reverse(one.more + one.fewer));
    tools.truncate(TOOLS);
    tools
}

fn difference(
    desk: &Desk,
    server: &str,
    text: &str,
    days: u32,
    cancelled: Cancelled<'_>,
) -> Result<Difference, DeskError> {
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
    let since_ms = since(desk, days);
    let each = |_| if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let question = ComparisonRequest { server, since_ms, files: &Disk::new(), examples: CALLS };
    compare(&history, &today, &changed, &question, each).map_err(failure)
}

fn lines(history: &History, examples: &[Example]) -> Result<Vec<CallLine>, DeskError> {
    let mut lines = Vec::with_capacity(examples.len());
    for example in examples {
        let Some(rev) = history.rev_of(&example.id)? else { continue };
        lines.extend(history.lines_between(&CallFilter::default(), rev, rev)?.iter().map(line::call));
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

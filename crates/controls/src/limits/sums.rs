//! Amounts in a sliding window, wherever they are kept: each admission has the running total before and after it, so
//! what is in the window is a difference, found by halving.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Full;

/// More than any ceiling: an amount beyond it fills every limit all the same, and totals stay far from overflowing.
pub(crate) const MOST: u64 = u32::MAX as u64 * callgate_policy::UNIT + 1;

/// One admission, or several of the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addition {
    pub(crate) at_ms: i64,
    /// The total before it and with it.
    pub(crate) before: u128,
    pub(crate) total: u128,
}

/// May this much come in now?
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoomQuery {
    pub(crate) now_ms: i64,
    pub(crate) window_ms: i64,
    pub(crate) amount: u64,
    pub(crate) ceiling: u64,
}

/// How much of the window is used, and whether that leaves no room. `numbers` are those of all admissions that are
/// kept, in order of time.
pub(crate) fn weigh<E>(
    numbers: RangeInclusive<i64>,
    question: RoomQuery,
    mut entry: impl FnMut(i64) -> Result<Addition, E>,
) -> Result<(u64, Option<Full>), E> {
    let RoomQuery { now_ms, window_ms, amount, ceiling } = question;
    let (first, last) = numbers.into_inner();
    let mut used = 0;
    let mut total = 0;
    if first <= last {
        let edge = now_ms.saturating_sub(window_ms);
        total = entry(last)?.total;
        let inside = first_that(first, last + 1, |n| Ok(entry(n)?.at_ms > edge))?;
        if inside <= last {
            used = total - entry(inside)?.before;
        }
    }
    let shown = u64::try_from(used).unwrap_or(u64::MAX);
    if used + u128::from(amount) <= u128::from(ceiling) {
        return Ok((shown, None));
    }
    // What may be left in the window for this amount to fit beside it; more than the whole ceiling never does.
    let frees_in = match ceiling.checked_sub(amount) {
        None => None,
        Some(room) => {
            let leaves = first_that(first, last, |n| Ok(total - entry(n)?.total <= u128::from(room)))?;
            let wait = entry(leaves)?.at_ms.saturating_add(window_ms).saturating_sub(now_ms);
            Some(Duration::from_millis(wait.max(0).unsigned_abs()))
        }
    };
    Ok((shown, Some(Full { used: shown, frees_in })))
}

/// The first number from which on it holds; `end` if it holds for none before.
fn first_that<E>(
    mut start: i64,
    mut end: i64,
    mut holds: impl FnMut(i64) -> Result<bool, E>,
) -> Result<i64, E> {
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle)? {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    Ok(start)
}

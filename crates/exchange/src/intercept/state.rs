//! Conditions on counters, as limits.
//!
//! A counter stands at 0 when its window begins and moves only when a call passes. So a condition on it that fails at
//! some value stops every call there until the window ends: whatever its operator, it is a cap on the number of calls,
//! namely the first step at which it fails.

use super::condition::CannotSay;
use super::config::{Increment, Op, SourceCondition};
use super::counter::Owner;
use super::value::Operand;

/// What conditions on a counter amount to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cap {
    /// They hold at every value that the counter can have.
    None,
    /// At most so many calls a window; 0 is a denial.
    Calls(u64),
    /// The amounts of a window add up to at most this.
    Sum(f64),
}

/// Whether the number is exactly Intercept's, or a smaller one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Capped {
    pub(super) cap: Cap,
    pub(super) exact: bool,
}

/// Conditions of one rule on one counter, kept for the same calls as the rule is about.
pub(super) fn same_calls(conditions: &[&SourceCondition], owner: &Owner<'_>, own: bool) -> Capped {
    // The first cap that a rule puts on its own counter is checked with the call itself counted in. Where the engine
    // does not count at all, the reference says that it does so.
    let mut reserves = own || !owner.capped;
    let mut capped = Capped { cap: Cap::None, exact: owner.capped };
    for condition in conditions {
        let reserved = reserves && condition.op.caps();
        reserves &= !reserved || !own;
        let found = match &owner.state.step {
            Increment::Fixed(step) => match u64::try_from(*step) {
                Ok(step) => {
                    let calls =
                        if reserved { Some(room(condition, step)) } else { first_failing(condition, step) };
                    Capped { cap: calls.map_or(Cap::None, Cap::Calls), exact: true }
                }
                Err(_) => falling(condition, reserved),
            },
            Increment::From(_) => sum(condition, reserved),
        };
        capped = Capped { cap: tighter(capped.cap, found.cap), exact: capped.exact && found.exact };
    }
    capped
}

/// A counter that falls with each call is counted as if it rose; what is said of it beside a cap is sure only for the
/// first call of a window.
fn falling(condition: &SourceCondition, reserved: bool) -> Capped {
    let cap = match first_failing(condition, 1) {
        Some(0) => Cap::Calls(0),
        _ if reserved => Cap::Calls(room(condition, 1)),
        Some(calls) if condition.op.caps() => Cap::Calls(calls),
        _ if condition.op == Op::Exists => Cap::None,
        _ => Cap::Calls(1),
    };
    Capped { cap, exact: cap == Cap::None }
}

/// A condition on the counter of another tool. Sharing its counter also counts the calls that only look at it.
pub(super) fn other_calls(condition: &SourceCondition, owner: &Owner<'_>) -> Result<Cap, CannotSay> {
    let step = match owner.state.step {
        Increment::Fixed(step) => u64::try_from(step).unwrap_or(1).max(1),
        Increment::From(_) => 1,
    };
    let falls = matches!(owner.state.step, Increment::Fixed(step) if step < 0);
    match (first_failing(condition, step), &owner.state.step) {
        (None, _) if !falls || condition.op == Op::Exists => Ok(Cap::None),
        (Some(calls), Increment::Fixed(_)) if condition.op.caps() => Ok(Cap::Calls(calls)),
        _ => Err(CannotSay("it looks at how often other tools were called".to_owned())),
    }
}

/// Does it hold when the counter stands at 0?
pub(super) fn holds_at_zero(condition: &SourceCondition) -> bool {
    first_failing(condition, 1) != Some(0)
}

/// How many calls fit below the cap, each adding `step`. Intercept cuts fractions off before it takes one away.
fn room(condition: &SourceCondition, step: u64) -> u64 {
    let whole = condition.value.number().unwrap_or(0.0).trunc();
    let limit = if condition.op == Op::Lt { whole - 1.0 } else { whole };
    (limit.max(0.0) / step as f64).floor() as u64
}

/// How many calls there are before the condition fails; `None` if it never does.
fn first_failing(condition: &SourceCondition, step: u64) -> Option<u64> {
    let number = condition.value.number().unwrap_or(0.0);
    let steps_to = |count: u64| count.is_multiple_of(step).then_some(count / step);
    match condition.op {
        Op::Lt if number <= 0.0 => Some(0),
        Op::Lt => Some((number / step as f64).ceil() as u64),
        Op::Lte if number < 0.0 => Some(0),
        Op::Lte => Some(((number / step as f64).floor() as u64).saturating_add(1)),
        Op::Gt => (number >= 0.0).then_some(0),
        Op::Gte => (number > 0.0).then_some(0),
        Op::Eq => Some(u64::from(condition.value.equals_count(0))),
        Op::Neq => condition.value.as_count().and_then(steps_to),
        Op::In => {
            let within = |calls: &u64| {
                items(condition).iter().any(|item| item.equals_count(calls.saturating_mul(step)))
            };
            (0..=items(condition).len() as u64).find(|calls| !within(calls))
        }
        Op::NotIn => items(condition).iter().filter_map(|item| item.as_count().and_then(steps_to)).min(),
        // A counter is no text and no list.
        Op::Regex | Op::Contains => Some(0),
        Op::Exists => (condition.value != Operand::Bool(true)).then_some(0),
    }
}

fn items(condition: &SourceCondition) -> &[Operand] {
    match &condition.value {
        Operand::List(items) => items,
        _ => &[],
    }
}

/// A condition on a sum: how far it may grow. The sum that fails is not known beforehand, so all but the plain cap are
/// drawn so that it is not reached.
fn sum(condition: &SourceCondition, reserved: bool) -> Capped {
    let number = condition.value.number().unwrap_or(0.0);
    if !holds_at_zero(condition) {
        // The first call of a window is denied, so there is never a second.
        return Capped { cap: Cap::Calls(0), exact: true };
    }
    let (cap, exact) = match condition.op {
        Op::Lt if reserved => (Cap::Sum(number.trunc() - 1.0), true),
        Op::Lte if reserved => (Cap::Sum(number.trunc()), true),
        Op::Lt => (Cap::Sum(number.ceil() - 1.0), false),
        Op::Lte => (Cap::Sum(number.floor()), false),
        Op::Eq | Op::In => (Cap::Calls(1), false),
        Op::Neq => (below(condition.value.as_count()), false),
        Op::NotIn => (below(items(condition).iter().filter_map(Operand::as_count).min()), false),
        Op::Gt | Op::Gte | Op::Regex | Op::Contains | Op::Exists => (Cap::None, true),
    };
    Capped { cap, exact: exact || cap == Cap::None }
}

fn below(count: Option<u64>) -> Cap {
    count.map_or(Cap::None, |count| Cap::Sum(count as f64 - 1.0))
}

/// Of a cap on calls and one on a sum, the one on calls is kept where it denies; see `rules` for both.
fn tighter(a: Cap, b: Cap) -> Cap {
    match (a, b) {
        (Cap::None, other) | (other, Cap::None) => other,
        (Cap::Calls(a), Cap::Calls(b)) => Cap::Calls(a.min(b)),
        (Cap::Sum(a), Cap::Sum(b)) => Cap::Sum(a.min(b)),
        (Cap::Calls(0), _) | (_, Cap::Calls(0)) => Cap::Calls(0),
        // One call a window whose amount is not looked at would be looser than the sum; no call is not.
        (Cap::Calls(_), Cap::Sum(_)) | (Cap::Sum(_), Cap::Calls(_)) => Cap::Calls(0),
    }
}

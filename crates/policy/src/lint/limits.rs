//! Limits that can never be reached, because another one over the same calls is always full first.

use std::time::Duration;

use super::{Linter, Stratum};
use crate::compile::limits::same_counter;
use crate::file::Mode;
use crate::layer::{Layer, Rule};
use crate::limit::{Kind, Limit, Scope};
use crate::problem::{Place, Problems};

impl Linter<'_> {
    pub(super) fn limits(&self, stratum: &Stratum<'_>, problems: &mut Problems<'_>) {
        let layers =
            || std::iter::once(&self.policy.base).chain(self.policy.overlays.iter().map(|o| &o.layer));
        let rules = || layers().flat_map(Layer::every_rule);
        // What is only observed is counted and refuses nothing.
        let observes = |layer: &Layer| layer.mode == Some(Mode::Observe);
        if layers().any(observes) || rules().any(|rule| rule.mode == Some(Mode::Observe)) {
            return;
        }
        let counted_elsewhere = |limit: &Limit| {
            let same = rules().flat_map(|rule| &rule.limits).filter(|other| same_counter(limit, other));
            matches!(limit.scope, Scope::Client | Scope::All) || same.count() > 1
        };
        for rule in stratum.layer.every_rule() {
            for limit in rule.limits_at(self.now_ms).filter(|limit| !counted_elsewhere(limit)) {
                let others = self.over_the_same_calls(stratum, rule);
                if let Some(first) = others.into_iter().find(|other| is_full_first(other, limit)) {
                    let message = format!(
                        "this limit can never be reached: {} ({}) is always full before",
                        first.words(),
                        first.pointer
                    );
                    let place = self.place_of(stratum, limit);
                    problems.warn(&place, message, "remove it, or make it smaller".to_owned());
                }
            }
        }
    }

    /// Every call that this rule counts is counted by these, too, for good.
    fn over_the_same_calls<'p>(&'p self, stratum: &Stratum<'p>, rule: &'p Rule) -> Vec<&'p Limit> {
        let for_all = [&self.policy.base, stratum.layer].map(|layer| layer.all_tools.as_ref());
        let for_all = for_all.into_iter().flatten().filter(|all| !std::ptr::eq(*all, rule));
        let lasting = for_all.filter(|all| all.ends_ms.is_none());
        let limits = lasting.chain([rule]).flat_map(|rule| &rule.limits);
        limits.filter(|limit| limit.until_ms.is_none()).collect()
    }

    fn place_of(&self, stratum: &Stratum<'_>, limit: &Limit) -> Place {
        let entries = stratum.rules().flat_map(|rule| {
            let short = rule.rate_limit.iter().map(|short| &short.place);
            rule.limits.iter().map(|entry| &entry.place).chain(short)
        });
        let mut entries = entries.filter(|place| place.pointer == limit.pointer);
        entries.next().cloned().unwrap_or_else(|| Place { offset: 0, pointer: limit.pointer.clone() })
    }
}

/// Whenever the limit would be full, the other one is full already, or just as full.
fn is_full_first(other: &Limit, limit: &Limit) -> bool {
    if std::ptr::eq(other, limit) || !counts_at_least(other.scope, limit.scope) {
        return false;
    }
    // Of two that are alike, the first stays.
    let alike = other.max == limit.max && other.kind == limit.kind && other.scope == limit.scope;
    if alike && other.pointer >= limit.pointer {
        return false;
    }
    match (&other.kind, &limit.kind) {
        (Kind::Calls(per), Kind::Calls(window)) => {
            at_most(other, *per, *window) <= u128::from(limit.max.get())
        }
        (Kind::Sum { window: per, from }, Kind::Sum { window, from: same }) => {
            from.steps == same.steps && at_most(other, *per, *window) <= u128::from(limit.max.get())
        }
        (Kind::Total, Kind::Total | Kind::Calls(_)) | (Kind::Concurrent, Kind::Concurrent) => {
            other.max <= limit.max
        }
        _ => false,
    }
}

/// So many pass a limit of so many per `per` in any `window`.
fn at_most(limit: &Limit, per: Duration, window: Duration) -> u128 {
    let windows = window.as_nanos().div_ceil(per.as_nanos().max(1)).max(1);
    u128::from(limit.max.get()).saturating_mul(windows)
}

/// Does a counter of the one scope count everything that one of the other does?
fn counts_at_least(wide: Scope, narrow: Scope) -> bool {
    let within = |scope: Scope| match scope {
        Scope::Session => 0b0_0001,
        Scope::Grant => 0b0_0011,
        Scope::Client => 0b0_0111,
        Scope::Server => 0b0_1011,
        Scope::All => 0b1_1111,
    };
    within(wide) & within(narrow) == within(narrow)
}

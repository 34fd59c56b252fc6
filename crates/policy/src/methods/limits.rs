//! The caps of one kind of request.

use crate::compile::limits::same_counter;
use crate::file::LimitEntry;
use crate::limit::Limit;
use crate::problem::Problems;

/// `label` names the counters that have no name of their own; `before` are caps that count the same requests.
pub(super) fn compile(
    entries: &[LimitEntry],
    label: &str,
    before: &[Limit],
    problems: &mut Problems<'_>,
) -> Vec<Limit> {
    let limits = crate::compile::limits::written(entries, label);
    for (i, limit) in limits.iter().enumerate() {
        if let Some(other) = limits[..i].iter().chain(before).find(|other| same_counter(other, limit)) {
            let entry = entries.iter().find(|entry| entry.place.pointer == limit.pointer);
            let message = format!(
                "the counter {:?} is already used by {} for the same requests",
                limit.counter, other.pointer
            );
            let fix = Some("give each limit its own \"counter\"".to_owned());
            if let Some(entry) = entry {
                problems.error(&entry.place, message, fix);
            }
        }
    }
    limits
}

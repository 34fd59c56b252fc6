//! What a server's policy was, change by change.

use std::collections::{HashMap, HashSet};

use callgate_history::{CallFilter, History, PolicyChange, Toward};
use callgate_policy::Policy;
use callgate_text::name;
use callgate_wiring::unified;

use super::{loosened, present};
use crate::change::kept_text;
use crate::view::PolicyVersionView;
use crate::{Desk, DeskError};

/// Older ones than so many are in the log.
const MOST: usize = 200;

pub(super) fn of(desk: &Desk, server: &str) -> Result<Vec<PolicyVersionView>, DeskError> {
    let history = History::open_reader(&desk.home)?;
    let mut changes = history.timeline(server)?;
    changes.drain(..changes.len().saturating_sub(MOST));
    // A file that cannot be read or used is none of the versions.
    let in_force = present::read(desk, server)
        .ok()
        .and_then(|present| Policy::parse(present.text()).ok())
        .map(|policy| policy.version().to_owned());
    let newest = changes.iter().rposition(|change| Some(&change.version) == in_force.as_ref());
    // As the log has it. By number, where the timeline is by time: some more, so that none is missing.
    let filter = CallFilter { server: Some(server.to_owned()), ..CallFilter::default() };
    let told: HashMap<i64, bool> = history
        .changes_between(&filter, (i64::MIN, i64::MAX), Toward::Older, 2 * MOST)?
        .into_iter()
        .map(|row| (row.id, row.loosened))
        .collect();
    let taken_back = taken_back(&changes);
    let mut versions = Vec::with_capacity(changes.len());
    for (place, change) in changes.into_iter().enumerate() {
        versions.push(PolicyVersionView {
            loosened: match told.get(&change.id) {
                Some(loosened) => *loosened,
                None => has_loosened(&history, server, &change)?,
            },
            id: change.id,
            at_ms: change.at_ms,
            origin: change.origin.word().to_owned(),
            summary: change.summary,
            version: change.version,
            previous: change.previous,
            current: newest == Some(place),
            taken_back: taken_back.contains(&place),
        });
    }
    versions.reverse();
    Ok(versions)
}

/// The places of changes after which the rules came back to what they were before: oldest first, as they nest.
fn taken_back(changes: &[PolicyChange]) -> HashSet<usize> {
    let mut standing: Vec<usize> = Vec::new();
    let mut found = HashSet::new();
    for (place, change) in changes.iter().enumerate() {
        let last = standing.last().copied();
        match last.filter(|last| changes[*last].previous.as_ref() == Some(&change.version)) {
            Some(last) => {
                standing.pop();
                found.insert(last);
            }
            None => standing.push(place),
        }
    }
    found
}

/// Worked out anew from both texts; what is not kept any more is not called loosened.
fn has_loosened(history: &History, server: &str, change: &PolicyChange) -> Result<bool, DeskError> {
    let Some(previous) = &change.previous else { return Ok(false) };
    let before = history.policy_text(previous, server)?;
    let after = history.policy_text(&change.version, server)?;
    Ok(before.zip(after).is_some_and(|(before, after)| {
        loosened(&before.text, &after.text).is_ok_and(|loosened| !loosened.is_empty())
    }))
}

pub(super) fn diff(desk: &Desk, server: &str, change: i64) -> Result<String, DeskError> {
    let history = History::open_reader(&desk.home)?;
    let change = history.timeline(server)?.into_iter().find(|one| one.id == change).ok_or_else(|| {
        DeskError::NotFound(format!("this change of the rules of {} is no longer on record", name(server)))
    })?;
    let text = |version: &str| kept_text(&history, server, version);
    let after = text(&change.version)?;
    let before = change.previous.as_deref().map(text).transpose()?.unwrap_or_default();
    let names = (change.previous.as_deref().unwrap_or("(nothing)"), change.version.as_str());
    Ok(unified(&before, &after, names))
}

#[cfg(test)]
mod tests {
    use callgate_journal::Origin;

    use super::*;

    #[test]
    fn a_change_that_was_undone_is_known_as_such() {
        let change = |previous: Option<&str>, version: &str| PolicyChange {
            id: 0,
            at_ms: 0,
            version: version.to_owned(),
            previous: previous.map(str::to_owned),
            origin: Origin::Window,
            summary: String::new(),
        };
        // First seen, a, b, b undone, a undone, c.
        let changes = [
            change(None, "v0"),
            change(Some("v0"), "va"),
            change(Some("va"), "vb"),
            change(Some("vb"), "va"),
            change(Some("va"), "v0"),
            change(Some("v0"), "vc"),
        ];
        assert_eq!(taken_back(&changes), HashSet::from([1, 2]));
    }
}

//! What a server's policy was, change by change.

use std::collections::HashMap;

use callgate_policy::Policy;
use callgate_policy::diff::unified;
use callgate_store::History;
use callgate_store::history::{PolicyChange, Toward, Which};

use super::{loosened, present};
use crate::change::kept_text;
use crate::text::name;
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
    let which = Which { server: Some(server.to_owned()), ..Which::default() };
    let told: HashMap<i64, bool> = history
        .changes_between(&which, (i64::MIN, i64::MAX), Toward::Older, 2 * MOST)?
        .into_iter()
        .map(|row| (row.id, row.loosened))
        .collect();
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
        });
    }
    versions.reverse();
    Ok(versions)
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

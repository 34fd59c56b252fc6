//! Saving a whole text: as it is, if it is a policy, if nobody else changed the file, and if it does not loosen unasked.

use callgate_policy::Policy;
use callgate_policy::edit;
use callgate_wiring::unified;

use super::{diagnose, present};
use crate::view::{Done, SaveAnswer};
use crate::{Desk, DeskError, change};

/// `base_text`: what the text was made out of. For a server without a policy of its own that is the default one, and the
/// first save makes its own.
pub(super) fn of(desk: &Desk, server: &str, base_text: &str, text: &str) -> Result<SaveAnswer, DeskError> {
    if let Err(report) = Policy::parse(text) {
        return Ok(SaveAnswer::Broken { diagnostics: diagnose::of(text, &report.problems) });
    }
    let held = change::lock(&desk.home)?;
    let present = present::read(desk, server)?;
    let now = present.text();
    if now != base_text && now != text {
        return Ok(SaveAnswer::Conflict {
            theirs: now.to_owned(),
            version: present.policy().ok().map(|policy| policy.version().to_owned()),
            diff: unified(now, text, ("theirs", "mine")),
        });
    }
    let edited = edit::replace(now, text)?;
    let rules = present::described(server);
    let change = present.rewritten(edited)?;
    let changed = change.edited().changed;
    if changed && !change.loosened().is_empty() {
        let words = format!("Save {rules} so? More is let through than now.");
        return desk.ask_to_change(change, words, format!("Saved {rules}")).map(SaveAnswer::Ask);
    }
    let words = match (changed, change.is_first()) {
        (false, _) => format!("Nothing to change in {rules}"),
        (true, true) => format!("Saved {rules}; it has a policy of its own now"),
        (true, false) => format!("Saved {rules}"),
    };
    let version = change.commit(&held, &desk.edit_context(), None)?;
    drop(held);
    let undo = if changed { Some(desk.keep_saved(&words, &change)?) } else { None };
    let done = Done { undo, version: Some(version), ..Done::said(words, Some(server)) };
    Ok(SaveAnswer::Done(desk.with_unconfirmed(done)))
}

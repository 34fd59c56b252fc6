//! Taking back what was done just now, exactly; and giving a reason to it meanwhile.
//!
//! Undoing loosens, but it is the person's own act of seconds ago: nobody is asked. What others changed in these seconds
//! stays; where it cannot, nothing is undone.

use callgate_controls::allowance::{self, Allowance, Revoke};
use callgate_controls::pause as switch;
use callgate_controls::pause::Switch;
use callgate_home::clock::Moment;
use callgate_journal::{EventKind, record_event};
use callgate_policy::edit::{self, Edit};

use super::restrict::{broken_where, reason_of};
use crate::allowing;
use crate::change::{self, Change, CurrentPolicy};
use crate::pausing::{self, Paused};
use crate::view::{Done, ErrorCode, Target, Undo};
use crate::{Desk, DeskError};

const TOO_LATE: &str = "it is too late to undo this here, or it is undone already; the server's rules keep every change and take it back";

/// A restriction of seconds ago.
#[derive(Clone, Debug)]
pub(super) struct Undoable {
    pub(super) words: String,
    pub(super) act: Act,
    /// Allowances that were ended by it.
    pub(super) ended: Vec<Allowance>,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Edit(Edits),
    /// A whole text was saved: what it was before, and what it became.
    Save {
        server: String,
        before: String,
        after: String,
    },
    Pause(Paused),
    /// Nothing but what was ended.
    Nothing,
}

/// One edit of a policy, and the reason that was given to it after.
#[derive(Clone, Debug)]
pub(super) struct Edits {
    target: Target,
    edit: Edit,
    /// The texts before and after, oldest first. More than one if others wrote in between.
    steps: Vec<(String, String)>,
}

impl Edits {
    pub(super) fn of(target: &Target, edit: Edit, change: &Change) -> Edits {
        let step = (change.before().text().to_owned(), change.edited().text.clone());
        Edits { target: target.clone(), edit, steps: vec![step] }
    }

    fn add(&mut self, change: &Change) {
        let (before, after) = (change.before().text(), &change.edited().text);
        match self.steps.last_mut() {
            Some((_, last)) if last == before => last.clone_from(after),
            _ => self.steps.push((before.to_owned(), after.clone())),
        }
    }

    /// The present text without these edits.
    fn without(&self, text: &str) -> Result<String, DeskError> {
        let mut text = text.to_owned();
        for (before, after) in self.steps.iter().rev() {
            text = edit::revert(&text, before, after)?.text;
        }
        Ok(text)
    }
}

impl Desk {
    /// Takes a restriction back that was made just now.
    pub fn undo(&self, token: &str) -> Result<Done, DeskError> {
        let now = self.clock.now();
        let mut undos = self.undos();
        let kept = undos.take(token, &now).ok_or(DeskError::TooLate(TOO_LATE))?;
        let undone = self.take_back(&now, &kept.value);
        if undone.as_ref().is_err_and(|error| error.code() == ErrorCode::Failed) {
            // The disk said no, not the person: they may try again.
            undos.put_back(kept);
        }
        undone.map(|done| self.with_unconfirmed(done))
    }

    fn take_back(&self, now: &Moment, undoable: &Undoable) -> Result<Done, DeskError> {
        let Undoable { words, act, ended } = undoable;
        self.reopen(now, ended)?;
        let undone = match act {
            Act::Edit(edits) => {
                self.take_edits_back(edits).map(|version| (Some(edits.target.server.clone()), Some(version)))
            }
            Act::Save { server, before, after } => self
                .take_save_back(server, before, after)
                .map(|version| (Some(server.clone()), Some(version))),
            Act::Pause(paused) => self.take_pause_back(now, paused).map(|()| (paused.server.clone(), None)),
            Act::Nothing => Ok((ended.first().map(|one| one.server.clone()), None)),
        };
        let (server, version) = undone.inspect_err(|_| {
            for one in ended {
                // The block stands, so what would defeat it stays over.
                let _over = allowance::revoke(&self.home, now, Revoke::Id(&one.id));
            }
        })?;
        let words = format!("Undone: {words}");
        Ok(Done { version, ..Done::said(words, server.as_deref()) })
    }

    /// What was allowed for a while before is so again, for the rest of its time.
    fn reopen(&self, now: &Moment, ended: &[Allowance]) -> Result<(), DeskError> {
        for one in ended {
            let words = format!("{} again: ending it was undone", allowing::described(one));
            let server = Some(one.server.as_str());
            record_event(&self.home, now.wall_ms, EventKind::Loosened, server, Some(self.origin), &words)
                .map_err(DeskError::Unrecorded)?;
        }
        allowance::restore(&self.home, now, ended)
            .map_err(|error| DeskError::disk("what was allowed for a while cannot be put back", error))
    }

    fn take_edits_back(&self, edits: &Edits) -> Result<String, DeskError> {
        let held = change::lock(&self.home)?;
        let present = CurrentPolicy::read(&self.home, &edits.target.server)?;
        // A server that got a policy of its own by the act keeps it, with the text that it had before: running gates
        // take a file that is gone for a mishap, and go on with what it said.
        let text = edits.without(present.text())?;
        let edited = edit::replace(present.text(), &text)?;
        present.to(edited)?.commit(&held, &self.edit_context(), Some("undone"))
    }

    /// What was saved is gone again; what others changed since stays.
    fn take_save_back(&self, server: &str, before: &str, after: &str) -> Result<String, DeskError> {
        let held = change::lock(&self.home)?;
        let present = CurrentPolicy::read(&self.home, server)?;
        let text = match present.text() == after {
            // Also what a revert does not look at: comments, and how the lines stand.
            true => before.to_owned(),
            false => edit::revert(present.text(), before, after)?.text,
        };
        let edited = edit::replace(present.text(), &text)?;
        present.rewritten(edited)?.commit(&held, &self.edit_context(), Some("undone"))
    }

    /// Lets what was just saved be undone for a while.
    pub(crate) fn keep_saved(&self, words: &str, change: &Change) -> Result<Undo, DeskError> {
        let act = Act::Save {
            server: change.server().to_owned(),
            before: change.before().text().to_owned(),
            after: change.edited().text.clone(),
        };
        self.keep(&self.clock.now(), Undoable { words: words.to_owned(), act, ended: Vec::new() })
    }

    fn take_pause_back(&self, now: &Moment, paused: &Paused) -> Result<(), DeskError> {
        let scope = paused.scope();
        let changed = || {
            DeskError::Conflict(format!(
                "the pause of {} was changed by somebody else meanwhile, and stays as it is",
                pausing::describe(scope)
            ))
        };
        let stands = match switch::read(&self.home) {
            Switch::Readable(pauses) => pauses.get(scope) == Some(&paused.made),
            Switch::Broken(_) => false,
        };
        if !stands {
            return Err(changed());
        }
        let words = format!("the pause of {} was undone", pausing::describe(scope));
        record_event(&self.home, now.wall_ms, EventKind::Loosened, scope.server, Some(self.origin), &words)
            .map_err(DeskError::Unrecorded)?;
        match switch::put_back(&self.home, scope, &paused.made, paused.before.as_ref()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(changed()),
            Err(error) => Err(DeskError::disk("the pause cannot be lifted", error)),
        }
    }

    /// Tells the agent why: the reason of a restriction that was made just now. It can still be undone after.
    pub fn give_reason(&self, token: &str, reason: &str) -> Result<Done, DeskError> {
        let now = self.clock.now();
        let reason = reason_of(Some(reason))?
            .ok_or_else(|| DeskError::BadInput("say what the agent should be told".to_owned()))?;
        let mut undos = self.undos();
        let mut kept = undos.take(token, &now).ok_or(DeskError::TooLate(TOO_LATE))?;
        let given = self.set_reason(&mut kept.value, &reason);
        undos.put_back(kept);
        given.map(|done| self.with_unconfirmed(done))
    }

    fn set_reason(&self, undoable: &mut Undoable, reason: &str) -> Result<Done, DeskError> {
        let words = format!("The agent is told: {reason}");
        match &mut undoable.act {
            Act::Edit(edits) => {
                let again = with_reason(&edits.edit, reason).ok_or_else(|| {
                    let why = match edits.edit {
                        Edit::Hide { .. } => {
                            "a hidden tool is answered as if it did not exist, so that no reason is told"
                        }
                        _ => "this rule tells its own reason",
                    };
                    DeskError::BadInput(why.to_owned())
                })?;
                let held = change::lock(&self.home)?;
                let present = CurrentPolicy::read(&self.home, &edits.target.server)?;
                let client = edits.target.client.as_deref();
                let edited = edit::apply_for(present.text(), client, &again)
                    .map_err(|error| broken_where(error, &present))?;
                let change = present.to(edited)?;
                if !change.loosened().is_empty() {
                    return Err(DeskError::NotConfirmed(change.loosened().to_vec()));
                }
                let version = Some(change.commit(&held, &self.edit_context(), None)?);
                edits.add(&change);
                Ok(Done { version, ..Done::said(words, Some(&edits.target.server)) })
            }
            Act::Pause(paused) => {
                let before = paused.before.take();
                let again = pausing::begin(&self.edit_context(), paused.scope(), Some(reason));
                paused.before = before;
                paused.made = again?.made;
                Ok(Done::said(words, paused.server.as_deref()))
            }
            Act::Save { .. } | Act::Nothing => {
                Err(DeskError::BadInput("there is nothing here to give a reason for".to_owned()))
            }
        }
    }
}

/// The edit that says why; none where nobody would be told.
fn with_reason(made: &Edit, reason: &str) -> Option<Edit> {
    let reason = reason.to_owned();
    Some(match made.clone() {
        Edit::Block { tool, .. } => Edit::Block { tool, reason: Some(reason) },
        Edit::Ask { tool, .. } => Edit::Ask { tool, reason: Some(reason) },
        Edit::BlockServer { .. } => Edit::BlockServer { reason: Some(reason) },
        Edit::Refuse { tool, when, .. } => Edit::Refuse { tool, when, reason: Some(reason) },
        Edit::Cap { tool, .. } => Edit::ExplainCap { tool: Some(tool), reason },
        Edit::CapServer { .. } => Edit::ExplainCap { tool: None, reason },
        _ => return None,
    })
}

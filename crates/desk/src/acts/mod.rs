//! What a person does: block, cap, hide, pause at once, with ten seconds to undo; allow, resume, revert, forget after a question.
//!
//! Restricting is one step and loosening is two. What waits for the second step, or could still be undone, waits in
//! memory under a name that nobody can guess; when the app ends, what was not confirmed was not done.

mod advice;
mod caveats;
mod counter;
mod forget;
mod inverse;
mod loosen;
mod obstacle;
mod reach;
mod recommended;
mod restore;
mod restrict;
mod token_store;
mod undo;
mod words;

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_history::History;
use callgate_journal::catch_up;

pub(crate) use advice::{NEW_CAP, cap_for};
pub(crate) use loosen::Plan;
pub(crate) use restrict::broken_where;

use crate::change::{self, EditContext};
use crate::{Desk, DeskError};
use token_store::TokenStore;

/// What waits for a person. Whoever wants the lock on the policies too takes these first, or gives that one back before.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    undos: Mutex<TokenStore<undo::Undoable>>,
    questions: Mutex<TokenStore<loosen::Plan>>,
}

impl Desk {
    /// Who makes changes here.
    pub(crate) fn edit_context(&self) -> EditContext<'_> {
        EditContext { home: &self.home, clock: &*self.clock, origin: self.origin }
    }

    fn revert_command(&self, server: &str, version: &str) -> String {
        change::revert_command(&self.edit_context(), server, version)
    }

    fn undos(&self) -> MutexGuard<'_, TokenStore<undo::Undoable>> {
        self.waiting.undos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, TokenStore<loosen::Plan>> {
        self.waiting.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The history with everything in it that was recorded until now.
    fn history_now(&self) -> Result<History, DeskError> {
        let _behind = catch_up(&self.home, &*self.clock);
        Ok(History::open_reader(&self.home)?)
    }
}

//! The default policy, put back as Callgate ships it when it is missing or cannot be used. Until then every server
//! without a policy of its own refuses everything, so this loosens: it is asked about and on record.

use std::path::PathBuf;

use callgate_home::atomic;
use callgate_journal::{EventKind, record_event};
use callgate_policy::{DEFAULT_POLICY, Policy, compare};

use super::loosen::Plan;
use crate::change;
use crate::protection::{Guards, Unusable};
use crate::view::{Answer, Done};
use crate::{Desk, DeskError};

impl Desk {
    pub(super) fn ask_to_restore_default(&self) -> Result<Answer, DeskError> {
        let Some(seen) = self.unusable_default() else {
            let words = "Nothing to change: the default policy is there and can be used".to_owned();
            return Ok(Answer::Done(Done::said(words, None)));
        };
        let before = Policy::refuse_all("there is no default policy that can be used");
        let after = Policy::parse(DEFAULT_POLICY).map_err(DeskError::BrokenText)?;
        let kept = match seen {
            Unusable::Missing(_) => "",
            Unusable::Unreadable(_) | Unusable::Broken(_) => " The present file is kept beside it.",
        };
        let words = format!(
            "Put back the default policy as Callgate ships it, for every server without a policy of its own?{kept}"
        );
        self.ask(words, compare::loosened(&before, &after), Plan::RestoreDefault { seen }).map(Answer::Ask)
    }

    pub(super) fn restore_default(&self, seen: &Unusable) -> Result<Done, DeskError> {
        let held = change::lock(&self.home)?;
        if self.unusable_default().as_ref() != Some(seen) {
            let words = "the default policy was changed meanwhile; nothing was put back. Look at it, and ask once more.";
            return Err(DeskError::Conflict(words.to_owned()));
        }
        let path = self.home.default_policy();
        let now_ms = self.clock.now().wall_ms;
        // On record first: what cannot be recorded is not opened.
        let noted = "the default policy was put back as Callgate ships it";
        record_event(&self.home, now_ms, EventKind::Loosened, None, Some(self.origin), noted)
            .map_err(DeskError::Unrecorded)?;
        let kept = self.set_aside(now_ms)?;
        atomic::replace(&path, DEFAULT_POLICY.as_bytes())
            .map_err(|error| DeskError::disk(format!("{} cannot be written", path.display()), error))?;
        drop(held);
        let kept = kept.map(|kept| format!("; the file that was there is kept as {}", kept.display()));
        let words = format!(
            "Put back the default policy as Callgate ships it{}",
            kept.as_deref().unwrap_or_default()
        );
        Ok(Done::said(words, None))
    }

    fn unusable_default(&self) -> Option<Unusable> {
        Guards::read(&self.home, self.clock.now()).version(&self.home.default_policy()).err()
    }

    /// Somebody may want to mend what was in the file by hand. Moved, not copied: it may be nothing that can be read, and
    /// should only this be done, everything is refused as before.
    fn set_aside(&self, now_ms: i64) -> Result<Option<PathBuf>, DeskError> {
        let path = self.home.default_policy();
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let aside = path.with_extension(format!("json.{now_ms}.bak"));
        std::fs::rename(&path, &aside)
            .map_err(|error| DeskError::disk(format!("{} cannot be moved aside", path.display()), error))?;
        Ok(Some(aside))
    }
}

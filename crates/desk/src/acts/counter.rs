//! A counter that starts anew: what it counted is forgotten, so its limit lets as much through again.

use callgate_controls::counters;
use callgate_journal::{EventKind, record_event};
use callgate_policy::Policy;
use callgate_text::{name, quoted};

use super::loosen::Plan;
use crate::change::CurrentPolicy;
use crate::view::{Done, Question};
use crate::{Desk, DeskError};

impl Desk {
    /// Asks whether a counter of this server may start anew.
    pub fn ask_to_reset(&self, server: &str, counter: &str) -> Result<Question, DeskError> {
        let counted = counters::list(&self.home, server, &*self.clock)?;
        // Counters that were lost are used up without being on any list.
        let named = || {
            let policy =
                CurrentPolicy::read(&self.home, server).ok().and_then(|now| Policy::parse(now.text()).ok());
            policy.is_some_and(|policy| policy.all_limits().any(|limit| limit.counter == counter))
        };
        if !counted.iter().any(|row| row.counter == counter) && !named() {
            return Err(DeskError::NotFound(format!(
                "server {} has no counter {counter:?}; `callgate counters {}` lists them",
                name(server),
                quoted(server)
            )));
        }
        let words = format!(
            "Start the counter \"{}\" of {} anew? Also for other servers, if they share it.",
            name(counter),
            name(server)
        );
        let plan = Plan::ResetCounter { server: server.to_owned(), counter: counter.to_owned() };
        self.ask(words, Vec::new(), plan)
    }

    pub(super) fn reset_counter(&self, server: &str, counter: &str) -> Result<Done, DeskError> {
        let what = format!(
            "start the counter \"{}\" of server {} anew (also for other servers, if they share it)",
            name(counter),
            name(server)
        );
        // On record first: what cannot be recorded is not opened.
        let now_ms = self.clock.now().wall_ms;
        record_event(&self.home, now_ms, EventKind::Loosened, Some(server), Some(self.origin), &what)
            .map_err(DeskError::Unrecorded)?;
        counters::reset(&self.home, server, counter, &*self.clock)?;
        let words = format!("The counter \"{}\" of {} starts anew", name(counter), name(server));
        Ok(Done::said(words, Some(server)))
    }
}

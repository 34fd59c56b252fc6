//! What ends with the processes of servers: calls that run, and recordings that are open. Said before, in the same words by
//! the window, the tray and the command line.

use std::collections::BTreeMap;

use callgate_codegen::State;
use callgate_codegen_history::CodegenSession;
use callgate_home::{Lease, running};
use callgate_journal::catch_up;

use crate::supervising::Whom;
use crate::text::{count, name};
use crate::view::{ServerState, ServerView};
use crate::{Desk, DeskError};

/// The clock may have been set between a lease and its session's first record.
const SLACK_MS: i64 = 60 * 60 * 1000;

/// The open recordings of each server that has any.
pub type Recorded = BTreeMap<String, Recordings>;

/// Open codegen sessions that hold actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recordings {
    pub sessions: u64,
    pub actions: u64,
}

impl Recordings {
    /// "a recording of 12 actions ends": short enough for an entry of a menu.
    pub fn words(&self) -> String {
        let actions = count(self.actions, "action");
        match self.sessions {
            1 => format!("a recording of {actions} ends"),
            many => format!("{many} recordings of {actions} end"),
        }
    }

    /// Those of every server together; none if there is none.
    pub fn all(recorded: &Recorded) -> Option<Recordings> {
        recorded
            .values()
            .copied()
            .reduce(|a, b| Recordings { sessions: a.sessions + b.sessions, actions: a.actions + b.actions })
    }
}

impl Desk {
    /// What ends with the servers of these sessions, in sentences.
    pub fn at_stake(&self, whom: Whom<'_>) -> Result<Vec<String>, DeskError> {
        let meant: Vec<Lease> = running(&self.home).into_iter().filter(|lease| whom.means(lease)).collect();
        if meant.is_empty() {
            return Ok(Vec::new());
        }
        // An answer of this very moment is in a spool: what is over is not told as running.
        let _behind = catch_up(&self.home, self.clock.as_ref());
        let open = self.open_recordings(&meant)?;
        let history = self.record()?;
        let mut calls = 0;
        for lease in &meant {
            calls += history.open_calls(lease.session)?;
        }
        let mut words = Vec::new();
        if calls > 0 {
            let are = if calls == 1 { "runs and is" } else { "run and are" };
            words.push(format!("{} {are} answered with an error", count(calls, "call")));
        }
        for one in &open {
            let of = one.session.id.as_deref().map(|id| format!(" {}", name(id))).unwrap_or_default();
            let recorded = one.session.recorded as u64;
            let stay = if recorded == 1 { "stays" } else { "stay" };
            words.push(format!(
                "the codegen session{of} of {} is open: the server loses it; its {} {stay} saved in Callgate",
                name(&one.session.client),
                count(recorded, "action"),
            ));
        }
        Ok(words)
    }

    /// The recordings that would end with each of these servers. What cannot be told is left out. Asks the record only if one
    /// of them has codegen sessions at all.
    pub fn recorded(&self, servers: &[ServerView]) -> Recorded {
        let may = |lease: &Lease| {
            let mut those = servers.iter().filter(|one| one.codegen && one.state == ServerState::Running);
            those.any(|one| one.name == lease.server)
        };
        let meant: Vec<Lease> = running(&self.home).into_iter().filter(may).collect();
        let mut recorded = Recorded::new();
        for one in self.open_recordings(&meant).unwrap_or_default() {
            let of = recorded.entry(one.server).or_default();
            of.sessions += 1;
            of.actions += one.session.recorded as u64;
        }
        recorded
    }

    /// Codegen sessions that hold actions, of sessions that run.
    fn open_recordings(&self, leases: &[Lease]) -> Result<Vec<CodegenSession>, DeskError> {
        let Some(since_ms) = leases.iter().map(|lease| lease.started_ms).min() else {
            return Ok(Vec::new());
        };
        let mut found = callgate_codegen_history::sessions(&self.home, None, since_ms - SLACK_MS)?;
        found.retain(|one| {
            matches!(one.session.state, State::Open | State::Starting)
                && one.session.recorded > 0
                && leases.iter().any(|lease| lease.session == one.gate())
        });
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_told_in_few_words() {
        let of = |sessions, actions| Recordings { sessions, actions };
        assert_eq!(of(1, 12).words(), "a recording of 12 actions ends");
        assert_eq!(of(1, 1).words(), "a recording of 1 action ends");
        assert_eq!(of(2, 15).words(), "2 recordings of 15 actions end");
        assert_eq!(Recordings::all(&Recorded::new()), None);
        let two = Recorded::from([("a".to_owned(), of(1, 2)), ("b".to_owned(), of(2, 3))]);
        assert_eq!(Recordings::all(&two), Some(of(3, 5)));
    }
}

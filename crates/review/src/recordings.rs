//! The codegen sessions of a history that is judged again, as they would have been: a start counts if it passes now and
//! passed then, because only then is it known what came of it.

use std::cell::Cell;

use callgate_codegen::{CallOutcome as Came, Follower, RetainedText, Sent, Settled, Verb};
use callgate_codegen_history::recording;
use callgate_history::{History, Lack, Replayed, ReplayedArguments};
use callgate_home::StoreError;
use callgate_journal::Outcome;
use callgate_policy::{Recording, Recordings};
use rustc_hash::FxHashMap;

/// By session of the gate, each of which had a server process of its own.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    followers: FxHashMap<i64, Follower>,
    /// Whether anything was ever started: most servers have no such tools.
    used: bool,
}

impl Sessions {
    /// A call that was let through then passes now.
    pub(crate) fn passed(&mut self, history: &History, call: &Replayed<'_>) -> Result<(), StoreError> {
        let verb = Verb::of(call.tool).filter(|_| call.method == "tools/call");
        if !self.used && verb != Some(Verb::Start) {
            return Ok(());
        }
        self.used = true;
        let follower = self.followers.entry(call.session_key).or_insert_with(Follower::counting);
        let (number, at_ms) = (call.seq, call.at_ms);
        let args = match call.args {
            _ if verb.is_none() => RetainedText::Absent,
            ReplayedArguments::Whole(text) => RetainedText::Whole(text),
            ReplayedArguments::Lacking { kept, lack: Lack::Masked } => RetainedText::Masked(kept),
            ReplayedArguments::Lacking { kept, .. } => RetainedText::Names(kept),
            ReplayedArguments::Absent | ReplayedArguments::Unread => RetainedText::Absent,
        };
        follower.sent(&Sent { call: number, at_ms, client: call.client, tool: call.tool, args });
        if verb.is_some() {
            let result = history.result_text(call.rev)?;
            let outcome = match call.outcome {
                Some(Outcome::Ok) => Came::Done,
                Some(Outcome::ToolError | Outcome::RpcError | Outcome::NotDelivered) => Came::Failed,
                _ => Came::Unknown,
            };
            let result = result.as_deref().map_or(RetainedText::Absent, RetainedText::Whole);
            follower.settled(&Settled { call: number, at_ms, outcome, result });
        }
        Ok(())
    }

    /// As a call in this session of the gate finds them.
    pub(crate) fn seen_by(&self, session_key: i64) -> SeenBy<'_> {
        SeenBy { sessions: self, session_key, untold: Cell::new(false) }
    }
}

#[derive(Debug)]
pub(crate) struct SeenBy<'s> {
    sessions: &'s Sessions,
    session_key: i64,
    untold: Cell<bool>,
}

impl SeenBy<'_> {
    /// Was something asked that the record does not tell?
    pub(crate) fn was_untold(&self) -> bool {
        self.untold.get()
    }
}

impl Recordings for SeenBy<'_> {
    fn open(&self) -> Result<Option<Recording>, String> {
        let follower = self.sessions.followers.get(&self.session_key);
        Ok(follower.and_then(|follower| follower.open().last()).map(recording))
    }

    fn started_by(&self, client: &str, id: &str) -> Result<Option<Recording>, String> {
        let own = self.sessions.followers.get(&self.session_key).and_then(|follower| follower.session(id));
        let other = || {
            let all = self.sessions.followers.values().filter_map(|follower| follower.session(id));
            all.filter(|session| session.client == client).max_by_key(|session| session.started_ms)
        };
        let found = own.or_else(other).map(recording);
        let nameless = |follower: &Follower| follower.sessions().iter().any(|session| session.id.is_none());
        if found.is_none() && self.sessions.followers.get(&self.session_key).is_some_and(nameless) {
            self.untold.set(true);
        }
        Ok(found)
    }
}

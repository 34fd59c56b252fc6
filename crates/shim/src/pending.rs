//! Who waits for which answer, in each direction.
//!
//! Owns the promise "exactly one answer per request": an id enters when its request is let through and
//! leaves with its first answer. Client and server number their requests independently, so there are two
//! tables and no id of one can be taken for one of the other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_protocol::id::IdKey;
use callgate_protocol::lists::List;
use callgate_store::CallRef;

use crate::wording::Expects;

/// How many requests may wait at once. An agent that gets here is not waiting for answers any more.
const MAX_PENDING: usize = 65_536;

/// How long an answer that is on its way is waited for before it is looked at again.
const HAND_OVER: Duration = Duration::from_millis(5);

/// A client's request that the server has to answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) what: What,
    pub(crate) since: Instant,
    /// Answered only when somebody ends it (`subscriptions/listen`): no reason to keep a session open.
    pub(crate) lasting: bool,
}

/// What was asked, as far as the answer is treated differently.
#[derive(Debug)]
pub(crate) enum What {
    /// A call with a row in the history.
    Call(CallRef, Expects),
    /// A list, or a further page of one.
    List {
        list: List,
        first: bool,
    },
    /// A list of tools that the gate asked for by itself; what it says about the protocol is asked of the next page too.
    OwnList {
        first: bool,
        meta: String,
    },
    Other,
}

/// Why a request was not entered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotEntered {
    /// The id is in use: two answers for one id would be ambiguous.
    IdInUse,
    TooMany,
    /// The server has ended; the reason to tell.
    Ended(String),
}

#[derive(Debug, Default)]
struct Table {
    waiting: HashMap<IdKey, Asked>,
    /// Cancelled by the client: an answer may still come, and none is owed.
    cancelled: HashMap<IdKey, Asked>,
    ended: Option<String>,
    /// Has the client asked for anything yet?
    used: bool,
    /// How many wait for a change. Waking nobody is a system call too, and this table changes twice a call.
    watchers: u32,
}

/// Requests of the client that wait for the server.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    table: Mutex<Table>,
    changed: Condvar,
    /// Answers that left the table and are not with the client yet.
    delivering: AtomicUsize,
}

/// While it is held, answers may be on their way between the table and the client.
#[derive(Debug)]
pub(crate) struct Delivering<'p>(&'p AtomicUsize);

impl Drop for Delivering<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Pending {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request; to be done before the server can see it.
    pub(crate) fn enter(&self, id: IdKey, asked: Asked) -> Result<(), NotEntered> {
        let mut table = self.table();
        table.used = true;
        let entered = table.enter(id, asked);
        self.tell(table);
        entered
    }

    /// May a request with this id be let through now?
    pub(crate) fn check(&self, id: &IdKey) -> Result<(), NotEntered> {
        let mut table = self.table();
        table.used = true;
        let checked = table.check(id);
        self.tell(table);
        checked
    }

    /// To be held from before answers are taken out until the client has them.
    pub(crate) fn delivering(&self) -> Delivering<'_> {
        self.delivering.fetch_add(1, Ordering::SeqCst);
        Delivering(&self.delivering)
    }

    /// The first answer to `id` takes it out; every later one finds nothing.
    pub(crate) fn answer(&self, id: &IdKey) -> Option<Asked> {
        let mut table = self.table();
        let asked = table.waiting.remove(id).or_else(|| table.cancelled.remove(id));
        self.tell(table);
        asked
    }

    /// The client gave the request up. Returns the call that it was.
    pub(crate) fn cancel(&self, id: &IdKey) -> Option<CallRef> {
        let mut table = self.table();
        let asked = table.waiting.remove(id)?;
        let call = match &asked.what {
            What::Call(call, _) => Some(*call),
            _ => None,
        };
        if table.cancelled.len() < MAX_PENDING {
            table.cancelled.insert(id.clone(), asked);
        }
        self.tell(table);
        call
    }

    /// The server is gone: nothing enters any more, and everybody who waited is returned, oldest first.
    pub(crate) fn end(&self, reason: &str) -> Vec<(IdKey, Asked)> {
        let mut table = self.table();
        table.ended.get_or_insert_with(|| reason.to_owned());
        table.cancelled.clear();
        let mut left: Vec<_> = table.waiting.drain().collect();
        self.tell(table);
        left.sort_by_key(|(_, asked)| asked.since);
        left
    }

    /// Waits until nobody waits for an answer that is to be expected, and none is on its way; false after `limit`.
    pub(crate) fn wait_empty(&self, limit: Duration) -> bool {
        // In this order: what is not in the table any more is counted as on its way until it has arrived.
        if !self.wait(limit, |table| table.waiting.values().all(|asked| asked.lasting)) {
            return false;
        }
        let arrived = || self.delivering.load(Ordering::SeqCst) == 0;
        if !arrived() {
            // Nobody is woken for this: it takes a moment, or as long as a client does not read.
            std::thread::sleep(limit.min(HAND_OVER));
        }
        arrived()
    }

    /// Waits until the client has asked for anything at all; false after `limit`.
    pub(crate) fn wait_used(&self, limit: Duration) -> bool {
        self.wait(limit, |table| table.used)
    }

    /// Waits until the server is known to have ended; false after `limit`.
    pub(crate) fn wait_ended(&self, limit: Duration) -> bool {
        self.wait(limit, |table| table.ended.is_some())
    }

    fn wait(&self, limit: Duration, reached: impl Fn(&Table) -> bool) -> bool {
        let mut table = self.table();
        table.watchers += 1;
        let (mut table, _) = self
            .changed
            .wait_timeout_while(table, limit, |table| !reached(table))
            .unwrap_or_else(PoisonError::into_inner);
        table.watchers -= 1;
        reached(&table)
    }

    fn tell(&self, table: MutexGuard<'_, Table>) {
        let watched = table.watchers > 0;
        drop(table);
        if watched {
            self.changed.notify_all();
        }
    }
}

impl Table {
    fn check(&self, id: &IdKey) -> Result<(), NotEntered> {
        if let Some(reason) = &self.ended {
            return Err(NotEntered::Ended(reason.clone()));
        }
        // A late answer to a cancelled request must not be taken for the answer to another.
        if self.waiting.contains_key(id) || self.cancelled.contains_key(id) {
            return Err(NotEntered::IdInUse);
        }
        if self.waiting.len() >= MAX_PENDING {
            return Err(NotEntered::TooMany);
        }
        Ok(())
    }

    fn enter(&mut self, id: IdKey, asked: Asked) -> Result<(), NotEntered> {
        self.check(&id)?;
        self.waiting.insert(id, asked);
        Ok(())
    }
}

/// A request of the server's.
#[derive(Debug)]
pub(crate) struct ServerAsk {
    /// Its row, unless it is one of those that are not recorded.
    pub(crate) call: Option<CallRef>,
    pub(crate) since: Instant,
}

/// Requests of the server that wait for the client (sampling, elicitation, roots, ping).
#[derive(Debug, Default)]
pub(crate) struct ServerAsks(Mutex<HashMap<IdKey, ServerAsk>>);

impl ServerAsks {
    fn asks(&self) -> MutexGuard<'_, HashMap<IdKey, ServerAsk>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May a request with this id be let through now?
    pub(crate) fn has_room(&self, id: &IdKey) -> bool {
        let asks = self.asks();
        asks.len() < MAX_PENDING && !asks.contains_key(id)
    }

    /// To be done before the client can see it.
    pub(crate) fn enter(&self, id: IdKey, ask: ServerAsk) {
        self.asks().insert(id, ask);
    }

    /// What was asked under this id and not answered yet.
    pub(crate) fn answer(&self, id: &IdKey) -> Option<ServerAsk> {
        self.asks().remove(id)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn key(lexeme: &str) -> IdKey {
        IdKey::from_lexeme(lexeme).unwrap()
    }

    fn asked() -> Asked {
        Asked { what: What::Other, since: Instant::now(), lasting: false }
    }

    #[test]
    fn a_subscription_keeps_no_session_open() {
        let pending = Pending::default();
        pending.enter(key("1"), Asked { lasting: true, ..asked() }).unwrap();
        assert!(pending.wait_empty(Duration::ZERO));
        pending.enter(key("2"), asked()).unwrap();
        assert!(!pending.wait_empty(Duration::ZERO));
        assert_eq!(pending.end("gone").len(), 2, "and is told the end like everybody else");
    }

    #[test]
    fn an_answer_on_its_way_keeps_a_session_open() {
        let pending = Pending::default();
        pending.enter(key("1"), asked()).unwrap();
        let delivering = pending.delivering();
        assert!(pending.answer(&key("1")).is_some());
        assert!(!pending.wait_empty(Duration::ZERO), "the client does not have it yet");
        drop(delivering);
        assert!(pending.wait_empty(Duration::ZERO));
    }

    #[test]
    fn an_id_is_answered_once() {
        let pending = Pending::default();
        pending.enter(key("1"), asked()).unwrap();
        assert_eq!(pending.enter(key("1"), asked()), Err(NotEntered::IdInUse));
        assert!(pending.answer(&key(r#""1""#)).is_none(), "a string is another id");
        assert!(pending.answer(&key("1")).is_some());
        assert!(pending.answer(&key("1")).is_none());
    }

    #[test]
    fn a_cancelled_request_is_owed_nothing_but_may_still_be_answered() {
        let pending = Pending::default();
        pending.enter(key("1"), asked()).unwrap();
        pending.cancel(&key("1"));
        assert!(pending.wait_empty(Duration::ZERO));
        assert_eq!(
            pending.enter(key("1"), asked()),
            Err(NotEntered::IdInUse),
            "its answer may be on the way"
        );
        assert!(pending.answer(&key("1")).is_some());
        assert_eq!(pending.enter(key("1"), asked()), Ok(()));
    }

    #[test]
    fn nothing_enters_after_the_end_and_everybody_is_told() {
        let pending = Pending::default();
        for id in ["3", "1", "2"] {
            pending.enter(key(id), asked()).unwrap();
        }
        let left: Vec<String> = pending.end("gone").iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(left, ["3", "1", "2"], "in the order in which they were asked");
        assert_eq!(pending.enter(key("4"), asked()), Err(NotEntered::Ended("gone".to_owned())));
        assert!(pending.end("gone again").is_empty());
    }

    #[test]
    fn both_directions_count_for_themselves() {
        let (pending, asks) = (Pending::default(), ServerAsks::default());
        pending.enter(key("1"), asked()).unwrap();
        assert!(asks.has_room(&key("1")));
        asks.enter(key("1"), ServerAsk { call: None, since: Instant::now() });
        assert!(!asks.has_room(&key("1")));
        assert!(asks.answer(&key("1")).is_some() && asks.answer(&key("1")).is_none());
        assert!(pending.answer(&key("1")).is_some());
    }
}

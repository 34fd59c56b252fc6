//! Who waits for which answer, in each direction.
//!
//! Owns the promise "exactly one answer per request": an id enters when its request is let through and
//! leaves with its first answer. Client and server number their requests independently, so there are two
//! tables and no id of one can be taken for one of the other.
//!
//! A session may have one server after another. Whoever waits for one of them waits for that generation alone: when it ends,
//! the table is emptied in the same step in which it turns to the next, so a late answer of an old server finds nobody, and
//! nobody is left to wait for a server that is gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_protocol::id::IdKey;
use callgate_protocol::lists::List;
use callgate_store::CallRef;

use crate::relay::OWN_IDS;
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
    /// What the server names when it tells of progress, where that counts.
    pub(crate) token: Option<IdKey>,
    /// When it last gave a sign of life.
    pub(crate) heard: Instant,
    /// The client has had its answer: it took too long.
    pub(crate) late: bool,
}

impl Asked {
    pub(crate) fn new(what: What) -> Asked {
        let since = Instant::now();
        Asked { what, since, lasting: false, token: None, heard: since, late: false }
    }
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
    /// The client's own handshake: its answer is what a later server must say too.
    Initialize,
    /// The handshake, repeated by the gate with a server that was started again.
    Greeting,
    /// Something that the gate asked for; what is answered is nobody's concern.
    Quiet,
    Other,
}

impl What {
    /// Does the client wait for it?
    pub(crate) fn is_clients(&self) -> bool {
        !matches!(self, What::OwnList { .. } | What::Greeting | What::Quiet)
    }
}

/// Why a request was not entered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotEntered {
    /// The id is in use: two answers for one id would be ambiguous.
    IdInUse,
    TooMany,
    /// The session is over; the reason to tell.
    Ended(Arc<str>),
    /// There is no server for now; why.
    Shut(Shut),
    /// The server is being started; it may be waited for so long.
    Starting(Instant),
    /// The server was ended and comes back when somebody wants it.
    Asleep,
    /// The server that the request was meant for has made place for another.
    Stale,
}

/// Why there is no server although there is a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shut {
    /// As the record names it.
    pub(crate) rule: &'static str,
    /// A sentence for whoever calls.
    pub(crate) reason: Arc<str>,
}

/// Whether requests get to a server.
#[derive(Clone, Debug, Default)]
pub(crate) enum Door {
    #[default]
    Open,
    /// The server is being started. Whoever comes waits, but not for longer than until then.
    Ajar {
        until: Instant,
    },
    /// There is no server until somebody wants it.
    Asleep,
    Shut(Shut),
    /// For good.
    Ended(Arc<str>),
}

/// Numbers the servers of a session.
pub(crate) type Generation = u32;

#[derive(Debug, Default)]
struct Table {
    waiting: HashMap<IdKey, Asked>,
    /// Cancelled by the client: an answer may still come, and none is owed.
    cancelled: HashMap<IdKey, Asked>,
    /// Given up because they took too long: an answer may still come, and is not wanted.
    late: HashMap<IdKey, Asked>,
    /// How many were ever entered.
    entered: u64,
    door: Door,
    /// The server that everybody in here waits for; counted from 0.
    generation: Generation,
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

    /// Enters a request for this server; to be done before the server can see it.
    pub(crate) fn enter(&self, id: IdKey, asked: Asked, generation: Generation) -> Result<(), NotEntered> {
        let mut table = self.table();
        table.used = true;
        let entered = table.check(&id, generation);
        if entered.is_ok() {
            table.entered += 1;
            table.waiting.insert(id, asked);
        }
        self.tell(table);
        entered
    }

    /// Enters a request of our own, under an id of ours; the door is for others. False when the server is another one.
    pub(crate) fn enter_own(&self, id: IdKey, asked: Asked, generation: Generation) -> bool {
        let mut table = self.table();
        let ours = table.generation == generation && !matches!(table.door, Door::Ended(_));
        if ours {
            table.waiting.insert(id, asked);
        }
        self.tell(table);
        ours
    }

    /// May a request with this id be let through to this server now?
    pub(crate) fn check(&self, id: &IdKey, generation: Generation) -> Result<(), NotEntered> {
        let mut table = self.table();
        table.used = true;
        let checked = table.check(id, generation);
        self.tell(table);
        checked
    }

    /// Has the client's id an answer to come? For one that is answered without a server.
    pub(crate) fn is_free(&self, id: &IdKey) -> bool {
        let table = self.table();
        !table.is_used(id)
    }

    /// To be held from before answers are taken out until the client has them.
    pub(crate) fn delivering(&self) -> Delivering<'_> {
        self.delivering.fetch_add(1, Ordering::SeqCst);
        Delivering(&self.delivering)
    }

    /// The first answer to `id` takes it out; every later one, and each of a server that is no more, finds nothing.
    pub(crate) fn answer(&self, id: &IdKey, generation: Generation) -> Option<Asked> {
        let mut table = self.table();
        if table.generation != generation {
            return None;
        }
        let asked = table.waiting.remove(id).or_else(|| table.cancelled.remove(id));
        let asked = asked.or_else(|| table.late.remove(id));
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

    /// The server is gone, or about to be: from here on the table is the next one's, and the door as it is said. Everybody
    /// who waited is returned, oldest first.
    pub(crate) fn sever(&self, door: Door) -> Vec<(IdKey, Asked)> {
        self.turn(self.table(), door)
    }

    /// The same, unless somebody waits for an answer that is to be expected: then nothing happens.
    pub(crate) fn sever_if_idle(&self, door: Door) -> Option<Vec<(IdKey, Asked)>> {
        let table = self.table();
        let idle = table.waiting.values().all(|asked| asked.lasting);
        idle.then(|| self.turn(table, door))
    }

    fn turn(&self, mut table: MutexGuard<'_, Table>, door: Door) -> Vec<(IdKey, Asked)> {
        if !matches!(table.door, Door::Ended(_)) {
            table.door = door;
        }
        table.generation += 1;
        table.cancelled.clear();
        table.late.clear();
        let mut left: Vec<_> = table.waiting.drain().collect();
        self.tell(table);
        left.sort_by_key(|(_, asked)| asked.since);
        left
    }

    /// Somebody wants the server that is asleep. True for the first, who has to say so.
    pub(crate) fn wake(&self, until: Instant) -> bool {
        let mut table = self.table();
        let asleep = matches!(table.door, Door::Asleep);
        if asleep {
            table.door = Door::Ajar { until };
        }
        self.tell(table);
        asleep
    }

    /// The server tells of progress under this token: that call lives.
    pub(crate) fn sign_of_life(&self, token: &IdKey) {
        let mut table = self.table();
        if let Some(asked) = table.waiting.values_mut().find(|asked| asked.token.as_ref() == Some(token)) {
            asked.heard = Instant::now();
        }
    }

    /// Calls that gave no sign of life for so long. From here on each counts as answered, once, by whoever asks this.
    pub(crate) fn overdue(&self, limit: Duration) -> Vec<(IdKey, CallRef, Expects)> {
        let mut table = self.table();
        let is_overdue = |asked: &Asked| {
            !asked.lasting && matches!(asked.what, What::Call(..)) && asked.heard.elapsed() > limit
        };
        let ids: Vec<IdKey> =
            table.waiting.iter().filter(|(_, asked)| is_overdue(asked)).map(|(id, _)| id.clone()).collect();
        let mut overdue = Vec::new();
        for id in ids {
            let Some(asked) = table.waiting.remove(&id) else { continue };
            if let What::Call(call, expects) = &asked.what {
                overdue.push((id.clone(), *call, *expects));
            }
            table.late.insert(id, Asked { late: true, ..asked });
        }
        self.tell(table);
        overdue
    }

    /// Whether anybody waits, and how many ever did: tells whether a server is used.
    pub(crate) fn use_of(&self) -> (bool, u64) {
        let table = self.table();
        (table.waiting.values().any(|asked| !asked.lasting), table.entered)
    }

    /// Changes how whoever comes is received. The end stays the end.
    pub(crate) fn set_door(&self, door: Door) {
        let mut table = self.table();
        if !matches!(table.door, Door::Ended(_)) {
            table.door = door;
        }
        self.tell(table);
    }

    pub(crate) fn generation(&self) -> Generation {
        self.table().generation
    }

    /// How many calls, which are all that is on record, wait for their answer.
    pub(crate) fn calls(&self) -> usize {
        let is_call = |asked: &&Asked| matches!(asked.what, What::Call(..)) && !asked.lasting;
        self.table().waiting.values().filter(is_call).count()
    }

    /// Waits while a server is being started, as long as that may take.
    pub(crate) fn wait_started(&self) {
        let until = match &self.table().door {
            Door::Ajar { until } => *until,
            Door::Open | Door::Asleep | Door::Shut(_) | Door::Ended(_) => return,
        };
        let limit = until.saturating_duration_since(Instant::now());
        self.wait(limit, |table| !matches!(table.door, Door::Ajar { .. }));
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

    /// Waits until this server is known to be gone; false after `limit`.
    pub(crate) fn wait_severed(&self, generation: Generation, limit: Duration) -> bool {
        self.wait(limit, |table| table.generation != generation)
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
    fn check(&self, id: &IdKey, generation: Generation) -> Result<(), NotEntered> {
        match &self.door {
            Door::Open => {}
            Door::Ended(reason) => return Err(NotEntered::Ended(reason.clone())),
            Door::Shut(shut) => return Err(NotEntered::Shut(shut.clone())),
            Door::Asleep => return Err(NotEntered::Asleep),
            Door::Ajar { until } => return Err(NotEntered::Starting(*until)),
        }
        if self.generation != generation {
            return Err(NotEntered::Stale);
        }
        // A late answer to a cancelled request must not be taken for the answer to another.
        if self.is_used(id) {
            return Err(NotEntered::IdInUse);
        }
        if self.waiting.len() >= MAX_PENDING {
            return Err(NotEntered::TooMany);
        }
        Ok(())
    }

    /// Is there an answer that is owed, or that may still come?
    fn is_used(&self, id: &IdKey) -> bool {
        self.waiting.contains_key(id) || self.cancelled.contains_key(id) || self.late.contains_key(id)
    }
}

/// A request of the server's.
#[derive(Debug)]
pub(crate) struct ServerAsk {
    /// Its row, unless it is one of those that are not recorded.
    pub(crate) call: Option<CallRef>,
    pub(crate) since: Instant,
    /// The id that the server gave it.
    pub(crate) own: IdKey,
}

/// Requests of the server that wait for the client (sampling, elicitation, roots, ping).
///
/// The client knows the requests of the first server by the server's own ids. A later server counts from the start again,
/// and an answer to the one before may still come, so its requests get names that no other ever had.
#[derive(Debug, Default)]
pub(crate) struct ServerAsks(Mutex<Asks>);

#[derive(Debug, Default)]
struct Asks {
    /// By the id that the client sees.
    open: HashMap<IdKey, ServerAsk>,
    /// The server's id → what the client sees, where they differ.
    renamed: HashMap<IdKey, IdKey>,
    /// How many were ever renamed.
    names: u64,
}

impl ServerAsks {
    fn asks(&self) -> MutexGuard<'_, Asks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May a request with this id be let through now?
    pub(crate) fn has_room(&self, own: &IdKey) -> bool {
        let asks = self.asks();
        asks.open.len() < MAX_PENDING && !asks.open.contains_key(own) && !asks.renamed.contains_key(own)
    }

    /// To be done before the client can see it. The id that the client is to see, where it is another.
    pub(crate) fn enter(&self, ask: ServerAsk, generation: Generation) -> Option<IdKey> {
        let mut asks = self.asks();
        let shown = (generation > 0).then(|| {
            asks.names += 1;
            IdKey::from_lexeme(&format!("\"{OWN_IDS}{generation}-{}\"", asks.names))
        });
        let shown = shown.flatten();
        if let Some(shown) = &shown {
            asks.renamed.insert(ask.own.clone(), shown.clone());
        }
        let key = shown.clone().unwrap_or_else(|| ask.own.clone());
        asks.open.insert(key, ask);
        shown
    }

    /// The client's answer: what was asked under the id that it saw and not answered yet.
    pub(crate) fn answer(&self, shown: &IdKey) -> Option<ServerAsk> {
        let mut asks = self.asks();
        let ask = asks.open.remove(shown)?;
        asks.renamed.remove(&ask.own);
        Some(ask)
    }

    /// The server takes back what it asked: that, and the id that the client saw.
    pub(crate) fn take_back(&self, own: &IdKey) -> Option<(ServerAsk, IdKey)> {
        let mut asks = self.asks();
        let shown = asks.renamed.remove(own).unwrap_or_else(|| own.clone());
        asks.open.remove(&shown).map(|ask| (ask, shown))
    }

    /// The server is gone: everything that it asked and that was not answered, by the id that the client saw.
    pub(crate) fn sever(&self) -> Vec<(IdKey, ServerAsk)> {
        let mut asks = self.asks();
        asks.renamed.clear();
        let mut left: Vec<_> = asks.open.drain().collect();
        left.sort_by_key(|(_, ask)| ask.since);
        left
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(lexeme: &str) -> IdKey {
        IdKey::from_lexeme(lexeme).unwrap()
    }

    fn asked() -> Asked {
        Asked::new(What::Other)
    }

    fn ended(reason: &str) -> Door {
        Door::Ended(reason.into())
    }

    #[test]
    fn a_subscription_keeps_no_session_open() {
        let pending = Pending::default();
        pending.enter(key("1"), Asked { lasting: true, ..asked() }, 0).unwrap();
        assert!(pending.wait_empty(Duration::ZERO));
        pending.enter(key("2"), asked(), 0).unwrap();
        assert!(!pending.wait_empty(Duration::ZERO));
        assert_eq!(pending.sever(ended("gone")).len(), 2, "and is told the end like everybody else");
    }

    #[test]
    fn an_answer_on_its_way_keeps_a_session_open() {
        let pending = Pending::default();
        pending.enter(key("1"), asked(), 0).unwrap();
        let delivering = pending.delivering();
        assert!(pending.answer(&key("1"), 0).is_some());
        assert!(!pending.wait_empty(Duration::ZERO), "the client does not have it yet");
        drop(delivering);
        assert!(pending.wait_empty(Duration::ZERO));
    }

    #[test]
    fn an_id_is_answered_once() {
        let pending = Pending::default();
        pending.enter(key("1"), asked(), 0).unwrap();
        assert_eq!(pending.enter(key("1"), asked(), 0), Err(NotEntered::IdInUse));
        assert!(pending.answer(&key(r#""1""#), 0).is_none(), "a string is another id");
        assert!(pending.answer(&key("1"), 0).is_some());
        assert!(pending.answer(&key("1"), 0).is_none());
    }

    #[test]
    fn a_cancelled_request_is_owed_nothing_but_may_still_be_answered() {
        let pending = Pending::default();
        pending.enter(key("1"), asked(), 0).unwrap();
        pending.cancel(&key("1"));
        assert!(pending.wait_empty(Duration::ZERO));
        assert_eq!(
            pending.enter(key("1"), asked(), 0),
            Err(NotEntered::IdInUse),
            "its answer may be on the way"
        );
        assert!(pending.answer(&key("1"), 0).is_some());
        assert_eq!(pending.enter(key("1"), asked(), 0), Ok(()));
    }

    #[test]
    fn nothing_enters_after_the_end_and_everybody_is_told() {
        let pending = Pending::default();
        for id in ["3", "1", "2"] {
            pending.enter(key(id), asked(), 0).unwrap();
        }
        let left: Vec<String> = pending.sever(ended("gone")).iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(left, ["3", "1", "2"], "in the order in which they were asked");
        pending.set_door(Door::Open);
        assert_eq!(pending.enter(key("4"), asked(), 1), Err(NotEntered::Ended("gone".into())));
        assert!(pending.sever(ended("gone again")).is_empty());
    }

    #[test]
    fn a_request_waits_for_one_server_alone() {
        let pending = Pending::default();
        pending.enter(key("1"), asked(), 0).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        assert_eq!(pending.sever(Door::Ajar { until }).len(), 1);
        assert!(pending.answer(&key("1"), 0).is_none(), "it has its answer");
        assert_eq!(pending.enter(key("2"), asked(), 1), Err(NotEntered::Starting(until)));
        assert!(pending.enter_own(key("\"own\""), asked(), 1), "the gate's own need no open door");
        assert!(!pending.enter_own(key("\"late\""), asked(), 0));
        pending.set_door(Door::Open);
        assert_eq!(pending.enter(key("1"), asked(), 0), Err(NotEntered::Stale));
        assert_eq!(pending.enter(key("1"), asked(), 1), Ok(()));
        assert!(pending.answer(&key("1"), 0).is_none(), "a late answer of the server before");
        assert!(pending.answer(&key("1"), 1).is_some());
    }

    #[test]
    fn a_server_is_put_to_sleep_only_between_calls_and_woken_by_the_first_who_wants_it() {
        let pending = Pending::default();
        pending.enter(key("1"), asked(), 0).unwrap();
        assert!(pending.sever_if_idle(Door::Asleep).is_none(), "somebody waits");
        pending.answer(&key("1"), 0).unwrap();
        assert_eq!(pending.sever_if_idle(Door::Asleep).map(|left| left.len()), Some(0));
        assert_eq!(pending.enter(key("2"), asked(), 1), Err(NotEntered::Asleep));
        let until = Instant::now();
        assert!(pending.wake(until) && !pending.wake(until));
        assert_eq!(pending.enter(key("2"), asked(), 1), Err(NotEntered::Starting(until)));
    }

    #[test]
    fn both_directions_count_for_themselves() {
        let (pending, asks) = (Pending::default(), ServerAsks::default());
        pending.enter(key("1"), asked(), 0).unwrap();
        assert!(asks.has_room(&key("1")));
        assert_eq!(asks.enter(ask("1"), 0), None);
        assert!(!asks.has_room(&key("1")));
        assert!(asks.answer(&key("1")).is_some() && asks.answer(&key("1")).is_none());
        assert!(pending.answer(&key("1"), 0).is_some());
    }

    fn ask(own: &str) -> ServerAsk {
        ServerAsk { call: None, since: Instant::now(), own: key(own) }
    }

    #[test]
    fn what_a_later_server_asks_is_never_taken_for_what_an_earlier_one_asked() {
        let asks = ServerAsks::default();
        asks.enter(ask("1"), 0);
        let left: Vec<String> = asks.sever().iter().map(|(shown, _)| shown.to_string()).collect();
        assert_eq!(left, ["1"]);
        let shown = asks.enter(ask("1"), 1).unwrap();
        assert_eq!(shown.to_string(), r#""callgate/1-1""#);
        assert!(!asks.has_room(&key("1")));
        assert!(asks.answer(&key("1")).is_none(), "a late answer to the first server");
        assert_eq!(asks.answer(&shown).map(|ask| ask.own), Some(key("1")));
        assert!(asks.has_room(&key("1")));
        let again = asks.enter(ask("1"), 1).unwrap();
        assert_ne!(again, shown);
        assert_eq!(asks.take_back(&key("1")).map(|(_, shown)| shown), Some(again));
        assert!(asks.take_back(&key("1")).is_none());
    }

    /// What may happen to the table, in any order. Generations are given relative to the one of this moment.
    #[derive(Clone, Debug)]
    enum Step {
        Enter { id: u8, behind: u32 },
        Answer { id: u8, behind: u32 },
        Cancel { id: u8 },
        Sever { open: bool },
        Open,
        Rest,
    }

    fn step() -> impl Strategy<Value = Step> {
        let (id, behind) = (0_u8..6, 0_u32..3);
        prop_oneof![
            4 => (id.clone(), behind.clone()).prop_map(|(id, behind)| Step::Enter { id, behind }),
            4 => (id.clone(), behind).prop_map(|(id, behind)| Step::Answer { id, behind }),
            1 => id.prop_map(|id| Step::Cancel { id }),
            1 => any::<bool>().prop_map(|open| Step::Sever { open }),
            1 => Just(Step::Open),
            1 => Just(Step::Rest),
        ]
    }

    proptest! {
        /// Each request that was entered and not cancelled leaves the table exactly once: by an answer of the server that it
        /// was entered for, or when that server goes.
        #[test]
        fn every_request_gets_one_answer_across_all_servers(steps in prop::collection::vec(step(), 0..60)) {
            let pending = Pending::default();
            // Who is owed an answer, by which server.
            let mut owed: HashMap<u8, Generation> = HashMap::new();
            let name = |id: u8| key(&id.to_string());
            for step in steps {
                let now = pending.generation();
                match step {
                    Step::Enter { id, behind } => {
                        let meant = now.saturating_sub(behind);
                        if pending.enter(name(id), asked(), meant).is_ok() {
                            prop_assert_eq!(meant, now, "only the server of this moment can be asked");
                            prop_assert_eq!(owed.insert(id, now), None, "one question under one id at a time");
                        }
                    }
                    Step::Answer { id, behind } => {
                        let from = now.saturating_sub(behind);
                        let answered = pending.answer(&name(id), from).is_some();
                        if answered && owed.remove(&id).is_some() {
                            prop_assert_eq!(from, now, "by the server that it was entered for");
                        } else if !answered && from == now {
                            prop_assert!(!owed.contains_key(&id), "an answer that is owed is not lost");
                        }
                    }
                    Step::Cancel { id } => {
                        pending.cancel(&name(id));
                        owed.remove(&id);
                    }
                    Step::Sever { open } => {
                        let door = if open { Door::Open } else { Door::Ajar { until: Instant::now() } };
                        let left = pending.sever(door);
                        prop_assert_eq!(left.len(), owed.len());
                        for (id, _) in left {
                            let id = id.to_string().parse().unwrap();
                            prop_assert_eq!(owed.remove(&id), Some(now));
                        }
                    }
                    Step::Open => pending.set_door(Door::Open),
                    Step::Rest => {
                        let rested = pending.sever_if_idle(Door::Asleep);
                        prop_assert_eq!(rested.is_some(), owed.is_empty(), "never while somebody waits");
                    }
                }
            }
            prop_assert_eq!(pending.sever(ended("over")).len(), owed.len());
        }
    }
}

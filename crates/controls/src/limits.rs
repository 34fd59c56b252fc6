//! How often something happened: the counters behind every limit.
//!
//! Windows slide exactly, and all limits of one call are taken together or not at all; nothing is given back but the
//! places of calls that are over. Counters of scope `session` live in the memory of the one process that the session
//! is; all others are rows in `limits.db`, shared exactly among shims. A `limits.db` that was lost counts as full.

mod admissions;
mod amounts;
mod db;
mod holds;
pub(crate) mod key;
mod ledger;
pub(crate) mod list;
pub(crate) mod memory;
mod once;
mod sums;
mod take;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use callgate_policy::{Kind, Limit, Scope, Standing, Taking, Usage};

use rustc_hash::FxHashSet;

use crate::CounterKind;
use callgate_home::clock::{Clock, Moment};
use callgate_home::{Home, SessionId, StoreError};
pub(crate) use db::Db;
pub use db::check_version;
use holds::Freed;
use key::key;
use memory::Counters;
pub(crate) use once::{is_spent, make_known, make_spendable};
use sums::MOST;
use take::{Admission, Took, Want};

/// Admissions are kept for at least this long, so that a longer window written tomorrow finds the recent past.
const KEPT_MS: i64 = 60 * 60 * 1000;
/// How long a call that the client gave up counts as under way if no answer comes.
const CANCELLED_MS: i64 = 60 * 1000;

/// There is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// In the unit of the limit's amounts.
    pub used: u64,
    /// Until this much has room, if nothing else happens; None when time alone frees nothing.
    pub frees_in: Option<Duration>,
}

/// Why a call is over its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped {
    /// The limit, as a pointer into the policy.
    pub pointer: String,
    pub counter: String,
    /// In the unit of the limit's amounts: millionths for a sum.
    pub used: u64,
    pub max: NonZeroU32,
    /// For the kinds that have one.
    pub window: Option<Duration>,
    /// Until this call is admitted, if nothing else happens; None when time alone frees nothing.
    pub frees_in: Option<Duration>,
    /// The rule's own words.
    pub on_deny: Option<String>,
}

/// A call was not admitted by its limits.
#[derive(Debug)]
pub enum NotTaken {
    Capped(Capped),
    /// The allowance was good for one call, and that was made.
    Spent,
    Store(StoreError),
}

/// A call as its limits see it.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    pub client: &'a str,
    /// Names it among the calls of the session.
    pub seq: u64,
    /// A full limit does not refuse: the call is counted all the same.
    pub observing: bool,
    /// The allowance that it uses up.
    pub spend: Option<&'a str>,
}

/// Everything was taken.
#[derive(Debug)]
pub struct Taken {
    /// When it counted.
    pub at: Moment,
    /// The first limit that was full, when that is only observed.
    pub over: Option<usize>,
}

/// The counters of one session.
#[derive(Debug)]
pub struct Limits {
    home: Home,
    server: Arc<str>,
    session: SessionId,
    clock: Arc<dyn Clock>,
    own: Counters,
    shared: Option<Db>,
    /// Calls that hold shared places.
    holding: FxHashSet<u64>,
    /// Calls that nobody waits for and that their server may still be at.
    given_up: FxHashSet<u64>,
    /// Shared places that are to be given back and could not be yet.
    unfreed: Vec<Freed>,
    /// What happened to the counters and is not told yet.
    notices: Vec<String>,
}

impl Limits {
    pub fn new(home: Home, server: &str, session: SessionId, clock: Arc<dyn Clock>) -> Self {
        Limits {
            home,
            server: server.into(),
            session,
            clock,
            own: Counters::default(),
            shared: None,
            holding: FxHashSet::default(),
            given_up: FxHashSet::default(),
            unfreed: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Opens the database before the first call needs it; a failure shows when it does.
    pub fn warm(&mut self) {
        let _later = self.database();
    }

    /// Takes its share from every counter, or from none.
    pub fn take(&mut self, call: Counted<'_>, takings: &[Taking<'_>]) -> Result<Taken, NotTaken> {
        let mut taken = Taken { at: self.clock.now(), over: None };
        let own = |taking: &&Taking<'_>| taking.limit.scope == Scope::Session;
        let now = taken.at.uptime_ms.cast_signed();
        for (index, Taking { limit, .. }) in takings.iter().enumerate().filter(|(_, taking)| own(taking)) {
            let taking = Taking { limit, amount: amount(takings, index) };
            if let Some(full) = self.own.full(&limit.counter, &taking, now) {
                if !call.observing {
                    return Err(NotTaken::Capped(capped(limit, full)));
                }
                taken.over = taken.over.or(Some(index));
            }
        }
        if call.spend.is_some() || takings.iter().any(|taking| !own(&taking)) {
            let shared = self.take_shared(call, takings)?;
            taken.at = shared.at;
            taken.over = [taken.over, shared.over].into_iter().flatten().min();
        }
        // At the moment of the shared take, if there was one, so that a call counts everywhere at once.
        let now = taken.at.uptime_ms.cast_signed();
        for taking in takings.iter().filter(own) {
            self.own.take(&taking.limit.counter, taking, now, call.seq);
        }
        Ok(taken)
    }

    fn take_shared(&mut self, call: Counted<'_>, takings: &[Taking<'_>]) -> Result<Taken, NotTaken> {
        let server = self.server.clone();
        let (indices, wants): (Vec<usize>, Vec<Want<'_>>) = takings
            .iter()
            .enumerate()
            .filter(|(_, taking)| taking.limit.scope != Scope::Session)
            .map(|(index, taking)| {
                let amount = amount(takings, index);
                (index, want(&Taking { amount, ..*taking }, call.client, &server))
            })
            .unzip();
        let clock = self.clock.clone();
        // Twice: a database that turns out lost or broken is made anew (full), and asked again.
        for attempt in 0..2 {
            let freed = std::mem::take(&mut self.unfreed);
            let admission = Admission {
                wants: &wants,
                session: self.session,
                seq: call.seq,
                observing: call.observing,
                spend: call.spend,
                freed: &freed,
            };
            let took = self.database().and_then(|database| database.take(clock.as_ref(), &admission));
            match took {
                Ok(Took::All { at, over }) => {
                    if wants.iter().any(|want| want.kind == CounterKind::Concurrent) {
                        self.holding.insert(call.seq);
                    }
                    return Ok(Taken { at, over: over.map(|over| indices[over]) });
                }
                Ok(Took::Full(index, full)) => {
                    return Err(NotTaken::Capped(capped(takings[indices[index]].limit, full)));
                }
                Ok(Took::Spent) => return Err(NotTaken::Spent),
                Err(error) => {
                    self.unfreed = freed;
                    self.recover(&error, attempt == 0).map_err(NotTaken::Store)?;
                }
            }
        }
        Err(NotTaken::Store(StoreError::Ended))
    }

    /// How full a counter is, and when the least amount has room; nothing is taken.
    pub fn reading(&mut self, client: &str, limit: &Limit) -> Result<Full, StoreError> {
        let least = Taking { limit, amount: 1 };
        let clock = self.clock.clone();
        if limit.scope == Scope::Session {
            let now = clock.now().uptime_ms.cast_signed();
            let used = self.own.used(&limit.counter, limit, now);
            return Ok(self.own.full(&limit.counter, &least, now).unwrap_or(Full { used, frees_in: None }));
        }
        let server = self.server.clone();
        let want = want(&least, client, &server);
        let (used, full) = self.database()?.standing(clock.as_ref(), &want)?;
        Ok(full.unwrap_or(Full { used, frees_in: None }))
    }

    /// Calls that are over, or given up by the client: their places are to be free.
    pub fn free(&mut self, calls: impl IntoIterator<Item = (u64, bool)>) {
        let now = self.clock.now().uptime_ms.cast_signed();
        for (seq, cancelled) in calls {
            if cancelled {
                self.own.cancelled(seq, now);
                self.given_up.insert(seq);
            } else {
                self.own.release(seq);
                self.given_up.remove(&seq);
            }
            let shared = if cancelled { self.holding.contains(&seq) } else { self.holding.remove(&seq) };
            if shared {
                self.unfreed.push(Freed { seq, cancelled });
            }
        }
        if self.unfreed.is_empty() {
            return;
        }
        let (clock, session) = (self.clock.clone(), self.session);
        let freed = std::mem::take(&mut self.unfreed);
        let done = self.database().and_then(|database| database.free(clock.as_ref(), session, &freed));
        if let Err(error) = done {
            // The next take tries again, and fails if that does.
            self.unfreed = freed;
            let _later = self.recover(&error, true);
        }
    }

    /// The server's process is gone, and whatever it was still at with it.
    pub fn free_given_up(&mut self) {
        let over = std::mem::take(&mut self.given_up);
        self.free(over.into_iter().map(|seq| (seq, false)));
    }

    /// Whatever it was, the next take starts from a fresh look at the file. Fails unless that may help at once.
    fn recover(&mut self, error: &StoreError, again: bool) -> Result<(), StoreError> {
        self.shared = None;
        if !again || !error.is_corrupt() {
            return Err(error.clone());
        }
        let aside = db::put_aside(&self.home, &self.clock.now())?;
        self.notices.extend(
            aside.map(|aside| format!("the counters were damaged and were moved to {}", aside.display())),
        );
        Ok(())
    }

    fn database(&mut self) -> Result<&mut Db, StoreError> {
        if self.shared.as_ref().is_some_and(|database| !database.is_in_place()) {
            self.shared = None;
        }
        match self.shared {
            Some(ref mut database) => Ok(database),
            None => {
                let mut opened = Db::open(&self.home, &self.clock.now())?;
                self.notices.extend(opened.found.take());
                Ok(self.shared.insert(opened))
            }
        }
    }

    /// What a person should hear about the counters.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}

/// Makes the counters of a home that never had any.
pub(crate) fn create_first(home: &Home) -> Result<(), StoreError> {
    Db::open(home, &callgate_home::clock::SystemClock::new().now()).map(drop)
}

/// The counters as `explain` sees them: read, never taken.
#[derive(Debug)]
pub struct Readings {
    database: Option<std::sync::Mutex<Db>>,
    client: String,
    server: String,
    clock: Arc<dyn Clock>,
}

impl Readings {
    /// The counters that calls of this client to this server use. Session counters read as unused.
    pub fn open(home: &Home, server: &str, client: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let database = match home.limits_db().exists() {
            true => Some(std::sync::Mutex::new(Db::open(home, &clock.now())?)),
            false => None,
        };
        Ok(Readings { database, client: client.to_owned(), server: server.to_owned(), clock })
    }
}

impl Usage for Readings {
    fn standing(&self, taking: &Taking<'_>) -> Standing {
        let limit = taking.limit;
        let unused = Standing { used: 0, frees_in: None };
        let Some(database) = self.database.as_ref().filter(|_| limit.scope != Scope::Session) else {
            return unused;
        };
        let want = want(taking, &self.client, &self.server);
        let mut database = database.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match database.standing(self.clock.as_ref(), &want) {
            Ok((used, full)) => Standing { used, frees_in: full.and_then(|full| full.frees_in) },
            // Counters that cannot be read refuse: show them as full.
            Err(_) => Standing { used: limit.ceiling(), frees_in: None },
        }
    }
}

/// One limit's question. A sum's amount may be anything, and no more of it counts than fills every limit.
fn want<'l>(taking: &Taking<'l>, client: &str, server: &'l str) -> Want<'l> {
    let limit = taking.limit;
    Want {
        key: key(limit, client, server, ""),
        server,
        counter: &limit.counter,
        kind: CounterKind::of(limit),
        amount: taking.amount.min(MOST),
        ceiling: limit.ceiling(),
        window_ms: limit.window().map(millis),
    }
}

/// How much this limit's counter is to take. One that two limits of a call name takes the larger of their amounts, once.
fn amount(takings: &[Taking<'_>], index: usize) -> u64 {
    let Taking { limit, amount } = takings[index];
    if !matches!(limit.kind, Kind::Sum { .. }) {
        return amount;
    }
    let same = |other: &&Taking<'_>| {
        matches!(other.limit.kind, Kind::Sum { .. })
            && (other.limit.scope, &other.limit.counter) == (limit.scope, &limit.counter)
    };
    takings.iter().filter(same).map(|other| other.amount).max().unwrap_or(amount)
}

fn capped(limit: &Limit, full: Full) -> Capped {
    Capped {
        pointer: limit.pointer.clone(),
        counter: limit.counter.clone(),
        used: full.used,
        max: limit.max,
        window: limit.window(),
        frees_in: full.frees_in,
        on_deny: limit.on_deny.clone(),
    }
}

fn millis(window: Duration) -> u64 {
    u64::try_from(window.as_millis()).unwrap_or(u64::MAX).clamp(1, i64::MAX.unsigned_abs())
}

#[cfg(test)]
#[path = "limits/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "limits/tests_of_kinds.rs"]
mod tests_of_kinds;

//! Pending requests: those of the client that wait for an answer of the server, or to get to it ([`held`]).
//!
//! Owns the promise "exactly one answer per request": an id enters when its request is let through and
//! leaves with its first answer. Client and server number their requests independently, so the server's
//! have a table of their own ([`crate::server_requests`]) and no id of one can be taken for one of the other.
//!
//! A session may have one server after another. Whoever waits for one of them waits for that generation alone: when it ends,
//! the table is emptied in the same step in which it turns to the next, so a late answer of an old server finds nobody, and
//! nobody is left to wait for a server that is gone.

mod held;
mod request;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_home::CallId;
use callgate_journal::CallRef;
use callgate_protocol::id::IdKey;

use crate::call_timeout::CallTimeout;
use crate::wording::Expects;

pub(crate) use request::{Cancelled, Intake, NotEntered, PendingRequest, RequestKind, Unavailable};

/// How many requests may wait at once. An agent that gets here is not waiting for answers any more.
pub(crate) const MAX_PENDING: usize = 65_536;

/// How long an answer that is on its way is waited for before it is looked at again.
const HAND_OVER: Duration = Duration::from_millis(5);

/// Numbers the servers of a session.
pub(crate) type Generation = u32;

/// Numbers the requests that were held: an id that was cancelled may be used again at once.
pub(crate) type Ticket = u64;

#[derive(Debug, Default)]
struct Table {
    waiting: HashMap<IdKey, PendingRequest>,
    /// Not let through yet; nothing but us knows of them.
    held: HashMap<IdKey, (Ticket, PendingRequest)>,
    /// How many were ever held.
    tickets: Ticket,
    /// Cancelled by the client: an answer may still come, and none is owed.
    cancelled: HashMap<IdKey, PendingRequest>,
    /// Given up because they took too long: an answer may still come, and is not wanted.
    late: HashMap<IdKey, PendingRequest>,
    /// How many calls and lists were ever entered.
    entered: u64,
    intake: Intake,
    /// The server that everybody in here waits for; counted from 0.
    generation: Generation,
    /// Has the client asked for anything yet?
    used: bool,
    /// Was any of it let through to a server?
    let_through: bool,
    /// How many wait for a change. Waking nobody is a system call too, and this table changes twice a call.
    watchers: u32,
}

/// Requests of the client that wait for the server.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    table: Mutex<Table>,
    /// As in the table, for whoever only wants to know whether a server is still the one.
    generation: AtomicU32,
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
    pub(crate) fn enter(
        &self,
        id: IdKey,
        request: PendingRequest,
        generation: Generation,
    ) -> Result<(), NotEntered> {
        let mut table = self.table();
        table.used = true;
        let entered = table.check(&id, generation);
        if entered.is_ok() {
            table.let_through = true;
            table.entered += u64::from(request.what.is_use());
            table.waiting.insert(id, request);
        }
        self.tell(table);
        entered
    }

    /// Enters a request of our own, under an id of ours; the intake is for others. False when the server is another one.
    pub(crate) fn enter_own(&self, id: IdKey, request: PendingRequest, generation: Generation) -> bool {
        let mut table = self.table();
        let ours = table.generation == generation && !matches!(table.intake, Intake::Closed(_));
        if ours {
            table.waiting.insert(id, request);
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
    pub(crate) fn answer(&self, id: &IdKey, generation: Generation) -> Option<PendingRequest> {
        let mut table = self.table();
        if table.generation != generation {
            return None;
        }
        let request = table.waiting.remove(id).or_else(|| table.cancelled.remove(id));
        let request = request.or_else(|| table.late.remove(id));
        self.tell(table);
        request
    }

    /// The client gave the request up.
    pub(crate) fn cancel(&self, id: &IdKey) -> Cancelled {
        let mut table = self.table();
        if table.held.remove(id).is_some() {
            self.tell(table);
            return Cancelled::Held;
        }
        let Some(request) = table.waiting.remove(id) else { return Cancelled::Unknown };
        let call = match &request.what {
            RequestKind::Call(call, _) => Some(*call),
            _ => None,
        };
        if table.cancelled.len() < MAX_PENDING {
            table.cancelled.insert(id.clone(), request);
        }
        self.tell(table);
        Cancelled::Sent(call)
    }

    /// The server is gone, or about to be: from here on the table is the next one's, and the intake as it is said. Everybody
    /// who waited is returned, oldest first.
    pub(crate) fn sever(&self, intake: Intake) -> Vec<(IdKey, PendingRequest)> {
        self.turn(self.table(), intake)
    }

    /// The same, unless somebody waits for an answer that is to be expected, or the server `holds` something for its client:
    /// then nothing happens. PendingRequest while no request can enter or leave, so that none is missed.
    pub(crate) fn sever_if_idle(
        &self,
        intake: Intake,
        holds: impl FnOnce() -> bool,
    ) -> Option<Vec<(IdKey, PendingRequest)>> {
        let table = self.table();
        let idle = table.held.is_empty() && table.waiting.values().all(|request| request.lasting) && !holds();
        idle.then(|| self.turn(table, intake))
    }

    fn turn(&self, mut table: MutexGuard<'_, Table>, intake: Intake) -> Vec<(IdKey, PendingRequest)> {
        if !matches!(table.intake, Intake::Closed(_)) {
            table.intake = intake;
        }
        table.generation += 1;
        self.generation.store(table.generation, Ordering::SeqCst);
        table.cancelled.clear();
        table.late.clear();
        let mut left: Vec<_> = table.waiting.drain().collect();
        if matches!(table.intake, Intake::Closed(_)) {
            // Nobody else is sure to get to them.
            left.extend(table.held.drain().map(|(id, (_, request))| (id, request)));
        }
        self.tell(table);
        left.sort_by_key(|(_, request)| request.since);
        left
    }

    /// Somebody wants the server that is asleep. True for the first, who has to say so.
    pub(crate) fn wake(&self, until: Instant) -> bool {
        let mut table = self.table();
        let asleep = matches!(table.intake, Intake::Idle);
        if asleep {
            table.intake = Intake::Starting { until };
        }
        self.tell(table);
        asleep
    }

    /// The server tells of progress under this token: that call lives.
    pub(crate) fn sign_of_life(&self, token: &IdKey) {
        let mut table = self.table();
        if let Some(request) =
            table.waiting.values_mut().find(|request| request.token.as_ref() == Some(token))
        {
            request.heard = Instant::now();
        }
    }

    /// Calls that nobody is to wait for any longer. From here on each counts as answered, once, by whoever asks this.
    pub(crate) fn overdue(&self, timeout: CallTimeout) -> Vec<(IdKey, CallRef, Expects)> {
        let mut table = self.table();
        let is_overdue = |request: &PendingRequest| {
            !request.lasting
                && matches!(request.what, RequestKind::Call(..))
                && timeout.is_over(request.since, request.heard)
        };
        let ids: Vec<IdKey> = table
            .waiting
            .iter()
            .filter(|(_, request)| is_overdue(request))
            .map(|(id, _)| id.clone())
            .collect();
        let overdue = ids.into_iter().filter_map(|id| table.give_up(id)).collect();
        self.tell(table);
        overdue
    }

    /// Under which id the client waits for this call, if it does.
    pub(crate) fn id_of(&self, call: CallId) -> Option<IdKey> {
        self.table().id_of(call)
    }

    /// Nobody is to wait for this call any longer. From here on it counts as answered, by whoever asks this.
    pub(crate) fn give_up(&self, call: CallId) -> Option<(IdKey, CallRef, Expects)> {
        let mut table = self.table();
        let given_up = table.id_of(call).and_then(|id| table.give_up(id));
        self.tell(table);
        given_up
    }

    /// Whether anybody waits for what a server is there for, and how many ever did: tells whether it is used.
    pub(crate) fn use_of(&self) -> (bool, u64) {
        let table = self.table();
        let waits = |request: &PendingRequest| !request.lasting && request.what.is_use();
        (!table.held.is_empty() || table.waiting.values().any(waits), table.entered)
    }

    /// Changes how whoever comes is received. The end stays the end.
    pub(crate) fn set_intake(&self, intake: Intake) {
        let mut table = self.table();
        if !matches!(table.intake, Intake::Closed(_)) {
            table.intake = intake;
        }
        self.tell(table);
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation.load(Ordering::SeqCst)
    }

    /// How many calls, which are all that is on record, wait for their answer.
    pub(crate) fn calls(&self) -> usize {
        let is_call =
            |request: &&PendingRequest| matches!(request.what, RequestKind::Call(..)) && !request.lasting;
        self.table().waiting.values().filter(is_call).count()
    }

    /// Is a server being started that nobody may speak to yet?
    pub(crate) fn is_starting(&self) -> bool {
        matches!(self.table().intake, Intake::Starting { .. })
    }

    /// Waits while a server is being started, as long as that may take.
    pub(crate) fn wait_started(&self) {
        let until = match &self.table().intake {
            Intake::Starting { until } => *until,
            Intake::Open | Intake::Idle | Intake::Stopped(_) | Intake::Closed(_) => return,
        };
        let limit = until.saturating_duration_since(Instant::now());
        self.wait(limit, |table| !matches!(table.intake, Intake::Starting { .. }));
    }

    /// Waits until nobody waits for an answer that is to be expected, and none is on its way; false after `limit`.
    pub(crate) fn wait_empty(&self, limit: Duration) -> bool {
        // In this order: what is not in the table any more is counted as on its way until it has arrived.
        if !self.wait(limit, |table| table.waiting.values().all(|request| request.lasting)) {
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

    /// Has a server been asked for anything yet?
    pub(crate) fn was_used(&self) -> bool {
        self.table().let_through
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
        self.is_open(generation)?;
        self.has_room(id)
    }

    fn is_open(&self, generation: Generation) -> Result<(), NotEntered> {
        match &self.intake {
            Intake::Open => {}
            Intake::Closed(reason) => return Err(NotEntered::Closed(reason.clone())),
            Intake::Stopped(shut) => return Err(NotEntered::Stopped(shut.clone())),
            Intake::Idle => return Err(NotEntered::Idle),
            Intake::Starting { until } => return Err(NotEntered::Starting(*until)),
        }
        if self.generation == generation { Ok(()) } else { Err(NotEntered::Stale) }
    }

    fn has_room(&self, id: &IdKey) -> Result<(), NotEntered> {
        // A late answer to a cancelled request must not be taken for the answer to another.
        if self.is_used(id) {
            return Err(NotEntered::IdInUse);
        }
        let room = self.waiting.len() + self.held.len() < MAX_PENDING;
        if room { Ok(()) } else { Err(NotEntered::TooMany) }
    }

    fn id_of(&self, call: CallId) -> Option<IdKey> {
        let is_it =
            |request: &PendingRequest| matches!(&request.what, RequestKind::Call(one, _) if one.id() == call);
        self.waiting.iter().find(|(_, request)| is_it(request)).map(|(id, _)| id.clone())
    }

    /// Its answer may still come, and is not wanted. None if it is not a call, or does not wait.
    fn give_up(&mut self, id: IdKey) -> Option<(IdKey, CallRef, Expects)> {
        let request = self.waiting.remove(&id)?;
        let call = match &request.what {
            RequestKind::Call(call, expects) => Some((id.clone(), *call, *expects)),
            _ => None,
        };
        if self.late.len() < MAX_PENDING {
            self.late.insert(id, PendingRequest { late: true, ..request });
        }
        call
    }

    /// Is there an answer that is owed, or that may still come?
    fn is_used(&self, id: &IdKey) -> bool {
        self.waiting.contains_key(id)
            || self.held.contains_key(id)
            || self.cancelled.contains_key(id)
            || self.late.contains_key(id)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;

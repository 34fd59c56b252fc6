//! One running session's record: its lease, its spool, its counters and the thread that drains the spool.
//!
//! Shared by the relay's threads. [`Batch`] is the client thread's way in, [`Settlement`] the server thread's.

mod shared;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use callgate_controls::limits::Full;
use callgate_home::clock::Clock;
use callgate_home::lease::{self, Lease};
use callgate_home::{Home, SessionId, StoreError, failpoint};
use callgate_policy::Limit;
use callgate_protocol::json::Raw;
use callgate_redaction::{Masker, Secret};

use crate::batch::{Batch, CallRef};
use crate::drain;
use crate::settlement::Settlement;
use crate::spool::record::Record;
use crate::{EndReason, EventKind, Origin, Outcome};
use shared::Room;
pub(crate) use shared::{Shared, lock};

/// Who starts a session.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    pub id: SessionId,
    pub server: String,
    /// If it is known before the client speaks.
    pub client: Option<String>,
    pub command: Vec<String>,
    pub policy_version: Option<String>,
    pub watch_only: bool,
    pub demo: bool,
    /// Values that must not be written anywhere: those of the server's secret-looking environment variables.
    /// [`callgate_redaction::secret_values`] finds them.
    pub secrets: Vec<Secret>,
}

/// Something worth a row that is not a call.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub kind: EventKind,
    pub text: &'a str,
}

/// The record of a running session.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    drain: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Starts the record of a session. Call after the keeper was started: this starts a thread and takes a lock.
    pub fn open(home: &Home, who: &SessionInfo, clock: Arc<dyn Clock>) -> Result<Journal, StoreError> {
        let shared = Shared::new(home, who, clock, StoreError::Ended);
        shared.begin(&mut lock(&shared.spool))?;
        let shared = Arc::new(shared);
        let drain = drain::start(shared.clone())?;
        let journal = Journal { shared, drain: Mutex::new(Some(drain)) };
        // A session that never calls anything is in the history all the same.
        journal.shared.ring();
        Ok(journal)
    }

    /// The journal of a session that cannot record yet: it admits nothing, and says why, until its home can be used.
    pub fn without_home(home: &Home, who: &SessionInfo, clock: Arc<dyn Clock>, cause: String) -> Journal {
        let shared = Arc::new(Shared::new(home, who, clock, StoreError::NoHome(cause)));
        // Without its thread the record stays in the spool, for whoever comes next.
        let drain = drain::start(shared.clone());
        if let Err(error) = &drain {
            *lock(&shared.stuck) = Some(error.to_string());
        }
        Journal { shared, drain: Mutex::new(drain.ok()) }
    }

    pub fn session(&self) -> SessionId {
        self.shared.session
    }

    /// What knows the session's secrets, for whatever else is written of it.
    pub fn masker(&self) -> Masker {
        self.shared.masker.clone()
    }

    /// For the client thread: one group of lines, in order, for the server.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(&self.shared)
    }

    /// For the server thread: the outcomes of one group of lines.
    pub fn settle(&self) -> Settlement<'_> {
        Settlement::new(&self.shared)
    }

    /// One outcome by itself, for endings that no answer of the server tells.
    pub fn settle_one(&self, call: &CallRef, outcome: Outcome) {
        let mut settlement = self.settle();
        settlement.add(call, outcome, call.started.elapsed(), None::<Raw<'_>>);
        settlement.commit();
    }

    /// The server has answered: the call's places are free, also before its outcome is booked.
    pub fn call_over(&self, call: &CallRef) {
        if call.holds {
            self.shared.free(vec![(call.seq, false)]);
        }
    }

    /// The server's process is gone: what it was still at of calls that were given up is over.
    pub fn server_gone(&self) {
        lock(&self.shared.limits).free_given_up();
    }

    /// How full the counter of a limit is for this client, and when the least amount has room.
    pub fn reading(&self, client: &str, limit: &Limit) -> Result<Full, StoreError> {
        lock(&self.shared.limits).reading(client, limit)
    }

    /// Records an event. Its text is masked like everything else.
    pub fn event(&self, event: Event<'_>) {
        self.event_from(event, None);
    }

    /// Records an event that came from somewhere: a loosening, an edit.
    pub fn event_from(&self, event: Event<'_>, origin: Option<Origin>) {
        let text = self.shared.masker.keep_text(event.text);
        let at_ms = self.shared.clock.now().wall_ms;
        self.shared.append_one(&Record::Event { at_ms, kind: event.kind, origin, text: &text });
    }

    /// Keeps the text of a policy that is now in force, so that *why* can show the rule as it was.
    pub fn policy_seen(&self, version: &str, text: &str, origin: Origin) {
        let at_ms = self.shared.clock.now().wall_ms;
        self.shared.append_one(&Record::Policy { at_ms, version, origin, text });
    }

    /// Changes what the session says of itself (client, policy version, watch-only).
    pub fn update_lease(&self, change: impl FnOnce(&mut Lease)) -> Result<(), StoreError> {
        let mut lease = lock(&self.shared.lease);
        let mut changed = lease.0.clone();
        change(&mut changed);
        // Who it is does not change.
        (changed.session, changed.pid, changed.started_ms) =
            (lease.0.session, lease.0.pid, lease.0.started_ms);
        if lease.1.is_none() || changed == lease.0 {
            return Ok(());
        }
        lease::write(&self.shared.home, &changed)?;
        lease.0 = changed;
        Ok(())
    }

    /// Are the records safe to make at this moment? For `status` and the person's eyes.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.shared.stuck).clone()
    }

    /// Waits until everything recorded so far is in the history; `false` if that took longer than `patience`.
    pub fn drained(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut spool = lock(&self.shared.spool);
        while spool.len() > spool.base() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.shared.ring();
            let pause = left.min(Duration::from_millis(5));
            spool = self.shared.room.wait_timeout(spool, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Ends the record: drains what is left, then removes spool and lease. What cannot be drained now stays for
    /// whoever comes next.
    pub fn end(&self, reason: EndReason) {
        if self.shared.ended.swap(true, Ordering::AcqRel) {
            return;
        }
        failpoint::reach("end.before_record");
        let at_ms = self.shared.clock.now().wall_ms;
        self.shared.append_one_with(&Record::Ended { at_ms, reason }, Room::Enough);
        failpoint::reach("end.after_record");
        self.stop_drain();
        let Some(held) = lock(&self.shared.lease).1.take() else { return };
        let drained = {
            let spool = lock(&self.shared.spool);
            spool.len() == spool.base()
        };
        if drained {
            failpoint::reach("end.before_remove");
            let _gone = std::fs::remove_file(self.shared.home.spool(self.shared.session));
            failpoint::reach("end.after_spool_removed");
            lease::remove(&self.shared.home, self.shared.session, held);
            failpoint::reach("end.after_remove");
        }
    }

    fn stop_drain(&self) {
        let Some(drain) = lock(&self.drain).take() else { return };
        {
            let mut bell = lock(&self.shared.bell.0);
            bell.stop = true;
            self.shared.bell.1.notify_all();
        }
        let _stopped = drain.join();
    }
}

impl Drop for Journal {
    /// Without an [`end`](Self::end) the spool stays: the next to come files it as lost.
    fn drop(&mut self) {
        self.stop_drain();
    }
}

#[cfg(test)]
#[path = "journal/tests.rs"]
mod tests;

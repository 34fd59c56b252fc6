//! What the threads of a session share of its record: the lease, the spool with its room, the numbers of calls, and the bell that
//! wakes the drain.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_controls::limits::Limits;
use callgate_controls::settings::Settings;
use callgate_home::clock::{Clock, Moment};
use callgate_home::lease::{self, Held, Lease};
use callgate_home::{Home, SessionId, StoreError};
use callgate_policy::Keep;
use callgate_redaction::Masker;
use tracing::warn;

use super::SessionInfo;
use crate::EventKind;
use crate::retention::Ceiling;
use crate::spool::record::{Opened, Record};
use crate::spool::writer::{Group, Spool};

/// A call after this much silence starts a new run.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// How long a writer waits for the drain to make room before it takes more than its share.
const SPOOL_PATIENCE: Duration = Duration::from_secs(1);
/// Buffers larger than this are given back to the system.
const KEPT_BUFFER: usize = 1 << 20;

/// What the relay's threads and the drain share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) home: Home,
    pub(crate) session: SessionId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) masker: Masker,
    /// The most that is kept of any call of this session, whatever its policy says.
    pub(crate) keep: Keep,
    pub(crate) limits: Mutex<Limits>,
    /// What the session says of itself, and the lock that says it lives.
    pub(super) lease: Mutex<(Lease, Option<Held>)>,
    /// The head of its spool.
    pub(super) opened: Opened,
    pub(super) spool: Mutex<Spool>,
    /// Above this the writer waits for the drain instead of growing the spool.
    pub(crate) spool_wait: u64,
    /// Above this nothing more is recorded, so nothing more is forwarded.
    pub(super) spool_full: u64,
    /// Signalled when the drain made room.
    pub(super) room: Condvar,
    pub(super) buffer: Mutex<Vec<u8>>,
    pub(super) next_seq: AtomicU64,
    pub(super) run: AtomicU32,
    pub(super) last_active_ms: AtomicU64,
    pub(super) open_calls: AtomicU64,
    /// Records that could not be written; told in the history once it can be written again.
    pub(super) lost: AtomicU64,
    /// The spool was removed and begun anew; to be told.
    pub(super) removed: AtomicBool,
    pub(crate) work: AtomicBool,
    pub(super) bell: (Mutex<Bell>, Condvar),
    /// Why the drain is stuck, while it is.
    pub(crate) stuck: Mutex<Option<String>>,
    pub(super) ended: AtomicBool,
}

/// What an append does when the spool is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Waits for the drain to make room.
    Awaited,
    /// Takes what there is. For the drain, which would wait for itself.
    AsItIs,
    /// The few last words of a session, which say what is missing, fit into every spool.
    Enough,
}

#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: bool,
    pub(super) stop: bool,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the session says of itself at its start.
fn describe(who: &SessionInfo, settings: &Settings, now: &Moment) -> Lease {
    Lease {
        session: who.id,
        pid: std::process::id(),
        process_start: lease::process_start(),
        boot: now.boot.0.to_string(),
        pid_namespace: lease::pid_namespace(),
        server: who.server.clone(),
        client: who.client.clone(),
        command: settings.masker(&who.secrets).command(&who.command),
        policy_version: who.policy_version.clone(),
        watch_only: who.watch_only,
        started_ms: now.wall_ms,
        demo: who.demo,
        stand: lease::Stand::default(),
        stand_words: None,
        restarts: 0,
        restarted_ms: None,
        turn: 0,
    }
}

impl Shared {
    /// `none_yet`: why there is no spool.
    pub(super) fn new(home: &Home, who: &SessionInfo, clock: Arc<dyn Clock>, none_yet: StoreError) -> Shared {
        let now = clock.now();
        // What is wrong with them is told by the housekeeping.
        let settings = Settings::read(home).0;
        let ceiling = Ceiling::of(&settings);
        let lease = describe(who, &settings, &now);
        let opened = Opened {
            session: who.id.to_string(),
            server: who.server.clone(),
            client: who.client.clone(),
            command: serde_json::to_string(&lease.command).unwrap_or_default(),
            started_ms: now.wall_ms,
            demo: who.demo,
            pid: lease.pid,
        };
        Shared {
            home: home.clone(),
            session: who.id,
            limits: Mutex::new(Limits::new(home.clone(), &who.server, who.id, clock.clone())),
            masker: settings.masker(&who.secrets),
            keep: settings.keep,
            lease: Mutex::new((lease, None)),
            opened,
            spool: Mutex::new(Spool::closed(&home.spool(who.id), none_yet)),
            spool_wait: ceiling.spool(),
            spool_full: ceiling.full_spool(),
            room: Condvar::new(),
            buffer: Mutex::default(),
            next_seq: AtomicU64::new(1),
            run: AtomicU32::new(1),
            last_active_ms: AtomicU64::new(clock.now().uptime_ms),
            clock,
            open_calls: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            removed: AtomicBool::new(false),
            work: AtomicBool::new(false),
            bell: Default::default(),
            stuck: Mutex::default(),
            ended: AtomicBool::new(false),
        }
    }

    /// Takes the lease and begins the spool, also anew.
    pub(super) fn begin(&self, spool: &mut Spool) -> Result<(), StoreError> {
        let had = self.have_lease()?;
        let begun = spool.begin(&self.opened);
        // One that it had before stays: the session lives, and its calls hold their places.
        if begun.is_err()
            && !had
            && let Some(held) = lock(&self.lease).1.take()
        {
            lease::remove(&self.home, self.session, held);
        }
        begun
    }

    /// Holds the lease that others look at; says whether it did before.
    fn have_lease(&self) -> Result<bool, StoreError> {
        let mut lease = lock(&self.lease);
        if lease.1.as_ref().is_some_and(|held| held.is_in_place(&self.home, self.session)) {
            return Ok(true);
        }
        let had = lease.1.take().is_some();
        let held = lease::take(&self.home, self.session)?;
        if let Err(error) = lease::write(&self.home, &lease.0) {
            lease::remove(&self.home, self.session, held);
            return Err(error);
        }
        lease.1 = Some(held);
        Ok(had)
    }

    /// Has a spool that somebody will read; begins one where a full or read-only disk had none, or where it was removed.
    fn have_spool(&self, spool: &mut Spool) -> Result<(), StoreError> {
        let Some(trouble) = spool.trouble() else {
            if lock(&self.lease).1.as_ref().is_some_and(Held::is_removed) {
                self.have_lease()?;
                self.removed.store(true, Ordering::Relaxed);
            }
            return Ok(());
        };
        match &trouble {
            StoreError::NoHome(_) => {
                callgate_controls::prepare_home(&self.home)
                    .map_err(|error| StoreError::NoHome(error.to_string()))?;
            }
            // A home that is gone is not made anew here: its rules went with it.
            StoreError::Removed { .. } if self.home.was_prepared() => {
                callgate_controls::prepare_home(&self.home)
                    .map_err(|error| StoreError::NoHome(error.to_string()))?;
            }
            _ => return Err(trouble),
        }
        self.begin(spool)?;
        if matches!(trouble, StoreError::Removed { .. }) {
            self.removed.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// A new number for a call, and the run it belongs to.
    pub(crate) fn number(&self) -> u64 {
        self.next_seq.fetch_add(1, Ordering::Relaxed)
    }

    /// The run that a call at this moment belongs to. Only the client thread starts calls, so only it counts runs.
    pub(crate) fn run_at(&self, now: &Moment) -> u32 {
        let last = self.last_active_ms.swap(now.uptime_ms, Ordering::Relaxed);
        let idle = self.open_calls.load(Ordering::Relaxed) == 0
            && now.uptime_ms.saturating_sub(last) > IDLE.as_millis() as u64;
        // The first call of all starts no new run however late it comes.
        if idle && self.next_seq.load(Ordering::Relaxed) > 1 {
            return self.run.fetch_add(1, Ordering::Relaxed) + 1;
        }
        self.run.load(Ordering::Relaxed)
    }

    pub(crate) fn calls_opened(&self, calls: u64) {
        self.open_calls.fetch_add(calls, Ordering::Relaxed);
    }

    pub(crate) fn calls_closed(&self, calls: u64) {
        let _saturated = self
            .open_calls
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| Some(open.saturating_sub(calls)));
        self.last_active_ms.fetch_max(self.clock.now().uptime_ms, Ordering::Relaxed);
    }

    /// Gives the places of these calls back; of those that the client gave up, after a while.
    pub(crate) fn free(&self, calls: Vec<(u64, bool)>) {
        if !calls.is_empty() {
            lock(&self.limits).free(calls);
        }
    }

    /// An empty group, on memory that was used before.
    pub(crate) fn group(&self) -> Group {
        Group::reusing(std::mem::take(&mut *lock(&self.buffer)))
    }

    /// Appends a group, whole or not at all. `records` is what is lost if it fails.
    pub(crate) fn append(&self, group: Group, records: u64) -> Result<(), StoreError> {
        self.append_with(group, records, Room::Awaited)
    }

    fn append_with(&self, mut group: Group, records: u64, room: Room) -> Result<(), StoreError> {
        group.seal();
        let appended = self.append_sealed(&mut group, room);
        let buffer = group.into_buffer();
        if buffer.capacity() <= KEPT_BUFFER {
            *lock(&self.buffer) = buffer;
        }
        match appended {
            Ok(()) => {
                self.ring();
                if self.lost.load(Ordering::Relaxed) > 0 || self.removed.load(Ordering::Relaxed) {
                    self.tell_gap(room);
                }
            }
            Err(_) => {
                self.lost.fetch_add(records, Ordering::Relaxed);
            }
        }
        appended
    }

    fn append_sealed(&self, group: &mut Group, room: Room) -> Result<(), StoreError> {
        let mut spool = lock(&self.spool);
        let until = Instant::now() + SPOOL_PATIENCE;
        while spool.len() > self.spool_wait && room != Room::Enough {
            let stuck = lock(&self.stuck).clone();
            if room == Room::AsItIs || stuck.is_some() || Instant::now() >= until {
                if spool.len() > self.spool_full {
                    let cause = stuck.unwrap_or_else(|| "the history is far behind".to_owned());
                    return Err(StoreError::SpoolFull { megabytes: spool.len() >> 20, cause });
                }
                break;
            }
            self.ring();
            let pause = Duration::from_millis(20);
            spool = self.room.wait_timeout(spool, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.have_spool(&mut spool)?;
        spool.append(group)
    }

    pub(crate) fn append_one(&self, record: &Record<'_>) {
        self.append_one_with(record, Room::Awaited);
    }

    /// For the drain.
    pub(crate) fn append_one_now(&self, record: &Record<'_>) {
        self.append_one_with(record, Room::AsItIs);
    }

    /// A failure is counted and told later; an event is never worth stopping for.
    pub(super) fn append_one_with(&self, record: &Record<'_>, room: Room) {
        let _counted = self.try_append_one(record, room, 1);
    }

    fn try_append_one(&self, record: &Record<'_>, room: Room, records: u64) -> Result<(), StoreError> {
        let mut group = self.group();
        group.push(record);
        self.append_with(group, records, room)
    }

    fn tell_gap(&self, room: Room) {
        let tell = |text: &str, lost: u64| {
            let at_ms = self.clock.now().wall_ms;
            // If that fails, as many are to be told of as before.
            self.try_append_one(
                &Record::Event { at_ms, kind: EventKind::Gap, origin: None, text },
                room,
                lost,
            )
        };
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let text = format!("{lost} records could not be written; the calls among them were refused");
            warn!("{text}");
            let _counted = tell(&text, lost);
        }
        if self.removed.swap(false, Ordering::Relaxed) {
            let text = "files of this session's record were removed while it ran, and begun anew";
            warn!("{text}");
            if tell(text, 0).is_err() {
                self.removed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Tells the drain that there is work.
    pub(crate) fn ring(&self) {
        if !self.work.swap(true, Ordering::AcqRel) {
            lock(&self.bell.0).rung = true;
            self.bell.1.notify_all();
        }
    }

    /// For the drain: sleeps until there is work or the session ends; `true` when it ends.
    pub(crate) fn await_work(&self, at_most: Duration) -> bool {
        let mut bell = lock(&self.bell.0);
        let until = Instant::now() + at_most;
        while !bell.rung && !bell.stop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            bell = self.bell.1.wait_timeout(bell, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        bell.rung = false;
        bell.stop
    }

    /// For the drain: lets records gather for a moment, unless the session ends.
    pub(crate) fn gather(&self, pause: Duration) -> bool {
        let bell = lock(&self.bell.0);
        let waited = self.bell.1.wait_timeout_while(bell, pause, |bell| !bell.stop);
        waited.unwrap_or_else(PoisonError::into_inner).0.stop
    }

    /// For the drain: what is appended from now on rings again.
    pub(crate) fn begin_work(&self) {
        self.work.store(false, Ordering::Release);
    }

    /// For the drain: which of the files that the spool was is it now? None while there is none.
    pub(crate) fn spool_turn(&self) -> Option<u64> {
        let spool = lock(&self.spool);
        (spool.turn() > 0).then(|| spool.turn())
    }

    /// For the drain: everything up to `drained` is in the history.
    pub(crate) fn truncate(&self, drained: u64, turn: u64) -> Result<bool, StoreError> {
        let truncated = lock(&self.spool).truncate(drained, turn);
        self.room.notify_all();
        truncated
    }

    /// For the drain: keeps appends out while the last of a large spool is moved.
    pub(crate) fn hold(&self) -> MutexGuard<'_, Spool> {
        lock(&self.spool)
    }

    pub(crate) fn notify_room(&self) {
        self.room.notify_all();
    }
}

//! The thread that moves a session's spool into the history: at most 50 ms behind while there is work, asleep
//! otherwise, in short transactions. In quiet moments it does the housekeeping of the home. Nothing that it does or
//! fails to do stands between a call and its server; a spool that it cannot empty stays for whoever comes next.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::catch_up;
use crate::error::StoreError;
use crate::history;
use crate::history::file::Filer;
use crate::journal::{Shared, lock};
use crate::limits;
use crate::mask;
use crate::retention::Housekeeping;
use crate::spool::reader::{Head, Reader};
use crate::spool::record::{Opened, Record};
use crate::words::EventKind;

/// How long records gather before they are moved: long enough for calls to meet their answers.
const GATHER: Duration = Duration::from_millis(25);
/// One transaction; others wait for the history's lock no longer than this.
const TRANSACTION: Duration = Duration::from_micros(3_500);
/// A spool beyond this is finished with appends kept out, or it might grow for ever under load.
const LARGE: u64 = 8 << 20;
/// The history's log is written back after this much under load, and after less in quiet moments.
const CHECKPOINT: u64 = 16 << 20;
const CHECKPOINT_QUIET: u64 = 2 << 20;
/// Takes from shared limits between two checkpoints of their log.
const LIMITS_CHECKPOINT: u32 = 1_000;
/// Housekeeping waits for the session to have started in peace.
const SETTLED: Duration = Duration::from_millis(300);
const ASLEEP: Duration = Duration::from_secs(3_600);
/// While the history cannot be written.
const RETRY: Duration = Duration::from_millis(500);
/// How long the end of a session waits for a busy history.
const LAST_TRY: Duration = Duration::from_millis(800);

pub(crate) fn start(shared: Arc<Shared>) -> Result<JoinHandle<()>, StoreError> {
    let path = shared.home.spool(shared.session);
    std::thread::Builder::new()
        .name("drain".to_owned())
        .spawn(move || Drain { filer: None, reader: None, missing: false }.run(&shared))
        .map_err(|error| StoreError::io("start the thread for", &path, &error))
}

struct Drain {
    filer: Option<Filer>,
    reader: Option<(Reader, Opened, u64)>,
    /// The history was there and is not any more.
    missing: bool,
}

impl Drain {
    fn run(mut self, shared: &Shared) {
        // The session's own start goes first; a call that needs the counters before opens them itself.
        let _stopped = shared.gather(GATHER);
        mask::warm();
        lock(&shared.limits).warm();
        let mut housekeeping = Some(Housekeeping::new(shared.home.clone(), shared.clock.clone()));
        let mut keep_house_at = Instant::now() + SETTLED;
        loop {
            let sleep = match (&housekeeping, lock(&shared.stuck).is_some()) {
                (_, true) => RETRY,
                (Some(_), _) => {
                    keep_house_at.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
                }
                (None, _) => ASLEEP,
            };
            let stop = shared.await_work(sleep) || (!shared.is_idle() && shared.gather(GATHER));
            shared.begin_work();
            if stop {
                // Notices of the last moment belong to the record too.
                self.tell(shared);
            }
            self.empty(shared, stop);
            if stop {
                return;
            }
            self.tell(shared);
            self.quiet(shared);
            if Instant::now() >= keep_house_at {
                // One short step at a time; a call in between goes first.
                keep_house_at = Instant::now() + Duration::from_millis(20);
                if let (Some(house), Some(filer)) = (&mut housekeeping, &self.filer)
                    && house.step(filer).is_done()
                {
                    housekeeping = None;
                    catch_up::dead_sessions(&shared.home, shared.clock.as_ref());
                }
            }
        }
    }

    /// Moves everything there is. Problems are shown and tried again.
    fn empty(&mut self, shared: &Shared, last: bool) {
        let give_up = Instant::now() + LAST_TRY;
        loop {
            let error = match self.pass(shared, last) {
                Ok(()) => {
                    *lock(&shared.stuck) = None;
                    return;
                }
                Err(error) => error,
            };
            self.recover(shared, &error);
            *lock(&shared.stuck) = Some(error.to_string());
            shared.notify_room();
            if !last || Instant::now() >= give_up {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn pass(&mut self, shared: &Shared, last: bool) -> Result<(), StoreError> {
        self.prepare(shared)?;
        let (Some(filer), Some((reader, opened, base))) = (&mut self.filer, &mut self.reader) else {
            return Ok(());
        };
        while filer.file(opened, reader, TRANSACTION)? {
            filer.checkpoint(CHECKPOINT);
        }
        if !shared.truncate(reader.offset())? {
            let mut spool = shared.hold();
            // At the end nothing comes after, and a part that cannot be read would be tried for ever.
            if spool.len() < LARGE && !last {
                // The rest has already rung the bell.
                return Ok(());
            }
            while filer.file(opened, reader, TRANSACTION)? {}
            if !spool.truncate(reader.offset())? {
                return Err(StoreError::SpoolFull {
                    megabytes: spool.len() >> 20,
                    cause: "a part of it cannot be read".to_owned(),
                });
            }
        }
        shared.notify_room();
        reader.seek(*base);
        Ok(())
    }

    /// Has the history and the spool open, and both are the ones that others would open.
    fn prepare(&mut self, shared: &Shared) -> Result<(), StoreError> {
        if self.filer.as_ref().is_some_and(|filer| !filer.is_in_place()) {
            self.filer = None;
            self.missing = true;
        }
        if self.filer.is_none() {
            let now = shared.clock.now().wall_ms;
            let filer = Filer::open(&shared.home, now)?;
            if std::mem::take(&mut self.missing) {
                let text = "the history was deleted or replaced while a session was recording";
                filer.note(now, EventKind::Gap, text).map_err(|error| filer.fail(&error))?;
            }
            self.filer = Some(filer);
            // Another history has other ideas of what it already holds.
            if let Some((reader, _, base)) = &mut self.reader {
                reader.seek(*base);
            }
        }
        if self.reader.is_none() {
            let path = shared.home.spool(shared.session);
            let (reader, head) =
                Reader::open(&path).map_err(|error| StoreError::io("read", &path, &error))?;
            if let Head::Session(opened) = head {
                let base = reader.offset();
                self.reader = Some((reader, opened, base));
            }
        }
        Ok(())
    }

    fn recover(&mut self, shared: &Shared, error: &StoreError) {
        if !error.is_corrupt() {
            return;
        }
        // Only if it is still the file that we found broken: another session may have replaced it already.
        if let Some(filer) = self.filer.take()
            && filer.is_in_place()
        {
            drop(filer);
            history::put_aside(&shared.home, shared.clock.now().wall_ms);
        }
    }

    /// Puts on record what happened to the counters.
    fn tell(&self, shared: &Shared) {
        let notices = lock(&shared.limits).notices();
        for text in notices {
            let (at_ms, kind) = (shared.clock.now().wall_ms, EventKind::DatabaseMovedAside);
            shared.append_one_now(&Record::Event { at_ms, kind, origin: None, text: &text });
        }
    }

    fn quiet(&mut self, shared: &Shared) {
        if let Some(filer) = &mut self.filer {
            filer.checkpoint(CHECKPOINT_QUIET);
        }
        if let Some((reader, ..)) = &mut self.reader {
            reader.rest();
        }
        let takes = {
            let mut limits = lock(&shared.limits);
            let takes = limits.since_checkpoint;
            if takes >= LIMITS_CHECKPOINT {
                limits.since_checkpoint = 0;
            }
            takes
        };
        if takes >= LIMITS_CHECKPOINT {
            limits::checkpoint(&shared.home);
        }
    }
}

impl Shared {
    fn is_idle(&self) -> bool {
        !self.work.load(Ordering::Acquire)
    }
}

//! The thread that moves a session's spool into the history: at most 50 ms behind while there is work, asleep
//! otherwise, in short transactions. In quiet moments it does the housekeeping of the home. Nothing that it does or
//! fails to do stands between a call and its server; a spool that it cannot empty stays for whoever comes next.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use callgate_controls::sqlite;
use callgate_controls::wal::{self, LogKeeper};
use callgate_home::StoreError;
use tracing::{info, warn};

use crate::EventKind;
use crate::filing::{Filer, OnDisk};
use crate::journal::{Shared, lock};
use crate::retention::Housekeeping;
use crate::spool::reader::{Head, Reader};
use crate::spool::record::{Opened, Record};
use crate::{catch_up, database};

/// How long records gather before they are moved: long enough for calls to meet their answers.
const GATHER: Duration = Duration::from_millis(25);
/// One transaction; others wait for the history's lock no longer than this.
const TRANSACTION: Duration = Duration::from_micros(3_500);
/// How long a turn at filing is waited for at a time, and after how long without one something is wrong.
const TURN_PATIENCE: Duration = Duration::from_millis(500);
const STALLED: Duration = Duration::from_secs(10);
/// A spool beyond this is finished with appends kept out, or it might grow for ever under load.
const LARGE: u64 = 8 << 20;
/// The length at which the log of the shared counters is written back.
const LIMITS_LOG: u64 = 2 << 20;
/// Housekeeping waits for the session to have started in peace.
const SETTLED: Duration = Duration::from_millis(300);
/// While the history cannot be written.
const RETRY: Duration = Duration::from_millis(500);
/// How long the end of a session waits for a busy history.
const LAST_TRY: Duration = Duration::from_millis(800);

/// Among threads that never rest, one of these gets a seventieth of what one that judges gets.
#[cfg(target_os = "linux")]
const FILING_NICENESS: i32 = 19;

const LOG_RESCUED: &str =
    "the history's write-ahead log was removed while a session was recording; what it held was saved";
const LOG_LOST: &str = "the history's write-ahead log was removed while a session was recording; calls of the last minutes \
                        before this are missing";

pub(crate) fn start(shared: Arc<Shared>) -> Result<JoinHandle<()>, StoreError> {
    let path = shared.home.spool(shared.session);
    std::thread::Builder::new()
        .name("drain".to_owned())
        .spawn(move || {
            yield_to_calls();
            Drain::new(&shared).run(&shared);
        })
        .map_err(|error| StoreError::io("start the thread for", &path, &error))
}

/// Filing can wait, a call and the rule that stops it cannot: on a machine that is full of gates, the threads that move
/// records leave the processor to those that judge. Only Linux has a priority for one thread of a process.
fn yield_to_calls() {
    #[cfg(target_os = "linux")]
    let _as_it_was = rustix::process::setpriority_process(None, FILING_NICENESS);
}

struct Drain {
    filer: Option<Filer>,
    reader: Option<SpoolReader>,
    housekeeping: Housekeeping,
    limits_log: LogKeeper,
    /// Since when others had every turn at filing.
    kept_out: Option<Instant>,
    /// What happened to the history that was open before.
    lost: Option<&'static str>,
}

/// The spool that is being moved.
struct SpoolReader {
    reader: Reader,
    opened: Opened,
    /// End of its head.
    base: u64,
    /// Which of the files that the spool was.
    turn: u64,
}

impl Drain {
    fn new(shared: &Shared) -> Drain {
        Drain {
            filer: None,
            reader: None,
            housekeeping: Housekeeping::new(shared.home.clone(), shared.clock.clone(), SETTLED),
            limits_log: LogKeeper::default(),
            kept_out: None,
            lost: None,
        }
    }

    fn run(mut self, shared: &Shared) {
        // The session's own start goes first; a call that needs the counters before opens them itself.
        let _stopped = shared.gather(GATHER);
        callgate_redaction::warm();
        lock(&shared.limits).warm();
        loop {
            let sleep = match lock(&shared.stuck).is_some() || self.filer.is_none() {
                true => RETRY,
                false => {
                    let due = self.housekeeping.next().saturating_duration_since(Instant::now());
                    due.max(Duration::from_millis(1))
                }
            };
            let stop = shared.await_work(sleep) || (!shared.is_idle() && shared.gather(GATHER));
            shared.begin_work();
            if stop {
                // Notices of the last moment belong to the record too.
                self.tell(shared);
            }
            self.empty(shared, stop);
            self.quiet(shared);
            if stop {
                return;
            }
            self.tell(shared);
            self.keep_house(shared);
        }
    }

    /// One short step at a time; a call in between goes first.
    fn keep_house(&mut self, shared: &Shared) {
        let Some(filer) = self.filer.as_mut().filter(|_| Instant::now() >= self.housekeeping.next()) else {
            return;
        };
        // The turn ends before others' spools are looked after: each of them takes one of its own.
        let done = filer.turn(TURN_PATIENCE).is_ok_and(|_turn| self.housekeeping.step(filer).is_done());
        if done {
            catch_up::dead_sessions(&shared.home, shared.clock.as_ref());
        }
    }

    /// Moves everything there is. Problems are shown and tried again.
    fn empty(&mut self, shared: &Shared, last: bool) {
        let give_up = Instant::now() + LAST_TRY;
        loop {
            let error = match self.pass(shared, last) {
                Ok(()) => {
                    if lock(&shared.stuck).take().is_some() {
                        info!("the history can be written again");
                    }
                    return;
                }
                Err(error) => error,
            };
            if error.is_busy() && !last {
                let stalled = self.kept_out.is_some_and(|since| since.elapsed() >= STALLED + RETRY);
                self.kept_out.get_or_insert_with(Instant::now);
                if !stalled {
                    // Others file, and this session's turn comes: its calls wait for that rather than fill the disk.
                    shared.ring();
                    return;
                }
            }
            self.recover(shared, &error);
            let words = error.to_string();
            let before = lock(&shared.stuck).replace(words.clone());
            if before.is_none_or(|before| before != words) {
                warn!(error = words, "the history cannot be written; calls stay in the spool");
            }
            shared.notify_room();
            if !last || Instant::now() >= give_up {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn pass(&mut self, shared: &Shared, last: bool) -> Result<(), StoreError> {
        self.prepare(shared)?;
        let (Some(filer), Some(spool)) = (&mut self.filer, &mut self.reader) else { return Ok(()) };
        let SpoolReader { reader, opened, base, turn } = spool;
        let _filing = loop {
            // Somebody who was stopped in the middle of a turn does not stop everybody.
            let stalled = self.kept_out.is_some_and(|since| since.elapsed() >= STALLED);
            let filing = match filer.turn(if stalled { Duration::ZERO } else { TURN_PATIENCE }) {
                Err(_) if stalled => None,
                filing => Some(filing?),
            };
            let more = filer.file(opened, reader, TRANSACTION)?;
            if filing.is_some() {
                self.kept_out = None;
            }
            // A history that is busy keeps its ceiling a little later.
            let _later = self.housekeeping.make_room(filer);
            if !more {
                break filing;
            }
        };
        if !shared.truncate(reader.offset(), *turn)? {
            let mut spool = shared.hold();
            if spool.turn() != *turn {
                // What was in the file that was removed is in the one that is there now.
                return Ok(());
            }
            // At the end nothing comes after, and a part that cannot be read would be tried for ever.
            if spool.len() < LARGE.min(shared.spool_wait / 2) && !last {
                // The rest has already rung the bell.
                return Ok(());
            }
            while filer.file(opened, reader, TRANSACTION)? {}
            if !spool.truncate(reader.offset(), *turn)? {
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
        let Some(turn) = shared.spool_turn() else { return Ok(()) };
        match self.filer.as_ref().map(Filer::on_disk) {
            None | Some(OnDisk::Kept) => {}
            Some(OnDisk::Replaced) => {
                self.filer = None;
                self.lost = Some("the history was deleted or replaced while a session was recording");
            }
            Some(OnDisk::LogRemoved) => {
                let rescued = self.filer.take().is_some_and(Filer::rescue);
                self.lost = Some(if rescued { LOG_RESCUED } else { LOG_LOST });
            }
        }
        if self.filer.is_none() {
            let now = shared.clock.now().wall_ms;
            let filer = Filer::open(&shared.home, now)?;
            if let Some(text) = self.lost {
                warn!("{text}");
                filer.note(now, EventKind::Gap, text).map_err(|error| filer.fail(&error))?;
                self.lost = None;
            }
            self.filer = Some(filer);
            // Another history has other ideas of what it already holds.
            if let Some(SpoolReader { reader, base, .. }) = &mut self.reader {
                reader.seek(*base);
            }
        }
        if self.reader.as_ref().is_none_or(|spool| spool.turn != turn) {
            let path = shared.home.spool(shared.session);
            let (reader, head) =
                Reader::open(&path).map_err(|error| StoreError::io("read", &path, &error))?;
            if let Head::Session(opened) = head {
                let base = reader.offset();
                self.reader = Some(SpoolReader { reader, opened, base, turn });
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
            && filer.on_disk() == OnDisk::Kept
        {
            drop(filer);
            database::put_aside(&shared.home, shared.clock.now().wall_ms);
        }
    }

    /// Puts on record what happened to the counters.
    fn tell(&self, shared: &Shared) {
        let notices = lock(&shared.limits).notices();
        for text in notices {
            warn!("{text}");
            let (at_ms, kind) = (shared.clock.now().wall_ms, EventKind::DatabaseMovedAside);
            shared.append_one_now(&Record::Event { at_ms, kind, origin: None, text: &text });
        }
    }

    /// Looks after the logs of both databases, whoever wrote them.
    fn quiet(&mut self, shared: &Shared) {
        if let Some(filer) = &mut self.filer
            && shared.is_idle()
        {
            filer.tidy_log();
        }
        if let Some(SpoolReader { reader, .. }) = &mut self.reader {
            reader.rest();
        }
        let limits = shared.home.limits_db();
        // On a connection of its own, so that no call waits for the disk.
        if wal::bytes(&limits) >= LIMITS_LOG
            && let Ok(connection) = sqlite::open(&limits)
        {
            self.limits_log.limit(&connection, &limits, LIMITS_LOG);
        }
    }
}

impl Shared {
    fn is_idle(&self) -> bool {
        !self.work.load(Ordering::Acquire)
    }
}

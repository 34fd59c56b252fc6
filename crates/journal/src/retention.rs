//! Retention: the home keeps its ceiling, in days and in bytes, also when the app never runs.
//!
//! What is too old goes at the start of a session and once an hour, in steps so short that nobody waits for them. What is
//! too much goes as it comes: whoever files calls into a history that is full removes as many of the oldest, so the
//! ceiling holds at all times, however many sessions write.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use callgate_controls::settings::Settings;
use callgate_controls::wal;
use callgate_home::clock::Clock;
use callgate_home::{Home, StoreError};
use rusqlite::{Connection, OptionalExtension};

use crate::EventKind;
use crate::database::raise_generation;
use crate::filing::Filer;
use crate::removals;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Calls removed in one step.
const STEP_CALLS: i64 = 300;
/// Contexts removed in one step.
const STEP_CONTEXTS: usize = 200;
/// Pages given back to the system in one step. Each may move another one, through the write-ahead log.
const STEP_PAGES: i64 = 32;
/// Changes that a follower may still want to see.
pub const KEPT_CHANGES: i64 = 50_000;
/// Ceiling of the folder of servers' stderr, unless the home's own is low.
const LOGS: u64 = 64 << 20;
/// A log that was written to this recently is somebody's.
const FRESH_LOG: Duration = Duration::from_secs(60 * 60);
/// How often age is looked at in a session that goes on.
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Between two steps; a call in between goes first.
const BETWEEN: Duration = Duration::from_millis(20);
/// How often everything beside the history is measured while calls are filed.
const MEASURE: Duration = Duration::from_secs(1);
/// Trimming by size starts here and stops there, in thousandths of the ceiling: not a few rows at every turn.
const FULL: i64 = 970;
const ROOMY: i64 = 940;
/// Above this trimming takes longer turns.
const OVERFULL: i64 = 1_080;
/// How long trimming may take at a time: nobody who writes or ends waits for longer. It is faster than filing.
const TURN: Duration = Duration::from_millis(15);
const LONG_TURN: Duration = Duration::from_millis(250);
/// Calls removed before their contexts are swept, at least.
const SWEEP: i64 = STEP_CALLS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalProgress {
    More,
    Done,
}

impl RemovalProgress {
    pub fn is_done(self) -> bool {
        self == RemovalProgress::Done
    }
}

/// The bytes that a home may take, and how they are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling(u64);

impl Ceiling {
    pub fn of(settings: &Settings) -> Ceiling {
        Ceiling(u64::from(settings.history_megabytes.get()) << 20)
    }

    /// The length at which the history's log is written back.
    pub fn log(self) -> u64 {
        (self.0 / 8).clamp(512 << 10, 4 << 20)
    }

    /// The length of a spool at which its session waits for the history.
    pub fn spool(self) -> u64 {
        (self.0 / 64).clamp(64 << 10, 64 << 20)
    }

    /// The length of a spool at which nothing more is recorded, so nothing more is forwarded, while the history is out of reach.
    pub fn full_spool(self) -> u64 {
        (self.0 / 4).clamp(4 << 20, 256 << 20)
    }

    fn stderr(self) -> u64 {
        LOGS.min(self.0 / 4)
    }

    /// Databases that were found broken and put aside.
    fn wrecks(self) -> u64 {
        self.0 / 4
    }

    /// What is left for the history's own file. Its log and everything beside it count; but they cannot be made smaller by
    /// forgetting calls, so half of the ceiling is always the history's.
    fn history(self, log: u64, beside: u64) -> i64 {
        let others = log.min(self.0 / 8).saturating_add(beside).min(self.0 / 2);
        i64::try_from(self.0 - others).unwrap_or(i64::MAX)
    }
}

#[derive(Debug)]
pub struct Housekeeping {
    home: Home,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Servers' logs were looked at, and what else is not in the history.
    begun: bool,
    /// Problems of the settings were told.
    told: bool,
    /// When age is looked at next.
    next: Instant,
    /// Bytes of everything beside the history, and when they were measured.
    beside: Option<(u64, Instant)>,
}

impl Housekeeping {
    /// `settled`: when the session has started in peace.
    pub fn new(home: Home, clock: Arc<dyn Clock>, settled: Duration) -> Self {
        let settings = Settings::read(&home).0;
        Housekeeping {
            home,
            clock,
            settings,
            begun: false,
            told: false,
            next: Instant::now() + settled,
            beside: None,
        }
    }

    /// When [`step`](Self::step) is due.
    pub fn next(&self) -> Instant {
        self.next
    }

    pub fn ceiling(&self) -> Ceiling {
        Ceiling::of(&self.settings)
    }

    /// One short transaction's worth of what became too old. Done: not before another hour.
    pub fn step(&mut self, filer: &Filer) -> RemovalProgress {
        let now = self.clock.now().wall_ms;
        if !self.begun {
            self.begun = true;
            let (settings, problems) = Settings::read(&self.home);
            for problem in problems.iter().filter(|_| !self.told) {
                tracing::warn!("settings: {problem}");
                let _told = filer.note(now, EventKind::BadSettings, problem);
            }
            (self.settings, self.told) = (settings, true);
            let (ceiling, days) = (self.ceiling(), self.settings.history_days.get());
            limit_logs(&self.home.logs(), ceiling.stderr(), days);
            limit_wrecks(&self.home, ceiling.wrecks(), days);
            self.next = Instant::now() + BETWEEN;
            return RemovalProgress::More;
        }
        let room = self.room();
        // A history that is busy or broken is somebody else's problem now, and the next session's later.
        let step = trim(filer.connection(), &self.settings, now, room).unwrap_or(RemovalProgress::Done);
        match step {
            RemovalProgress::More => self.next = Instant::now() + BETWEEN,
            RemovalProgress::Done => (self.begun, self.next) = (false, Instant::now() + HOUR),
        }
        step
    }

    /// After calls were filed: removes the oldest as long as the home is above its ceiling, for a moment; if it is far above,
    /// for a longer one.
    pub fn make_room(&mut self, filer: &mut Filer) -> Result<(), StoreError> {
        filer.limit_log(self.ceiling().log());
        let room = self.room();
        if !pages(filer)?.exceeds(room, FULL) {
            return Ok(());
        }
        // What is removed for want of room is soon written over: no need to do that twice.
        let wiping = |filer: &Filer, how: &str| {
            let set = filer.connection().pragma_update(None, "secure_delete", how);
            set.map_err(|error| filer.fail(&error))
        };
        wiping(filer, "FAST")?;
        let trimmed = self.trim_to(filer, room);
        wiping(filer, "ON")?;
        trimmed
    }

    fn trim_to(&mut self, filer: &mut Filer, room: i64) -> Result<(), StoreError> {
        let began = Instant::now();
        let now = self.clock.now().wall_ms;
        let cutoff = now - days(&self.settings);
        loop {
            let pages = pages(filer)?;
            let most = if pages.exceeds(room, OVERFULL) { LONG_TURN } else { TURN };
            if began.elapsed() >= most || !pages.exceeds(room, ROOMY) {
                return Ok(());
            }
            let removed = filer.transaction(|filer| {
                remove(filer.connection(), now, cutoff, true).map_err(|error| filer.fail(&error))
            })?;
            // Names that only one call ever had can take more room than the calls.
            let swept = sweep(filer.connection(), removed == 0).map_err(|error| filer.fail(&error))?;
            if pages.are_to_give_back(room) {
                give_back(filer.connection(), STEP_PAGES).map_err(|error| filer.fail(&error))?;
            }
            filer.limit_log(self.ceiling().log());
            // While somebody is in the way of emptying the log, trimming would only make it longer.
            if (removed == 0 && !swept) || wal::bytes(&self.home.history_db()) > self.ceiling().log() {
                return Ok(());
            }
        }
    }

    /// Bytes that the history's own file may have.
    fn room(&mut self) -> i64 {
        let beside = match self.beside {
            Some((bytes, at)) if at.elapsed() < MEASURE => bytes,
            _ => {
                // A ceiling that was lowered meanwhile counts, too.
                self.settings = Settings::read(&self.home).0;
                let bytes = beside_history(&self.home);
                self.beside = Some((bytes, Instant::now()));
                bytes
            }
        };
        self.ceiling().history(wal::bytes(&self.home.history_db()), beside)
    }
}

/// The pages of a database.
#[derive(Clone, Copy, Debug)]
struct Pages {
    all: i64,
    free: i64,
    bytes: i64,
}

impl Pages {
    fn of(connection: &Connection) -> rusqlite::Result<Pages> {
        let read = |name: &str| {
            connection.prepare_cached(&format!("PRAGMA {name}"))?.query_row((), |row| row.get::<_, i64>(0))
        };
        Ok(Pages { all: read("page_count")?, free: read("freelist_count")?, bytes: read("page_size")? })
    }

    /// Do those in use take more than so many thousandths of this?
    fn exceeds(self, room: i64, thousandths: i64) -> bool {
        (self.all - self.free) * self.bytes > room / 1_000 * thousandths
    }

    /// Free pages are used for the next calls, so they go back to the system only where the file itself is too large.
    fn are_to_give_back(self, room: i64) -> bool {
        self.free > STEP_PAGES && self.all * self.bytes > room
    }
}

fn pages(filer: &Filer) -> Result<Pages, StoreError> {
    Pages::of(filer.connection()).map_err(|error| filer.fail(&error))
}

/// What is in the home beside the history and the program itself.
fn beside_history(home: &Home) -> u64 {
    let history = home.history_db();
    let log = callgate_controls::sqlite::wal_of(&history);
    let program = home.path().join("bin");
    folder_bytes(home.path(), 0, &|path| *path == *history || *path == *log || *path == *program)
}

/// Folders below each other that are looked into: the web engine makes many.
const DEEPEST: u32 = 6;

fn folder_bytes(folder: &Path, depth: u32, leave_out: &dyn Fn(&Path) -> bool) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| !leave_out(&entry.path()))
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| match meta.is_dir() && depth < DEEPEST {
            true => folder_bytes(&path, depth + 1, leave_out),
            false => meta.len(),
        })
        .sum()
}

fn days(settings: &Settings) -> i64 {
    i64::from(settings.history_days.get()) * DAY_MS
}

/// Removes some of what is too old or too much. `room`: bytes that the history's file may have.
pub fn trim(
    connection: &Connection,
    settings: &Settings,
    now: i64,
    room: i64,
) -> rusqlite::Result<RemovalProgress> {
    let pages = Pages::of(connection)?;
    let too_large = pages.exceeds(room, 1_000);
    let removed =
        in_transaction(connection, |connection| remove(connection, now, now - days(settings), too_large))?;
    if removed > 0 {
        return Ok(RemovalProgress::More);
    }
    if pages.are_to_give_back(room) || pages.free > pages.all / 4 + STEP_PAGES {
        give_back(connection, STEP_PAGES)?;
        return Ok(RemovalProgress::More);
    }
    sweep_contexts(connection)?;
    Ok(RemovalProgress::Done)
}

fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = work(connection);
    connection.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    done
}

fn remove(connection: &Connection, now: i64, cutoff: i64, too_large: bool) -> rusqlite::Result<usize> {
    // What nothing refers to goes first: calls must not make room for it.
    let unused = remove_policies(connection, if too_large { i64::MAX } else { cutoff })?;
    if unused > 0 {
        return Ok(unused);
    }
    // Calls stand in the order in which they came, so the old ones are at the front: no scan.
    let oldest: Vec<(i64, i64)> = connection
        .prepare_cached("SELECT rev, at_ms FROM calls ORDER BY rev LIMIT ?1")?
        .query_map([STEP_CALLS], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let last =
        oldest.iter().take_while(|(_, at_ms)| too_large || *at_ms < cutoff).last().map(|(rev, _)| *rev);
    let mut removed = 0;
    if let Some(last) = last {
        removed += removals::expire_calls(connection, last, now)?;
        connection.execute(
            "INSERT INTO meta VALUES ('unswept', ?1) ON CONFLICT(key) DO UPDATE SET value = value + ?1",
            [i64::try_from(removed).unwrap_or(i64::MAX).max(1)],
        )?;
        connection.execute("DELETE FROM changes WHERE rev <= ?1", [last])?;
    }
    let latest: i64 =
        connection.query_row("SELECT value FROM meta WHERE key = 'rev'", (), |row| row.get(0))?;
    removed += connection.execute(
        "DELETE FROM changes WHERE rev <= ?1 AND rev < (SELECT min(rev) FROM changes) + 2000",
        [latest - KEPT_CHANGES],
    )?;
    removed += removals::expire_events(connection, cutoff, 500, now)?;
    removed += connection.execute(
        "DELETE FROM sessions WHERE id IN (
           SELECT s.id FROM sessions s WHERE s.ended_ms < ?1
           AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.session = s.id) LIMIT 200)",
        [cutoff],
    )?;
    if removed == 0 && too_large {
        // No call is left to make room.
        removed += removals::expire_events(connection, i64::MAX, 500, now)?;
        if removed == 0 {
            removed += removals::expire_loosenings(connection, 500, now)?;
        }
    }
    if removed == 0 {
        // A scan of all of them, which are few by now: only once there is nothing else to do.
        removed += connection.execute(
            "DELETE FROM changes WHERE rev IN (
               SELECT rev FROM changes WHERE call < coalesce((SELECT min(rev) FROM calls), ?1) LIMIT 2000)",
            [i64::MAX],
        )?;
    }
    Ok(removed)
}

/// Sweeps contexts once a share of the calls was removed, by whomever: that looks through all calls. Says whether it did.
/// `at_once`: there is nothing else to remove.
fn sweep(connection: &Connection, at_once: bool) -> rusqlite::Result<bool> {
    let left: i64 = connection
        .prepare_cached("SELECT coalesce((SELECT max(rev) FROM calls) - (SELECT min(rev) FROM calls), 0)")?
        .query_row((), |row| row.get(0))?;
    let due = at_once || meta(connection, "unswept")?.is_some_and(|removed| removed >= SWEEP.max(left / 4));
    if due { sweep_contexts(connection) } else { Ok(false) }
}

fn meta(connection: &Connection, key: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Removes the contexts that no call is left of, once calls were removed.
///
/// An index would find them at once, and every call would pay for it. So they are looked for without a lock, and each
/// is looked at again when it is removed: only calls that came meanwhile can have taken it up.
fn sweep_contexts(connection: &Connection) -> rusqlite::Result<bool> {
    if meta(connection, "unswept")?.is_none_or(|removed| removed == 0) {
        return Ok(false);
    }
    let latest = meta(connection, "rev")?;
    let unused: Vec<i64> = connection
        .prepare("SELECT id FROM contexts WHERE id NOT IN (SELECT context FROM calls)")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for step in unused.chunks(STEP_CONTEXTS) {
        in_transaction(connection, |connection| remove_contexts(connection, step, latest))?;
    }
    connection.execute("UPDATE meta SET value = 0 WHERE key = 'unswept'", ())?;
    Ok(!unused.is_empty())
}

fn remove_contexts(connection: &Connection, contexts: &[i64], since: Option<i64>) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM contexts WHERE id = ?1
         AND NOT EXISTS (SELECT 1 FROM calls WHERE rev > ?2 AND context = ?1)",
    )?;
    for id in contexts {
        delete.execute((id, since.unwrap_or_default()))?;
    }
    raise_generation(connection)
}

/// Removes policies last seen before `cutoff` that no call was judged by. The newest of a server stays: it is in force,
/// and the next call may need it.
fn remove_policies(connection: &Connection, cutoff: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM policy_versions WHERE rowid IN (
               SELECT p.rowid FROM policy_versions p WHERE p.seen_ms < ?1
               AND NOT EXISTS (SELECT 1 FROM contexts x WHERE x.policy = p.version)
               AND EXISTS (SELECT 1 FROM policy_versions n WHERE n.server = p.server
                           AND (n.seen_ms, n.rowid) > (p.seen_ms, p.rowid))
               LIMIT 100)",
        )?
        .execute([cutoff])
}

/// Returns free pages to the system. The pragma works while it is being stepped.
pub fn give_back(connection: &Connection, pages: i64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query(())?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Removes the oldest logs beyond the ceiling, and those beyond their days.
fn limit_logs(folder: &Path, ceiling: u64, days: u32) {
    let now = SystemTime::now();
    let mut logs: Vec<(Duration, u64, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let age = now.duration_since(meta.modified().ok()?).unwrap_or_default();
            Some((age, meta.len(), entry.path()))
        })
        .collect();
    logs.sort_unstable();
    let mut total = 0;
    for (age, len, path) in logs {
        total += len;
        let too_old = age > Duration::from_secs(u64::from(days) * 24 * 60 * 60);
        if age > FRESH_LOG && (total > ceiling || too_old) {
            // One that is in use on Windows stays for the next time.
            let _gone = fs::remove_file(path);
        }
    }
}

/// Databases that were found broken and put aside wait for whoever wants to rescue them, as long as calls are kept and there
/// is room; the newest at least for a day. So do notes that nobody could read.
fn limit_wrecks(home: &Home, ceiling: u64, days: u32) {
    let now = SystemTime::now();
    let of = |folder: &Path, is_wreck: &dyn Fn(&str) -> bool| -> Vec<(Duration, u64, PathBuf)> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let wrecks = entries.filter(|entry| is_wreck(&entry.file_name().to_string_lossy()));
        let mut wrecks: Vec<_> = wrecks
            .filter_map(|entry| {
                let meta = entry.metadata().ok()?;
                Some((now.duration_since(meta.modified().ok()?).ok()?, meta.len(), entry.path()))
            })
            .collect();
        wrecks.sort_unstable();
        wrecks
    };
    let day = Duration::from_secs(24 * 60 * 60);
    let notes = of(&home.outbox(), &|_| true).into_iter().filter(|(age, ..)| *age > day * days);
    let mut total = 0;
    let databases =
        of(home.path(), &|name| name.contains(".corrupt-")).into_iter().filter(|(age, len, _)| {
            total += len;
            *age > day * days || (*age > day && total > ceiling)
        });
    for (_, _, path) in databases.chain(notes) {
        let _gone = fs::remove_file(path);
    }
}

#[cfg(test)]
#[path = "retention/tests.rs"]
mod tests;

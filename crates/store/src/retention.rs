//! The home keeps its own ceiling, in days and in bytes, also when the app never runs: at the start of a session,
//! in steps so short that nobody waits for them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension};

use crate::clock::Clock;
use crate::history::file::Filer;
use crate::history::{raise_generation, removals};
use crate::home::Home;
use crate::settings::Settings;
use crate::sqlite::wal_of;
use crate::words::EventKind;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Calls removed in one step.
const STEP_CALLS: i64 = 300;
/// Contexts removed in one step.
const STEP_CONTEXTS: usize = 200;
/// Pages given back to the system in one step.
const STEP_PAGES: i64 = 256;
/// Changes that a follower may still want to see.
pub(crate) const KEPT_CHANGES: i64 = 50_000;
/// Ceiling of the folder of servers' stderr.
const LOGS: u64 = 64 << 20;
/// A log that was written to this recently is somebody's.
const FRESH_LOG: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    More,
    Done,
}

impl Step {
    pub(crate) fn is_done(self) -> bool {
        self == Step::Done
    }
}

#[derive(Debug)]
pub(crate) struct Housekeeping {
    home: Home,
    clock: Arc<dyn Clock>,
    settings: Option<Settings>,
}

impl Housekeeping {
    pub(crate) fn new(home: Home, clock: Arc<dyn Clock>) -> Self {
        Housekeeping { home, clock, settings: None }
    }

    /// One short transaction's worth.
    pub(crate) fn step(&mut self, filer: &Filer) -> Step {
        let now = self.clock.now().wall_ms;
        let Some(settings) = &self.settings else {
            let (settings, problems) = Settings::read(&self.home);
            for problem in problems {
                let _told = filer.note(now, EventKind::BadSettings, &problem);
            }
            limit_logs(&self.home.logs(), LOGS, settings.history_days.get());
            self.settings = Some(settings);
            return Step::More;
        };
        // A history that is busy or broken is somebody else's problem now, and the next session's later.
        trim(filer.connection(), settings, now, index_bytes(&self.home)).unwrap_or(Step::Done)
    }
}

/// What the index of the history's words takes on the disk.
fn index_bytes(home: &Home) -> i64 {
    let path = home.search_db();
    let size = |path: &Path| path.metadata().map_or(0, |meta| meta.len());
    i64::try_from(size(&path) + size(&wal_of(&path))).unwrap_or(i64::MAX)
}

/// Removes some of what is too old or too much. `index`: bytes of the index, which count, too; but it only becomes
/// smaller when somebody searches, so it never counts for more than the history itself, or it could eat all of it.
pub(crate) fn trim(
    connection: &Connection,
    settings: &Settings,
    now: i64,
    index: i64,
) -> rusqlite::Result<Step> {
    let cutoff = now - i64::from(settings.history_days.get()) * DAY_MS;
    let pages = |name: &str| connection.query_row(&format!("PRAGMA {name}"), (), |row| row.get::<_, i64>(0));
    let (free, size) = (pages("freelist_count")?, pages("page_size")?);
    let used = (pages("page_count")? - free) * size;
    let too_large = used + used.min(index) > i64::from(settings.history_megabytes.get()) << 20;

    connection.execute_batch("BEGIN IMMEDIATE")?;
    let removed = remove(connection, now, cutoff, too_large);
    connection.execute_batch(if removed.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    if removed? > 0 {
        return Ok(Step::More);
    }
    if free > STEP_PAGES {
        give_back(connection, STEP_PAGES)?;
        return Ok(Step::More);
    }
    sweep_contexts(connection)?;
    Ok(Step::Done)
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
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('unswept', 1)", ())?;
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

/// Removes the contexts that no call is left of, once calls were removed.
///
/// An index would find them at once, and every call would pay for it. So they are looked for without a lock, and each
/// is looked at again when it is removed: only calls that came meanwhile can have taken it up.
fn sweep_contexts(connection: &Connection) -> rusqlite::Result<()> {
    let meta = |key: &str| -> rusqlite::Result<Option<i64>> {
        connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
    };
    if meta("unswept")? != Some(1) {
        return Ok(());
    }
    let latest = meta("rev")?;
    let unused: Vec<i64> = connection
        .prepare("SELECT id FROM contexts WHERE id NOT IN (SELECT context FROM calls)")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for step in unused.chunks(STEP_CONTEXTS) {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let removed = remove_contexts(connection, step, latest);
        connection.execute_batch(if removed.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        removed?;
    }
    connection.execute("UPDATE meta SET value = 0 WHERE key = 'unswept'", ()).map(drop)
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
pub(crate) fn give_back(connection: &Connection, pages: i64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query(())?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Removes the oldest logs beyond the ceiling, and those beyond their days.
fn limit_logs(folder: &Path, ceiling: u64, days: u32) {
    let now = SystemTime::now();
    let mut logs: Vec<(Duration, u64, std::path::PathBuf)> = fs::read_dir(folder)
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

#[cfg(test)]
#[path = "retention/tests.rs"]
mod tests;

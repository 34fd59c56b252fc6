//! Calls under way, in `limits.db`: a place per call, held by its session. Places of sessions that are no longer alive
//! are nobody's.

use std::collections::BTreeSet;
use std::time::Duration;

use callgate_home::clock::Clock;
use callgate_home::{SessionId, StoreError, lease};
use rusqlite::OptionalExtension;

use super::db::Db;
use super::take::{CounterBefore, Want};
use super::{CANCELLED_MS, Full};

/// A call whose place is to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) seq: u64,
    /// It was given up by the client, and may still run: its place is free when it is over, or after a while.
    pub(crate) cancelled: bool,
}

impl Db {
    /// Gives places back.
    pub(crate) fn free(
        &mut self,
        clock: &dyn Clock,
        session: SessionId,
        freed: &[Freed],
    ) -> Result<(), StoreError> {
        self.transaction(|db| {
            let now = db.ledger_now(&clock.now())?;
            db.free_inside(session, freed, now)
        })
    }

    pub(super) fn free_inside(&self, session: SessionId, freed: &[Freed], now: i64) -> rusqlite::Result<()> {
        for Freed { seq, cancelled } in freed {
            let (session, seq) = (session.as_str(), seq.cast_signed());
            if *cancelled {
                self.connection
                    .prepare_cached(
                        "UPDATE holds SET frees_ms = ?3 WHERE session = ?1 AND seq = ?2 AND frees_ms IS NULL",
                    )?
                    .execute((session, seq, now.saturating_add(CANCELLED_MS)))?;
            } else {
                self.connection
                    .prepare_cached("DELETE FROM holds WHERE session = ?1 AND seq = ?2")?
                    .execute((session, seq))?;
            }
        }
        Ok(())
    }

    pub(super) fn holds_full(&self, seen: &CounterBefore, want: &Want<'_>) -> rusqlite::Result<Option<Full>> {
        let Some(mut full) = want.beyond(self.held(seen)?) else { return Ok(None) };
        // Only a limit that would refuse is worth the question who is still alive.
        if self.remove_dead(seen)? {
            let Some(left) = want.beyond(self.held(seen)?) else { return Ok(None) };
            full = left;
        }
        Ok(Some(Full { frees_in: self.places_free_in(seen, want, full.used)?, ..full }))
    }

    /// Until so many places of calls that were given up are free that this has room, if that will do.
    fn places_free_in(
        &self,
        seen: &CounterBefore,
        want: &Want<'_>,
        used: u64,
    ) -> rusqlite::Result<Option<Duration>> {
        let Some(counter) = seen.counter else { return Ok(None) };
        let others = used.saturating_add(want.amount).saturating_sub(want.ceiling).saturating_sub(1);
        let frees_ms: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT frees_ms FROM holds WHERE counter = ?1 AND frees_ms IS NOT NULL
                 ORDER BY frees_ms LIMIT 1 OFFSET ?2",
            )?
            .query_row((counter.id, others.cast_signed()), |row| row.get(0))
            .optional()?;
        Ok(frees_ms.map(|at| Duration::from_millis(at.saturating_sub(seen.now).max(0).unsigned_abs())))
    }

    pub(super) fn held(&self, seen: &CounterBefore) -> rusqlite::Result<u64> {
        let Some(counter) = seen.counter else { return Ok(0) };
        self.connection
            .prepare_cached("DELETE FROM holds WHERE counter = ?1 AND frees_ms <= ?2")?
            .execute((counter.id, seen.now))?;
        self.connection
            .prepare_cached("SELECT count(*) FROM holds WHERE counter = ?1")?
            .query_row([counter.id], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
    }

    fn remove_dead(&self, seen: &CounterBefore) -> rusqlite::Result<bool> {
        let Some(counter) = seen.counter else { return Ok(false) };
        let sessions: BTreeSet<String> = self
            .connection
            .prepare_cached("SELECT session FROM holds WHERE counter = ?1")?
            .query_map([counter.id], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let is_live = |name: &String| name.parse().is_ok_and(|session| lease::is_live(&self.home, session));
        let mut removed = 0;
        for dead in sessions.iter().filter(|name| !is_live(name)) {
            removed += self.connection.execute("DELETE FROM holds WHERE session = ?1", [dead])?;
        }
        Ok(removed > 0)
    }

    pub(super) fn add_hold(&self, counter: i64, session: SessionId, seq: u64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("INSERT OR IGNORE INTO holds(session, seq, counter) VALUES (?1, ?2, ?3)")?
            .execute((session.as_str(), seq.cast_signed(), counter))
            .map(drop)
    }
}

//! Allowances that are good for one call, and which of the others somebody knows of. Each has a row from its grant on and is spent with the call's other limits,
//! in one transaction. What has no row is spent: so a database that was lost, or put back from a copy, revives none.

use callgate_home::clock::Moment;
use callgate_home::{Home, StoreError};
use rusqlite::OptionalExtension;

use super::db::Db;
use crate::approval::{GRANT, grants};

/// Makes an allowance good for one call.
pub(crate) fn make_spendable(home: &Home, now: &Moment, id: &str, ends_ms: i64) -> Result<(), StoreError> {
    let mut db = Db::open(home, now)?;
    db.transaction(|db| {
        db.connection.execute("DELETE FROM once WHERE ends_ms < ?1", [now.wall_ms])?;
        db.connection.execute("INSERT INTO once(id, ends_ms) VALUES (?1, ?2)", (id, ends_ms)).map(drop)
    })
}

/// Notes that somebody knows of an allowance that lasts; nothing of it can be spent. `false` if it was known before.
pub(crate) fn make_known(home: &Home, now: &Moment, id: &str, ends_ms: i64) -> Result<bool, StoreError> {
    let mut db = Db::open(home, now)?;
    db.transaction(|db| {
        let insert = "INSERT OR IGNORE INTO once(id, ends_ms, spent_ms) VALUES (?1, ?2, ?3)";
        db.connection.execute(insert, (id, ends_ms, now.wall_ms)).map(|rows| rows == 1)
    })
}

pub(crate) fn is_spent(home: &Home, now: &Moment, id: &str) -> Result<bool, StoreError> {
    let mut db = Db::open(home, now)?;
    db.transaction(|db| {
        let spent: Option<bool> = db
            .connection
            .query_row("SELECT spent_ms IS NOT NULL FROM once WHERE id = ?1", [id], |row| row.get(0))
            .optional()?;
        Ok(spent.unwrap_or(true))
    })
}

impl Db {
    /// Spends it; `false` if there is nothing left to spend.
    pub(crate) fn spend(&self, id: &str, now: &Moment) -> rusqlite::Result<bool> {
        if let Some(approval) = id.strip_prefix(GRANT) {
            return grants::spend(self, approval, now);
        }
        let spent = self
            .connection
            .prepare_cached("UPDATE once SET spent_ms = ?2 WHERE id = ?1 AND spent_ms IS NULL")?
            .execute((id, now.wall_ms))?;
        Ok(spent == 1)
    }
}

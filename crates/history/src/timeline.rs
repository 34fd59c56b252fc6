//! Every change of a server's policy, in order: who made it, and what it was before.

use callgate_home::StoreError;
use callgate_journal::Origin;
use rusqlite::Row;

use super::History;

/// One change of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    pub id: i64,
    pub at_ms: i64,
    /// In force from then on. [`History::policy_text`] has its text, as long as that is kept.
    pub version: String,
    /// In force before; None for the first that was seen.
    pub previous: Option<String>,
    pub origin: Origin,
    /// What changed, in words.
    pub summary: String,
}

impl History {
    /// The changes of this server's policy, oldest first.
    pub fn timeline(&self, server: &str) -> Result<Vec<PolicyChange>, StoreError> {
        self.rows(
            "SELECT id, at_ms, version, previous, origin, summary FROM policy_changes WHERE server = ?1
             ORDER BY at_ms, id",
            &[server.to_owned().into()],
            change,
        )
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<PolicyChange> {
    Ok(PolicyChange {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        version: row.get(2)?,
        previous: row.get(3)?,
        origin: row.get_ref(4)?.as_str()?.parse().unwrap_or(Origin::File),
        summary: row.get(5)?,
    })
}

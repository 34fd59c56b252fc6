//! How much servers answered: bytes of results by tool and client, as they were before anything was cut.

use callgate_home::StoreError;

use crate::History;

/// What one client got of one tool since a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub tool: String,
    pub client: String,
    pub calls: u64,
    /// Of calls whose results were not kept at all nothing is known.
    pub bytes: u64,
}

impl History {
    /// In the order of tools and clients.
    pub fn answered(&self, server: &str, since_ms: i64) -> Result<Vec<Answered>, StoreError> {
        // Rows are summed by their context first: a number each, where names would have to be compared.
        let sql = "SELECT x.tool, x.client, sum(n), sum(b)
                   FROM (SELECT c.context, count(*) AS n, sum(coalesce(c.result_bytes, 0)) AS b
                         FROM calls c CROSS JOIN sessions s ON s.id = c.session
                         WHERE c.at_ms >= ?1 AND s.server = ?2 GROUP BY c.context) u
                   JOIN contexts x ON x.id = u.context
                   WHERE x.method = 'tools/call' AND x.decision IN ('allowed', 'would_deny')
                   GROUP BY x.tool, x.client ORDER BY x.tool, x.client";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let rows = statement.query_map((since_ms, server), |row| {
                    Ok(Answered {
                        tool: row.get(0)?,
                        client: row.get(1)?,
                        calls: row.get::<_, i64>(2)?.unsigned_abs(),
                        bytes: row.get::<_, i64>(3)?.unsigned_abs(),
                    })
                })?;
                rows.collect()
            })
            .map_err(|error| self.fail(&error))
    }

    /// When the first call was that is still on record.
    pub fn oldest_call_ms(&self) -> Result<Option<i64>, StoreError> {
        self.connection
            .query_row("SELECT at_ms FROM calls ORDER BY rev LIMIT 1", (), |row| row.get(0))
            .map(Some)
            .or_else(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(None),
                other => Err(other),
            })
            .map_err(|error| self.fail(&error))
    }
}

//! The time of shared counters. It advances with the time since boot, so setting the wall clock does nothing; at the
//! first use in a new boot it advances by what the wall clock says has passed.

use rusqlite::{Connection, OptionalExtension};

use callgate_home::clock::{BootId, Moment};

/// Where the ledger stood at the first use in a boot.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    boot: BootId,
    uptime_ms: u64,
    ledger_ms: i64,
}

/// Where the ledger stands, and the anchor if it had to be read or set. Inside a write transaction.
pub(super) fn ledger_time(
    connection: &Connection,
    known: Option<&Anchor>,
    moment: &Moment,
) -> rusqlite::Result<(i64, Option<Anchor>)> {
    let here = |anchor: &Anchor| {
        (anchor.boot == moment.boot && moment.uptime_ms >= anchor.uptime_ms)
            .then(|| anchor.ledger_ms + (moment.uptime_ms - anchor.uptime_ms).cast_signed())
    };
    if let Some(now) = known.and_then(here) {
        return Ok((now, None));
    }
    let stored = connection
        .prepare_cached("SELECT boot, uptime_ms, ledger_ms, wall_ms FROM ledger WHERE id = 1")?
        .query_row((), |row| {
            let boot: String = row.get(0)?;
            let anchor = Anchor {
                boot: BootId::new(&boot),
                uptime_ms: row.get::<_, i64>(1)?.unsigned_abs(),
                ledger_ms: row.get(2)?,
            };
            Ok((anchor, row.get::<_, i64>(3)?))
        })
        .optional()?;
    let start = match stored {
        Some((anchor, _)) if here(&anchor).is_some() => {
            let now = here(&anchor).unwrap_or(anchor.ledger_ms);
            return Ok((now, Some(anchor)));
        }
        // A new boot: the last thing known of the old one, plus what the wall clock says has passed since.
        Some((anchor, wall_ms)) => {
            let latest = latest_admission(connection)?;
            let (at, wall_ms) =
                latest.filter(|(at, _)| *at >= anchor.ledger_ms).unwrap_or((anchor.ledger_ms, wall_ms));
            // At least a moment, which every boot takes: so an admission at the anchor's time or later is of its boot.
            at + (moment.wall_ms - wall_ms).max(1)
        }
        None => 0,
    };
    connection.execute(
        "INSERT OR REPLACE INTO ledger VALUES (1, ?1, ?2, ?3, ?4)",
        (&*moment.boot.0, moment.uptime_ms.cast_signed(), start, moment.wall_ms),
    )?;
    let anchor = Anchor { boot: moment.boot.clone(), uptime_ms: moment.uptime_ms, ledger_ms: start };
    Ok((start, Some(anchor)))
}

/// The newest admission of any counter: one look-up per counter, once per boot.
fn latest_admission(connection: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    let sql = "SELECT a.at_ms, a.wall_ms FROM counters c JOIN admissions a ON a.counter = c.id
                 AND a.n = (SELECT max(n) FROM admissions WHERE counter = c.id)
               UNION ALL
               SELECT a.at_ms, a.wall_ms FROM counters c JOIN amounts a ON a.counter = c.id
                 AND a.n = (SELECT max(n) FROM amounts WHERE counter = c.id)
               ORDER BY 1 DESC LIMIT 1";
    connection.query_row(sql, (), |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

//! How many calls a minute a person's own use has come to.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use callgate_home::StoreError;

use super::History;

const MINUTE_S: i64 = 60;
/// Calls that are counted at once, before the time is looked at.
const STEP: i64 = 20_000;

/// Whose calls.
#[derive(Clone, Copy, Debug)]
pub struct PeakOf<'a> {
    pub server: &'a str,
    pub tool: Option<&'a str>,
    /// None: the busiest of them, as caps count each client by itself.
    pub client: Option<&'a str>,
    /// Not before this time, in milliseconds since 1970.
    pub since_ms: i64,
}

impl History {
    /// The most calls that were let through in any 60 seconds. The demo does not count. Looks from the newest calls to
    /// older ones for about as long as `patience`: somebody waits for it, and what is newest matters most.
    pub fn peak_per_minute(&self, of: &PeakOf<'_>, patience: Duration) -> Result<u32, StoreError> {
        let until = Instant::now() + patience;
        let before = self.rev_before(of.since_ms)?;
        let newest = self.latest_rev()?;
        // Counted by the second first, so that a busy month is a few rows a session and not one a call.
        let sql = "SELECT x.client, c.at_ms / 1000 AS second, count(*)
                   FROM calls c CROSS JOIN sessions s ON s.id = c.session CROSS JOIN contexts x ON x.id = c.context
                   WHERE c.rev > ?5 AND c.rev <= ?6 AND c.at_ms >= ?1 AND s.server = ?2 AND s.demo = 0 AND x.method = 'tools/call'
                     AND x.decision IN ('allowed', 'would_deny')
                     AND (?3 IS NULL OR x.tool = ?3) AND (?4 IS NULL OR x.client = ?4)
                   GROUP BY x.client, second";
        let peak = || -> rusqlite::Result<u64> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut clients: BTreeMap<String, BTreeMap<i64, u64>> = BTreeMap::new();
            let mut to = newest;
            while to > before {
                let from = to.saturating_sub(STEP).max(before);
                let mut rows = statement.query((of.since_ms, of.server, of.tool, of.client, from, to))?;
                while let Some(row) = rows.next()? {
                    let seconds = clients.entry(row.get(0)?).or_default();
                    *seconds.entry(row.get(1)?).or_default() += row.get::<_, i64>(2)?.unsigned_abs();
                }
                to = from;
                if Instant::now() >= until {
                    break;
                }
            }
            let of_client = |seconds: &BTreeMap<i64, u64>| {
                let mut window = Window::default();
                seconds.iter().map(|(second, calls)| window.add(*second, *calls)).max()
            };
            Ok(clients.values().filter_map(of_client).max().unwrap_or_default())
        };
        peak().map(|peak| u32::try_from(peak).unwrap_or(u32::MAX)).map_err(|error| self.fail(&error))
    }
}

/// The last minute, second by second.
#[derive(Default)]
struct Window {
    seconds: VecDeque<(i64, u64)>,
    sum: u64,
}

impl Window {
    /// The calls of the minute that ends with this second.
    fn add(&mut self, second: i64, calls: u64) -> u64 {
        self.seconds.push_back((second, calls));
        self.sum += calls;
        while let Some((first, gone)) = self.seconds.front().copied()
            && first <= second - MINUTE_S
        {
            self.seconds.pop_front();
            self.sum -= gone;
        }
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_may_begin_at_any_second() {
        let mut window = Window::default();
        let peaks: Vec<u64> = [(59, 10), (60, 10), (118, 3), (119, 1), (121, 1)]
            .map(|(at, calls)| window.add(at, calls))
            .into();
        assert_eq!(peaks, [10, 20, 23, 14, 5]);
    }
}

//! How often what was called, and how long it took: added up while the calls stream by, whatever their number.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use callgate_home::StoreError;
use callgate_journal::{Decision, Outcome};
use rusqlite::params_from_iter;

use super::History;
use super::filter::{CallFilter, Matcher};
use super::rows::CALL_TABLES;

/// Tools that are told apart; hostile names can be as many as there are calls.
const TOOLS: usize = 10_000;

/// One tool of one server; or a method that names no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStats {
    pub server: String,
    pub method: String,
    /// Empty where there is none.
    pub tool: String,
    pub calls: u64,
    pub refused: u64,
    pub failed: u64,
    /// Of arguments and results together, as they came.
    pub bytes: u64,
    pub first_ms: i64,
    pub last_ms: i64,
    /// Of calls that got to their server and were answered; half of them, and 95 of 100, took no longer. Within 2 %.
    pub p50: Option<Duration>,
    pub p95: Option<Duration>,
}

struct Sum {
    stats: ToolStats,
    times: Times,
}

impl History {
    /// Of every call that matches, by server and tool, those with the most calls of a server first.
    pub fn stats(&self, filter: &CallFilter) -> Result<Vec<ToolStats>, StoreError> {
        let mut sums: Vec<Sum> = Vec::new();
        self.add_up(&Matcher::new(self, filter)?, &mut sums).map_err(|error| self.fail(&error))?;
        let mut stats: Vec<ToolStats> = sums.into_iter().map(Sum::done).collect();
        stats.sort_by(|a, b| (&a.server, b.calls, &a.tool).cmp(&(&b.server, a.calls, &b.tool)));
        Ok(stats)
    }

    fn add_up(&self, matcher: &Matcher, sums: &mut Vec<Sum>) -> rusqlite::Result<()> {
        let (conditions, values) = matcher.conditions();
        let sql = format!(
            "SELECT c.session, c.context, c.outcome, c.duration_us, coalesce(c.args_bytes, 0) + coalesce(c.result_bytes, 0),
                    c.at_ms, x.decision, s.server, x.method, x.tool, {}
             FROM {CALL_TABLES} WHERE 1 {conditions}",
            matcher.text_columns()
        );
        // Sessions and contexts are few beside calls: names are compared once for each pair of them.
        let mut known: HashMap<(i64, i64), (usize, bool)> = HashMap::new();
        let mut by_name: HashMap<[String; 3], usize> = HashMap::new();
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !matcher.has_words(row, 10)? {
                continue;
            }
            let key = (row.get(0)?, row.get(1)?);
            let (place, refused) = match known.get(&key) {
                Some(found) => *found,
                None => {
                    let decision = row.get_ref(6)?.as_str()?.parse().unwrap_or(Decision::Unsupported);
                    let name = [row.get(7)?, row.get(8)?, row.get(9)?];
                    let found = (place_of(name, &mut by_name, sums), decision.is_refused());
                    known.insert(key, found);
                    found
                }
            };
            let sum = &mut sums[place];
            let outcome: Option<Outcome> =
                row.get_ref(2)?.as_str_or_null()?.and_then(|word| word.parse().ok());
            let at_ms: i64 = row.get(5)?;
            let stats = &mut sum.stats;
            stats.calls += 1;
            stats.refused += u64::from(refused);
            stats.failed += u64::from(outcome.is_some_and(Outcome::is_failed));
            stats.bytes += row.get::<_, i64>(4)?.unsigned_abs();
            stats.first_ms = stats.first_ms.min(at_ms);
            stats.last_ms = stats.last_ms.max(at_ms);
            if !refused && let Some(micros) = row.get::<_, Option<i64>>(3)? {
                sum.times.add(micros.unsigned_abs());
            }
        }
        Ok(())
    }
}

fn place_of(name: [String; 3], by_name: &mut HashMap<[String; 3], usize>, sums: &mut Vec<Sum>) -> usize {
    if let Some(place) = by_name.get(&name) {
        return *place;
    }
    let name = match (by_name.len() < TOOLS, name) {
        (true, name) => name,
        (false, [server, ..]) => [server, String::new(), "(others)".to_owned()],
    };
    *by_name.entry(name.clone()).or_insert_with(|| {
        let [server, method, tool] = name;
        let stats = ToolStats {
            server,
            method,
            tool,
            calls: 0,
            refused: 0,
            failed: 0,
            bytes: 0,
            first_ms: i64::MAX,
            last_ms: i64::MIN,
            p50: None,
            p95: None,
        };
        sums.push(Sum { stats, times: Times::default() });
        sums.len() - 1
    })
}

impl Sum {
    fn done(self) -> ToolStats {
        ToolStats { p50: self.times.below(50), p95: self.times.below(95), ..self.stats }
    }
}

/// Lengths of time, counted in steps of a thirty-second of themselves.
#[derive(Debug, Default)]
struct Times {
    steps: BTreeMap<u32, u64>,
    count: u64,
}

impl Times {
    fn add(&mut self, micros: u64) {
        *self.steps.entry(step(micros)).or_default() += 1;
        self.count += 1;
    }

    /// So many of a hundred took no longer.
    fn below(&self, percent: u64) -> Option<Duration> {
        let wanted = (self.count * percent).div_ceil(100);
        let mut seen = 0;
        let found = self.steps.iter().find(|(_, count)| {
            seen += **count;
            seen >= wanted
        });
        found.map(|(step, _)| Duration::from_micros(middle(*step)))
    }
}

/// Below 64 each has its own; above, each doubling has 32.
fn step(micros: u64) -> u32 {
    if micros < 64 {
        return micros as u32;
    }
    let doubling = micros.ilog2();
    (doubling - 4) * 32 + ((micros >> (doubling - 5)) & 31) as u32
}

fn middle(step: u32) -> u64 {
    if step < 64 {
        return u64::from(step);
    }
    let (doubling, part) = (step / 32 + 4, u64::from(step % 32));
    let width = 1_u64 << (doubling - 5);
    (32 + part) * width + width / 2
}

#[cfg(test)]
#[path = "stats/tests.rs"]
mod tests;

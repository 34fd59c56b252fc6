//! A report for people: what was asked, how much of what, every call with its reason. The same for each form.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use callgate_history::{CallFilter, LineRow, Toward};
use callgate_journal::{Decision, Outcome};
use callgate_text::subject;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::super::{fold, line};
use super::{Calls, Trouble};
use crate::view::LogEntry;

/// Lines of calls that a person may still read; a table program takes more.
const LINES: usize = 10_000;
/// Rows in a table of counts.
const ROWS: usize = 200;
/// Changes and events that are listed.
const HAPPENED: usize = 500;

/// How a report is written down. Every text goes through it, and comes out harmless.
pub(super) trait ReportFormat {
    fn begin(&self, title: &str) -> String;
    fn text(&self, text: &str) -> String;
    fn paragraph(&self, text: &str) -> String;
    fn heading(&self, text: &str) -> String;
    fn table(&self, columns: &[&str]) -> String;
    fn row(&self, cells: &[String]) -> String;
    fn end_of_table(&self) -> &'static str;
    fn end(&self) -> &'static str;
}

#[derive(Default)]
struct Sums {
    calls: u64,
    refused: u64,
    /// Does any call say why?
    reasons: bool,
    times: Option<(i64, i64)>,
    by_server: BTreeMap<String, [u64; 2]>,
    by_tool: BTreeMap<(String, String), [u64; 2]>,
    by_decision: BTreeMap<Decision, u64>,
}

impl Sums {
    fn add(&mut self, row: &LineRow) {
        let refused = u64::from(row.decision.is_refused());
        self.calls += 1;
        self.refused += refused;
        self.reasons |= row.reason.as_deref().is_some_and(|reason| !reason.is_empty());
        self.times = Some(
            self.times.map_or((row.at_ms, row.at_ms), |(from, to)| (from.min(row.at_ms), to.max(row.at_ms))),
        );
        *self.by_decision.entry(row.decision).or_default() += 1;
        add(&mut self.by_server, row.server.clone(), refused);
        add(
            &mut self.by_tool,
            (row.server.clone(), subject(row.method.as_deref(), row.tool.as_deref())),
            refused,
        );
    }
}

fn add<K: Ord>(sums: &mut BTreeMap<K, [u64; 2]>, key: K, refused: u64) {
    // Hostile names can be as many as there are calls.
    if sums.len() < 10 * ROWS || sums.contains_key(&key) {
        let sum = sums.entry(key).or_default();
        sum[0] += 1;
        sum[1] += refused;
    }
}

pub(super) fn write(
    calls: &Calls<'_>,
    now: &Zoned,
    form: &dyn ReportFormat,
    out: &mut dyn Write,
) -> Result<u64, Trouble> {
    let mut sums = Sums::default();
    calls.each_line(&mut |row| {
        sums.add(row);
        Ok(())
    })?;
    let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(Trouble::Write);
    put(&form.begin("Callgate: what agents did"))?;
    let range = sums
        .times
        .map_or_else(|| "no calls".to_owned(), |(from, to)| format!("{} to {}", moment(from), moment(to)));
    put(&form.paragraph(&format!(
        "{range}. {} calls, {} of them refused. Written {}.",
        sums.calls,
        sums.refused,
        now.strftime("%Y-%m-%d %H:%M")
    )))?;
    let asked = asked(calls.filter);
    if !asked.is_empty() {
        put(&form.paragraph(&format!("Only: {asked}.")))?;
    }
    put(&form.heading("By decision"))?;
    let decisions =
        sums.by_decision.iter().map(|(decision, count)| vec![spaced(decision.word()), count.to_string()]);
    put(&table(form, &["decision", "calls"], decisions))?;
    put(&form.heading("By server"))?;
    let servers = most(&sums.by_server)
        .map(|(server, [all, refused])| vec![server.clone(), all.to_string(), refused.to_string()]);
    put(&table(form, &["server", "calls", "refused"], servers))?;
    put(&form.heading("By tool"))?;
    let tools = most(&sums.by_tool).map(|((server, tool), [all, refused])| {
        vec![server.clone(), tool.clone(), all.to_string(), refused.to_string()]
    });
    put(&table(form, &["server", "tool", "calls", "refused"], tools))?;
    put(&happened(calls, form)?)?;
    put(&form.heading("Calls"))?;
    // Why is the longest, and last: where nobody says it, it takes no room.
    let columns = ["time", "client", "server", "tool", "arguments", "decision", "took", "reason"];
    let columns = if sums.reasons { &columns[..] } else { &columns[..columns.len() - 1] };
    put(&form.table(columns))?;
    let shown = |entry: &LogEntry| {
        cells(entry).map(|cells| form.row(&cells[..columns.len().min(cells.len())])).unwrap_or_default()
    };
    let mut lines = 0;
    // Those that a call may still repeat: they are written when they are whole.
    let mut last: VecDeque<LogEntry> = VecDeque::new();
    let mut unshown = 0_u64;
    calls.each_line(&mut |row| {
        let call = LogEntry::Call(line::call(row));
        if fold::join(last.make_contiguous(), &call).is_some() {
            return Ok(());
        }
        if lines == LINES {
            unshown += 1;
            return Ok(());
        }
        lines += 1;
        last.push_back(call);
        if last.len() > fold::REACH
            && let Some(whole) = last.pop_front()
        {
            out.write_all(shown(&whole).as_bytes())?;
        }
        Ok(())
    })?;
    let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(Trouble::Write);
    for entry in &last {
        put(&shown(entry))?;
    }
    put(form.end_of_table())?;
    if unshown > 0 {
        put(&form
            .paragraph(&format!("And {unshown} more: export them as CSV or JSONL, or narrow the filter.")))?;
    }
    put(form.end())?;
    Ok(sums.calls)
}

fn happened(calls: &Calls<'_>, form: &dyn ReportFormat) -> Result<String, Trouble> {
    let all = (i64::MIN, i64::MAX);
    let Calls { history, filter } = calls;
    let changes = history.changes_between(filter, all, Toward::Older, HAPPENED)?.into_iter().map(|row| {
        let what = if row.loosened { "rules loosened" } else { "rules changed" };
        (row.rev, vec![moment(row.at_ms), row.server, format!("{what} ({})", row.origin), row.summary])
    });
    let events =
        history.events_between(filter, all, Toward::Older, HAPPENED)?.into_iter().map(|(rev, row)| {
            (rev, vec![moment(row.at_ms), row.server.unwrap_or_default(), spaced(row.kind.word()), row.text])
        });
    let mut rows: Vec<(i64, Vec<String>)> = changes.chain(events).collect();
    if rows.is_empty() {
        return Ok(String::new());
    }
    rows.sort_by_key(|(rev, _)| *rev);
    let table = table(form, &["time", "server", "what", "words"], rows.into_iter().map(|(_, cells)| cells));
    Ok(form.heading("Besides calls") + &table)
}

fn table(form: &dyn ReportFormat, columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: String = rows.take(ROWS.max(2 * HAPPENED)).map(|cells| form.row(&cells)).collect();
    form.table(columns) + &rows + form.end_of_table()
}

/// Those with the most calls first.
fn most<K: Ord>(sums: &BTreeMap<K, [u64; 2]>) -> impl Iterator<Item = (&K, [u64; 2])> {
    let mut sorted: Vec<(&K, [u64; 2])> = sums.iter().map(|(key, sum)| (key, *sum)).collect();
    sorted.sort_by_key(|(_, sum)| std::cmp::Reverse(sum[0]));
    sorted.into_iter().take(ROWS)
}

fn cells(entry: &LogEntry) -> Option<Vec<String>> {
    let LogEntry::Call(call) = entry else { return None };
    let decision: Decision = call.decision.into();
    let mut status = spaced(decision.word());
    match call.outcome.map(Outcome::from) {
        Some(Outcome::Ok | Outcome::NotSent) => {}
        Some(outcome) => status.push_str(&format!(", {}", spaced(outcome.word()))),
        None => status.push_str(", running"),
    }
    if call.times > 1 {
        status.push_str(&format!(" × {}", call.times));
    }
    let took =
        call.duration_us.filter(|_| !call.refused).map(|micros| format!("{} ms", micros.div_ceil(1000)));
    Some(vec![
        moment(call.first_ms),
        call.client.clone().unwrap_or_default(),
        call.server.clone(),
        match call.tools.len() {
            0 => subject(call.method.as_deref(), call.tool.as_deref()),
            _ => call.tools.join(", "),
        },
        call.gist.clone(),
        status,
        took.unwrap_or_default(),
        call.reason.clone().unwrap_or_default(),
    ])
}

fn asked(filter: &CallFilter) -> String {
    let named = [
        ("text", &filter.text),
        ("text", &filter.grep),
        ("server", &filter.server),
        ("client", &filter.client),
        ("tool", &filter.tool),
        ("session", &filter.session),
    ];
    let mut parts: Vec<String> = named
        .iter()
        .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}")))
        .collect();
    if !filter.decisions.is_empty() {
        let words: Vec<String> =
            filter.decisions.iter().map(|decision| spaced(Decision::from(*decision).word())).collect();
        parts.push(words.join(" or "));
    }
    parts.extend(filter.failed.then(|| "failed".to_owned()));
    parts.extend(filter.by_person.then(|| "decided by a person".to_owned()));
    parts.extend(filter.since_ms.map(|since| format!("since {}", moment(since))));
    parts.extend(filter.until_ms.map(|until| format!("before {}", moment(until))));
    parts.join(", ")
}

fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

/// As the person's own clock shows it.
fn moment(wall_ms: i64) -> String {
    let at = Timestamp::from_millisecond(wall_ms).unwrap_or_default().to_zoned(TimeZone::system());
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

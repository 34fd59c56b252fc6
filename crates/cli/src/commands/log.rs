//! `callgate log`: the calls, oldest first, perhaps as they come.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use callgate_desk::{CallObject, Desk};
use callgate_history::{CallRow, Filter, History, Indexer, Toward, Which};
use callgate_home::clock::SystemClock;
use callgate_home::{CallId, Home};
use callgate_journal::catch_up;
use callgate_policy::nearest;
use jiff::civil::Date;

use crate::act;
use crate::args::{FilterArgs, LogArgs};
use crate::commands::forget::desk;
use crate::duration::{day, local, local_iso};
use crate::layout::{Cells, Columns};
use crate::row;
use crate::screen::{self, Screen};

/// How often a follower looks. The gate itself is at most about 50 ms behind.
const LOOK: Duration = Duration::from_millis(150);
/// Calls taken at a time while following.
const STEP: usize = 1000;
/// How long a search first brings the index up to date.
const INDEXING: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let asked = args.filter.asked()?;
    let desk = desk()?;
    let history = current(desk.home())?;
    let mut rev = history.latest_rev()?;
    let which = desk.which(&asked)?;
    if which.words.is_some() {
        index(desk.home());
    }
    let screen = Screen::new();
    let mut table = Table::new(&screen);
    if args.follow {
        // It may come to be: this goes on waiting.
        let FilterArgs { server, tool, client, .. } = &args.filter;
        if let Some(unknown) = act::unknown(server.as_deref(), tool.as_deref(), client.as_deref()) {
            screen::hint(&unknown);
        }
    } else if let Some(unknown) = unknown(&args.filter, &history)? {
        screen::hint(&unknown);
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        for call in before(&desk, &history, &which, None, args.limit)? {
            screen.line(&CallObject::of(&call).line());
        }
    } else {
        let runs = folded(args.limit, |at| before(&desk, &history, &which, at, STEP))?;
        if runs.is_empty() && !args.follow && args.limit > 0 {
            screen::hint(&nothing(&args.filter));
        }
        table.print(&runs);
    }
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK);
        let (calls, next) = history.after(rev, &which, STEP)?;
        rev = next;
        for call in calls {
            match args.json {
                true => screen.line(&CallObject::of(&call).line()),
                false => table.row(&Run::of(call)),
            }
        }
    }
}

fn nothing(asked: &FilterArgs) -> String {
    let first = if asked.is_empty() { "No calls yet." } else { "No calls match." };
    if let Some(unknown) =
        act::unknown(asked.server.as_deref(), asked.tool.as_deref(), asked.client.as_deref())
    {
        return format!("{first} {unknown}");
    }
    format!("{first} A call appears here as soon as an AI client makes one through `callgate run`.")
}

/// A session or a server that is asked for and not on record, in words.
fn unknown(asked: &FilterArgs, history: &History) -> anyhow::Result<Option<String>> {
    if let Some(session) = asked.session.as_deref().filter(|session| !session.is_empty())
        && !history.has_session(session)?
    {
        let meant = match session.parse::<CallId>() {
            Ok(call) => format!(": it is the id of a call, whose session is {}", call.session),
            Err(_) => String::new(),
        };
        return Ok(Some(format!("No session {} is on record{meant}.", screen::harmless(session))));
    }
    let Some(server) = asked.server.as_ref().filter(|server| !server.is_empty()) else { return Ok(None) };
    let known = history.servers()?;
    if known.contains(server) {
        return Ok(None);
    }
    let shown: Vec<String> = known.iter().map(|server| screen::harmless(server)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = match nearest(server, &known) {
        Some(near) => format!("did you mean {}?", screen::harmless(near)),
        None if known.is_empty() => "known: none yet".to_owned(),
        None => format!("known: {}", shown.join(", ")),
    };
    Ok(Some(format!("No server {} is on record ({hint}).", screen::harmless(server))))
}

/// The history with everything in it that was recorded until now.
pub(crate) fn current(home: &Home) -> anyhow::Result<History> {
    // A home that cannot be written (a full disk, another user's copy) can still be read.
    let _behind = catch_up(home, &SystemClock::default());
    Ok(History::open_reader(home)?)
}

/// As far as the index gets in the time that nobody minds; the rest is looked through. If it cannot be written here, all of
/// it is.
pub(crate) fn index(home: &Home) {
    if let Ok(mut indexer) = Indexer::open(home) {
        let until = Instant::now() + INDEXING;
        while Instant::now() < until && indexer.step().unwrap_or(false) {}
    }
}

/// The newest calls that match before this number, oldest first.
fn before(
    desk: &Desk,
    history: &History,
    which: &Which,
    before: Option<i64>,
    most: usize,
) -> anyhow::Result<Vec<CallRow>> {
    if which.words.is_none() {
        return Ok(history.calls(&Filter { which: which.clone(), limit: Some(most), before })?);
    }
    let scan = history.scan(desk.home(), which.clone())?;
    let mut at = Some(before.unwrap_or(i64::MAX));
    let mut found: Vec<CallRow> = Vec::new();
    while let Some(from) = at.filter(|_| found.len() < most) {
        let part = scan.step(from, Toward::Older, most - found.len(), Instant::now() + INDEXING)?;
        for line in &part.rows {
            found.extend(history.row_at(line.rev)?);
        }
        at = part.next;
    }
    found.reverse();
    Ok(found)
}

/// One line of the log: a call, or the last of several refusals of one session by one rule in a row.
pub(crate) struct Run {
    last: CallRow,
    times: usize,
    /// What was called, as it is shown.
    subjects: BTreeSet<String>,
}

impl Run {
    fn of(call: CallRow) -> Run {
        Run { subjects: BTreeSet::from([row::subject(&call)]), times: 1, last: call }
    }
}

/// The newest lines, oldest first. The limit counts lines, so that a runaway loop does not push everything else out.
pub(crate) fn newest(history: &History, which: &Which, limit: usize) -> anyhow::Result<Vec<Run>> {
    folded(limit, |before| Ok(history.calls(&Filter { which: which.clone(), limit: Some(STEP), before })?))
}

/// The same from pages of `STEP` calls before a number, oldest first.
fn folded(
    limit: usize,
    mut page: impl FnMut(Option<i64>) -> anyhow::Result<Vec<CallRow>>,
) -> anyhow::Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut before = None;
    if limit == 0 {
        return Ok(runs);
    }
    'pages: loop {
        let calls = page(before)?;
        for call in calls.iter().rev() {
            let full = runs.len() == limit;
            // As in the window: calls of other sessions may lie between.
            let session = |run: &&mut Run| run.last.id.session == call.id.session;
            match runs.iter_mut().rev().take(callgate_desk::FOLD_REACH + 1).find(session) {
                Some(run) if repeats(&run.last, call) => {
                    run.times += 1;
                    run.subjects.insert(row::subject(call));
                }
                _ if full => break 'pages,
                _ => runs.push(Run::of(call.clone())),
            }
        }
        match calls.first() {
            Some(oldest) if calls.len() == STEP => before = Some(oldest.rev),
            _ => break,
        }
    }
    runs.reverse();
    Ok(runs)
}

/// The same refusal once more?
fn repeats(first: &CallRow, call: &CallRow) -> bool {
    let key = |row: &CallRow| {
        callgate_desk::fold_key(row.id.session, row.decision, row.rule.as_deref(), row.reason.as_deref())
    };
    let first = key(first);
    first.is_some() && first == key(call)
}

/// Lines below each other: in a terminal as wide as it is, with a heading where a day begins; elsewhere with whole times.
pub(crate) struct Table<'s> {
    screen: &'s Screen,
    width: usize,
    days: bool,
    columns: Option<Columns>,
    last: Option<Date>,
}

impl<'s> Table<'s> {
    pub(crate) fn new(screen: &'s Screen) -> Table<'s> {
        let days = io::stdout().is_terminal();
        Table { screen, width: Screen::columns(), days, columns: None, last: None }
    }

    /// Prints these, in columns that fit them and those that follow.
    pub(crate) fn print(&mut self, runs: &[Run]) {
        let cells: Vec<Cells> = runs.iter().map(|run| self.cells(run)).collect();
        if !cells.is_empty() {
            self.columns = Some(Columns::of(&cells, self.width));
        }
        runs.iter().zip(&cells).for_each(|(run, cells)| self.put(run, cells));
    }

    /// Prints one more.
    pub(crate) fn row(&mut self, run: &Run) {
        let cells = self.cells(run);
        self.put(run, &cells);
    }

    fn put(&mut self, run: &Run, cells: &Cells) {
        if self.days {
            let date = local(run.last.at_ms).date();
            if self.last != Some(date) {
                let today = jiff::Zoned::now().date();
                self.screen.line(&self.screen.paint(screen::BOLD, &day(date, today)));
                self.last = Some(date);
            }
        }
        // Nothing was there to measure by: as for a row like this one, with room for longer names.
        let columns = *self.columns.get_or_insert_with(|| {
            let usual =
                Columns { client: 14, server: 14, tool: 28, status: 12, took: 7, ..Columns::default() };
            let own = Columns::of([cells], usize::MAX);
            Columns { time: own.time, id: own.id + 1, ..usual }.fitted(self.width)
        });
        self.screen.line(&columns.line(self.screen, cells));
    }

    fn cells(&self, run: &Run) -> Cells {
        let at_ms = run.last.at_ms;
        let time = if self.days { local(at_ms).strftime("%H:%M:%S").to_string() } else { local_iso(at_ms) };
        let mut cells = row::cells(&run.last, time, run.times, self.width == usize::MAX);
        if run.subjects.len() > 1 {
            cells.tool = format!("{} tools", run.subjects.len());
        }
        cells
    }
}

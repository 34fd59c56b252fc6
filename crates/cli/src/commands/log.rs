//! `callgate log`: the calls, oldest first, perhaps as they come.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use callgate_desk::CallObject;
use callgate_store::clock::SystemClock;
use callgate_store::history::{CallRow, Filter, Indexer, Toward, Which, Words};
use callgate_store::{History, Home, catch_up};

use crate::args::{FilterArgs, LogArgs};
use crate::row;
use crate::screen::Screen;

/// How often a follower looks. The gate itself is at most about 50 ms behind.
const LOOK: Duration = Duration::from_millis(150);
/// Calls taken at a time while following.
const STEP: usize = 1000;
/// How long a search first brings the index up to date.
const INDEXING: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let filter = filter(&args.filter)?;
    let screen = Screen::new();
    let history = current(&home)?;
    let mut rev = history.latest_rev()?;
    let search = args.filter.search.as_deref().map(|words| Search::new(&home, words, &filter)).transpose()?;
    if args.json {
        let calls = match &search {
            Some(search) => search.before(&history, None, args.limit)?,
            None => history.calls(&Filter { limit: Some(args.limit), ..filter.clone() })?,
        };
        calls.iter().for_each(|call| screen.line(&CallObject::of(call).line()));
    } else {
        let runs = match &search {
            Some(search) => folded(args.limit, |before| search.before(&history, before, STEP))?,
            None => newest(&history, &filter, args.limit)?,
        };
        if runs.is_empty() && !args.follow {
            screen.line(&nothing(&args.filter));
        }
        print(&runs, &screen);
    }
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK);
        let (calls, next) = history.after(rev, &filter, STEP)?;
        rev = next;
        for call in
            calls.iter().filter(|call| search.as_ref().is_none_or(|search| search.words.are_in_call(call)))
        {
            let line = if args.json {
                CallObject::of(call).line()
            } else {
                row::line(&screen, call, Screen::columns(), 1)
            };
            screen.line(&line);
        }
    }
}

fn nothing(asked: &FilterArgs) -> String {
    let first = if asked.is_empty() { "No calls yet." } else { "No calls match." };
    format!("{first} A call appears here as soon as an AI client makes one through `callgate run`.")
}

/// The history with everything in it that was recorded until now.
pub(crate) fn current(home: &Home) -> anyhow::Result<History> {
    // A home that cannot be written (a full disk, another user's copy) can still be read.
    let _behind = catch_up(home, &SystemClock::default());
    Ok(History::open_reader(home)?)
}

fn filter(args: &FilterArgs) -> anyhow::Result<Filter> {
    Ok(Filter {
        server: args.server.clone(),
        client: args.client.clone(),
        tool: args.tool.clone(),
        decision: args.decision.as_deref().map(str::parse).transpose()?,
        failed: args.failed,
        since_ms: args.since.map(|since| since.0),
        grep: args.grep.clone(),
        ..Filter::default()
    })
}

/// A search by words, with everything else that the filter says.
struct Search<'h> {
    home: &'h Home,
    which: Which,
    words: Words,
}

impl<'h> Search<'h> {
    fn new(home: &'h Home, words: &str, filter: &Filter) -> anyhow::Result<Search<'h>> {
        let Some(words) = Words::of(words) else {
            bail!("--search looks for words: letters or digits. --grep looks for any text");
        };
        if filter.grep.is_some() {
            bail!("--search and --grep do not go together: say which of the two");
        }
        // As far as the index gets in the time that nobody minds; the rest is looked through. If it cannot be
        // written here, all of it is.
        if let Ok(mut indexer) = Indexer::open(home) {
            let until = Instant::now() + INDEXING;
            while Instant::now() < until && indexer.step().unwrap_or(false) {}
        }
        let which = Which {
            words: Some(words.clone()),
            server: filter.server.clone(),
            client: filter.client.clone(),
            tool: filter.tool.clone(),
            decisions: filter.decision.into_iter().collect(),
            failed: filter.failed,
            since_ms: filter.since_ms,
            ..Which::default()
        };
        Ok(Search { home, which, words })
    }

    /// The newest calls that match before this number, oldest first.
    fn before(&self, history: &History, before: Option<i64>, most: usize) -> anyhow::Result<Vec<CallRow>> {
        let scan = history.scan(self.home, self.which.clone())?;
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
}

/// One line of the log: a call, or the last of several equal refusals in a row.
pub(crate) struct Run {
    last: CallRow,
    times: usize,
}

/// The newest lines, oldest first. The limit counts lines, so that a runaway loop does not push everything else out.
pub(crate) fn newest(history: &History, filter: &Filter, limit: usize) -> anyhow::Result<Vec<Run>> {
    folded(limit, |before| Ok(history.calls(&Filter { limit: Some(STEP), before, ..filter.clone() })?))
}

/// The same from pages of `STEP` calls before a number, oldest first.
fn folded(
    limit: usize,
    mut page: impl FnMut(Option<i64>) -> anyhow::Result<Vec<CallRow>>,
) -> anyhow::Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut before = None;
    'pages: loop {
        let calls = page(before)?;
        for call in calls.iter().rev() {
            let full = runs.len() == limit;
            match runs.last_mut() {
                Some(run) if repeats(&run.last, call) => run.times += 1,
                _ if full => break 'pages,
                _ => runs.push(Run { last: call.clone(), times: 1 }),
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

/// Prints the lines as a table.
pub(crate) fn print(runs: &[Run], screen: &Screen) {
    let width = Screen::columns();
    runs.iter().for_each(|run| screen.line(&row::line(screen, &run.last, width, run.times)));
}

/// The same refusal once more?
fn repeats(first: &CallRow, call: &CallRow) -> bool {
    first.decision.is_refused()
        && first.session == call.session
        && first.tool == call.tool
        && first.decision == call.decision
        && first.rule == call.rule
}

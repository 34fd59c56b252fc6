//! `callgate log`: the calls, oldest first, perhaps as they come.

use std::process::ExitCode;
use std::time::Duration;

use callgate_store::clock::SystemClock;
use callgate_store::history::{CallRow, Filter};
use callgate_store::{History, Home, catch_up};

use crate::args::{FilterArgs, LogArgs};
use crate::row::{self, CallObject};
use crate::screen::Screen;

/// How often a follower looks. The gate itself is at most about 50 ms behind.
const LOOK: Duration = Duration::from_millis(150);
/// Calls taken at a time while following.
const STEP: usize = 1000;

pub(crate) fn run(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let filter = filter(&args.filter)?;
    let screen = Screen::new();
    let history = current(&home)?;
    let mut rev = history.latest_rev()?;
    if args.json {
        let calls = history.calls(&Filter { limit: Some(args.limit), ..filter.clone() })?;
        calls.iter().for_each(|call| screen.line(&CallObject::of(call).line()));
    } else {
        let runs = newest(&history, &filter, args.limit)?;
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
        for call in &calls {
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
        since_ms: args.since.map(|since| since.0),
        grep: args.grep.clone(),
        ..Filter::default()
    })
}

/// One line of the log: a call, or the last of several equal refusals in a row.
pub(crate) struct Run {
    last: CallRow,
    times: usize,
}

/// The newest lines, oldest first. The limit counts lines, so that a runaway loop does not push everything else out.
pub(crate) fn newest(history: &History, filter: &Filter, limit: usize) -> anyhow::Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut page = Filter { limit: Some(STEP), ..filter.clone() };
    'pages: loop {
        let calls = history.calls(&page)?;
        for call in calls.iter().rev() {
            let full = runs.len() == limit;
            match runs.last_mut() {
                Some(run) if repeats(&run.last, call) => run.times += 1,
                _ if full => break 'pages,
                _ => runs.push(Run { last: call.clone(), times: 1 }),
            }
        }
        match calls.first() {
            Some(oldest) if calls.len() == STEP => page.before = Some(oldest.rev),
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

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
    let filter = filter(&args.filter, args.limit)?;
    let screen = Screen::new();
    let history = current(&home)?;
    let mut rev = history.latest_rev()?;
    let calls = history.calls(&filter)?;
    if args.json {
        calls.iter().for_each(|call| screen.line(&CallObject::of(call).line()));
    } else if calls.is_empty() && !args.follow {
        screen.line(
            "No calls match. A call appears here as soon as an AI client makes one through `callgate run`.",
        );
    } else {
        print(&calls, &screen);
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

/// The history with everything in it that was recorded until now.
pub(crate) fn current(home: &Home) -> anyhow::Result<History> {
    // A home that cannot be written (a full disk, another user's copy) can still be read.
    let _behind = catch_up(home, &SystemClock::default());
    Ok(History::open_reader(home)?)
}

fn filter(args: &FilterArgs, limit: usize) -> anyhow::Result<Filter> {
    Ok(Filter {
        server: args.server.clone(),
        client: args.client.clone(),
        tool: args.tool.clone(),
        decision: args.decision.as_deref().map(str::parse).transpose()?,
        since_ms: args.since.map(|since| since.0),
        grep: args.grep.clone(),
        limit: Some(limit),
        ..Filter::default()
    })
}

/// Prints calls as a table, with equal refusals in a row folded into one line.
pub(crate) fn print(calls: &[CallRow], screen: &Screen) {
    let width = Screen::columns();
    let mut rest = calls;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|call| repeats(first, call)).count();
        let last = &rest[same - 1];
        screen.line(&row::line(screen, last, width, same));
        rest = &rest[same..];
    }
}

/// The same refusal once more?
fn repeats(first: &CallRow, call: &CallRow) -> bool {
    first.id == call.id
        || (first.decision != callgate_store::Decision::Allowed
            && first.session == call.session
            && first.tool == call.tool
            && first.decision == call.decision
            && first.rule == call.rule)
}

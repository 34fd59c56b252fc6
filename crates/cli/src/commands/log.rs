//! `callgate log`: the calls, oldest first, perhaps as they come.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use callgate_desk::view::{LogEntry, Only};
use callgate_desk::{CallObject, Desk, MOST_TOOLS};
use callgate_history::{CallFilter, CallRow, History};
use callgate_home::clock::SystemClock;
use callgate_home::{CallId, Home};
use callgate_journal::catch_up;
use callgate_policy::nearest;
use callgate_text::local;
use jiff::civil::Date;

use crate::act::{self, desk};
use crate::args::LogArgs;
use crate::duration::{day, local_iso};
use crate::layout::{Cells, Columns};
use crate::row;
use crate::screen::{self, Screen};

/// How often a follower looks. The gate itself is at most about 50 ms behind.
const LOOK: Duration = Duration::from_millis(150);
/// How long a search first brings the index up to date.
pub(crate) const INDEXING: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let asked = args.filter.parse()?;
    let desk = desk()?;
    let history = current(desk.home())?;
    let rev = history.latest_rev()?;
    if asked.text.is_some() {
        desk.index_for(INDEXING);
    }
    let screen = Screen::new();
    let mut table = Table::new(&screen);
    if args.follow {
        // It may come to be: this goes on waiting.
        if let Some(unknown) = act::unknown(&asked) {
            screen::hint(&unknown);
        }
    } else if let Some(unknown) = unknown(&asked, &history)? {
        screen::hint(&unknown);
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        for call in history.calls(&asked, args.limit)? {
            screen.line(&CallObject::of(&call).line());
        }
    } else {
        let lines = newest(&desk, &history, &asked, args.limit)?;
        if lines.is_empty() && !args.follow && args.limit > 0 {
            screen::hint(&nothing(&asked));
        }
        table.print(&lines);
    }
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    let each = CallFilter { only: Some(Only::Calls), unfolded: true, ..asked };
    let mut follower = desk.follow(&each, rev)?;
    loop {
        std::thread::sleep(LOOK);
        while let Some(batch) = follower.tell() {
            if let Some(problem) = batch.problem {
                screen::hint(&problem);
            }
            for entry in batch.entries {
                let LogEntry::Call(line) = entry else { continue };
                // One that cannot be read now makes trouble with the next look, which is told.
                let Ok(Some(call)) = follower.history().row_at(line.rev) else { continue };
                match args.json {
                    true => screen.line(&CallObject::of(&call).line()),
                    false => table.row(&Line { call, times: 1, tools: 0 }),
                }
            }
        }
    }
}

fn nothing(asked: &CallFilter) -> String {
    let first = if *asked == CallFilter::default() { "No calls yet." } else { "No calls match." };
    if let Some(unknown) = act::unknown(asked) {
        return format!("{first} {unknown}");
    }
    format!("{first} A call appears here as soon as an AI client makes one through `callgate run`.")
}

/// A session or a server that is asked for and not on record, in words.
fn unknown(asked: &CallFilter, history: &History) -> anyhow::Result<Option<String>> {
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

/// One line of the log: a call, or the last of several refusals of one session by one rule.
pub(crate) struct Line {
    call: CallRow,
    times: u32,
    /// Names that were called, if several.
    tools: usize,
}

/// The newest lines, oldest first, each with its call in full.
pub(crate) fn newest(
    desk: &Desk,
    history: &History,
    filter: &CallFilter,
    most: usize,
) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for line in desk.newest_lines(filter, most)? {
        let call = history.row_at(line.rev)?;
        lines.extend(call.map(|call| Line { call, times: line.times, tools: line.tools.len() }));
    }
    Ok(lines)
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
    pub(crate) fn print(&mut self, lines: &[Line]) {
        let cells: Vec<Cells> = lines.iter().map(|line| self.cells(line)).collect();
        if !cells.is_empty() {
            self.columns = Some(Columns::of(&cells, self.width));
        }
        lines.iter().zip(&cells).for_each(|(line, cells)| self.put(line, cells));
    }

    /// Prints one more.
    pub(crate) fn row(&mut self, line: &Line) {
        let cells = self.cells(line);
        self.put(line, &cells);
    }

    fn put(&mut self, line: &Line, cells: &Cells) {
        if self.days {
            let date = local(line.call.at_ms).date();
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

    fn cells(&self, line: &Line) -> Cells {
        let at_ms = line.call.at_ms;
        let time = if self.days { local(at_ms).strftime("%H:%M:%S").to_string() } else { local_iso(at_ms) };
        let mut cells = row::cells(&line.call, time, line.times, self.width == usize::MAX);
        if line.tools > 1 {
            // A line holds no more names than this.
            let more = if line.tools == MOST_TOOLS { "+" } else { "" };
            cells.tool = format!("{}{more} tools", line.tools);
        }
        cells
    }
}

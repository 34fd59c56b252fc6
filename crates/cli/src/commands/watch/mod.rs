//! `callgate watch`: the live log in a terminal, with block and cap one key away.
//!
//! The same desk as the window's, on the alternate screen. It only restricts, takes back what it did itself moments ago, and
//! decides about calls that wait: a yes to one of them takes a typed word. Other loosening has commands of its own.

mod draw;
mod list;
mod terminal;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use callgate_controls::decider::Presence;
use callgate_desk::view::{CallFilter, CallLine, Done, PageFrom, Restriction, Target};
use callgate_desk::{Desk, DeskError, Follower};
use callgate_home::clock::{Clock, SystemClock};

use crate::act;
use crate::args::WatchArgs;
use crate::commands::approvals;
use crate::commands::log::INDEXING;
use list::{List, ScreenRequest};
use terminal::Terminal;

/// How often it looks for calls and keys.
const LOOK: Duration = Duration::from_millis(50);
/// And for questions.
const ASKED: Duration = Duration::from_millis(250);
/// Entries of a page, and the most that are kept.
const PAGE: u32 = 500;

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        bail!(
            "`callgate watch` needs a terminal. For a pipe or a file use `callgate log --follow`, with --json for programs."
        );
    }
    let filter = args.filter.parse()?;
    let desk = act::desk()?;
    if filter.text.is_some() {
        desk.index_for(INDEXING);
    }
    let mut watch = Watch::begin(&desk, filter)?;
    // Somebody looks, so calls are held.
    let _presence = Presence::announce(desk.home())?;
    let mut terminal = Terminal::enter()?;
    loop {
        watch.look();
        watch.list.size = terminal.size();
        terminal.show(&draw::screen(&watch.list, terminal.size(), now_ms()))?;
        let Some(key) = terminal.key(LOOK)? else { continue };
        match watch.list.press(key) {
            Some(ScreenRequest::Quit) => return Ok(ExitCode::SUCCESS),
            Some(wish) => watch.grant(wish),
            None => {}
        }
    }
}

fn now_ms() -> i64 {
    SystemClock::default().now().wall_ms
}

/// The list on the screen and the desk behind it.
struct Watch<'d> {
    desk: &'d Desk,
    filter: CallFilter,
    list: List,
    follower: Follower,
    /// What is shown is out of date and has to be read anew.
    stale: bool,
    /// Why nothing comes at present, as it was said.
    problem: Option<String>,
    /// The last thing done, while it can be taken back.
    undo: Option<String>,
    /// When it was looked for questions.
    asked: Option<Instant>,
}

impl<'d> Watch<'d> {
    fn begin(desk: &'d Desk, filter: CallFilter) -> Result<Watch<'d>, DeskError> {
        let (list, follower) = Self::read(desk, &filter)?;
        let mut list = list.searched(filter.text.clone());
        if let Some(unknown) = act::unknown(&filter).filter(|_| list.entries.is_empty()) {
            list.say(&unknown);
        }
        Ok(Watch { desk, filter, list, follower, stale: false, problem: None, undo: None, asked: None })
    }

    fn read(desk: &Desk, filter: &CallFilter) -> Result<(List, Follower), DeskError> {
        let page = desk.log_page(filter, &PageFrom::Newest, PAGE)?;
        let follower = desk.follow(filter, page.rev)?;
        Ok((List::new(page.entries), follower))
    }

    /// What came since. What goes wrong is said on the screen and tried again with the next look.
    fn look(&mut self) {
        self.list.paused = self.desk.paused_words();
        if self.asked.is_none_or(|at| at.elapsed() >= ASKED) {
            self.asked = Some(Instant::now());
            // Where they cannot be read, gates ask nothing either.
            self.list.waiting = self.desk.approvals().unwrap_or_default().open;
        }
        if let Some(batch) = self.follower.tell() {
            self.trouble(batch.problem);
            self.stale |= batch.reset;
            if !self.stale {
                self.list.take(batch.entries);
            }
        }
        if self.stale {
            match Self::read(self.desk, &self.filter) {
                Ok((list, follower)) => {
                    self.list.renew(list.entries);
                    (self.follower, self.stale) = (follower, false);
                    self.trouble(None);
                }
                Err(error) => self.trouble(Some(format!("The log cannot be read: {error}"))),
            }
        }
    }

    fn trouble(&mut self, problem: Option<String>) {
        if self.problem != problem {
            self.list.say(problem.as_deref().unwrap_or("New calls are shown again."));
            self.problem = problem;
        }
    }

    /// Does what a key asked for; what goes wrong is said on the screen, and the watching goes on.
    fn grant(&mut self, wish: ScreenRequest) {
        let told = match wish {
            ScreenRequest::Quit => return,
            ScreenRequest::Search(text) => self.search(text),
            ScreenRequest::Detail(id) => self.desk.call(&id).map(|detail| self.list.open(detail)),
            ScreenRequest::Advise(line) => {
                let advice = target(&line).map(|target| self.desk.cap_advice(&target));
                match advice {
                    Some(advice) => advice.map(|advice| self.list.offer_caps(line, advice)),
                    None => return self.list.say("Only calls of a tool can be capped."),
                }
            }
            ScreenRequest::Undo => match self.undo.take() {
                Some(token) => self.desk.undo(&token).map(|done| self.list.say(&done.words)),
                None => return self.list.say("There is nothing to undo."),
            },
            ScreenRequest::Decide(id, verdict) => {
                let told = approvals::decide(self.desk, &id, &verdict);
                return self.list.say(&told.unwrap_or_else(|error| format!("{error:#}")).replace('\n', ". "));
            }
            ScreenRequest::Restrict(restriction) => {
                self.desk.restrict(&restriction).map(|done| self.done(done))
            }
        };
        if let Err(error) = told {
            self.list.say(&error.to_string());
        }
    }

    fn done(&mut self, done: Done) {
        let hint = if done.undo.is_some() { "  (u takes it back, for 10 s)" } else { "" };
        let full = done.in_full();
        let besides = full.strip_prefix(&done.words).unwrap_or_default();
        self.list.say(&format!("{}{hint}{besides}", done.words));
        self.undo = done.undo.map(|undo| undo.token);
    }

    fn search(&mut self, text: String) -> Result<(), DeskError> {
        let filter = CallFilter { text: (!text.is_empty()).then_some(text), ..self.filter.clone() };
        let (list, follower) = Self::read(self.desk, &filter)?;
        (self.list, self.follower, self.filter) = (list.searched(filter.text.clone()), follower, filter);
        self.stale = false;
        Ok(())
    }
}

/// Whom a key is about: this tool, for this client.
fn target(line: &CallLine) -> Option<Target> {
    let tool = line.tool.clone()?;
    Some(Target { server: line.server.clone(), tool: Some(tool), client: line.client.clone() })
}

/// Every server, at once.
fn pause_all() -> Restriction {
    Restriction::Pause { server: None, client: None, reason: None }
}

//! What is on the screen, and what a key does to it. No terminal, no desk: keys in, wishes out.

use callgate_desk::view::{
    ApprovalVerdict, ApprovalView, CallDetail, CallLine, CapAdvice, LogEntry, Restriction,
};

use super::{draw, pause_all, target};
use crate::commands::approvals::WORD;

/// So many entries are kept; older ones are in the log.
const MOST: usize = 5_000;

/// A key, as far as this screen knows keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPress {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C, or the terminal is gone.
    Interrupt,
}

/// What the screen cannot do by itself.
#[derive(Debug, PartialEq)]
pub(super) enum ScreenRequest {
    Quit,
    Detail(String),
    Restrict(Restriction),
    /// What caps make sense for this call's tool?
    Advise(CallLine),
    Undo,
    Search(String),
    /// About the call that waits under this id.
    Decide(String, ApprovalVerdict),
}

/// What lies over the list.
#[derive(Debug, PartialEq)]
pub(super) enum Over {
    Nothing,
    Help,
    Detail(Box<CallDetail>),
    Caps(Box<(CallLine, CapAdvice)>),
    /// A call that waits for a decision, by its id: it stays this one whatever comes and goes.
    Waiting(String),
    /// A yes to it that is being typed.
    Approving {
        id: String,
        typed: String,
    },
    /// A search that is being typed.
    Typing(String),
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) entries: Vec<LogEntry>,
    /// The entry that a person chose. None: the newest are followed and nothing is chosen, because a choice that moves with
    /// each call would let a key hit another tool than the one that was looked at.
    pub(super) selected: Option<usize>,
    /// Came since something was chosen.
    pub(super) unseen: usize,
    pub(super) over: Over,
    pub(super) said: String,
    pub(super) searched: Option<String>,
    /// What is paused.
    pub(super) paused: Option<String>,
    /// What waits for a decision, the oldest first.
    pub(super) waiting: Vec<ApprovalView>,
    /// Columns and rows of the screen.
    pub(super) size: (usize, usize),
}

impl List {
    pub(super) fn new(entries: Vec<LogEntry>) -> List {
        let (over, said) = (Over::Nothing, String::new());
        List {
            entries,
            selected: None,
            unseen: 0,
            over,
            said,
            searched: None,
            paused: None,
            waiting: Vec::new(),
            size: (80, 24),
        }
    }

    pub(super) fn searched(mut self, text: Option<String>) -> List {
        self.searched = text;
        self
    }

    pub(super) fn say(&mut self, words: &str) {
        words.clone_into(&mut self.said);
    }

    pub(super) fn open(&mut self, detail: CallDetail) {
        self.over = Over::Detail(Box::new(detail));
    }

    pub(super) fn offer_caps(&mut self, line: CallLine, advice: CapAdvice) {
        self.over = Over::Caps(Box::new((line, advice)));
    }

    /// Everything anew; what lies over the list stays.
    pub(super) fn renew(&mut self, entries: Vec<LogEntry>) {
        // The row stays with its call; without it, a key must not act on another one.
        let chosen = self.selected.and_then(|place| self.entries.get(place));
        self.selected = chosen.and_then(|chosen| entries.iter().position(|entry| is_same(chosen, entry)));
        self.entries = entries;
        self.unseen = 0;
    }

    /// New entries, and known calls as they are now.
    pub(super) fn take(&mut self, entries: Vec<LogEntry>) {
        for entry in entries {
            match self.entries.iter_mut().rev().find(|known| is_same(known, &entry)) {
                Some(known) => *known = entry,
                None => self.push(entry),
            }
        }
        let extra = self.entries.len().saturating_sub(MOST);
        self.entries.drain(..extra);
        self.selected = self.selected.and_then(|place| place.checked_sub(extra));
    }

    fn push(&mut self, entry: LogEntry) {
        self.unseen += usize::from(self.selected.is_some());
        self.entries.push(entry);
    }

    pub(super) fn press(&mut self, key: KeyPress) -> Option<ScreenRequest> {
        if key == KeyPress::Interrupt {
            return Some(ScreenRequest::Quit);
        }
        match std::mem::replace(&mut self.over, Over::Nothing) {
            Over::Typing(text) => self.type_on(text, key),
            Over::Approving { id, typed } => self.approve_on(id, typed, key),
            over => self.command(over, key),
        }
    }

    /// Each key of the footer works in every view: whoever has opened a call can still block it, or pause all.
    fn command(&mut self, over: Over, key: KeyPress) -> Option<ScreenRequest> {
        self.said.clear();
        match (&over, key) {
            (_, KeyPress::Char('q')) => return Some(ScreenRequest::Quit),
            (_, KeyPress::Char('P')) => {
                self.over = over;
                return Some(ScreenRequest::Restrict(pause_all()));
            }
            (_, KeyPress::Char('u')) => {
                self.over = over;
                return Some(ScreenRequest::Undo);
            }
            (_, KeyPress::Char('a')) => match self.waiting.first() {
                Some(first) => self.over = Over::Waiting(first.id.clone()),
                None => self.say("No call waits for a decision."),
            },
            (Over::Waiting(id), key) => return self.on_waiting(id.clone(), key),
            (Over::Caps(offered), key) => return choose_cap(&offered.0, &offered.1, key),
            (Over::Help, _) => return None,
            (Over::Detail(_), KeyPress::Enter | KeyPress::Escape) => return None,
            (Over::Detail(detail), KeyPress::Char('b' | 'h' | 'c')) => {
                let wish = self.act(&detail.line.clone(), key);
                self.over = over;
                return wish;
            }
            (_, KeyPress::Char('?')) => self.over = Over::Help,
            (_, KeyPress::Char('/')) => self.over = Over::Typing(self.searched.clone().unwrap_or_default()),
            (_, KeyPress::Char('f')) => match self.selected {
                Some(_) => self.follow(),
                None => self.step(0),
            },
            (_, KeyPress::Char('G') | KeyPress::End) => self.follow(),
            (_, KeyPress::Char('j') | KeyPress::Down) => return self.go(1, &over),
            (_, KeyPress::Char('k') | KeyPress::Up) => return self.go(-1, &over),
            (_, KeyPress::PageDown) => return self.go(20, &over),
            (_, KeyPress::PageUp) => return self.go(-20, &over),
            (_, KeyPress::Char('g') | KeyPress::Home) => return self.go(isize::MIN, &over),
            (_, KeyPress::Escape) if self.searched.is_some() => {
                return Some(ScreenRequest::Search(String::new()));
            }
            (_, KeyPress::Enter | KeyPress::Char('b' | 'h' | 'c')) => return self.on_choice(key),
            // A key that means nothing changes nothing.
            _ => self.over = over,
        }
        None
    }

    /// What a key does to the call that is chosen. With none chosen it chooses the newest and says so; only the next press acts.
    fn on_choice(&mut self, key: KeyPress) -> Option<ScreenRequest> {
        if self.selected.is_none() && self.newest_call() {
            let call = self.call().map(describe).unwrap_or_default();
            let word = match key {
                KeyPress::Char('b') => "b once more blocks it",
                KeyPress::Char('h') => "h once more hides it",
                KeyPress::Char('c') => "c once more shows caps for it",
                _ => "Enter once more opens it",
            };
            self.say(&format!("Chosen: {call}. {word}; j and k choose another."));
            return None;
        }
        match self.call().cloned() {
            Some(line) if key == KeyPress::Enter => Some(ScreenRequest::Detail(line.id)),
            Some(line) => self.act(&line, key),
            None => {
                self.say(NO_CALL);
                None
            }
        }
    }

    fn act(&mut self, line: &CallLine, key: KeyPress) -> Option<ScreenRequest> {
        let Some(target) = target(line) else {
            self.say(NO_CALL);
            return None;
        };
        match key {
            KeyPress::Char('b') => Some(ScreenRequest::Restrict(Restriction::Block { target, reason: None })),
            KeyPress::Char('h') => Some(ScreenRequest::Restrict(Restriction::Hide { target, note: None })),
            KeyPress::Char('c') => Some(ScreenRequest::Advise(line.clone())),
            _ => None,
        }
    }

    /// Chooses the newest call, if there is one.
    fn newest_call(&mut self) -> bool {
        self.selected = self.entries.iter().rposition(|entry| matches!(entry, LogEntry::Call(_)));
        self.selected.is_some()
    }

    /// What a key does to the call that is asked about. It denies at once; a yes takes its word.
    fn on_waiting(&mut self, id: String, key: KeyPress) -> Option<ScreenRequest> {
        let deny = |id: &str, block| {
            Some(ScreenRequest::Decide(id.to_owned(), ApprovalVerdict::Deny { reason: None, block }))
        };
        match (key, self.asked(&id)) {
            (KeyPress::Escape | KeyPress::Enter, _) => return None,
            (KeyPress::Char('j') | KeyPress::Down, _) => return self.next_waiting(&id, 1),
            (KeyPress::Char('k') | KeyPress::Up, _) => return self.next_waiting(&id, -1),
            (KeyPress::Char('y' | 'd' | 'D'), None) => self.say(GONE),
            (KeyPress::Char('d'), Some(_)) => return deny(&id, false),
            (KeyPress::Char('D'), Some(_)) => return deny(&id, true),
            (KeyPress::Char('y'), Some(asked)) if !draw::shows_whole(asked, self.size) => {
                let words = format!("Not all of it fits here: callgate approve {id} shows it whole first.");
                self.say(&words);
            }
            (KeyPress::Char('y'), Some(_)) => {
                self.over = Over::Approving { id, typed: String::new() };
                return None;
            }
            _ => {}
        }
        self.over = Over::Waiting(id);
        None
    }

    pub(super) fn asked(&self, id: &str) -> Option<&ApprovalView> {
        self.waiting.iter().find(|one| one.id == id)
    }

    fn next_waiting(&mut self, id: &str, by: isize) -> Option<ScreenRequest> {
        let place = self.waiting.iter().position(|one| one.id == id);
        let next = place.map_or(0, |place| place.saturating_add_signed(by));
        let next = next.min(self.waiting.len().saturating_sub(1));
        match self.waiting.get(next) {
            Some(next) => self.over = Over::Waiting(next.id.clone()),
            None => self.say("No call waits for a decision."),
        }
        None
    }

    fn approve_on(&mut self, id: String, mut typed: String, key: KeyPress) -> Option<ScreenRequest> {
        match key {
            KeyPress::Enter if typed == WORD => {
                return Some(ScreenRequest::Decide(id, ApprovalVerdict::Once));
            }
            KeyPress::Enter | KeyPress::Escape => {
                self.say(&format!("Not approved: that takes the word {WORD}."));
                self.over = Over::Waiting(id);
                return None;
            }
            KeyPress::Backspace => {
                typed.pop();
            }
            KeyPress::Char(c) => typed.push(c),
            _ => {}
        }
        self.over = Over::Approving { id, typed };
        None
    }

    fn type_on(&mut self, mut text: String, key: KeyPress) -> Option<ScreenRequest> {
        match key {
            KeyPress::Enter => return Some(ScreenRequest::Search(text)),
            KeyPress::Escape => return None,
            KeyPress::Backspace => {
                text.pop();
            }
            KeyPress::Char(c) => text.push(c),
            _ => {}
        }
        self.over = Over::Typing(text);
        None
    }

    /// The call that is chosen.
    pub(super) fn call(&self) -> Option<&CallLine> {
        match self.entries.get(self.selected?)? {
            LogEntry::Call(line) => Some(line),
            LogEntry::Change(_) | LogEntry::Event(_) => None,
        }
    }

    /// Moves the choice; over an open call, the next one is opened.
    fn go(&mut self, by: isize, over: &Over) -> Option<ScreenRequest> {
        self.step(by);
        match over {
            Over::Detail(_) => self.call().map(|line| ScreenRequest::Detail(line.id.clone())),
            _ => None,
        }
    }

    fn step(&mut self, by: isize) {
        let last = self.entries.len().checked_sub(1);
        // The first step from following is onto the newest, wherever it leads.
        let from = self.selected.map(|place| place.saturating_add_signed(by));
        self.selected = last.map(|last| match from {
            Some(place) => place.min(last),
            None if by == isize::MIN => 0,
            None => last,
        });
    }

    fn follow(&mut self) {
        self.selected = None;
        self.unseen = 0;
    }
}

const GONE: &str = "It does not wait any more: it was decided elsewhere, missed, or given up by its client.";
const NO_CALL: &str = "Only calls of a tool can be blocked, capped or hidden: choose one with j and k.";

/// A call in a few words, as hostile as its parts: whoever shows it makes it harmless.
fn describe(line: &CallLine) -> String {
    let tool = line.tool.as_deref().or(line.method.as_deref()).unwrap_or("(unreadable)");
    let client = line.client.as_deref().unwrap_or("unknown");
    format!("{tool} of {client} on {}", line.server)
}

/// `1` to `9` choose a cap; anything else chooses none.
fn choose_cap(line: &CallLine, advice: &CapAdvice, key: KeyPress) -> Option<ScreenRequest> {
    let KeyPress::Char(digit) = key else { return None };
    let place = usize::try_from(digit.to_digit(10)?).ok()?.checked_sub(1)?;
    let choice = advice.choices.get(place)?;
    let target = target(line)?;
    Some(ScreenRequest::Restrict(Restriction::Cap { target, max: choice.max, window: choice.window.clone() }))
}

/// The follower folds equal refusals and sends the whole of such a line again whenever it has grown: what is shown of it
/// is in there, and counted.
fn is_same(known: &LogEntry, entry: &LogEntry) -> bool {
    match (known, entry) {
        // Lines of two sessions that loop at once lie across each other.
        (LogEntry::Call(known), LogEntry::Call(entry)) => {
            known.session == entry.session && (entry.first_rev..=entry.rev).contains(&known.rev)
        }
        (LogEntry::Change(known), LogEntry::Change(entry)) => known.id == entry.id,
        (LogEntry::Event(known), LogEntry::Event(entry)) => known.id == entry.id,
        _ => false,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#[path = "tests.rs"]
mod tests;

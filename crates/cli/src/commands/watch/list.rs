//! What is on the screen, and what a key does to it. No terminal, no desk: keys in, wishes out.

use callgate_desk::view::{CallDetail, CallLine, CapAdvice, LogEntry, Restriction};

use super::{pause_all, target};

/// So many entries are kept; older ones are in the log.
const MOST: usize = 5_000;

/// A key, as far as this screen knows keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
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
pub(super) enum Wish {
    Quit,
    Detail(String),
    Restrict(Restriction),
    /// What caps make sense for this call's tool?
    Advise(CallLine),
    Undo,
    Search(String),
}

/// What lies over the list.
#[derive(Debug, PartialEq)]
pub(super) enum Over {
    Nothing,
    Help,
    Detail(Box<CallDetail>),
    Caps(Box<(CallLine, CapAdvice)>),
    /// A search that is being typed.
    Typing(String),
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) entries: Vec<LogEntry>,
    pub(super) selected: usize,
    /// The newest entry stays selected.
    pub(super) following: bool,
    /// Came while not following.
    pub(super) unseen: usize,
    pub(super) over: Over,
    pub(super) said: String,
    pub(super) searched: Option<String>,
}

impl List {
    pub(super) fn new(entries: Vec<LogEntry>) -> List {
        let selected = entries.len().saturating_sub(1);
        let (over, said) = (Over::Nothing, String::new());
        List { entries, selected, following: true, unseen: 0, over, said, searched: None }
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
        let last = entries.len().saturating_sub(1);
        self.entries = entries;
        self.unseen = 0;
        self.selected = if self.following { last } else { self.selected.min(last) };
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
        self.selected = self.selected.saturating_sub(extra);
        if self.following {
            self.selected = self.entries.len().saturating_sub(1);
        }
    }

    fn push(&mut self, entry: LogEntry) {
        if !self.following {
            self.unseen += 1;
        }
        self.entries.push(entry);
    }

    pub(super) fn press(&mut self, key: Key) -> Option<Wish> {
        if key == Key::Interrupt {
            return Some(Wish::Quit);
        }
        match std::mem::replace(&mut self.over, Over::Nothing) {
            Over::Typing(text) => self.type_on(text, key),
            Over::Caps(offered) => choose_cap(&offered.0, &offered.1, key),
            // Any key closes these; it does nothing else, so that nobody blocks by surprise.
            Over::Help | Over::Detail(_) => None,
            Over::Nothing => self.command(key),
        }
    }

    fn command(&mut self, key: Key) -> Option<Wish> {
        self.said.clear();
        match key {
            Key::Char('q') => return Some(Wish::Quit),
            Key::Char('?') => self.over = Over::Help,
            Key::Char('/') => self.over = Over::Typing(self.searched.clone().unwrap_or_default()),
            Key::Char('f') => self.follow(!self.following),
            Key::Char('j') | Key::Down => self.step(1),
            Key::Char('k') | Key::Up => self.step(-1),
            Key::PageDown => self.step(20),
            Key::PageUp => self.step(-20),
            Key::Char('g') | Key::Home => self.step(isize::MIN),
            Key::Char('G') | Key::End => self.follow(true),
            Key::Escape if self.searched.is_some() => return Some(Wish::Search(String::new())),
            Key::Char('u') => return Some(Wish::Undo),
            Key::Char('P') => return Some(Wish::Restrict(pause_all())),
            Key::Enter => return self.call().map(|line| Wish::Detail(line.id.clone())),
            Key::Char('b') => return self.restrict(|target| Restriction::Block { target, reason: None }),
            Key::Char('h') => return self.restrict(|target| Restriction::Hide { target, note: None }),
            Key::Char('c') => return self.call().cloned().map(Wish::Advise),
            _ => {}
        }
        None
    }

    fn restrict(&mut self, how: impl Fn(callgate_desk::view::Target) -> Restriction) -> Option<Wish> {
        let wish = self.call().and_then(target).map(|target| Wish::Restrict(how(target)));
        if wish.is_none() {
            self.say("Only calls of a tool can be blocked or hidden: choose one with j and k.");
        }
        wish
    }

    fn type_on(&mut self, mut text: String, key: Key) -> Option<Wish> {
        match key {
            Key::Enter => return Some(Wish::Search(text)),
            Key::Escape => return None,
            Key::Backspace => {
                text.pop();
            }
            Key::Char(c) => text.push(c),
            _ => {}
        }
        self.over = Over::Typing(text);
        None
    }

    /// The call that is selected.
    pub(super) fn call(&self) -> Option<&CallLine> {
        match self.entries.get(self.selected)? {
            LogEntry::Call(line) => Some(line),
            LogEntry::Change(_) | LogEntry::Event(_) => None,
        }
    }

    fn step(&mut self, by: isize) {
        let last = self.entries.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        self.follow(by > 0 && self.selected == last);
    }

    fn follow(&mut self, yes: bool) {
        self.following = yes;
        if yes {
            self.selected = self.entries.len().saturating_sub(1);
            self.unseen = 0;
        }
    }
}

/// `1` to `9` choose a cap; anything else chooses none.
fn choose_cap(line: &CallLine, advice: &CapAdvice, key: Key) -> Option<Wish> {
    let Key::Char(digit) = key else { return None };
    let place = usize::try_from(digit.to_digit(10)?).ok()?.checked_sub(1)?;
    let choice = advice.choices.get(place)?;
    let target = target(line)?;
    Some(Wish::Restrict(Restriction::Cap { target, max: choice.max, window: choice.window.clone() }))
}

/// The follower folds equal refusals and sends the whole of such a line again whenever it has grown: what is shown of it
/// is in there, and counted.
fn is_same(known: &LogEntry, entry: &LogEntry) -> bool {
    match (known, entry) {
        (LogEntry::Call(known), LogEntry::Call(entry)) => (entry.first_rev..=entry.rev).contains(&known.rev),
        (LogEntry::Change(known), LogEntry::Change(entry)) => known.id == entry.id,
        (LogEntry::Event(known), LogEntry::Event(entry)) => known.id == entry.id,
        _ => false,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#[path = "tests.rs"]
mod tests;

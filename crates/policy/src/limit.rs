//! A cap on calls, ready to be counted. Counting itself is the store's.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::time::Duration;

use crate::file::Path;
use crate::window::Window;

/// Who is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One run of one client with this server.
    Session,
    /// This client with this server, over all its sessions.
    Grant,
    /// This client, over all servers whose policies name the counter.
    Client,
    /// This server, over all clients.
    Server,
    /// Everyone whose policies name the counter.
    All,
}

impl Scope {
    pub const ALL: &[Scope] = &[Scope::Session, Scope::Grant, Scope::Client, Scope::Server, Scope::All];

    pub fn of_word(word: &str) -> Option<Scope> {
        Scope::ALL.iter().copied().find(|scope| scope.word() == word)
    }

    /// Who shares a limit of this scope: `10 calls per minute, per client`.
    pub fn words(self) -> &'static str {
        match self {
            Scope::Session => "per session",
            Scope::Grant => "per client",
            Scope::Client => "per client over all servers",
            Scope::Server => "for all clients together",
            Scope::All => "for all clients and servers together",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Scope::Session => "session",
            Scope::Grant => "grant",
            Scope::Client => "client",
            Scope::Server => "server",
            Scope::All => "all",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Calls in any window of this length.
    Calls(Duration),
    /// Calls under way at the same time.
    Concurrent,
    /// Calls ever.
    Total,
    /// A number from the arguments, added up over any window of this length.
    Sum { window: Duration, from: Path },
}

/// Amounts are counted in millionths.
pub const UNIT: u64 = 1_000_000;

/// At most `max` of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The rule: `/tools/x/limits/0`.
    pub pointer: String,
    pub counter: String,
    pub kind: Kind,
    pub max: NonZeroU32,
    pub scope: Scope,
    /// The rule's own words for a refusal.
    pub on_deny: Option<String>,
    /// From this moment on it is as if it were not written.
    pub until_ms: Option<i64>,
}

/// One limit's share of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking<'p> {
    pub limit: &'p Limit,
    /// 1, or the amount in millionths for a sum.
    pub amount: u64,
}

impl Limit {
    pub fn window(&self) -> Option<Duration> {
        match self.kind {
            Kind::Calls(window) | Kind::Sum { window, .. } => Some(window),
            Kind::Concurrent | Kind::Total => None,
        }
    }

    /// `max` in the unit in which amounts are counted.
    pub fn ceiling(&self) -> u64 {
        let max = u64::from(self.max.get());
        if matches!(self.kind, Kind::Sum { .. }) { max * UNIT } else { max }
    }

    /// `10 calls per minute`, `5 calls per 90s`, `2 calls at once`, `100 calls in all`, `500 of args.amount per day`
    pub fn words(&self) -> String {
        let calls = if self.max.get() == 1 { "call" } else { "calls" };
        let shown = |window: &Duration| Window::from_seconds(window.as_secs()).unwrap_or(Window::SECOND);
        match &self.kind {
            Kind::Calls(window) => format!("{} {calls} per {}", self.max, shown(window)),
            Kind::Concurrent => format!("{} {calls} at once", self.max),
            Kind::Total => format!("{} {calls} in all", self.max),
            Kind::Sum { window, from } => format!("{} of {} per {}", self.max, from.text, shown(window)),
        }
    }

    /// What a refused caller is told.
    pub fn refusal(&self, tool: &str) -> String {
        if let Some(words) = &self.on_deny {
            return words.clone();
        }
        let cap = self.words();
        // A sum may have room for less than this call asks for.
        let (has, have) = match self.kind {
            Kind::Sum { .. } => ("would go beyond its", "would go beyond their"),
            Kind::Calls(_) | Kind::Concurrent | Kind::Total => ("has reached its", "have reached their"),
        };
        // What was counted together stands in the pointer, below the client that it may be for.
        let mut steps = self.pointer.split('/').skip(1).peekable();
        let _client = steps.next_if_eq(&"clients").and_then(|_| steps.next());
        match (steps.next(), steps.next()) {
            (Some("all_tools"), _) => format!("all tools together {have} cap of {cap}"),
            (Some("tools"), Some(name)) if crate::name::is_pattern(name) => {
                let name = name.replace("~1", "/").replace("~0", "~");
                format!("the tools named {name:?} together {have} cap of {cap}")
            }
            _ => format!("{tool:?} {has} cap of {cap}"),
        }
    }
}

const INLINE: usize = 4;

static NO_LIMIT: Limit = Limit {
    pointer: String::new(),
    counter: String::new(),
    kind: Kind::Total,
    max: NonZeroU32::MIN,
    scope: Scope::All,
    on_deny: None,
    until_ms: None,
};

const NOTHING: Taking<'static> = Taking { limit: &NO_LIMIT, amount: 0 };

/// The limits of one call, without allocation up to four of them. Reads as a slice.
#[derive(Clone)]
pub struct Limits<'p> {
    inline: [Taking<'p>; INLINE],
    length: usize,
    /// Holds all of them when they are more than fit.
    spilled: Vec<Taking<'p>>,
}

impl<'p> Limits<'p> {
    pub(crate) fn none() -> Limits<'p> {
        Limits { inline: [NOTHING; INLINE], length: 0, spilled: Vec::new() }
    }

    pub(crate) fn extend(&mut self, takings: impl IntoIterator<Item = Taking<'p>>) {
        takings.into_iter().for_each(|taking| self.push(taking));
    }

    pub(crate) fn push(&mut self, taking: Taking<'p>) {
        if self.length < INLINE {
            self.inline[self.length] = taking;
        } else {
            if self.spilled.is_empty() {
                self.spilled.extend_from_slice(&self.inline);
            }
            self.spilled.push(taking);
        }
        self.length += 1;
    }
}

impl<'p> Deref for Limits<'p> {
    type Target = [Taking<'p>];

    fn deref(&self) -> &[Taking<'p>] {
        if self.length > INLINE { &self.spilled } else { &self.inline[..self.length] }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

//! A cap on calls, ready to be counted. Counting itself is the store's.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::time::Duration;

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

/// At most `max` calls in any `window`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The rule: `/tools/x/limits/0`.
    pub pointer: String,
    pub counter: String,
    pub window: Duration,
    pub max: NonZeroU32,
    pub scope: Scope,
    /// The rule's own words for a refusal.
    pub on_deny: Option<String>,
}

impl Limit {
    /// `10 calls per minute`, `5 calls per 90s`
    pub fn words(&self) -> String {
        let calls = if self.max.get() == 1 { "call" } else { "calls" };
        let window = Window::from_seconds(self.window.as_secs()).unwrap_or(Window::SECOND);
        format!("{} {calls} per {window}", self.max)
    }

    /// What a refused caller is told.
    pub fn refusal(&self, tool: &str) -> String {
        match &self.on_deny {
            Some(words) => words.clone(),
            None if self.pointer.starts_with("/all_tools") => {
                format!("all tools together have reached their cap of {}", self.words())
            }
            None => format!("{tool:?} has reached its cap of {}", self.words()),
        }
    }
}

const INLINE: usize = 4;

static NO_LIMIT: Limit = Limit {
    pointer: String::new(),
    counter: String::new(),
    window: Duration::ZERO,
    max: NonZeroU32::MIN,
    scope: Scope::All,
    on_deny: None,
};

/// The limits of one call, without allocation up to four of them. Reads as a slice.
#[derive(Clone)]
pub struct Limits<'p> {
    inline: [&'p Limit; INLINE],
    length: usize,
    /// Holds all of them when they are more than fit.
    spilled: Vec<&'p Limit>,
}

impl<'p> Limits<'p> {
    pub(crate) fn of(first: &'p [Limit], second: &'p [Limit]) -> Limits<'p> {
        let mut limits =
            Limits { inline: [&NO_LIMIT; INLINE], length: first.len() + second.len(), spilled: Vec::new() };
        let all = first.iter().chain(second);
        if limits.length > INLINE {
            limits.spilled = all.collect();
        } else {
            for (slot, limit) in limits.inline.iter_mut().zip(all) {
                *slot = limit;
            }
        }
        limits
    }
}

impl<'p> Deref for Limits<'p> {
    type Target = [&'p Limit];

    fn deref(&self) -> &[&'p Limit] {
        if self.length > INLINE { &self.spilled } else { &self.inline[..self.length] }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

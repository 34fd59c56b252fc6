//! Health of a server that serves: its limits, calls that take too long, an installation that takes its time.
//!
//! Done by the main thread, which has nothing else to do meanwhile, and only where the policy sets a limit; a session
//! without one is looked at once, a while after its start.

use std::time::{Duration, Instant};

use callgate_home::{Stand, clock};
use callgate_journal::{EventKind, Outcome};
use callgate_policy::OnLimit;
use callgate_protocol::{NextStep, answer};

use crate::call_timeout::CallTimeout;
use crate::resource_limits::{self, Beyond};
use crate::session::Session;
use crate::wording;

/// How often a server is measured.
const MEASURED: Duration = Duration::from_secs(5);
/// A server that has not answered the handshake by then is told of: it hangs, or is in the middle of its installation.
const ANSWERED: Duration = Duration::from_secs(10);
/// How soon what was told of it is taken back once it has answered.
const TAKEN_BACK: Duration = Duration::from_secs(1);
/// Programs that install what they then run.
const INSTALLERS: [&str; 7] = ["npm", "npx", "pnpm", "yarn", "uv", "uvx", "pip"];

/// What was seen of a server so far.
#[derive(Debug)]
pub(crate) struct Health {
    since: Instant,
    looked: Instant,
    measured: Instant,
    /// When it was last seen to be used, and how many requests there had been by then.
    used: (Instant, u64),
    /// What was said last about its limits.
    beyond: Vec<Beyond>,
    silence: Silence,
}

/// Whether it was told that the server has not answered the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    Unknown,
    /// Told, and to be taken back when the server has answered.
    Told,
    Over,
}

impl Health {
    pub(crate) fn new() -> Health {
        let now = clock::instant();
        Health {
            since: now,
            looked: now,
            measured: now,
            used: (now, 0),
            beyond: Vec::new(),
            silence: Silence::Unknown,
        }
    }
}

impl Session {
    /// When a server that serves is to be looked at next.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        let rules = self.relay.rule_source.last();
        let process = rules.policy.process();
        let calls = self.relay.call_timeout(&rules).map(|timeout| self.health.looked + timeout.looks());
        let limited = resource_limits::needs_measuring(process) || process.idle.is_some();
        let limits = limited.then(|| self.health.measured + MEASURED);
        let silence = match self.health.silence {
            Silence::Unknown => Some(self.health.since + ANSWERED),
            Silence::Told => Some(self.health.looked + TAKEN_BACK),
            Silence::Over => None,
        };
        let due = calls.into_iter().chain(limits).chain(silence).min()?;
        Some(Instant::now() + due.saturating_duration_since(clock::instant()))
    }

    pub(crate) fn look_after(&mut self) {
        let now = clock::instant();
        match self.health.silence {
            Silence::Unknown if now >= self.health.since + ANSWERED => {
                self.health.silence = Silence::Over;
                self.tell_of_silence();
            }
            Silence::Told if !self.relay.handshake.is_open() => {
                self.health.silence = Silence::Over;
                self.say(Stand::Running, None, |_| {});
            }
            Silence::Unknown | Silence::Told | Silence::Over => {}
        }
        let rules = self.relay.rule_source.last();
        let process = rules.policy.process();
        self.health.looked = now;
        if let Some(timeout) = self.relay.call_timeout(&rules) {
            self.give_up_calls(timeout);
        }
        if now < self.health.measured + MEASURED {
            return;
        }
        self.health.measured = now;
        let (busy, entered) = self.relay.pending.use_of();
        if busy || entered != self.health.used.1 {
            self.health.used = (now, entered);
        }
        let idle = now.duration_since(self.health.used.0);
        let measured = resource_limits::needs_measuring(process).then(|| self.keeper.measure()).flatten();
        let beyond = resource_limits::beyond(process, measured.as_ref(), idle);
        self.beyond(beyond, process.on_limit.unwrap_or(OnLimit::Warn));
    }

    fn beyond(&mut self, beyond: Vec<Beyond>, then: OnLimit) {
        if beyond.is_empty() {
            if !std::mem::take(&mut self.health.beyond).is_empty() {
                self.say(Stand::Running, None, |_| {});
            }
            return;
        }
        if then == OnLimit::End && self.put_to_rest(&resource_limits::sentence(&beyond)) {
            return;
        }
        let kept = then == OnLimit::End && self.relay.codegen.has_open();
        let why = if kept { "; it is kept for its open codegen session" } else { "" };
        let before = std::mem::take(&mut self.health.beyond);
        let known = |one: &Beyond| before.iter().any(|before| before.same_limit(one));
        let news: Vec<&Beyond> = beyond.iter().filter(|one| !known(one)).collect();
        for one in &news {
            self.note(EventKind::Limit, &format!("{one}{why}"));
        }
        if !news.is_empty() || before.len() != beyond.len() {
            self.say(Stand::Running, Some(format!("{}{why}", resource_limits::sentence(&beyond))), |_| {});
        }
        self.health.beyond = beyond;
    }

    /// Answers calls that took too long, and tells the server that nobody waits any more.
    fn give_up_calls(&self, timeout: CallTimeout) {
        let pipe = self.relay.server.pipe();
        for (id, call, expects) in self.relay.pending.overdue(timeout) {
            let reason = timeout.describe();
            pipe.post_last(answer::cancelled(&id, &reason));
            let (next, id_text) = (NextStep::CheckEffect, call.id().to_string());
            let line = wording::refusal(expects, &id, &reason, &next, (&id_text, timeout.rule()));
            self.relay.to_client.post_last(line);
            self.relay.codegen.given_up(&call);
            self.relay.journal.call_over(&call);
            self.relay.journal.settle_one(&call, Outcome::TimedOut);
        }
    }

    /// A server that does not answer the handshake: it hangs, or its first start installs it, which is no fault.
    fn tell_of_silence(&mut self) {
        if !self.relay.handshake.is_open() {
            return;
        }
        let names = self.keeper.measure().unwrap_or_default().names;
        let installer =
            names.iter().find(|name| INSTALLERS.iter().any(|one| name.split(' ').next() == Some(one)));
        let seconds = ANSWERED.as_secs();
        let text = match installer {
            Some(name) => format!(
                "it has not answered after {seconds} s, and {name} is at work: it is probably being installed (see `callgate explain CG-130`)"
            ),
            None => format!(
                "it has not answered its client's first request after {seconds} s: it hangs, or takes its time to start"
            ),
        };
        if installer.is_some() {
            self.note(EventKind::Installing, &text);
        }
        self.say(Stand::Running, Some(text), |_| {});
        self.health.silence = Silence::Told;
    }
}

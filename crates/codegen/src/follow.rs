//! From the calls of one server process to its codegen sessions.
//!
//! As the published servers do it: a session that starts becomes the active one, every later call but the four and those
//! about browsers as such ([`crate::tools`]) is recorded in it, also one that fails; ending or clearing the active session
//! leaves none active. Calls may be sent before earlier ones are answered.

use callgate_protocol::json::Raw;
use rustc_hash::FxHashMap;

use crate::answer;
use crate::session::{Action, CallOutcome, Options, RetainedArguments, RetainedText, Session, State};
use crate::tools::{Fate, fate};
use crate::verb::{Verb, session_named};

/// A call on its way to the server.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Tells the calls of one follower apart, and is later than those before.
    pub call: u64,
    pub at_ms: i64,
    pub client: &'a str,
    pub tool: &'a str,
    pub args: RetainedText<'a>,
}

/// How a call that was sent came out.
#[derive(Clone, Copy, Debug)]
pub struct Settled<'a> {
    pub call: u64,
    pub at_ms: i64,
    pub outcome: CallOutcome,
    pub result: RetainedText<'a>,
}

/// The sessions of one server process, and of those that come after it in its place.
#[derive(Debug, Default)]
pub struct Follower {
    /// Actions are only counted.
    counting: bool,
    sessions: Vec<Session>,
    active: Option<usize>,
    under_way: FxHashMap<u64, Flight>,
}

/// What the answer to a call will be about.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Start { session: usize, before: Option<usize> },
    End(usize),
    Clear(usize),
    Action { session: usize, action: usize },
}

impl Follower {
    /// One that keeps no actions: for whoever only has to know how many there are.
    pub fn counting() -> Follower {
        Follower { counting: true, ..Follower::default() }
    }

    /// Everything that was ever started, the oldest first.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    pub fn into_sessions(self) -> Vec<Session> {
        self.sessions
    }

    /// The newest session of this id.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.iter().rev().find(|session| session.id.as_deref() == Some(id))
    }

    /// Those that the server holds now.
    pub fn open(&self) -> impl Iterator<Item = &Session> {
        self.sessions.iter().filter(|session| session.is_open())
    }

    /// Is the server recording?
    pub fn is_recording(&self) -> bool {
        self.active.is_some()
    }

    /// What the server records into.
    pub fn recording(&self) -> Option<&Session> {
        self.sessions.get(self.active?)
    }

    /// Would a call of this tool be recorded, if the server were recording?
    pub fn records(tool: &str) -> bool {
        Verb::of(tool).is_none() && !matches!(fate(tool), Some(Fate::Unrecorded(_)))
    }

    /// A call goes to the server.
    pub fn sent(&mut self, sent: &Sent<'_>) {
        let flight = match Verb::of(sent.tool) {
            Some(Verb::Start) => {
                let (session, before) = (self.sessions.len(), self.active);
                self.sessions.push(Session {
                    start: sent.call,
                    id: None,
                    client: sent.client.to_owned(),
                    started_ms: sent.at_ms,
                    options: options(sent.args),
                    state: State::Starting,
                    actions: Vec::new(),
                    recorded: 0,
                });
                self.active = Some(session);
                Some(Flight::Start { session, before })
            }
            Some(Verb::End) => self.meant(sent.args).map(Flight::End),
            Some(Verb::Clear) => self.meant(sent.args).map(Flight::Clear),
            Some(Verb::Get) => None,
            None => {
                if Follower::records(sent.tool) {
                    self.record(sent)
                } else {
                    None
                }
            }
        };
        self.under_way.extend(flight.map(|flight| (sent.call, flight)));
    }

    /// The server answered, or it is known that it never will.
    pub fn settled(&mut self, settled: &Settled<'_>) {
        let Some(flight) = self.under_way.remove(&settled.call) else { return };
        let Settled { at_ms, outcome, .. } = *settled;
        match (flight, outcome) {
            (Flight::Start { session, .. }, CallOutcome::Done) => {
                let id = settled.result.json().and_then(answer::session_id);
                if let Some(started) = self.sessions.get_mut(session) {
                    if started.state == State::NotStarted {
                        self.active = Some(session);
                    }
                    started.state = State::Open;
                    started.id = started.id.take().or(id);
                }
            }
            (Flight::Start { session, before }, CallOutcome::Failed) => self.never_started(session, before),
            (Flight::End(session), CallOutcome::Done) => {
                let file = answer::file(settled.result);
                self.close(session, State::Ended { at_ms, file });
            }
            // The server stops recording before it writes the test.
            (Flight::End(session), CallOutcome::Failed) => self.rest(session),
            (Flight::Clear(session), CallOutcome::Done) => self.close(session, State::Cleared { at_ms }),
            (Flight::Action { session, action }, outcome) => {
                let session = self.sessions.get_mut(session);
                if let Some(action) = session.and_then(|session| session.actions.get_mut(action)) {
                    action.outcome = outcome;
                    action.ended_ms = Some(at_ms);
                    action.status = answer::status(settled.result);
                }
            }
            (Flight::Start { .. } | Flight::End(_) | Flight::Clear(_), _) => {}
        }
    }

    /// A call that was taken to be sent never was.
    pub fn never_sent(&mut self, call: u64) {
        if let Some(Flight::Start { session, before }) = self.under_way.remove(&call) {
            self.never_started(session, before);
        }
    }

    /// Nobody waits for the answer any more, and it may never come. A start that stays unanswered holds nothing; one that is
    /// answered late does after all.
    pub fn given_up(&mut self, call: u64) {
        if let Some(Flight::Start { session, before }) = self.under_way.get(&call).copied() {
            self.never_started(session, before);
        }
    }

    /// The server went away: what it held is gone with it, and another one knows nothing of it.
    pub fn server_gone(&mut self, at_ms: i64) {
        self.active = None;
        self.under_way.clear();
        for session in self.sessions.iter_mut().filter(|session| session.is_open()) {
            session.state = State::Lost { at_ms };
        }
    }

    fn record(&mut self, sent: &Sent<'_>) -> Option<Flight> {
        let session = self.active?;
        let recording = self.sessions.get_mut(session)?;
        recording.recorded += 1;
        if self.counting {
            return None;
        }
        recording.actions.push(Action {
            call: sent.call,
            at_ms: sent.at_ms,
            tool: sent.tool.to_owned(),
            args: RetainedArguments::from(sent.args),
            outcome: CallOutcome::Unknown,
            ended_ms: None,
            status: None,
        });
        Some(Flight::Action { session, action: recording.actions.len() - 1 })
    }

    /// The session that a call is about. If its name was not kept, or the name of the active one is not known, it is the
    /// active one.
    fn meant(&mut self, args: RetainedText<'_>) -> Option<usize> {
        let named =
            args.json().and_then(|text| session_named(Raw::parse(text).ok()?).map(|id| id.into_owned()));
        let Some(id) = named.filter(|id| !id.contains("[masked, ")) else {
            return self.active.or_else(|| self.sessions.iter().rposition(Session::is_open));
        };
        if let Some(at) = self.sessions.iter().rposition(|session| session.id.as_ref() == Some(&id)) {
            return Some(at);
        }
        let nameless = |session: &Session| session.id.is_none() && session.is_open();
        let at = self.active.filter(|at| self.sessions.get(*at).is_some_and(nameless))?;
        if let Some(session) = self.sessions.get_mut(at) {
            session.id = Some(id);
        }
        Some(at)
    }

    fn rest(&mut self, session: usize) {
        self.active = self.active.filter(|active| *active != session);
    }

    fn close(&mut self, session: usize, state: State) {
        self.rest(session);
        let Some(closed) = self.sessions.get_mut(session) else { return };
        closed.state = match (std::mem::replace(&mut closed.state, State::Open), state) {
            // Its test was written: whoever tidies up afterwards throws nothing away.
            (ended @ State::Ended { .. }, State::Cleared { .. }) => ended,
            // Ended twice, and what was said the second time is not known.
            (State::Ended { file, .. }, State::Ended { at_ms, file: None }) => State::Ended { at_ms, file },
            (_, state) => state,
        };
    }

    /// What came after it was recorded where it had been before.
    fn never_started(&mut self, session: usize, before: Option<usize>) {
        if self.active == Some(session) {
            self.active = before.filter(|at| self.sessions.get(*at).is_some_and(Session::is_open));
        }
        let Some(failed) = self.sessions.get_mut(session) else { return };
        failed.state = State::NotStarted;
        let (actions, recorded) = (std::mem::take(&mut failed.actions), std::mem::take(&mut failed.recorded));
        let Some((at, earlier)) = before.and_then(|at| Some((at, self.sessions.get_mut(at)?))) else {
            return;
        };
        earlier.recorded += recorded;
        for action in actions {
            if let Some(flight) = self.under_way.get_mut(&action.call) {
                *flight = Flight::Action { session: at, action: earlier.actions.len() };
            }
            earlier.actions.push(action);
        }
    }
}

fn options(args: RetainedText<'_>) -> Options {
    let args = args.json().and_then(|text| Raw::parse(text).ok());
    // Some take them by themselves.
    let given = args.and_then(|args| args.get("options")).or(args);
    let text = |name: &str| {
        let text = given.and_then(|given| given.get(name)).and_then(Raw::as_str);
        text.map(|text| text.into_owned())
    };
    Options { output: text("outputPath"), prefix: text("testNamePrefix") }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
